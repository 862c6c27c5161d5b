"""What all networks over a board have in common: checked inputs, answers that are finite, files of weights, copies.

    x (N, planes, H, W) --- layers ---> out (N, A) logits, or (N, 1) values, or (N, A + 1) both, the value last

A logit says how good a move is, A = H * W moves; a value how well the side to move stands, from -1 lost to 1 won.
"""

import math
import os
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nn.layers import FloatArray, Layer, NonFiniteError, ShapeError, check_numbers
from nn.network import Sequential
from nn.norm import Dropout, UniformSource
from nn.weights import WeightsError, check_array, check_names, load_arrays, save_arrays


class AnswerError(ValueError):
    """A network is asked for moves and knows only values, or the other way round."""


class RandomnessError(ValueError):
    """A network that draws while learning was not told what from."""


class BoardNet(Sequential):
    """Layers over a board of H x W, with the sizes they were made from.

    A kind of network names its ``SIZES``: keywords of its constructor, and attributes of the same names, each a
    whole number or a tuple of them. Together with the dtype they are ``meta()``, which stands in every file.
    ``forward`` is for learning and ``predict`` for use; where the two differ, nn/norm.py says how.
    """

    SIZES: ClassVar[tuple[str, ...]]
    HAS_POLICY: ClassVar[bool] = True
    HAS_VALUE: ClassVar[bool] = False
    ANY_BOARD: ClassVar[bool] = False  # whether no weight belongs to a cell of the board, so that all boards share them

    def __init__(self, height: int, width: int, planes: int, dtype: DTypeLike, layers: Sequence[Layer]) -> None:
        self.height, self.width, self.planes = height, width, planes
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"{type(self).__name__}: got dtype {self.dtype}, wanted float32 or float64")
        super().__init__(layers)

    @property
    def outputs(self) -> int:
        """How many columns ``out`` has."""
        return self.HAS_POLICY * self.height * self.width + self.HAS_VALUE

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> out (N, outputs), keeping what backward needs.

        Raises ShapeError for another shape, NonFiniteError if a number in out is NaN or infinite.
        """
        x = self._checked(x)
        with np.errstate(all="ignore"):  # what goes wrong is told by _finite, in words
            return self._finite(self._forward(x))

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, outputs) -> d_x (N, planes, H, W), adding to the gradients of all parameters."""
        return self._backward(self._checked_slope(d_out))

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does; d_x, which in training nobody asks for, need not be computed."""
        self._backward(self._checked_slope(d_out))

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> out (N, outputs), keeping nothing.

        Raises ShapeError for another shape, NonFiniteError if a number in out is NaN or infinite.
        """
        x = self._checked(x)
        with np.errstate(all="ignore"):
            return self._finite(self._predict(x))

    def logits(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> the moves' logits (N, A), keeping nothing.

        Raises AnswerError if the network has none.
        """
        if not self.HAS_POLICY:
            raise AnswerError(f"{type(self).__name__} says how well a side stands, not which move to make")
        return self.predict(x)[:, : self.height * self.width]

    def values(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> how well the side to move stands (N,), -1 to 1, keeping nothing.

        Raises AnswerError if the network does not say.
        """
        if not self.HAS_VALUE:
            raise AnswerError(f"{type(self).__name__} says which move to make, not how well a side stands")
        return self.predict(x)[:, -1]

    def use_rng(self, rng: UniformSource) -> None:
        """Let Dropout, if there is any, draw from ``rng``: to go on learning after ``load``."""
        for layer in self.layers:
            if isinstance(layer, Dropout):
                layer.rng = rng

    def copy(self) -> Self:
        """Return a net of its own with the same weights and statistics; gradients start at 0.

        If it has Dropout, it learns only after ``use_rng``.
        """
        return self.on_board(self.height, self.width)

    def on_board(self, height: int, width: int) -> Self:
        """Return a copy with the same weights for a board of another size, which a network of ANY_BOARD allows.

        Raises ShapeError if an array's shape depends on the board, as a dense layer's does.
        """
        sizes = {size: getattr(self, size) for size in self.SIZES} | {"height": height, "width": width}
        net = self._made(sizes, _Zeros(), self.dtype)
        for (name, its), mine in zip(net.arrays().items(), self.arrays().values(), strict=True):
            if its.shape != mine.shape:
                board = f"{self.height}x{self.width}"
                raise ShapeError(
                    f"a {type(self).__name__} for {board} does not fit a board of {height}x{width}: "
                    f"{name} has the shape {mine.shape}, wanted {its.shape}"
                )
            its[...] = mine
        return net

    def fits(self, height: int, width: int) -> bool:
        """Whether it is for this board, or ``on_board`` makes it so."""
        return self.ANY_BOARD or (height, width) == (self.height, self.width)

    def arrays(self) -> dict[str, FloatArray]:
        """Return the net's own arrays by name: the values of all parameters, then the statistics."""
        return {parameter.name: parameter.value for parameter in self.parameters()} | self.statistics()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write arrays and sizes to ``path`` (.npz, see nn.weights), atomically.

        Raises WeightsError if the file cannot be written or a number is not finite.
        """
        for name, array in self.arrays().items():
            check_array(path, name, array, array.shape, self.dtype)
        save_arrays(path, self.arrays(), self.meta())

    def meta(self) -> dict[str, Any]:
        """Return what ``from_arrays`` needs besides the arrays: kind, sizes and dtype, JSON-able."""
        sizes = {name: getattr(self, name) for name in self.SIZES}
        plain = {name: list(size) if isinstance(size, tuple) else size for name, size in sizes.items()}
        return {"net": type(self).__name__, **plain, "dtype": self.dtype.name}

    @classmethod
    def load(cls, path: str | os.PathLike[str], dtype: DTypeLike | None = None) -> Self:
        """Return the net that ``save`` wrote to ``path``, in its own dtype or in the one given.

        Raises WeightsError if the file is missing, damaged or not that of a net of this kind.
        """
        arrays, meta = load_arrays(path)
        return cls.from_arrays(arrays, meta, path, dtype)

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], path: object, dtype: DTypeLike | None = None
    ) -> Self:
        """Return the net of these arrays and ``meta()``; ``path`` is what an error message names.

        A net much larger than the arrays is refused before any memory is asked for. Raises WeightsError.
        """
        name, wanted = cls.__name__, {"net", *cls.SIZES, "dtype"}
        if meta.get("net") != name or set(meta) != wanted:
            raise WeightsError(f"{path}: holds no {name}: got the entries {dict(meta)}, wanted {sorted(wanted)}")
        if meta["dtype"] not in ("float32", "float64"):
            raise WeightsError(f"{path}: has dtype {meta['dtype']!r}, wanted 'float32' or 'float64'")
        sizes = {size: tuple(meta[size]) if isinstance(meta[size], list) else meta[size] for size in cls.SIZES}
        for size, value in sizes.items():
            if not all(type(number) is int and number > 0 for number in (value if type(value) is tuple else (value,))):
                raise WeightsError(f"{path}: got {size} {value!r}, wanted whole numbers, all > 0")
        held = 2 * sum(array.size for array in arrays.values())  # twice: a small misfit is told array by array
        try:
            net = cls._made(sizes, _Zeros(held), np.dtype(meta["dtype"] if dtype is None else dtype))
        except (ShapeError, TypeError) as error:  # TypeError: one number where several are wanted, or the reverse
            raise WeightsError(f"{path}: holds no {name}: {error}") from error
        mine = net.arrays()
        check_names(path, arrays, list(mine))
        for key, array in mine.items():
            check_array(path, key, arrays[key], array.shape, np.dtype(meta["dtype"]))
        for key, array in mine.items():
            array[...] = arrays[key]
        return net

    @classmethod
    def _made(cls, sizes: Mapping[str, Any], rng: "_Zeros", dtype: np.dtype[Any]) -> Self:
        """A net of these sizes; every kind's constructor takes its SIZES, rng and dtype."""
        build: Any = cls
        net: Self = build(**sizes, rng=rng, dtype=dtype)
        return net

    def _forward(self, x: FloatArray) -> FloatArray:
        """What forward does with a checked x; a net with a fast twin asks it instead."""
        return super().forward(x)

    def _backward(self, d_out: FloatArray) -> FloatArray:
        return super().backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        return super().predict(x)

    def _checked(self, x: FloatArray) -> FloatArray:
        wanted = (self.planes, self.height, self.width)
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1:] != wanted:
            got = f"{type(self).__name__}: got x {x.shape}"
            raise ShapeError(f"{got}, wanted (N, {wanted[0]}, {wanted[1]}, {wanted[2]})")
        check_numbers(type(self).__name__, "x", x)
        return x.astype(self.dtype, copy=False)

    def _checked_slope(self, d_out: FloatArray) -> FloatArray:
        d_out = np.asarray(d_out)
        what = "d_logits" if self.outputs == self.height * self.width else "d_out"
        if d_out.ndim != 2 or d_out.shape[1] != self.outputs:
            raise ShapeError(f"{type(self).__name__}: got {what} {d_out.shape}, wanted (N, {self.outputs})")
        check_numbers(type(self).__name__, what, d_out)
        return d_out

    def _finite(self, out: FloatArray) -> FloatArray:
        if not np.isfinite(out).all():
            row, column = np.argwhere(~np.isfinite(out))[0]
            name = "values" if self.HAS_VALUE and column == self.outputs - 1 else "logits"
            what = f"{name}[{row}, {column}] is {out[row, column]}"
            raise NonFiniteError(f"{type(self).__name__}: {what}: a weight or the input is damaged")
        return out


def whole_size(who: str, number: int) -> int:
    """Return a size as Python's int. Raises ShapeError, naming ``who``, if it is below 1."""
    if index(number) < 1:
        raise ShapeError(f"{who}: got a size of {number}, wanted 1 or more")
    return index(number)


class _Zeros:
    """Draws nothing, for nets whose weights are about to be filled in: at most so many of them."""

    def __init__(self, most: float = float("inf")) -> None:
        self._left = most

    def standard_normal(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        """Zeros. Raises ShapeError once there are more than there may be."""
        wanted = math.prod(size)  # exactly: a size may be a number of hundreds of digits
        if wanted > self._left:
            raise ShapeError(f"its sizes ask for an array of {size}, far more than the file holds")
        self._left -= wanted
        return np.zeros(size)

    def random(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        """Raise RandomnessError: what Dropout draws from is not in a file."""
        raise RandomnessError("a net that was loaded or copied learns after net.use_rng(rng): Dropout draws from it")
