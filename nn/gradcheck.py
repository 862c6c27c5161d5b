"""Is a backward right? Hold it against differences: nudge one number and see how far the loss really moves.

A backward written by hand is a claim about slopes, and this is the experiment that can refute it. Use float64.
"""

from collections.abc import Callable

import numpy as np

from nn.layers import FloatArray, Layer

Loss = Callable[[FloatArray], tuple[float, FloatArray]]


class GradientError(ValueError):
    """A backward disagrees with the differences, or breaks the contract of a layer; names the worst entry."""


def numerical_gradient(value: Callable[[], float], array: FloatArray, step: float) -> FloatArray:
    """Return the slope of ``value()`` by every entry of ``array`` (same shape), nudging each entry in place.

    ``(8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12 h``: four values a slope, with an error of the order h^4.
    """
    slopes = np.empty_like(array)
    for index in np.ndindex(array.shape):
        here = array[index]
        near, far = (_rise(value, array, index, nudge) for nudge in (step, 2 * step))
        slopes[index] = (8 * near - far) / (12 * step)
        array[index] = here
    return slopes


def compare_gradients(name: str, by_hand: FloatArray, by_differences: FloatArray, tolerance: float) -> float:
    """Return the largest relative error of two arrays of the same shape.

    The error of an entry is relative to the larger of its two values, or to a thousandth of the largest value in
    the arrays where both are smaller than that: differences cannot see a slope that is nearly 0 among large ones.
    Raises GradientError, naming the worst entry, if the error is above ``tolerance`` (or not a number).
    """
    if by_hand.shape != by_differences.shape:
        raise GradientError(f"{name}: backward gives shape {by_hand.shape}, wanted {by_differences.shape}")
    if by_hand.size == 0:
        return 0.0
    size = np.maximum(np.abs(by_hand), np.abs(by_differences))
    error = np.abs(by_hand - by_differences) / np.maximum(size, max(1e-3 * float(size.max()), 1e-12))
    worst = np.unravel_index(np.argmax(error), error.shape)  # argmax finds a NaN first
    if not error[worst] <= tolerance:
        raise GradientError(
            f"{name}{[int(i) for i in worst]}: by hand {by_hand[worst]:.12g}, by differences "
            f"{by_differences[worst]:.12g}, relative error {error[worst]:.1e}, allowed {tolerance:.0e}"
        )
    return float(error[worst])


def check_loss(name: str, loss: Loss, logits: FloatArray, tolerance: float = 1e-7, step: float = 1e-3) -> float:
    """Return the largest relative error of a loss's gradient at ``logits``; loss(logits) -> (value, d_logits).

    ``logits`` and ``d_logits`` have the same shape, any shape. Raises GradientError if it is above ``tolerance``.
    """
    _need_float64(name, logits)
    logits = logits.copy()
    by_differences = numerical_gradient(lambda: loss(logits)[0], logits, step)
    return compare_gradients(f"d_logits of {name}", loss(logits)[1], by_differences, tolerance)


def check_layer(
    layer: Layer, x: FloatArray, loss: Loss, tolerance: float = 1e-7, step: float = 1e-3, *, as_learning: bool = False
) -> float:
    """Return the largest relative error over d_x and all parameters; ``layer`` may be a whole network.

    x is what the layer takes; loss(out) -> (value, d_out). Entries that a ReLU sees must be farther from 0 than a
    nudge moves them. Also holds the layer to its contract: predict equals forward and disturbs nothing, backward
    adds to the gradients and leaves d_out alone. ``as_learning`` is for layers whose predict is meant to differ, such
    as BatchNorm2D: the differences are then those of forward, which must give the same out for the same x.
    Raises GradientError.
    """
    name = type(layer).__name__
    _need_float64(name, x)
    x = x.copy()
    for parameter in layer.parameters():
        parameter.grad[...] = 1  # to be added to
    out = layer.forward(x)
    if not as_learning and not np.array_equal(layer.predict(x), out):
        raise GradientError(f"{name}: predict differs from forward")
    layer.predict(2 * x + 1)
    d_out = loss(out)[1]
    d_out_before = d_out.copy()
    d_x = layer.backward(d_out)
    if not np.array_equal(d_out, d_out_before):
        raise GradientError(f"{name}: backward changed its d_out")

    run = layer.forward if as_learning else layer.predict

    def value() -> float:
        return loss(run(x))[0]

    errors = [compare_gradients(f"{name}: d_x", d_x, numerical_gradient(value, x, step), tolerance)]
    for parameter in layer.parameters():
        by_differences = numerical_gradient(value, parameter.value, step)
        errors.append(compare_gradients(f"{name}: d_{parameter.name}", parameter.grad - 1, by_differences, tolerance))
    return max(errors)


def random_slope(rng: np.random.Generator, shape: tuple[int, ...]) -> Loss:
    """Return the loss ``sum(out * d_out)`` with a random d_out of this shape: every output counts differently."""
    d_out = rng.standard_normal(shape)
    return lambda out: (float((out * d_out).sum()), d_out)


def _rise(value: Callable[[], float], array: FloatArray, index: tuple[int, ...], nudge: float) -> float:
    """Return f(x + nudge) - f(x - nudge) for one entry, leaving it nudged."""
    here = array[index]
    array[index] = here + nudge
    above = value()
    array[index] = here - nudge
    below = value()
    array[index] = here
    return above - below


def _need_float64(name: str, array: FloatArray) -> None:
    if array.dtype != np.float64:
        raise GradientError(f"{name}: got {array.dtype}, wanted float64: differences need its digits")
