"""The fast twin of ConvPolicyNet's layers: the same numbers to rounding, one row of the board at a time.

Skip this file on a first reading: `Sequential(net.layers)` is the definition, here is only how to get there sooner.

    x, N boards behind each other         the line of one row: C * k runs of W * N numbers

        a b c d e                             0 0 a b c     what the window's first column sees of the row
        f g h i j                             0 a b c d     ... its second column
        k l m n o                             a b c d e     ... the middle one (k = 5)
        p q r s t                             b c d e 0
        u v w x y                             c d e 0 0

1. Positions lie innermost: where the drawing shows one letter, there are N of them side by side. A line is made once
   and serves the k rows of cells whose window sees it: the columns (im2col) of a row of cells are the up to k lines
   around it, which lie one below the other already. Lines beyond the edge are zeros, and left out.
2. All that follows is cell by cell: a row of cells goes through all layers while it is still in the cache, each
   layer one product (F, F) @ (F, W * N). So it does on the way back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from nn.conv import Conv2D
from nn.layers import FloatArray, NoForwardError
from nn.workspace import Workspace

COLUMNS = 480  # about so many columns of a row of cells: what is made of them stays in the cache


class Kept(NamedTuple):
    """What a few positions leave behind: lines (H, C * k, W * N), features after each ReLU, every one (H, F, W * N)."""

    lines: FloatArray
    features: list[FloatArray]


class FastConvPolicy:
    """forward, backward and predict of a k x k convolution, 1 x 1 convolutions, and one to a single plane.

    All but the last have a ReLU after them. It reads the layers' Parameters and adds to their slopes. Its workspaces
    have the size of the largest batch that forward has met; what it returns is a fresh array each time.
    """

    def __init__(self, convs: Sequence[Conv2D], height: int, width: int) -> None:
        self.first, *self.inner, self.last = convs
        self.height, self.width = height, width
        self.dtype = self.first.weight.value.dtype
        self._together = max(1, COLUMNS // width)  # positions that go through the net at once
        self._rooms: list[list[Workspace]] = []
        self._kept: list[Kept] = []
        self._forward_count = 0
        self._passing = self._room()
        self._padded, self._out, *self._slopes = (Workspace(self.dtype) for _ in range(5))

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping nothing."""
        logits = np.empty((len(x), self.height * self.width), self.dtype)
        for some in self._slices(len(x)):
            self._forward(x[some], self._shaped(self._passing, len(x[some]), 1), logits[some])
        return logits

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping what backward needs."""
        logits = np.empty((len(x), self.height * self.width), self.dtype)
        self._kept, self._forward_count = [], len(x)
        for i, some in enumerate(self._slices(len(x))):
            if i == len(self._rooms):
                self._rooms.append(self._room())
            self._kept.append(self._shaped(self._rooms[i], len(x[some]), self.height))
            self._forward(x[some], self._kept[i], logits[some])
        return logits

    def backward(self, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A) -> d_x (N, C, H, W); adds to the slopes of all parameters."""
        d_x = np.empty((len(d_logits), self.first.weight.value.shape[1], self.height, self.width), self.dtype)
        self._backward(d_logits, d_x)
        return d_x

    def add_gradients(self, d_logits: FloatArray) -> None:
        """Do what backward does, without the slope of x, which only a layer below would ask for."""
        self._backward(d_logits, None)

    def memory(self) -> int:
        """Bytes held by all workspaces."""
        rooms = [*self._rooms, self._passing, [self._padded, self._out, *self._slopes]]
        return sum(workspace.memory() for room in rooms for workspace in room)

    # --- Forward ---------------------------------------------------------------------------------------------------

    def _forward(self, x: FloatArray, to: Kept, logits: FloatArray) -> None:
        """x (N, C, H, W), few -> logits (N, A), written in place."""
        self._make_lines(x, to.lines)
        columns = to.lines.shape[2]
        zeros = np.zeros(columns, self.dtype)  # a ReLU against an array is several times as fast as against a 0
        weight = lines_of(self.first.weight.value)  # (F, k * C * k)
        out = self._out.shaped(self.height, columns)
        for row in range(self.height):
            seen, window = self._seen_from(row)
            here = to.features[0][row % len(to.features[0])]
            np.matmul(weight[:, window], to.lines[seen].reshape(-1, columns), out=here)
            here += self.first.bias.value[:, None]
            np.maximum(here, zeros, out=here)
            for conv, features in zip(self.inner, to.features[1:], strict=True):
                after = features[row % len(features)]
                np.matmul(matrix(conv), here, out=after)  # (F, F) @ (F, W * N)
                after += conv.bias.value[:, None]
                here = np.maximum(after, zeros, out=after)
            np.matmul(matrix(self.last)[0], here, out=out[row])
        out += self.last.bias.value
        logits[...] = out.reshape(-1, len(x)).T

    def _make_lines(self, x: FloatArray, lines: FloatArray) -> None:
        """x (N, C, H, W) -> lines (H, C * k, W * N), as drawn, written in place."""
        count, planes, height, width = x.shape
        side = self.first.kernel[1]
        padded = self._padded.shaped(height, planes, width + side - 1, count)
        padded.fill(0)
        padded[:, :, side // 2 : side // 2 + width] = x.transpose(2, 1, 3, 0)
        by_row, by_plane, by_cell, size = padded.strides
        runs = as_strided(padded, (height, planes, side, width * count), (by_row, by_plane, by_cell, size))
        np.copyto(lines.reshape(runs.shape), runs)

    def _seen_from(self, row: int) -> tuple[slice, slice]:
        """Which lines a row of cells sees, and which columns of the weight, as lines_of lays it out, meet them."""
        planes, side = self.first.weight.value.shape[1:3]
        top = row - side // 2  # of the window, perhaps above the board
        seen = slice(max(0, top), min(self.height, top + side))
        return seen, slice((seen.start - top) * planes * side, (seen.stop - top) * planes * side)

    # --- Backward --------------------------------------------------------------------------------------------------

    def _backward(self, d_logits: FloatArray, d_x: FloatArray | None) -> None:
        if len(d_logits) != self._forward_count:
            raise NoForwardError(
                f"backward got slopes of {len(d_logits)} positions, but the last forward saw {self._forward_count}"
            )
        for kept, some in zip(self._kept, self._slices(len(d_logits)), strict=True):
            d_out = d_logits[some].T.astype(self.dtype, order="C")  # (A, N)
            self._back_through(kept, d_out.reshape(self.height, -1), None if d_x is None else d_x[some])

    def _back_through(self, kept: Kept, d_out: FloatArray, d_x: FloatArray | None) -> None:
        """d_out (H, W * N), the slopes of the logits -> the slopes of all parameters and, if it is asked for, d_x."""
        columns = d_out.shape[1]
        weight = lines_of(self.first.weight.value)
        d_weight = np.zeros_like(weight)
        d_lines = None if d_x is None else np.zeros_like(kept.lines)
        self.last.bias.grad += d_out.sum()
        for row in range(self.height):
            maps = [features[row] for features in kept.features]  # each (F, W * N)
            self.last.weight.grad[0, :, 0, 0] += maps[-1] @ d_out[row]
            d_map, d_below = (room.shaped(len(weight), columns) for room in self._slopes[:2])
            np.multiply(matrix(self.last).T, d_out[row], out=d_map)
            for number in reversed(range(len(self.inner))):
                conv = self.inner[number]
                d_map *= maps[number + 1] > 0
                conv.bias.grad += d_map.sum(axis=1)
                conv.weight.grad[:, :, 0, 0] += d_map @ maps[number].T
                d_map, d_below = np.matmul(matrix(conv).T, d_map, out=d_below), d_map
            d_map *= maps[0] > 0
            self.first.bias.grad += d_map.sum(axis=1)
            seen, window = self._seen_from(row)
            d_weight[:, window] += d_map @ kept.lines[seen].reshape(-1, columns).T
            if d_lines is not None:
                d_lines[seen] += (weight[:, window].T @ d_map).reshape(d_lines[seen].shape)
        filters, planes, side = self.first.weight.value.shape[:3]
        self.first.weight.grad += d_weight.reshape(filters, side, planes, side).transpose(0, 2, 1, 3)
        if d_x is not None and d_lines is not None:
            self._fold(d_lines, d_x)

    def _fold(self, d_lines: FloatArray, d_x: FloatArray) -> None:
        """The way back of _make_lines: every number stands in up to k runs, whose slopes add up."""
        count, planes, height, width = d_x.shape
        side = self.first.kernel[1]
        runs = d_lines.reshape(height, planes, side, width, count)
        d_padded = np.zeros((height, planes, width + side - 1, count), self.dtype)
        for col in range(side):
            d_padded[:, :, col : col + width] += runs[:, :, col]
        d_x[...] = d_padded[:, :, side // 2 : side // 2 + width].transpose(3, 1, 0, 2)

    # --- Room ------------------------------------------------------------------------------------------------------

    def _slices(self, count: int) -> Iterator[slice]:
        """Cut ``count`` positions into slices of a few."""
        return (slice(first, first + self._together) for first in range(0, count, self._together))

    def _room(self) -> list[Workspace]:
        return [Workspace(self.dtype) for _ in range(2 + len(self.inner))]

    def _shaped(self, room: list[Workspace], count: int, rows: int) -> Kept:
        """Room for ``count`` positions, and for so many rows of their features."""
        filters, planes, side = self.first.weight.value.shape[:3]
        columns = self.width * count
        lines = room[0].shaped(self.height, planes * side, columns)
        return Kept(lines, [memory.shaped(rows, filters, columns) for memory in room[1:]])


def lines_of(weight: FloatArray) -> FloatArray:
    """weight (F, C, k, k) -> (F, k * C * k), as the columns of a row of cells are laid out: line by line."""
    filters, planes, side = weight.shape[:3]
    return weight.transpose(0, 2, 1, 3).reshape(filters, side * planes * side)


def matrix(conv: Conv2D) -> FloatArray:
    """The weight of a 1 x 1 convolution as the matrix it is, (filters, planes)."""
    return conv.weight.value[:, :, 0, 0]
