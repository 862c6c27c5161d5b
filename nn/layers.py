"""What a layer is, and the four that need no picture: Dense, ReLU, Tanh and Flatten.

A layer turns ``x`` into ``out`` (forward) and the slope of the loss by ``out`` into its slope by ``x`` (backward).

    forward   x  ---> layer ---> out          keeps what backward will need
    backward  d_x <-- layer <--- d_out        adds the slopes by its own parameters to ``Parameter.grad``

``d_name`` always means the slope of the loss by ``name`` and has the shape of ``name``.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nn.init import NormalSource, he_normal

FloatArray = NDArray[np.floating[Any]]
Kept = TypeVar("Kept")


class ShapeError(ValueError):
    """An array has another shape than the one that was asked for; the message names both."""


class NonFiniteError(ValueError):
    """A number that must be finite is NaN or infinite."""


class NumberError(ValueError):
    """An array holds something else than real numbers."""


class NoForwardError(ValueError):
    """``backward`` was called on a layer that has not seen a ``forward``."""


class Parameter:
    """An array that is learnt: ``value``, and ``grad``, the slope of the loss by each of its entries (same shape).

    Layers add to ``grad``; whoever takes a step sets it back to zero first (``zero_grad`` of an optimiser).
    Both lie in memory in the same order and without gaps, which is all that an optimiser needs.
    """

    def __init__(self, name: str, value: FloatArray) -> None:
        self.name = name
        self.value = value if value.flags.forc else np.ascontiguousarray(value)
        self.grad = np.zeros_like(self.value)

    def __getstate__(self) -> tuple[str, FloatArray]:
        """Go to another process by name and value alone, at half the bytes; the slope starts at 0 there."""
        return self.name, self.value

    def __setstate__(self, state: tuple[str, FloatArray]) -> None:
        self.__init__(*state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Parameter({self.name!r}, shape={self.value.shape}, dtype={self.value.dtype})"


class Layer(ABC):
    """The contract every layer keeps.

    ``forward`` keeps what ``backward`` needs; ``predict`` gives the same output and keeps nothing, so it may be
    called between the two. ``backward`` leaves ``d_out`` as it was and adds to the gradients of its parameters.
    """

    @abstractmethod
    def forward(self, x: FloatArray) -> FloatArray:
        """Return the output for ``x`` and keep what backward needs."""

    @abstractmethod
    def backward(self, d_out: FloatArray) -> FloatArray:
        """Return d_x for the x of the last forward; add to every ``Parameter.grad``."""

    @abstractmethod
    def predict(self, x: FloatArray) -> FloatArray:
        """Return the output for ``x`` and keep nothing."""

    def parameters(self) -> list[Parameter]:
        """Return what is learnt here, in a fixed order."""
        return []

    def statistics(self) -> dict[str, FloatArray]:
        """Return, by name, what forward gathers for predict to use; it is part of a file of weights, but not learnt."""
        return {}


def kept_by_forward(value: Kept | None) -> Kept:
    """Return what forward kept for backward.

    Raises NoForwardError if there is nothing.
    """
    if value is None:
        raise NoForwardError("backward needs a forward before it: it is the slope at the x that forward saw")
    return value


def check_numbers(who: str, name: str, array: NDArray[Any]) -> None:
    """Raise NumberError unless the array holds real numbers: complex ones, objects and texts have no slope here."""
    if array.dtype.kind not in "fiub":
        raise NumberError(f"{who}: got {name} of {array.dtype}, wanted real numbers")


def check_slope(who: str, d_out: NDArray[Any], wanted: tuple[int, ...]) -> None:
    """Raise ShapeError unless d_out has the shape of the last forward's out; NumberError, see `check_numbers`."""
    if d_out.shape != wanted:
        raise ShapeError(f"{who}: got d_out {d_out.shape}, wanted {wanted}")
    check_numbers(who, "d_out", d_out)


class Dense(Layer):
    """Every output is a weighted sum of all inputs: ``out = x @ weight + bias``.

    x (N, D), weight (D, M), bias (M,), out (N, M).
    """

    def __init__(
        self, inputs: int, outputs: int, *, rng: NormalSource, dtype: DTypeLike = np.float32, name: str = "dense"
    ) -> None:
        weight = he_normal((inputs, outputs), inputs, rng, dtype)  # (D, M)
        # Column by column in memory: with few rows of x, the product is a quarter faster.
        self.weight = Parameter(f"{name}.weight", np.asfortranarray(weight))
        self.bias = Parameter(f"{name}.bias", np.zeros(outputs, dtype))  # (M,)
        self._x: FloatArray | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, D) -> out (N, M)."""
        out = self.predict(x)
        self._x = x
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, M) -> d_x (N, D).

        ``out[n, m] = bias[m] + sum over d of x[n, d] * weight[d, m]``, so one product gives two slopes:
        weight[d, m] moves out[n, m] by x[n, d] in every row n, and x[n, d] moves out[n, m] by weight[d, m] in
        every column m. Adding up over what is not named is a matrix product each time.
        """
        x = kept_by_forward(self._x)
        check_slope(self.weight.name, d_out, (len(x), len(self.bias.value)))
        self.weight.grad += (d_out.T @ x).T  # (M, N) @ (N, D), turned round
        self.bias.grad += d_out.sum(axis=0)  # (M,)
        return d_out @ self.weight.value.T  # (N, M) @ (M, D)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, D) -> out (N, M), keeping nothing."""
        if x.ndim != 2 or x.shape[1] != len(self.weight.value):
            raise ShapeError(f"{self.weight.name}: got x {x.shape}, wanted (N, {len(self.weight.value)})")
        check_numbers(self.weight.name, "x", x)
        out = x @ self.weight.value  # (N, M)
        out += self.bias.value
        return out

    def parameters(self) -> list[Parameter]:
        """Return [weight (D, M), bias (M,)]."""
        return [self.weight, self.bias]


class ReLU(Layer):
    """Negative numbers become zero: ``out = max(x, 0)``, entry by entry, in any shape."""

    def __init__(self) -> None:
        self._positive: NDArray[np.bool_] | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape."""
        out = self.predict(x)
        self._positive = x > 0
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x, same shape: the slope is 1 where x was positive and 0 elsewhere (0 at the kink as well)."""
        positive = kept_by_forward(self._positive)
        check_slope("ReLU", d_out, positive.shape)
        return d_out * positive

    def predict(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape, keeping nothing."""
        check_numbers("ReLU", "x", x)
        return np.maximum(x, np.zeros_like(x[:1]))  # an array of zeros: faster than a Python 0


class Tanh(Layer):
    """Every number is pressed between -1 and 1: ``out = tanh(x)``, entry by entry, in any shape."""

    def __init__(self) -> None:
        self._out: FloatArray | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape."""
        self._out = self.predict(x)
        return self._out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x, same shape: the slope of tanh is 1 - tanh^2, steep in the middle and flat at both ends."""
        out = kept_by_forward(self._out)
        check_slope("Tanh", d_out, out.shape)
        return d_out * (1 - out * out)

    def predict(self, x: FloatArray) -> FloatArray:
        """x -> out, same shape, keeping nothing."""
        check_numbers("Tanh", "x", x)
        out: FloatArray = np.tanh(x)
        return out


class Flatten(Layer):
    """Lay the features of a position out in one row: (N, C, H, W) -> (N, C * H * W), the last index fastest."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, ...) -> out (N, D)."""
        out = self.predict(x)
        self._shape = x.shape
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, D) -> d_x (N, ...): no number changed, so each slope goes back to where its number came from."""
        shape = kept_by_forward(self._shape)
        check_slope("Flatten", d_out, (shape[0], math.prod(shape[1:])))
        return d_out.reshape(shape)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, ...) -> out (N, D), keeping nothing."""
        if x.ndim < 2:
            raise ShapeError(f"Flatten: got x {x.shape}, wanted (N, ...)")
        check_numbers("Flatten", "x", x)
        return x.reshape(len(x), math.prod(x.shape[1:]))
