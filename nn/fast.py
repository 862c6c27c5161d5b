"""The fast twin of PolicyNet's layers: the same numbers to rounding, in memory that is asked for once.

Skip this file on a first reading: `Sequential(net.layers)` is the definition, here is only how to get there sooner.

1. The positions of a batch lie innermost: where the drawing shows one number, there are N of them, side by side. A
   plane is a row of slots. A row of the board takes S = W + 1 of them, so that one slot of zeros is both the right
   edge of a row and the left edge of the next:

        0 0 0 0 0
        0 a b c d        slot of (row, col) = (row + 1) * S + col + 1
        0 e f g h
        0 i j k l        What the window's centre sees from a to h is one run of slots; what its other eight cells
        0 0 0 0 0        see are eight more, which begin up to S + 1 slots earlier or later. So im2col is a copy of
        0                nine runs a plane, however many rows they cover.

   The slot between d and e is computed as well; whoever uses it next must know that, or set it back to zero.
2. A strip of slots has as many columns as the second-level cache holds; their product and their ReLU are done while
   they are there. A row of ones below them brings the bias in.
3. The slope of a convolution's input is a convolution too, with the window turned by half a turn, over the slopes of
   its output; and the columns made for it give the slope of the weight.
4. The dense layers take their features as (D, N), positions innermost as well, so nothing is ever turned round.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from nn.conv import Conv2D
from nn.layers import Dense, FloatArray, NoForwardError
from nn.workspace import Workspace

TOGETHER = 256  # positions that go through the net at once
STRIP = 768  # columns of a strip: in float32, 145 rows of so many are 440 KB
DENSE_ROWS = 512  # about so many rows of a dense layer's weight get their slopes at once
SKEW = 16  # added to the length of a row of columns: rows a power of two apart would share few places in the cache


class Strip(NamedTuple):
    """Some slots in a row, from a cell to a cell: either whole rows of the board or a part of one row."""

    slots: slice
    rows: slice
    cols: slice


class Slots:
    """The layout of the drawing: how a board of H x W lies in a row of slots."""

    def __init__(self, height: int, width: int) -> None:
        self.height, self.width, self.stride = height, width, width + 1
        self.count = (height + 2) * self.stride + 1

    def strips(self, positions: int) -> Iterator[Strip]:
        """Cut the board into strips of about STRIP columns, ``positions`` to a slot."""
        rows = max(1, STRIP // (self.stride * positions))
        parts = max(1, round(self.width * positions / STRIP)) if rows == 1 else 1
        cols = -(-self.width // min(parts, self.width))
        for row in range(0, self.height, rows):
            for col in range(0, self.width, cols):
                end_row, end_col = min(row + rows, self.height), min(col + cols, self.width)
                first, last = self.slot(row, col), self.slot(end_row - 1, end_col - 1)
                yield Strip(slice(first, last + 1), slice(row, end_row), slice(col, end_col))

    def slot(self, row: int, col: int) -> int:
        """Where a cell lies."""
        return (row + 1) * self.stride + col + 1

    def cells(self, planes: FloatArray) -> FloatArray:
        """planes (C, slots, N) -> (C, H, W, N), a view."""
        board = planes[:, self.stride + 1 : (self.height + 1) * self.stride + 1]
        return board.reshape(len(planes), self.height, self.stride, -1)[:, :, : self.width]

    def clear_edges(self, planes: FloatArray) -> None:
        """planes (C, slots, N): set every slot that is no cell to zero."""
        planes[:, : self.stride] = 0
        planes[:, -self.stride :] = 0
        planes[:, self.stride :: self.stride] = 0

    def columns(self, planes: FloatArray, strip: Strip, memory: Workspace) -> FloatArray:
        """im2col of a strip of m slots: planes (C, slots, N) -> (C * 9 + 1, m * N), the last row ones."""
        count, slots, positions = planes.shape
        length = (strip.slots.stop - strip.slots.start) * positions
        columns: FloatArray = memory.shaped(count * 9 + 1, length + SKEW)[:, :length]
        slot = positions * planes.itemsize
        nine: FloatArray = np.ndarray(
            (count, 3, 3, length),
            planes.dtype,
            planes,
            (strip.slots.start - self.stride - 1) * slot,
            (slots * slot, self.stride * slot, slot, planes.itemsize),
        )
        np.copyto(columns[:-1].reshape(nine.shape), nine)
        columns[-1] = 1
        return columns


class Activations:
    """What up to TOGETHER positions leave behind on their way through the net, for the way back.

    seen (C, slots, N), inner (F1, slots, N), features (D, N), hidden (M, N).
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory = [Workspace(dtype) for _ in range(4)]

    def prepare(self, positions: int, slots: int, planes: int, filters: int, features: int, hidden: int) -> None:
        """Make room for ``positions`` of them."""
        self.seen: FloatArray = self._memory[0].shaped(planes, slots, positions)
        self.inner: FloatArray = self._memory[1].shaped(filters, slots, positions)
        self.features: FloatArray = self._memory[2].shaped(features, positions)
        self.hidden: FloatArray = self._memory[3].shaped(hidden, positions)

    def memory(self) -> int:
        """Bytes held."""
        return sum(workspace.memory() for workspace in self._memory)


class FastPolicy:
    """forward, backward and predict of two 3x3 convolutions and two dense layers, each but the last with a ReLU.

    It reads the layers' Parameters and adds to their slopes. Its workspaces have the size of the largest batch that
    forward has met; what it returns is a fresh array each time.
    """

    def __init__(self, conv1: Conv2D, conv2: Conv2D, fc1: Dense, fc2: Dense, height: int, width: int) -> None:
        self.conv1, self.conv2, self.fc1, self.fc2 = conv1, conv2, fc1, fc2
        self.slots = Slots(height, width)
        self.dtype = conv1.weight.value.dtype
        self._kept: list[Activations] = []
        self._passing = Activations(self.dtype)
        self._forward_count = 0
        self._work = [Workspace(self.dtype) for _ in range(6)]
        self._columns, self._strip, self._d_hidden, self._d_outer, self._d_inner, self._d_seen = self._work
        self._zeros: FloatArray = np.zeros(1, self.dtype)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping nothing."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        for some in together(len(x)):
            self._forward(x[some], self._passing, logits[some])
        return logits

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping what backward needs."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        self._forward_count = len(x)
        for i, some in enumerate(together(len(x))):
            if i == len(self._kept):
                self._kept.append(Activations(self.dtype))
            self._forward(x[some], self._kept[i], logits[some])
        return logits

    def backward(self, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A) -> d_x (N, C, H, W); adds to the slopes of all eight parameters."""
        planes = self.conv1.weight.value.shape[1]
        d_x = np.empty((len(d_logits), planes, self.slots.height, self.slots.width), self.dtype)
        self._backward(d_logits, d_x)
        return d_x

    def add_gradients(self, d_logits: FloatArray) -> None:
        """Do what backward does, without the slope of x, which only a layer below would ask for."""
        self._backward(d_logits, None)

    def memory(self) -> int:
        """Bytes held by all workspaces."""
        activations = sum(held.memory() for held in [*self._kept, self._passing])
        return activations + sum(workspace.memory() for workspace in self._work)

    # --- Forward ---------------------------------------------------------------------------------------------------

    def _forward(self, x: FloatArray, to: Activations, logits: FloatArray) -> None:
        """x (N, C, H, W), N <= TOGETHER -> logits (N, A), written in place."""
        slots, positions = self.slots, len(x)
        weight1, weight2 = with_bias(self.conv1), with_bias(self.conv2)
        to.prepare(positions, slots.count, x.shape[1], len(weight1), *self.fc1.weight.value.shape)
        slots.clear_edges(to.seen)
        slots.cells(to.seen)[...] = x.transpose(1, 2, 3, 0)
        for strip in slots.strips(positions):
            columns = slots.columns(to.seen, strip, self._columns)
            out = to.inner[:, strip.slots].reshape(len(weight1), -1)
            np.matmul(weight1, columns, out=out)
            np.maximum(out, self._zeros_of(out.shape[1]), out=out)
        slots.clear_edges(to.inner)
        maps = to.features.reshape(-1, slots.height, slots.width, positions)
        for strip in slots.strips(positions):
            columns = slots.columns(to.inner, strip, self._columns)
            here = maps[:, strip.rows, strip.cols]  # (F, rows, cols, N)
            pitch = slots.stride if here.shape[1] > 1 else here.shape[2]
            out = self._strip.shaped(len(maps), here.shape[1], pitch, positions)
            np.matmul(weight2, columns, out=out.reshape(len(maps), -1)[:, : columns.shape[1]])
            np.maximum(out[:, :, : here.shape[2]], self._zeros_of(positions), out=here)
        np.matmul(self.fc1.weight.value.T, to.features, out=to.hidden)
        to.hidden += self.fc1.bias.value[:, None]
        np.maximum(to.hidden, self._zeros_of(positions), out=to.hidden)
        np.matmul(to.hidden.T, self.fc2.weight.value, out=logits)
        logits += self.fc2.bias.value

    def _zeros_of(self, length: int) -> FloatArray:
        """Zeros (length,): a ReLU against an array is several times as fast as against the number 0."""
        if length > len(self._zeros):
            self._zeros = np.zeros(length, self.dtype)
        return self._zeros[:length]

    # --- Backward --------------------------------------------------------------------------------------------------

    def _backward(self, d_logits: FloatArray, d_x: FloatArray | None) -> None:
        if len(d_logits) != self._forward_count:
            raise NoForwardError(
                f"backward got slopes of {len(d_logits)} positions, but the last forward saw {self._forward_count}"
            )
        for kept, some in zip(self._kept, together(len(d_logits)), strict=False):
            d_outer = self._through_dense(kept, d_logits[some].astype(self.dtype, copy=False))
            self._through_convolutions(kept, d_outer, None if d_x is None else d_x[some])

    def _through_dense(self, kept: Activations, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A), N <= TOGETHER -> the slope (F2, slots, N) of what the second convolution gave."""
        features, hidden, slots = kept.features, kept.hidden, self.slots
        self.fc2.weight.grad += hidden @ d_logits  # (M, N) @ (N, A)
        self.fc2.bias.grad += d_logits.sum(axis=0)
        d_hidden = self._d_hidden.shaped(*hidden.shape)
        np.matmul(self.fc2.weight.value, d_logits.T, out=d_hidden)  # (M, A) @ (A, N)
        d_hidden *= hidden > 0
        self.fc1.bias.grad += d_hidden.sum(axis=1)
        filters, area = len(self.conv2.bias.value), slots.height * slots.width
        d_outer: FloatArray = self._d_outer.shaped(filters, slots.count, len(d_logits))
        slots.clear_edges(d_outer)
        d_maps = slots.cells(d_outer)
        step = max(1, DENSE_ROWS // area)
        for first in range(0, filters, step):
            rows = slice(first * area, (first + step) * area)
            positive = features[rows] > 0
            self.fc1.weight.grad[rows] += features[rows] @ d_hidden.T  # (D, N) @ (N, M)
            d_features = self.fc1.weight.value[rows] @ d_hidden  # (D, M) @ (M, N)
            here = d_maps[first : first + step]
            np.multiply(d_features.reshape(here.shape), positive.reshape(here.shape), out=here)
        return d_outer

    def _through_convolutions(self, kept: Activations, d_outer: FloatArray, d_x: FloatArray | None) -> None:
        """From d_outer (F2, slots, N) to the slopes of both convolutions and, if it is asked for, d_x (N, C, H, W)."""
        slots, seen, inner = self.slots, kept.seen, kept.inner
        turned1, turned2 = half_turn(self.conv1.weight.value), half_turn(self.conv2.weight.value)
        d_turned2, d_weight1 = np.zeros_like(turned2), np.zeros_like(with_bias(self.conv1))
        d_inner = self._d_inner.shaped(*inner.shape)
        for strip in slots.strips(inner.shape[2]):
            columns = slots.columns(d_outer, strip, self._columns)[:-1]
            inner_run = inner[:, strip.slots].reshape(len(inner), -1)
            d_inner_run = d_inner[:, strip.slots].reshape(len(inner), -1)
            d_turned2 += (columns @ inner_run.T).T  # this way round BLAS needs a fifth less time
            np.matmul(turned2, columns, out=d_inner_run)
            d_inner_run *= inner_run > 0  # between two rows too it becomes 0
            d_weight1 += d_inner_run @ slots.columns(seen, strip, self._columns).T
        self.conv1.weight.grad += d_weight1[:, :-1].reshape(self.conv1.weight.grad.shape)
        self.conv1.bias.grad += d_weight1[:, -1]
        d_weight2 = half_turn(d_turned2.reshape(len(inner), -1, 3, 3))
        self.conv2.weight.grad += d_weight2.reshape(self.conv2.weight.grad.shape)
        self.conv2.bias.grad += d_outer.sum(axis=(1, 2))
        if d_x is not None:
            slots.clear_edges(d_inner)
            d_seen = self._d_seen.shaped(*seen.shape)
            for strip in slots.strips(seen.shape[2]):
                columns = slots.columns(d_inner, strip, self._columns)[:-1]
                np.matmul(turned1, columns, out=d_seen[:, strip.slots].reshape(len(seen), -1))
            d_x[...] = slots.cells(d_seen).transpose(3, 0, 1, 2)


def together(count: int) -> Iterator[slice]:
    """Cut ``count`` positions into slices of at most TOGETHER."""
    return (slice(first, first + TOGETHER) for first in range(0, count, TOGETHER))


def with_bias(conv: Conv2D) -> FloatArray:
    """Return a convolution's weight (F, C, KH, KW) and bias (F,) as one matrix (F, C * KH * KW + 1)."""
    weight = conv.weight.value
    return np.concatenate([weight.reshape(len(weight), -1), conv.bias.value[:, None]], axis=1)


def half_turn(weight: FloatArray) -> FloatArray:
    """weight (F, C, 3, 3) -> (C, F * 9): the window turned by half a turn, from the filters to the planes."""
    return weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3).reshape(weight.shape[1], -1)
