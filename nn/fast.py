"""The fast twin of PolicyNet's layers: the same numbers to rounding, in memory that is asked for once.

Skip this file on a first reading: `Sequential(net.layers)` is the definition, here is only how to get there sooner.

        256 positions       32 at a time through both convolutions       all 256 through the dense layers

        0 .. 31             ---> nn/rows.py --->  features (D, 32)  --.
        32 .. 63            ---> nn/rows.py --->  features (D, 32)  --+--> (D, 256) ---> hidden ---> logits
        ...                                                         --'

1. Convolutions take few positions at a time, so that what is made of them stays in the cache: nn/rows.py, and for very
   few positions nn/whole_boards.py. Dense layers take many at a time, since their weights are large.
2. Positions lie innermost from the first to the last layer: features are (D, N), and nothing is ever turned round.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nn.conv import Conv2D
from nn.layers import Dense, FloatArray, NoForwardError
from nn.rows import COLUMNS, Rows, Sizes
from nn.whole_boards import WholeBoards
from nn.workspace import Workspace

TOGETHER = 256  # positions that go through the dense layers at once
DENSE_ROWS = 4096  # about so many rows of a dense layer's weight get their slopes at once
FEW = 256  # columns of a row of cells: with fewer, whole boards go into one product
SINGLY = 3  # up to so many positions are multiplied with a dense weight one by one: it need not be repacked then


class Room:
    """Memory for a few positions on their way through the convolutions, whichever way they go."""

    def __init__(self, sizes: Sizes, dtype: np.dtype[Any], scratch: list[Workspace]) -> None:
        self._width = sizes.width
        self._rows, self._boards = Rows(sizes, dtype, scratch), WholeBoards(sizes, dtype)

    def prepared(self, positions: int) -> Rows | WholeBoards:
        """The way to go for ``positions`` of them."""
        way = self._boards if positions * self._width < FEW else self._rows
        way.prepare(positions)
        return way

    def memory(self) -> int:
        """Bytes held."""
        return self._rows.memory() + self._boards.memory()


class Activations:
    """What up to TOGETHER positions leave behind on their way through the net: features (D, N), hidden (M, N), ways."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.rooms: list[Room] = []
        self.ways: list[tuple[slice, Rows | WholeBoards]] = []
        self._memory = [Workspace(dtype) for _ in range(2)]

    def prepare(self, positions: int, features: int, hidden: int) -> None:
        """Make room for ``positions`` of them."""
        self.features: FloatArray = self._memory[0].shaped(features, positions)
        self.hidden: FloatArray = self._memory[1].shaped(hidden, positions)

    def memory(self) -> int:
        """Bytes held."""
        return sum(memory.memory() for memory in self._memory) + sum(room.memory() for room in self.rooms)


class FastPolicy:
    """forward, backward and predict of two 3x3 convolutions and two dense layers, each but the last with a ReLU.

    It reads the layers' Parameters and adds to their slopes. Its workspaces have the size of the largest batch that
    forward has met; what it returns is a fresh array each time.
    """

    def __init__(self, conv1: Conv2D, conv2: Conv2D, fc1: Dense, fc2: Dense, height: int, width: int) -> None:
        self.conv1, self.conv2, self.fc1, self.fc2 = conv1, conv2, fc1, fc2
        inner, planes = conv1.weight.value.shape[:2]
        self.sizes = Sizes(height, width, planes, inner, len(conv2.weight.value))
        self.dtype = conv1.weight.value.dtype
        self._kept: list[Activations] = []
        self._passing = Activations(self.dtype)
        self._forward_count = 0
        self._scratch = [Workspace(self.dtype) for _ in range(4)]
        self._d_features = Workspace(self.dtype)
        self._zeros: FloatArray = np.zeros(1, self.dtype)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping nothing."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        for some in together(len(x)):
            self._forward(x[some], self._passing, logits[some], keep=False)
        return logits

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping what backward needs."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        self._forward_count = len(x)
        for i, some in enumerate(together(len(x))):
            if i == len(self._kept):
                self._kept.append(Activations(self.dtype))
            self._forward(x[some], self._kept[i], logits[some], keep=True)
        return logits

    def backward(self, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A) -> d_x (N, C, H, W); adds to the slopes of all eight parameters."""
        d_x = np.empty((len(d_logits), self.sizes.planes, self.sizes.height, self.sizes.width), self.dtype)
        self._backward(d_logits, d_x)
        return d_x

    def add_gradients(self, d_logits: FloatArray) -> None:
        """Do what backward does, without the slope of x, which only a layer below would ask for."""
        self._backward(d_logits, None)

    def memory(self) -> int:
        """Bytes held by all workspaces."""
        activations = sum(held.memory() for held in [*self._kept, self._passing])
        return activations + sum(workspace.memory() for workspace in [*self._scratch, self._d_features])

    # --- Forward ---------------------------------------------------------------------------------------------------

    def _forward(self, x: FloatArray, to: Activations, logits: FloatArray, keep: bool) -> None:
        """x (N, C, H, W), N <= TOGETHER -> logits (N, A), written in place."""
        weight, bias = self.fc1.weight.value, self.fc1.bias.value
        to.prepare(len(x), *weight.shape)
        self._convolve(x, to, keep)
        if len(x) <= SINGLY:
            rows = np.ascontiguousarray(to.features.T)[:, None]  # (N, 1, D)
            to.hidden[...] = np.matmul(rows, weight)[:, 0].T
        else:
            np.matmul(weight.T, to.features, out=to.hidden)
        to.hidden += bias[:, None]
        np.maximum(to.hidden, self._zeros_like(to.hidden), out=to.hidden)
        np.matmul(to.hidden.T, self.fc2.weight.value, out=logits)
        logits += self.fc2.bias.value

    def _convolve(self, x: FloatArray, to: Activations, keep: bool) -> None:
        """x (N, C, H, W) -> to.features, and to.ways, which remember it until the memory is used again."""
        maps = to.features.reshape(self.sizes.outer, self.sizes.height, self.sizes.width, len(x))
        to.ways, weights = [], {}
        groups = few(len(x), self.sizes.width)
        for number, some in enumerate(groups):
            # What is not kept needs one room, and another for the last few, which may be fewer.
            place = number if keep else int(number == len(groups) - 1)
            while place >= len(to.rooms):
                to.rooms.append(Room(self.sizes, self.dtype, self._scratch))
            way = to.rooms[place].prepared(some.stop - some.start)
            if type(way) not in weights:
                weights[type(way)] = way.weights(self.conv1, self.conv2)
            way.forward(weights[type(way)], x[some], maps[..., some])
            to.ways.append((some, way))

    def _zeros_like(self, array: FloatArray) -> FloatArray:
        """Zeros: a ReLU against an array of as many is several times as fast as against the number 0."""
        if array.size > len(self._zeros):
            self._zeros = np.zeros(array.size, self.dtype)
        return self._zeros[: array.size].reshape(array.shape)

    # --- Backward --------------------------------------------------------------------------------------------------

    def _backward(self, d_logits: FloatArray, d_x: FloatArray | None) -> None:
        if len(d_logits) != self._forward_count:
            raise NoForwardError(
                f"backward got slopes of {len(d_logits)} positions, but the last forward saw {self._forward_count}"
            )
        for kept, some in zip(self._kept, together(len(d_logits)), strict=False):
            d_maps = self._through_dense(kept, d_logits[some].astype(self.dtype, copy=False))
            for few_of_them, way in kept.ways:
                d_few = None if d_x is None else d_x[some][few_of_them]
                way.backward(self.conv1, self.conv2, d_maps[..., few_of_them], d_few)

    def _through_dense(self, kept: Activations, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A), N <= TOGETHER -> (F2, H, W, N), the slope of what the second convolution gave."""
        features, hidden = kept.features, kept.hidden
        self.fc2.weight.grad.T[...] += d_logits.T @ hidden.T  # (A, N) @ (N, M)
        self.fc2.bias.grad += d_logits.sum(axis=0)
        d_hidden = self.fc2.weight.value @ d_logits.T  # (M, A) @ (A, N)
        d_hidden *= hidden > 0
        self.fc1.bias.grad += d_hidden.sum(axis=1)
        d_features = self._d_features.shaped(*features.shape)
        height, width, _, _, outer = self.sizes
        area = height * width
        step = max(1, DENSE_ROWS // area)
        for first in range(0, outer, step):
            rows = slice(first * area, (first + step) * area)
            here = np.matmul(self.fc1.weight.value[rows], d_hidden, out=d_features[rows])  # (D, M) @ (M, N)
            here *= features[rows] > 0
            self.conv2.bias.grad[first : first + step] += here.reshape(-1, area * len(d_logits)).sum(axis=1)
            self.fc1.weight.grad.T[:, rows] += d_hidden @ features[rows].T  # (M, N) @ (N, D)
        return d_features.reshape(outer, height, width, -1)


def together(count: int) -> Iterator[slice]:
    """Cut ``count`` positions into slices of at most TOGETHER."""
    return (slice(first, min(first + TOGETHER, count)) for first in range(0, count, TOGETHER))


def few(count: int, width: int) -> list[slice]:
    """Cut ``count`` positions into slices about equal, whose row of ``width`` cells has at most COLUMNS columns."""
    groups = -(-count // max(1, COLUMNS // width))
    step = -(-count // groups)
    return [slice(first, min(first + step, count)) for first in range(0, count, step)]
