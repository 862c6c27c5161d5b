"""Two 3 x 3 convolutions of a few positions, one row of the board after the other, both ways.

All that a row needs stays in the cache. Skip this file on a first reading: nn/conv.py is the definition.

1. Positions lie innermost: where a drawing shows one letter there are N numbers, side by side. A line is what the three
   window cells of one window row see of one row of the board, three runs for each plane:

        a b c d                     0 a b c     left of the window's centre
        e f g h                     a b c d     at its centre
        i j k l                     b c d 0     right of it

   The columns (im2col) of a row of cells are the lines of the row above, of the row itself and of the row below, one
   below the other. Each line ends with a row of ones, which brings the bias into the product, in the middle line only.

2. A new line takes the place of the one that is needed no more, so that three are enough. The rows of the window are
   then in turn, and so must be the columns of the weight. Five lines of it in memory contain every turn:

        row b   lines a b c   weight [0 1 2] 0 1
        row c   lines d b c   weight 0 1 [2 0 1]          At the edges of the board a line is
        row d   lines d e c   weight 0 [1 2 0] 1          missing, and left out of the product.

3. On the way back the line of one row of slopes, all planes of it, is multiplied twice, and never stacked. With the
   three rows of cells that its window rows saw, which lie one below the other, it gives the slopes of the weight; with
   the weight, window turned by half a turn, what it adds to the slopes of those three rows.
"""

from typing import Any, NamedTuple

import numpy as np

from nn.conv import Conv2D
from nn.layers import FloatArray
from nn.workspace import Workspace

COLUMNS = 960  # about so many of a row of cells: what is made of them stays in the cache


class Sizes(NamedTuple):
    """Of a board, and how many planes come in, lie between the convolutions and go out."""

    height: int
    width: int
    planes: int
    inner: int
    outer: int


class Step(NamedTuple):
    """What one row of cells needs of the second convolution, and the row's own place in the memory."""

    new: list[tuple[FloatArray, FloatArray]]  # (into, from): lines to be made
    columns: FloatArray
    weight: slice  # the part of the five lines of weights that meets them
    near: FloatArray  # (2 or 3 * F1, W * N): the row, those above and below it
    window: slice  # which rows of a window of three they are, times F1


class Rows:
    """Two convolutions with a ReLU after each, of N positions; it keeps what the way back needs.

    lines (H + 2, 3 * C + 1, W * N), with windows (H, 3 * (3 * C + 1), W * N) of three of them, overlapping;
    inner (H, F1, (W + 1) * N), a cell of zeros after each run of W and before the first.
    """

    def __init__(self, sizes: Sizes, dtype: np.dtype[Any], scratch: list[Workspace]) -> None:
        """Share four workspaces ``scratch`` with others that work at other times."""
        self._sizes, self._scratch = sizes, scratch
        self._kept = [Workspace(dtype) for _ in range(2)]
        self._positions = 0

    @staticmethod
    def weights(conv1: Conv2D, conv2: Conv2D) -> tuple[FloatArray, FloatArray]:
        """The weights as forward wants them: (F1, 3 * (3 * C + 1)) and (F2, 5 * (3 * F1 + 1)), line by line."""
        first = five_lines(conv1)
        return first[:, : first.shape[1] // 5 * 3], five_lines(conv2)

    def prepare(self, positions: int) -> None:
        """Make room for ``positions`` of them; nothing is to be done if it is as many as last time."""
        if positions == self._positions:
            return
        self._positions = positions
        height, width, planes, inner, outer = self._sizes
        run, gap = width * positions, (width + 1) * positions
        lines = self._kept[0].shaped(height + 2, 3 * planes + 1, run)
        lines.fill(0)
        lines[:, -1] = 1
        self._seen = lines[1:-1, :-1].reshape(height, planes, 3, width, positions)
        self._windows = overlapping(lines, (height, 3 * lines.shape[1], run), lines.strides)
        room = self._kept[1].shaped(positions + height * inner * gap)
        room.fill(0)
        self._inner = room[positions:].reshape(height, inner, gap)
        size = room.itemsize
        shifted = overlapping(room, (height, inner, 3, run), (inner * gap * size, gap * size, positions * size, size))
        self._zeros = np.zeros(max(inner * gap, outer * run), room.dtype)
        ring = self._scratch[0].shaped(3, 3 * inner + 1, run)
        self._ones, self._out = ring[:, -1], self._scratch[1].shaped(outer, run)
        self._steps = self._all_steps(shifted, ring)

    def _all_steps(self, shifted: FloatArray, ring: FloatArray) -> list[Step]:
        height, inner, _, run = shifted.shape
        begin = int(height % 3 == 1)  # so that the two lines of the last row are not parted
        rows = self._inner.reshape(height * inner, -1)[:, :run]
        length = ring.shape[1]
        into = [line[:-1].reshape(inner, 3, run) for line in ring]
        steps = []
        for row in range(height):
            top, end = max(0, row - 1), min(height, row + 2)
            lines = end - top
            place = (top + begin) % 3 if lines < 3 else 0
            turn = top - row + 1 if lines < 3 else -(row - 1 + begin) % 3
            new = range(end) if row == 0 else range(row + 1, end)
            steps.append(
                Step(
                    [(into[(line + begin) % 3], shifted[line]) for line in new],
                    ring[place : place + lines].reshape(-1, run),
                    slice(turn * length, (turn + lines) * length),
                    rows[top * inner : end * inner],
                    slice((top - row + 1) * inner, (end - row + 1) * inner),
                )
            )
        return steps

    def forward(self, weights: tuple[FloatArray, FloatArray], x: FloatArray, features: FloatArray) -> None:
        """x (N, C, H, W) -> features (F2, H, W, N), written in place."""
        seen, inner = self._seen, self._inner
        np.copyto(seen[:, :, 1], x.transpose(2, 1, 3, 0))
        seen[:, :, 0, 1:] = seen[:, :, 1, :-1]
        seen[:, :, 2, :-1] = seen[:, :, 1, 1:]
        run = self._out.shape[1]
        np.matmul(weights[0], self._windows, out=inner[:, :, :run])
        flat = inner.reshape(len(inner), -1)
        np.maximum(flat, self._zeros[: flat.shape[1]], out=flat)
        self._ones[...] = 1
        out = self._out.reshape(-1)
        zeros = self._zeros[: len(out)]
        cells = self._out.reshape(len(features), *features.shape[2:])
        for row, step in enumerate(self._steps):
            for into, line in step.new:
                np.copyto(into, line)
            np.matmul(weights[1][:, step.weight], step.columns, out=self._out)
            np.maximum(out, zeros, out=out)
            features[:, row] = cells

    def backward(self, conv1: Conv2D, conv2: Conv2D, d_maps: FloatArray, d_x: FloatArray | None) -> None:
        """d_maps (F2, H, W, N), slopes of what conv2 gave -> of both weights, conv1's bias and, if asked for, d_x."""
        height, width, planes, inner, outer = self._sizes
        run = width * self._positions
        rows = self._inner[:, :, :run]
        line = self._scratch[0].shaped(outer, 3, run)
        padded = self._scratch[1].shaped(outer, width + 2, self._positions)
        padded[:, 0] = padded[:, -1] = 0
        size = padded.itemsize
        shifted = overlapping(padded, line.shape, (padded.strides[0], padded.strides[1], size))
        below = self._scratch[2].shaped(3 * inner, run)
        d_inner = self._scratch[3].shaped(height * inner, run)
        turned = np.ascontiguousarray(conv2.weight.value[..., ::-1].transpose(2, 1, 0, 3)).reshape(3 * inner, -1)
        d_weight2 = np.zeros((3 * outer, 3 * inner), line.dtype)
        columns = line.reshape(-1, run)
        for row, step in enumerate(self._steps):
            padded[:, 1:-1] = d_maps[:, row]
            np.copyto(line, shifted)
            d_weight2[:, step.window] += columns @ step.near.T
            top, end = max(0, row - 1) * inner, min(height, row + 2) * inner
            known = (row + 1) * inner if row else 0  # rows above this have got something already
            change = np.matmul(turned[step.window], columns, out=below[: end - top])
            d_inner[top:known] += change[: known - top]
            d_inner[known:end] = change[known - top :]
        conv2.weight.grad += d_weight2.reshape(outer, 3, 3, inner).transpose(0, 3, 2, 1)[..., ::-1]
        d_rows = d_inner.reshape(rows.shape)
        d_rows *= rows > 0
        d_weight1 = np.matmul(self._windows, d_rows.transpose(0, 2, 1)).sum(axis=0).reshape(3, -1, inner)
        conv1.weight.grad += d_weight1[:, :-1].reshape(3, planes, 3, inner).transpose(3, 1, 0, 2)
        conv1.bias.grad += d_weight1[1, -1]
        if d_x is not None:
            self._to_planes(self.weights(conv1, conv2)[0], d_rows, d_x)

    def _to_planes(self, weight: FloatArray, d_rows: FloatArray, d_x: FloatArray) -> None:
        """d_rows (H, F1, W * N) -> d_x (N, C, H, W): back through windows, lines and shifts."""
        height, _, run = d_rows.shape
        d_windows = np.matmul(weight.T, d_rows).reshape(height, 3, -1, run)
        d_lines = np.zeros((height + 2, d_windows.shape[2], run), d_rows.dtype)
        for k in range(3):
            d_lines[k : k + height] += d_windows[:, k]
        d_seen = d_lines[1:-1, :-1].reshape(self._seen.shape)
        d_seen[:, :, 1, :-1] += d_seen[:, :, 0, 1:]
        d_seen[:, :, 1, 1:] += d_seen[:, :, 2, :-1]
        d_x[...] = d_seen[:, :, 1].transpose(3, 1, 0, 2)

    def memory(self) -> int:
        """Bytes held, the shared ones not counted."""
        return sum(workspace.memory() for workspace in self._kept)


def five_lines(conv: Conv2D) -> FloatArray:
    """weight (F, C, 3, 3), bias (F,) -> (F, 5 * (3 * C + 1)): window rows 0 1 2 0 1, the bias after each row 1."""
    weight = conv.weight.value
    filters, planes = weight.shape[:2]
    lines = np.zeros((filters, 5, 3 * planes + 1), weight.dtype)
    by_row = weight.transpose(0, 2, 1, 3)  # (F, 3, C, 3)
    lines[:, :3, :-1].reshape(filters, 3, planes, 3)[...] = by_row
    lines[:, 1, -1] = conv.bias.value
    lines[:, 3:] = lines[:, :2]
    return lines.reshape(filters, -1)


def overlapping(memory: FloatArray, shape: tuple[int, ...], strides: tuple[int, ...]) -> FloatArray:
    """A view with these strides, from the first number on."""
    view: FloatArray = np.ndarray(shape, memory.dtype, memory, 0, strides)
    return view
