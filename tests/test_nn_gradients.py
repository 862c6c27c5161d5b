"""Every backward against differences in float64, and proof that a single reversed sign in any of them is noticed."""

from collections.abc import Callable

import numpy as np
import pytest
from sign_reversal import every_reversed_sign_is_noticed

from nn import Conv2D, Dense, Flatten, Layer, PolicyNet, ReLU, Sequential, ShapeError, conv, losses
from nn.gradcheck import GradientError, check_layer, check_loss, compare_gradients, random_slope
from nn.layers import FloatArray
from nn.losses import entropy, masked_log_softmax, masked_log_softmax_backward, weighted_cross_entropy

KERNELS = [  # x shape, filters, kernel, padding: one position, H != W, KH != KW, 1 x 1, wide and no padding
    ((1, 1, 3, 4), 1, (1, 1), None),
    ((2, 3, 5, 4), 2, (3, 3), None),
    ((1, 2, 4, 6), 3, (3, 2), (1, 0)),
    ((3, 1, 2, 5), 2, (1, 4), (0, 3)),
    ((2, 2, 6, 3), 1, (5, 3), (0, 0)),
    ((1, 2, 3, 3), 2, (2, 2), (2, 1)),
]


def away_from_zero(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return rng.choice([-1.0, 1.0], shape) * rng.uniform(0.1, 2.0, shape)


def with_biases(layer: Layer, rng: np.random.Generator) -> Layer:
    for parameter in layer.parameters():
        if parameter.name.endswith("bias"):
            parameter.value[...] = rng.standard_normal(parameter.value.shape)
    return layer


def check_dense() -> float:
    rng = np.random.default_rng(1)
    worst = 0.0
    for n, d, m in [(1, 1, 1), (1, 4, 3), (5, 2, 7)]:
        layer = with_biases(Dense(d, m, rng=rng, dtype=np.float64), rng)
        worst = max(worst, check_layer(layer, rng.standard_normal((n, d)), random_slope(rng, (n, m))))
    return worst


def check_relu() -> float:
    rng = np.random.default_rng(2)
    shapes = [(1, 1), (3, 4), (1, 2, 3, 4)]
    return max(check_layer(ReLU(), away_from_zero(rng, shape), random_slope(rng, shape)) for shape in shapes)


def check_flatten() -> float:
    rng = np.random.default_rng(3)
    shapes = [(1, 1, 1, 1), (2, 3, 4, 5)]
    return max(
        check_layer(Flatten(), rng.standard_normal(s), random_slope(rng, (s[0], int(np.prod(s[1:]))))) for s in shapes
    )


def check_conv() -> float:
    rng = np.random.default_rng(4)
    worst = 0.0
    for shape, filters, kernel, padding in KERNELS:
        layer = with_biases(Conv2D(shape[1], filters, kernel, padding, rng=rng, dtype=np.float64), rng)
        x = rng.standard_normal(shape)
        worst = max(worst, check_layer(layer, x, random_slope(rng, layer.predict(x).shape)))
    return worst


def check_conv_definition() -> float:
    """The backward in loops against the one in matrix products."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for shape, filters, kernel, padding in KERNELS:
        layer = Conv2D(shape[1], filters, kernel, padding, rng=rng, dtype=np.float64)
        x = rng.standard_normal(shape)
        d_out = rng.standard_normal(layer.forward(x).shape)
        d_x = layer.backward(d_out)
        slopes = conv.convolve_backward_by_definition(d_out, x, layer.weight.value, layer.padding)
        for name, mine, its in zip(
            ("d_x", "weight", "bias"), slopes, (d_x, layer.weight.grad, layer.bias.grad), strict=True
        ):
            worst = max(worst, compare_gradients(name, mine, its, 1e-10))
    return worst


def check_sequential() -> float:
    rng = np.random.default_rng(6)
    net = Sequential([Dense(3, 4, rng=rng, dtype=np.float64), ReLU(), Dense(4, 2, rng=rng, dtype=np.float64)])
    return check_layer(net, rng.standard_normal((2, 3)), random_slope(rng, (2, 2)), step=1e-4)


def masks(rng: np.random.Generator) -> list[np.ndarray]:
    """One position with one legal move; one of each number of legal moves; all legal; random."""
    staircase = np.arange(6) <= np.arange(6)[:, None]
    one = np.zeros((1, 5), bool)
    one[0, 3] = True
    return [one, staircase, np.ones((2, 3), bool), rng.random((4, 9)) < 0.5, np.ones((1, 1), bool)]


def check_masked_log_softmax() -> float:
    rng = np.random.default_rng(7)
    worst = 0.0
    for mask in masks(rng):
        slope = rng.standard_normal(mask.shape) * mask

        def loss(logits: FloatArray, mask: np.ndarray = mask, slope: FloatArray = slope) -> tuple[float, FloatArray]:
            log_p = masked_log_softmax(logits, mask)
            value = float((np.where(mask, log_p, 0) * slope).sum())
            return value, losses.masked_log_softmax_backward(slope, log_p)

        worst = max(worst, check_loss("masked log-softmax", loss, 3 * rng.standard_normal(mask.shape)))
    return worst


def check_weighted_cross_entropy() -> float:
    rng = np.random.default_rng(8)
    worst = 0.0
    for mask in masks(rng):
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in mask])
        weights = rng.standard_normal(len(mask))  # of both signs, as advantages are

        def loss(
            logits: FloatArray, mask: np.ndarray = mask, actions: np.ndarray = actions, weights: FloatArray = weights
        ) -> tuple[float, FloatArray]:
            return losses.weighted_cross_entropy(logits, actions, weights, mask)

        worst = max(worst, check_loss("weighted cross-entropy", loss, 3 * rng.standard_normal(mask.shape)))
    return worst


def check_entropy() -> float:
    rng = np.random.default_rng(9)
    return max(
        check_loss("entropy", lambda logits, mask=mask: losses.entropy(logits, mask), rng.standard_normal(mask.shape))
        for mask in masks(rng)
    )


def check_whole_network() -> float:
    """The policy network under REINFORCE's loss: advantages, masked moves, an entropy bonus and a temperature."""
    rng = np.random.default_rng(10)
    worst = 0.0
    for n, height, width in [(1, 3, 4), (3, 4, 3)]:
        net = PolicyNet(height, width, planes=2, filters=(2, 3), hidden=5, rng=rng, dtype=np.float64)
        with_biases(net, rng)
        x = rng.standard_normal((n, 2, height, width))
        mask = rng.random((n, height * width)) < 0.6
        mask[0] = False
        mask[:, 5] = True  # so the first position has one legal move
        actions = np.full(n, 5)
        advantages = rng.standard_normal(n)
        temperature, bonus = 0.7, 0.05

        def loss(logits: FloatArray) -> tuple[float, FloatArray]:
            value, d_logits = weighted_cross_entropy(logits / temperature, actions, advantages, mask)  # noqa: B023
            spread, d_spread = entropy(logits / temperature, mask)  # noqa: B023
            return value - bonus * spread, (d_logits - bonus * d_spread) / temperature  # noqa: B023

        worst = max(worst, check_layer(net, x, loss, step=1e-4))
    return worst


CHECKS = [
    check_dense,
    check_relu,
    check_flatten,
    check_conv,
    check_conv_definition,
    check_sequential,
    check_masked_log_softmax,
    check_weighted_cross_entropy,
    check_entropy,
    check_whole_network,
]


@pytest.mark.parametrize("check", CHECKS)
def test_gradients_agree_with_differences(check: Callable[[], float]) -> None:
    assert check() <= 1e-7


# --- The checks can fail: every sign in every backward is reversed once, and each time the check must notice. ---------


BACKWARDS = [
    (Dense, "backward", check_dense, 3),
    (ReLU, "backward", check_relu, 1),
    (Flatten, "backward", check_flatten, 1),
    (Conv2D, "backward", check_conv, 3),
    (Sequential, "backward", check_sequential, 1),
    (conv, "col2im", check_conv, 8),
    (conv, "convolve_backward_by_definition", check_conv_definition, 8),
    (losses, "masked_log_softmax_backward", check_masked_log_softmax, 2),
    (losses, "weighted_cross_entropy", check_weighted_cross_entropy, 4),
    (losses, "entropy", check_entropy, 4),
]


@pytest.mark.parametrize(("owner", "name", "check", "least"), BACKWARDS)
def test_one_reversed_sign_is_noticed(
    owner: object, name: str, check: Callable[[], float], least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every_reversed_sign_is_noticed(owner, name, check, least, monkeypatch)


# --- What else a check must notice ------------------------------------------------------------------------------------


def broken(**methods: object) -> Layer:
    rng = np.random.default_rng(0)
    return type("Broken", (Dense,), methods)(3, 2, rng=rng, dtype=np.float64)


def check_broken(layer: Layer) -> None:
    rng = np.random.default_rng(1)
    check_layer(layer, rng.standard_normal((4, 3)), random_slope(rng, (4, 2)))


def test_the_worst_entry_is_named() -> None:
    def backward(self: Dense, d_out: FloatArray) -> FloatArray:
        d_x = Dense.backward(self, d_out)
        self.weight.grad[2, 1] += 0.5
        return d_x

    with pytest.raises(GradientError, match=r"d_dense.weight\[2, 1\]: by hand .*, by differences .*, relative error"):
        check_broken(broken(backward=backward))


def test_a_gradient_that_is_not_added_is_noticed() -> None:
    def backward(self: Dense, d_out: FloatArray) -> FloatArray:
        self.weight.grad[...] = 0
        return Dense.backward(self, d_out)

    with pytest.raises(GradientError, match=r"d_dense\.weight"):
        check_broken(broken(backward=backward))


def test_a_changed_upstream_gradient_is_noticed() -> None:
    def backward(self: Dense, d_out: FloatArray) -> FloatArray:
        d_x = Dense.backward(self, d_out)
        d_out *= 2
        return d_x

    with pytest.raises(GradientError, match="changed its d_out"):
        check_broken(broken(backward=backward))


def test_a_predict_that_differs_or_remembers_is_noticed() -> None:
    def predict(self: Dense, x: FloatArray) -> FloatArray:
        self._x = x
        return Dense.predict(self, x)

    with pytest.raises(GradientError, match="predict differs"):
        check_broken(broken(forward=lambda self, x: x[:, :2]))
    with pytest.raises(GradientError, match=r"d_dense\.weight"):
        check_broken(broken(predict=predict))


def test_nan_and_float32_are_refused() -> None:
    with pytest.raises(GradientError, match="nan"):
        compare_gradients("d", np.array([1.0, np.nan]), np.array([1.0, 1.0]), 1e-7)
    with pytest.raises(GradientError, match="float64"):
        check_loss("loss", lambda logits: (0.0, logits), np.zeros(3, np.float32))


def test_errors_are_relative_and_a_millionth_is_too_much() -> None:
    slopes = np.array([2e-9, -3e-9, 1e-13])
    for scale in (1.0, 1e15):
        assert compare_gradients("d", scale * slopes, scale * slopes * (1 + 5e-8), 1e-7) == pytest.approx(
            5e-8, rel=1e-3
        )
        with pytest.raises(GradientError, match=r"d\[1\]"):
            compare_gradients("d", scale * slopes, scale * slopes * np.array([1, 1 + 1e-6, 1]), 1e-7)
    with pytest.raises(GradientError, match="allowed 1e-07"):
        check_loss("square", lambda x: (float((x**2).sum()), 2 * x * (1 + 1e-6)), np.array([1.0, 2.0]))


def test_relu_is_flat_at_zero() -> None:
    relu = ReLU()
    assert relu.forward(np.array([[0.0, -0.0, 1.0]])).tolist() == [[0, 0, 1]]
    assert relu.backward(np.ones((1, 3))).tolist() == [[0, 0, 1]]


def test_rows_of_d_logits_sum_to_zero_and_illegal_moves_get_none() -> None:
    rng = np.random.default_rng(11)
    for mask in masks(rng):
        logits = rng.standard_normal(mask.shape)
        actions = np.array([rng.choice(np.flatnonzero(row)) for row in mask])
        for d_logits in (
            weighted_cross_entropy(logits, actions, rng.standard_normal(len(mask)), mask)[1],
            entropy(logits, mask)[1],
            masked_log_softmax_backward(rng.standard_normal(mask.shape) * mask, masked_log_softmax(logits, mask)),
        ):
            assert np.abs(d_logits.sum(axis=1)).max() < 1e-14
            assert (d_logits[~mask] == 0).all()


def test_relu_names_slopes_of_another_shape():
    relu = ReLU()
    relu.forward(np.ones((2, 3)))
    with pytest.raises(ShapeError, match=r"got d_out \(3,\), wanted \(2, 3\)"):
        relu.backward(np.ones(3))
