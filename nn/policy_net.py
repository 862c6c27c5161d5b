"""The policy network: a board goes in, a preference for every cell comes out.

    x (N, planes, H, W) - conv1 3x3 - ReLU - conv2 3x3 - ReLU - flatten - fc1 - ReLU - fc2 - logits (N, A), A = H * W

With its default sizes on a 15 x 15 board it is the Java program's network. Its layers say what is computed; how, in
a fraction of the time, is the business of nn/fast.py, and tests hold the two equal.
"""

import os
from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nn.conv import Conv2D
from nn.fast import FastPolicy
from nn.init import NormalSource
from nn.java_random import JavaRandom
from nn.layers import Dense, Flatten, FloatArray, NonFiniteError, ReLU, ShapeError
from nn.network import Sequential
from nn.weights import WeightsError, check_array, check_names, fill_parameters, load_arrays, save_arrays


class PolicyNet(Sequential):
    """Two convolutions and two dense layers over a board of H x W.

    ``planes`` in, ``filters`` of the two convolutions, ``hidden`` features between the dense layers. The weights
    are drawn from ``rng`` layer by layer in the order conv1, conv2, fc1, fc2; biases start at 0. Inputs are taken
    as ``dtype``, which is also that of all parameters and outputs.
    """

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        filters: tuple[int, int] = (16, 32),
        hidden: int = 256,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if len(filters) != 2:
            raise ShapeError(f"PolicyNet: got filters {filters}, wanted two numbers")
        height, width, planes, hidden = _size(height), _size(width), _size(planes), _size(hidden)
        filters = (_size(filters[0]), _size(filters[1]))
        self.height, self.width, self.planes = height, width, planes
        self.filters, self.hidden = filters, hidden
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise ValueError(f"PolicyNet: got dtype {self.dtype}, wanted float32 or float64")
        cells = height * width
        self.conv1 = Conv2D(planes, filters[0], 3, 1, rng=rng, dtype=dtype, name="conv1")
        self.conv2 = Conv2D(filters[0], filters[1], 3, 1, rng=rng, dtype=dtype, name="conv2")
        self.fc1 = Dense(filters[1] * cells, hidden, rng=rng, dtype=dtype, name="fc1")
        self.fc2 = Dense(hidden, cells, rng=rng, dtype=dtype, name="fc2")
        super().__init__([self.conv1, ReLU(), self.conv2, ReLU(), Flatten(), self.fc1, ReLU(), self.fc2])
        self._fast = FastPolicy(self.conv1, self.conv2, self.fc1, self.fc2, height, width)

    @classmethod
    def java(cls, layer_seeds: Sequence[int] = (1, 2, 3, 4), bias_seed: int | None = None) -> "PolicyNet":
        """Return the Java program's network in float64, weights equal bit for bit.

        Each layer draws from a java.util.Random of its own seed. With a ``bias_seed``, one more generator fills the
        biases of conv1, conv2, fc1, fc2 in that order with Gaussians times 0.1; without, they are 0.
        """
        if len(layer_seeds) != 4:
            raise ValueError(f"layer_seeds: got {len(layer_seeds)} numbers, wanted 4 (conv1, conv2, fc1, fc2)")
        net = cls(rng=_OneSeedEach(layer_seeds), dtype=np.float64)
        if bias_seed is not None:
            rng = JavaRandom(bias_seed)
            for layer in (net.conv1, net.conv2, net.fc1, net.fc2):
                layer.bias.value[...] = rng.standard_normal(layer.bias.value.shape) * 0.1
        return net

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> logits (N, A), keeping what backward needs.

        Raises ShapeError for another shape, NonFiniteError if a logit is NaN or infinite.
        """
        x = self._checked(x)
        with np.errstate(all="ignore"):  # what goes wrong is told by _finite, in words
            return _finite(self._fast.forward(x))

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_logits (N, A) -> d_x (N, planes, H, W), adding to the gradients of all eight parameters."""
        return self._fast.backward(self._checked_slope(d_out))

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        self._fast.add_gradients(self._checked_slope(d_out))

    def memory(self) -> int:
        """Return how many bytes of memory for intermediate results are held, enough for the largest batch so far."""
        return self._fast.memory()

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, planes, H, W) -> logits (N, A), keeping nothing.

        Raises ShapeError for another shape, NonFiniteError if a logit is NaN or infinite.
        """
        x = self._checked(x)
        with np.errstate(all="ignore"):
            return _finite(self._fast.predict(x))

    def copy(self) -> "PolicyNet":
        """Return a net of its own with the same weights; gradients start at 0."""
        sizes = {"planes": self.planes, "hidden": self.hidden}
        net = PolicyNet(self.height, self.width, filters=self.filters, rng=_Zeros(), dtype=self.dtype, **sizes)
        for mine, its in zip(self.parameters(), net.parameters(), strict=True):
            its.value[...] = mine.value
        return net

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write weights and sizes to ``path`` (.npz, see nn.weights), atomically.

        Raises WeightsError if the file cannot be written or a weight is not finite.
        """
        for parameter in self.parameters():
            check_array(path, parameter.name, parameter.value, parameter.value.shape, self.dtype)
        save_arrays(path, {parameter.name: parameter.value for parameter in self.parameters()}, self.meta())

    def meta(self) -> dict[str, Any]:
        """Return what ``from_arrays`` needs besides the weights: the sizes and the dtype, JSON-able."""
        return {
            "net": "PolicyNet",
            "height": self.height,
            "width": self.width,
            "planes": self.planes,
            "filters": list(self.filters),
            "hidden": self.hidden,
            "dtype": self.dtype.name,
        }

    @classmethod
    def load(cls, path: str | os.PathLike[str], dtype: DTypeLike | None = None) -> "PolicyNet":
        """Return the net that ``save`` wrote to ``path``, in its own dtype or in the one given.

        Raises WeightsError if the file is missing, damaged or not that of a PolicyNet.
        """
        arrays, meta = load_arrays(path)
        return cls.from_arrays(arrays, meta, path, dtype)

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], path: object, dtype: DTypeLike | None = None
    ) -> "PolicyNet":
        """Return the net of these weights and ``meta()``; ``path`` is what an error message names.

        The sizes in ``meta`` are held against the shapes of the arrays before any memory is asked for.
        Raises WeightsError.
        """
        wanted = {"net", "height", "width", "planes", "filters", "hidden", "dtype"}
        if meta.get("net") != "PolicyNet" or set(meta) != wanted:
            raise WeightsError(f"{path}: holds no PolicyNet: got the entries {sorted(meta)}, wanted {sorted(wanted)}")
        filters = meta["filters"]
        sizes = [meta[key] for key in ("height", "width", "planes", "hidden")]
        sizes += filters if isinstance(filters, list) else [None]
        if len(sizes) != 6 or any(type(size) is not int or size < 1 for size in sizes):
            raise WeightsError(f"{path}: got sizes {sizes}, wanted height, width, planes, hidden, two filters, all > 0")
        if meta["dtype"] not in ("float32", "float64"):
            raise WeightsError(f"{path}: has dtype {meta['dtype']!r}, wanted 'float32' or 'float64'")
        height, width, planes, hidden = sizes[:4]
        shapes = {
            "conv1.weight": (filters[0], planes, 3, 3),
            "conv1.bias": (filters[0],),
            "conv2.weight": (filters[1], filters[0], 3, 3),
            "conv2.bias": (filters[1],),
            "fc1.weight": (filters[1] * height * width, hidden),
            "fc1.bias": (hidden,),
            "fc2.weight": (hidden, height * width),
            "fc2.bias": (height * width,),
        }
        check_names(path, arrays, list(shapes))
        for name, shape in shapes.items():
            check_array(path, name, arrays[name], shape, np.dtype(meta["dtype"]))
        dtype = np.dtype(meta["dtype"] if dtype is None else dtype)
        both = (filters[0], filters[1])
        net = cls(height, width, planes=planes, filters=both, hidden=hidden, rng=_Zeros(), dtype=dtype)
        fill_parameters(net.parameters(), {name: array.astype(dtype) for name, array in arrays.items()}, path)
        return net

    def _checked(self, x: FloatArray) -> FloatArray:
        wanted = (self.planes, self.height, self.width)
        x = np.asarray(x)
        if x.ndim != 4 or x.shape[1:] != wanted:
            raise ShapeError(f"PolicyNet: got x {x.shape}, wanted (N, {wanted[0]}, {wanted[1]}, {wanted[2]})")
        return x.astype(self.dtype, copy=False)


    def _checked_slope(self, d_out: FloatArray) -> FloatArray:
        d_out = np.asarray(d_out)
        if d_out.ndim != 2 or d_out.shape[1] != self.height * self.width:
            raise ShapeError(f"PolicyNet: got d_logits {d_out.shape}, wanted (N, {self.height * self.width})")
        return d_out


def _size(number: int) -> int:
    if index(number) < 1:
        raise ShapeError(f"PolicyNet: got a size of {number}, wanted 1 or more")
    return index(number)


def _finite(logits: FloatArray) -> FloatArray:
    if not np.isfinite(logits).all():
        row, move = np.argwhere(~np.isfinite(logits))[0]
        what = f"logits[{row}, {move}] is {logits[row, move]}"
        raise NonFiniteError(f"PolicyNet: {what}: a weight or the input is damaged")
    return logits


class _OneSeedEach:
    """Gives every layer, in the order they ask, the numbers of a JavaRandom of its own seed."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = list(seeds)

    def standard_normal(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        return JavaRandom(self._seeds.pop(0)).standard_normal(size)


class _Zeros:
    """Draws nothing, for nets whose weights are about to be filled in."""

    def standard_normal(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        return np.zeros(size)
