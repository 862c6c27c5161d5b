"""The fast twin of PolicyNet's layers: the same numbers to rounding, in memory that is asked for once.

Skip this file on a first reading: `Sequential(net.layers)` is the definition, here is only how to get there sooner.

1. The positions of a chunk lie innermost: where the drawing shows one number, there are n of them, side by side. A
   plane is a row of slots. A row of the board takes S = W + 1 of them, so that one slot of zeros is both the right
   edge of a row and the left edge of the next:

        0 0 0 0 0
        0 a b c d        slot of (row, col) = (row + 1) * S + col + 1
        0 e f g h
        0 i j k l        What the window's centre sees from a to h is one run of slots; what its other eight cells
        0 0 0 0 0        see are eight more, which begin up to S + 1 slots earlier or later. So im2col is a copy of
        0                nine runs a plane, and its reverse an addition of nine runs.

   The slot between d and e is computed as well; afterwards it is set back to zero.
2. A strip of rows has as many columns as the second-level cache holds; their product, their ReLU and, on the way
   back, their nine additions are done while they are there. A row of ones below them brings the bias in.
3. The dense layers take their features as (D, N), positions innermost as well, so nothing is ever turned round.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nn.conv import Conv2D
from nn.layers import Dense, FloatArray, NoForwardError
from nn.workspace import Workspace

TOGETHER = 256  # positions that go through the dense layers at once
STRIP = 512  # columns of a strip: in float32, 145 rows of so many are 300 KB
DENSE_ROWS = 512  # rows of a dense layer's weight whose slopes are made at once


class Slots:
    """The layout of the drawing: how a board of H x W lies in a row of slots."""

    def __init__(self, height: int, width: int) -> None:
        self.height, self.width, self.stride = height, width, width + 1
        self.count = (height + 2) * self.stride + 1

    def strips(self, positions: int) -> Iterator[tuple[int, int]]:
        """Cut the board into strips of whole rows: (first row, rows) with at most about STRIP columns in each."""
        rows = min(self.height, max(1, STRIP // (self.stride * positions)))
        return ((row, min(rows, self.height - row)) for row in range(0, self.height, rows))

    def run(self, planes: FloatArray, row: int, rows: int, down: int = 1, right: int = 1) -> FloatArray:
        """planes (C, slots, n) -> (C, m), a view: the strip's slots as window cell (down, right) sees them."""
        first = (row + down) * self.stride + right
        return planes[:, first : first + rows * self.stride - 1].reshape(len(planes), -1)

    def cells(self, planes: FloatArray) -> FloatArray:
        """planes (C, slots, n) -> (C, H, W, n), a view."""
        board = planes[:, self.stride + 1 : (self.height + 1) * self.stride + 1]
        return board.reshape(len(planes), self.height, self.stride, -1)[:, :, : self.width]

    def clear_edges(self, planes: FloatArray) -> None:
        """planes (C, slots, n): set every slot that is no cell to zero."""
        planes[:, : self.stride] = 0
        planes[:, -self.stride :] = 0
        planes[:, self.stride :: self.stride] = 0

    def columns(self, planes: FloatArray, row: int, rows: int, out: Workspace) -> FloatArray:
        """im2col of a strip: planes (C, slots, n) -> (C * 9 + 1, m), the last row ones."""
        count, _, n = planes.shape
        length = (rows * self.stride - 1) * n
        out_rows: FloatArray = out.shaped(count * 9 + 1, length)
        size = planes.itemsize
        plane, line, slot = self.count * n * size, self.stride * n * size, n * size
        nine = np.ndarray(
            (count, 3, 3, length), planes.dtype, planes, row * line, (plane, line, slot, size)
        )
        out_rows[:-1].reshape(nine.shape)[...] = nine
        out_rows[-1] = 1
        return out_rows


class Activations:
    """What a pass leaves behind of up to TOGETHER positions, in chunks of n; the last chunk is filled up with zeros.

    seen (chunks, C, slots, n), inner (chunks, F1, slots, n), features (D, chunks * n), hidden (M, chunks * n).
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory = [Workspace(dtype) for _ in range(4)]
        self.count = 0

    def prepare(self, count: int, most: int, planes: tuple[int, int, int], dense: tuple[int, int], keep: bool) -> None:
        """Make room for ``count`` positions in chunks of at most ``most``; all chunks use one place unless ``keep``."""
        self.count = count
        self.chunks = -(-count // most)
        self.n = -(-count // self.chunks)
        places, lanes = self.chunks if keep else 1, self.chunks * self.n
        seen, inner, slots = planes
        self.seen: FloatArray = self._memory[0].shaped(places, seen, slots, self.n)
        self.inner: FloatArray = self._memory[1].shaped(places, inner, slots, self.n)
        self.features: FloatArray = self._memory[2].shaped(dense[0], lanes)
        self.hidden: FloatArray = self._memory[3].shaped(dense[1], lanes)

    def __iter__(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """(lanes, seen (C, slots, n), inner (F1, slots, n)) of each chunk."""
        for chunk in range(self.chunks):
            place = chunk % len(self.seen)
            yield slice(chunk * self.n, (chunk + 1) * self.n), self.seen[place], self.inner[place]


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
        self._columns, self._strip, self._d_columns, self._d_inner, self._d_seen, self._d_features, self._piece = (
            Workspace(self.dtype) for _ in range(7)
        )
        self._positive = Workspace(np.dtype(np.bool_))
        self._zeros: FloatArray = np.zeros(1, self.dtype)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping nothing."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        for first in range(0, len(x), TOGETHER):
            some = slice(first, first + TOGETHER)
            self._forward(x[some], self._passing, logits[some], keep=False)
        return logits

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping what backward needs."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        self._forward_count = len(x)
        for i, first in enumerate(range(0, len(x), TOGETHER)):
            if i == len(self._kept):
                self._kept.append(Activations(self.dtype))
            some = slice(first, first + TOGETHER)
            self._forward(x[some], self._kept[i], logits[some], keep=True)
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

    # --- Forward ---------------------------------------------------------------------------------------------------

    def _forward(self, x: FloatArray, to: Activations, logits: FloatArray, keep: bool) -> None:
        """x (N, C, H, W), N <= TOGETHER -> logits (N, A), written in place."""
        slots = self.slots
        weight1, weight2 = with_bias(self.conv1), with_bias(self.conv2)
        planes = (x.shape[1], len(weight1), slots.count)
        to.prepare(len(x), max(1, STRIP // slots.width), planes, self.fc1.weight.value.shape, keep)
        maps = to.features.reshape(len(weight2), slots.height, slots.width, -1)
        zeros = self._zeros_of(STRIP + slots.stride * to.n)
        for lanes, seen, inner in to:
            some = x[lanes]
            slots.clear_edges(seen)
            cells = slots.cells(seen)
            cells[..., : len(some)] = some.transpose(1, 2, 3, 0)
            cells[..., len(some) :] = 0
            for row, rows in slots.strips(to.n):
                columns = slots.columns(seen, row, rows, self._columns)
                out = slots.run(inner, row, rows)
                np.matmul(weight1, columns, out=out)
                np.maximum(out, zeros[: out.shape[1]], out=out)
            slots.clear_edges(inner)
            for row, rows in slots.strips(to.n):
                columns = slots.columns(inner, row, rows, self._columns)
                strip = self._strip.shaped(len(weight2), rows * slots.stride * to.n)
                np.matmul(weight2, columns, out=strip[:, : columns.shape[1]])
                out = strip.reshape(len(weight2), rows, slots.stride, to.n)[:, :, : slots.width]
                np.maximum(out, zeros[: to.n], out=maps[:, row : row + rows, :, lanes])
        np.matmul(self.fc1.weight.value.T, to.features, out=to.hidden)
        to.hidden += self.fc1.bias.value[:, None]
        np.maximum(to.hidden, zeros[:1], out=to.hidden)
        np.matmul(to.hidden[:, : len(x)].T, self.fc2.weight.value, out=logits)
        logits += self.fc2.bias.value

    def _zeros_of(self, length: int) -> FloatArray:
        if length > len(self._zeros):
            self._zeros = np.zeros(length, self.dtype)
        return self._zeros

    # --- Backward --------------------------------------------------------------------------------------------------

    def _backward(self, d_logits: FloatArray, d_x: FloatArray | None) -> None:
        if len(d_logits) != self._forward_count:
            raise NoForwardError("backward needs a forward of as many positions before it")
        for kept, first in zip(self._kept, range(0, len(d_logits), TOGETHER), strict=False):
            some = slice(first, first + TOGETHER)
            self._through_dense(kept, d_logits[some].astype(self.dtype, copy=False))
            self._through_convolutions(kept, None if d_x is None else d_x[some])

    def _through_dense(self, kept: Activations, d_logits: FloatArray) -> None:
        """d_logits (N, A), N <= TOGETHER; leaves the slope of what the second convolution gave in _d_features."""
        count, features, hidden = kept.count, kept.features, kept.hidden
        self.fc2.weight.grad += hidden[:, :count] @ d_logits  # (M, N) @ (N, A)
        self.fc2.bias.grad += d_logits.sum(axis=0)
        d_hidden = np.zeros_like(hidden)
        np.matmul(self.fc2.weight.value, d_logits.T, out=d_hidden[:, :count])  # (M, A) @ (A, N)
        d_hidden *= hidden > 0
        self.fc1.bias.grad += d_hidden.sum(axis=1)
        d_features = self._d_features.shaped(*features.shape)
        for first in range(0, len(features), DENSE_ROWS):
            rows = slice(first, first + DENSE_ROWS)
            these = features[rows]
            piece = self._piece.shaped(len(these), len(hidden))
            np.matmul(these, d_hidden.T, out=piece)  # (D, N) @ (N, M)
            self.fc1.weight.grad[rows] += piece
            np.matmul(self.fc1.weight.value[rows], d_hidden, out=d_features[rows])  # (D, M) @ (M, N)
            positive = self._positive.shaped(*these.shape)
            np.greater(these, 0, out=positive)
            d_features[rows] *= positive

    def _through_convolutions(self, kept: Activations, d_x: FloatArray | None) -> None:
        """From _d_features to the slopes of both convolutions and, if it is asked for, d_x (N, C, H, W)."""
        slots, n = self.slots, kept.n
        weight1, weight2 = with_bias(self.conv1), with_bias(self.conv2)
        d_weight1, d_weight2 = np.zeros_like(weight1), np.zeros_like(weight2)
        d_maps = self._d_features.shaped(*kept.features.shape).reshape(len(weight2), slots.height, slots.width, -1)
        for lanes, seen, inner in kept:
            d_inner = self._d_inner.shaped(*inner.shape)
            d_inner.fill(0)
            for row, rows in slots.strips(n):
                strip = self._strip.shaped(len(weight2), rows, slots.stride, n)
                strip[:, :, : slots.width] = d_maps[:, row : row + rows, :, lanes]
                strip[:, :, slots.width] = 0
                columns = slots.columns(inner, row, rows, self._columns)
                d_out = strip.reshape(len(weight2), -1)[:, : columns.shape[1]]
                d_weight2 += d_out @ columns.T
                self._add_taps(weight2, d_out, d_inner, row, rows)
            positive = self._positive.shaped(*inner.shape)
            np.greater(inner, 0, out=positive)
            d_inner *= positive  # the edges of inner are zero, so those of d_inner become so
            for row, rows in slots.strips(n):
                columns = slots.columns(seen, row, rows, self._columns)
                d_weight1 += slots.run(d_inner, row, rows) @ columns.T
            if d_x is not None:
                d_seen = self._d_seen.shaped(*seen.shape)
                d_seen.fill(0)
                for row, rows in slots.strips(n):
                    self._add_taps(weight1, slots.run(d_inner, row, rows), d_seen, row, rows)
                some = d_x[lanes]
                some[...] = slots.cells(d_seen).transpose(3, 0, 1, 2)[: len(some)]
        add_with_bias(self.conv1, d_weight1)
        add_with_bias(self.conv2, d_weight2)

    def _add_taps(self, weight: FloatArray, d_out: FloatArray, d_in: FloatArray, row: int, rows: int) -> None:
        """col2im of a strip: d_out (F, m) -> nine runs added to d_in (C, slots, n); weight (F, C * 9 + 1)."""
        d_columns = self._d_columns.shaped(weight.shape[1] - 1, d_out.shape[1])
        np.matmul(weight[:, :-1].T, d_out, out=d_columns)
        nine = d_columns.reshape(len(d_in), 3, 3, -1)
        for down in range(3):
            for right in range(3):
                run = self.slots.run(d_in, row, rows, down, right)
                run += nine[:, down, right]


def with_bias(conv: Conv2D) -> FloatArray:
    """Return a convolution's weight (F, C, KH, KW) and bias (F,) as one matrix (F, C * KH * KW + 1)."""
    weight = conv.weight.value
    return np.concatenate([weight.reshape(len(weight), -1), conv.bias.value[:, None]], axis=1)


def add_with_bias(conv: Conv2D, slopes: FloatArray) -> None:
    """Add slopes (F, C * KH * KW + 1), laid out as by with_bias, to the convolution's gradients."""
    conv.weight.grad += slopes[:, :-1].reshape(conv.weight.grad.shape)
    conv.bias.grad += slopes[:, -1]
