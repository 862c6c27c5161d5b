"""A move costs one uniform draw, falls where the distribution says, and never on an illegal cell."""

import numpy as np
import pytest

from nn import PolicyNet
from nn.java_random import JavaRandom
from nn.losses import MaskError, NonFiniteError
from rl.agents import PolicyAgent
from rl.sampling import MANY, choose_cells, draw_uniforms, inverse_cdf


def test_inverse_cdf_by_hand():
    weights = np.array([[0.2, 0.0, 0.5, 0.3]] * 5)
    uniforms = np.array([0.0, 0.199, 0.2, 0.699, 0.71])
    assert inverse_cdf(weights, uniforms).tolist() == [0, 0, 2, 2, 3]


@pytest.mark.parametrize("columns", [8, 9])  # in blocks of three, the last one short or full
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_never_an_index_of_weight_zero(columns, dtype):
    rng = np.random.default_rng(0)
    weights = (rng.random((2000, columns)) * (rng.random((2000, columns)) < 0.4)).astype(dtype)
    weights[:, 4] += 1e-12
    uniforms = rng.random(2000)
    uniforms[:500] = 0.0
    uniforms[500:1000] = np.nextafter(1.0, 0.0)
    chosen = inverse_cdf(weights, uniforms)
    assert (weights[np.arange(2000), chosen] > 0).all()


@pytest.mark.parametrize("columns", [1, 9, 300])
def test_many_rows_are_drawn_from_as_each_alone(columns):
    rng = np.random.default_rng(4)
    weights = rng.random((MANY + 5, columns)).astype(np.float32)
    uniforms = rng.random(len(weights))
    some = weights > 0.5
    some[:, -1] = True  # in every row a weight that is not 0
    for rows in (weights, some):
        alone = [int(inverse_cdf(row[None], np.array([u]))[0]) for row, u in zip(rows, uniforms, strict=True)]
        assert inverse_cdf(rows, uniforms).tolist() == alone


def test_frequencies_follow_the_softmax_at_a_temperature():
    logits = np.log(np.array([1.0, 4.0, 2.0, 50.0]))
    legal = np.array([True, True, True, False])
    count = 40_000
    chosen = choose_cells(
        np.tile(logits, (count, 1)), np.tile(legal, (count, 1)), 2.0, np.random.default_rng(1)
    )
    expected = np.sqrt([1.0, 4.0, 2.0]) / np.sqrt([1.0, 4.0, 2.0]).sum()
    share = np.bincount(chosen, minlength=4) / count
    # Five standard errors of a share at 40,000 draws.
    assert np.abs(share[:3] - expected).max() < 5 * 0.5 / np.sqrt(count)
    assert share[3] == 0


def test_temperature_zero_is_argmax_over_the_legal_cells_and_draws_nothing():
    rng = np.random.default_rng(2)
    before = rng.bit_generator.state
    chosen = choose_cells(np.array([[1.0, 9.0, 3.0, 3.0]]), np.array([[True, False, True, True]]), 0.0, rng)
    assert chosen.tolist() == [2]
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("source", [np.random.default_rng, JavaRandom])
def test_one_draw_a_move_from_either_generator(source):
    one, other = source(7), source(7)
    choose_cells(np.zeros((5, 4)), np.ones((5, 4), dtype=bool), 1.0, one)
    draw_uniforms(other, 5)
    assert draw_uniforms(one, 3).tolist() == draw_uniforms(other, 3).tolist()


def test_refuses_what_is_no_distribution():
    rng = np.random.default_rng(3)
    with pytest.raises(MaskError):
        choose_cells(np.zeros((2, 3)), np.array([[True, True, True], [False, False, False]]), 1.0, rng)
    with pytest.raises(NonFiniteError):
        choose_cells(np.array([[0.0, np.nan, 1.0]]), np.ones((1, 3), dtype=bool), 1.0, rng)
    for temperature in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="temperature"):
            choose_cells(np.zeros((1, 3)), np.ones((1, 3), dtype=bool), temperature, rng)
        with pytest.raises(ValueError, match="temperature"):
            PolicyAgent(PolicyNet(3, 3, filters=(1, 1), hidden=1, rng=rng), temperature)
