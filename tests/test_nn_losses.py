"""Probabilities over the legal moves, the two losses' values, and what they refuse."""

import math

import numpy as np
import pytest

from nn import MaskError, NonFiniteError, ShapeError
from nn.losses import entropy, masked_log_softmax, weighted_cross_entropy

LEGAL = np.array([[True, False, True, True], [False, False, True, False]])


def test_probabilities_sum_to_one_and_illegal_ones_are_exactly_zero() -> None:
    rng = np.random.default_rng(1)
    for scale in (0.0, 1.0, 300.0, 1e300):
        p = np.exp(masked_log_softmax(scale * rng.uniform(-1, 1, (2, 4)), LEGAL))
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
        assert (p[~LEGAL] == 0).all()
        assert p[1, 2] == 1


def test_masked_log_softmax_by_definition() -> None:
    logits = np.array([[1.0, 9.0, -2.0, 0.5]])
    log_p = masked_log_softmax(logits, LEGAL[:1])
    total = math.exp(1.0) + math.exp(-2.0) + math.exp(0.5)
    np.testing.assert_allclose(log_p[0, [0, 2, 3]], [1 - math.log(total), -2 - math.log(total), 0.5 - math.log(total)])
    assert log_p[0, 1] == -np.inf


def test_arguments_are_left_unchanged_and_the_dtype_is_kept() -> None:
    for dtype in (np.float32, np.float64):
        logits, mask = np.ones((2, 4), dtype), LEGAL.copy()
        logits.flags.writeable = mask.flags.writeable = False
        assert masked_log_softmax(logits, mask).dtype == dtype
        weights = np.ones(2, np.float64)
        assert weighted_cross_entropy(logits, np.array([0, 2]), weights, mask)[1].dtype == dtype
        assert entropy(logits, mask)[1].dtype == dtype


def test_weighted_cross_entropy_by_definition() -> None:
    rng = np.random.default_rng(2)
    logits, weights, actions = rng.standard_normal((2, 4)), np.array([0.5, -2.0]), np.array([3, 2])
    loss, d_logits = weighted_cross_entropy(logits, actions, weights, LEGAL)
    log_p = masked_log_softmax(logits, LEGAL)
    assert loss == pytest.approx(-(0.5 * log_p[0, 3] - 2.0 * log_p[1, 2]) / 2)
    expected = -weights[:, None] * (np.eye(4)[actions] - np.exp(log_p)) / 2
    np.testing.assert_allclose(d_logits, expected, atol=1e-15)


def test_a_step_makes_a_good_move_likelier_and_a_bad_one_rarer() -> None:
    logits = np.zeros((1, 4))
    for weight in (1.0, -1.0):
        d_logits = weighted_cross_entropy(logits, np.array([0]), np.array([weight]), LEGAL[:1])[1]
        change = (
            masked_log_softmax(logits - 0.1 * d_logits, LEGAL[:1])[0, 0] - masked_log_softmax(logits, LEGAL[:1])[0, 0]
        )
        assert np.sign(change) == weight


def test_entropy_of_certain_and_of_even_choices() -> None:
    assert entropy(np.zeros((1, 4)), LEGAL[:1])[0] == pytest.approx(math.log(3))
    assert entropy(np.zeros((1, 4)), LEGAL[1:])[0] == 0
    assert entropy(np.zeros((2, 4)), LEGAL)[0] == pytest.approx(math.log(3) / 2)
    assert entropy(np.array([[900.0, 0, 0, 0]]), LEGAL[:1])[0] == pytest.approx(0)


def test_refusals() -> None:
    logits, actions, weights = np.zeros((2, 4)), np.array([0, 2]), np.ones(2)
    dead = LEGAL.copy()
    dead[1] = False
    with pytest.raises(MaskError, match="row 1 of the mask has no legal move"):
        masked_log_softmax(logits, dead)
    for bad in (np.nan, np.inf, -np.inf):
        broken = logits.copy()
        broken[1, 3] = bad
        with pytest.raises(NonFiniteError, match=r"logits\[1, 3\]"):
            entropy(broken, LEGAL)
        with pytest.raises(NonFiniteError, match=r"weights\[1\]"):
            weighted_cross_entropy(logits, actions, np.array([1, bad]), LEGAL)
    for action in (1, 4, -1, 225):
        with pytest.raises(MaskError, match=f"action {action} of row 0 is not legal"):
            weighted_cross_entropy(logits, np.array([action, 2]), weights, LEGAL)
    for numbers in ([0.0, 2.0], [True, False], [np.nan, 2.0]):
        with pytest.raises(MaskError, match="wanted whole numbers"):
            weighted_cross_entropy(logits, np.array(numbers), weights, LEGAL)
    for shape in [(4,), (1, 2, 4)]:
        with pytest.raises(ShapeError):
            masked_log_softmax(np.zeros(shape), np.ones(shape, bool))
    with pytest.raises(ShapeError):
        masked_log_softmax(logits, LEGAL[:1])
    with pytest.raises(ShapeError):
        weighted_cross_entropy(logits, actions[:1], weights, LEGAL)
    with pytest.raises(ShapeError):
        weighted_cross_entropy(logits, actions, weights[:1], LEGAL)
    with pytest.raises(ShapeError, match="N > 0"):
        weighted_cross_entropy(logits[:0], actions[:0], weights[:0], LEGAL[:0])
    with pytest.raises(ShapeError, match="N > 0"):
        entropy(logits[:0], LEGAL[:0])
    for error in (MaskError, NonFiniteError, ShapeError):
        assert issubclass(error, ValueError)
