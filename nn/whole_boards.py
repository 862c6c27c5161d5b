"""Two 3 x 3 convolutions of so few positions that their whole boards go into one product each, both ways.

Skip this file on a first reading: nn/conv.py is the definition.

Positions lie innermost: where the drawing shows one number, there are N of them, side by side. A plane is a row of
slots. A row of the board takes S = W + 1 of them, so that one slot of zeros is both the right edge of a row and the
left edge of the next:

        0 0 0 0 0
        0 a b c d        What the window's centre sees from a to l is one run of slots, what its other eight
        0 e f g h        cells see are eight more: im2col is nine copies of a run. The slots between two rows
        0 i j k l        are computed as well; they are set back to zero, or left out.
        0 0 0 0 0
        0
"""

from typing import Any

import numpy as np

from nn.conv import Conv2D
from nn.layers import FloatArray
from nn.rows import Sizes, overlapping
from nn.workspace import Workspace


class WholeBoards:
    """Two convolutions with a ReLU after each, of N positions; it keeps what the way back needs.

    seen (C, slots, N), inner (F1, slots, N), and the columns of both, 9 rows a plane and one of ones.
    """

    def __init__(self, sizes: Sizes, dtype: np.dtype[Any]) -> None:
        self._sizes, self._dtype = sizes, dtype
        self._memory = [Workspace(dtype) for _ in range(5)]
        self._positions = 0

    @staticmethod
    def weights(conv1: Conv2D, conv2: Conv2D) -> tuple[FloatArray, FloatArray]:
        """The weights as forward wants them: (F1, 9 * C + 1) and (F2, 9 * F1 + 1), the bias last."""
        return with_bias(conv1), with_bias(conv2)

    def prepare(self, positions: int) -> None:
        """Make room for ``positions`` of them; nothing is to be done if it is as many as last time."""
        if positions == self._positions:
            return
        self._positions = positions
        height, width, planes, inner, outer = self._sizes
        stride = width + 1
        slots, self._first, self._end = (height + 2) * stride + 1, stride + 1, (height + 1) * stride
        run = (self._end - self._first) * positions  # from the first cell to the last
        self._seen = self._memory[0].shaped(planes, slots, positions)
        self._inner = self._memory[1].shaped(inner, slots, positions)
        self._seen.fill(0)
        self._inner.fill(0)
        self._columns, self._taps = [], []
        for maps, memory in ((self._seen, self._memory[2]), (self._inner, self._memory[3])):
            columns = memory.shaped(9 * len(maps) + 1, run)
            columns[-1] = 1
            by_plane, slot, size = maps.strides
            taps = overlapping(maps, (len(maps), 3, 3, run), (by_plane, stride * slot, slot, size))
            self._columns.append(columns)
            self._taps.append((columns[:-1].reshape(taps.shape), taps))
        self._out = self._memory[4].shaped(outer, height, stride, positions)
        self._zeros = np.zeros(run, self._dtype)

    def forward(self, weights: tuple[FloatArray, FloatArray], x: FloatArray, features: FloatArray) -> None:
        """x (N, C, H, W) -> features (F2, H, W, N), written in place."""
        width = features.shape[2]
        self._cells(self._seen)[...] = x.transpose(1, 2, 3, 0)
        np.copyto(*self._taps[0])
        inner = self._run(self._inner)
        np.matmul(weights[0], self._columns[0], out=inner)
        np.maximum(inner, self._zeros, out=inner)
        self._inner[:, width + 1 :: width + 1] = 0
        np.copyto(*self._taps[1])
        out = self._out.reshape(len(features), -1)[:, : len(self._zeros)]
        np.matmul(weights[1], self._columns[1], out=out)
        np.maximum(out, self._zeros, out=out)
        features[...] = self._out[:, :, :width]

    def backward(self, conv1: Conv2D, conv2: Conv2D, d_maps: FloatArray, d_x: FloatArray | None) -> None:
        """d_maps (F2, H, W, N), slopes of what conv2 gave -> of both weights, conv1's bias and, if asked for, d_x."""
        weight1, weight2 = (conv.weight.value.reshape(len(conv.weight.value), -1) for conv in (conv1, conv2))
        width = d_maps.shape[2]
        self._out[:, :, :width] = d_maps
        self._out[:, :, width:] = 0
        d_out = self._out.reshape(len(d_maps), -1)[:, : len(self._zeros)]
        conv2.weight.grad += (d_out @ self._columns[1][:-1].T).reshape(conv2.weight.grad.shape)
        d_inner = self._run(self._fold(weight2.T @ d_out))
        d_inner *= self._run(self._inner) > 0  # between two rows too it becomes 0
        d_weight1 = d_inner @ self._columns[0].T
        conv1.weight.grad += d_weight1[:, :-1].reshape(conv1.weight.grad.shape)
        conv1.bias.grad += d_weight1[:, -1]
        if d_x is not None:
            d_x[...] = self._cells(self._fold(weight1.T @ d_inner)).transpose(3, 0, 1, 2)

    def memory(self) -> int:
        """Bytes held."""
        return sum(workspace.memory() for workspace in self._memory)

    def _cells(self, maps: FloatArray) -> FloatArray:
        """maps (C, slots, N) -> (C, H, W, N), a view."""
        height, width = self._sizes[:2]
        rows = maps[:, self._first : self._end + 1].reshape(len(maps), height, width + 1, -1)
        return rows[:, :, :width]

    def _run(self, maps: FloatArray) -> FloatArray:
        """maps (C, slots, N) -> (C, m), a view: from the first cell to the last, all positions."""
        return maps[:, self._first : self._end].reshape(len(maps), -1)

    def _fold(self, d_columns: FloatArray) -> FloatArray:
        """d_columns (9 * C, m) -> (C, slots, N): the way back of im2col; a number's slopes add up."""
        taps = d_columns.reshape(-1, 9, d_columns.shape[1])
        d_maps = np.zeros((len(taps), *self._seen.shape[1:]), self._dtype)
        flat = d_maps.reshape(len(taps), -1)
        for tap in range(9):
            first = (tap // 3 * (self._sizes.width + 1) + tap % 3) * self._positions
            flat[:, first : first + taps.shape[2]] += taps[:, tap]
        return d_maps


def with_bias(conv: Conv2D) -> FloatArray:
    """weight (F, C, 3, 3), bias (F,) -> (F, 9 * C + 1)."""
    weight = conv.weight.value
    out = np.empty((len(weight), weight[0].size + 1), weight.dtype)
    out[:, :-1] = weight.reshape(len(weight), -1)
    out[:, -1] = conv.bias.value
    return out
