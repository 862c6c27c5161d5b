"""im2col in strips that fit the cache, positions innermost: what the fast twins of the convolutions are built on.

1. The positions of a batch lie innermost: where the drawing shows one number, there are N of them, side by side. A
   plane is a row of slots. A row of the board takes S = W + 1 of them, so that one slot of zeros is both the right
   edge of a row and the left edge of the next:

        0 0 0 0 0
        0 a b c d        slot of (row, col) = (row + 1) * S + col + 1
        0 e f g h
        0 i j k l        What the window's centre sees from b to c is one run of slots, what its other eight cells see
        0 0 0 0 0        are eight more. With several rows at once, the slot between d and e is computed as well;
        0                whoever uses it next must know that, or set it back to zero.

2. Columns are made line by line, a line being what the three window cells side by side see of one row. The columns
   of a strip of cells are three lines, one below the other; for the strip below it, two of them are there already:

        line 0   sees the zeros above     strip a b c d  =  lines 0 1 2
        line 1   sees a b c d             strip e f g h  =  lines 1 2 3
        line 2   sees e f g h             strip i j k l  =  lines 2 3 4

   Each line ends with a row of ones, which brings the bias into the product. A strip is short enough
   for what is done to its product next to find it in the cache.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray
from nn.workspace import Workspace

SHORT, LONG = 384, 1024  # columns of a strip: at most LONG, unless one slot has more; below SHORT it takes in more rows
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
        """Cut the board into strips, ``positions`` columns to a slot: from top to bottom, then further right."""
        rows = max(1, SHORT // (self.stride * positions))
        cols = -(-self.width // min(self.width, -(-self.width * positions // LONG)))
        for col in range(0, self.width, cols):
            for row in range(0, self.height, rows):
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
        self.clear_gaps(planes)

    def clear_gaps(self, planes: FloatArray) -> None:
        """planes (C, slots, N): set the slots between two rows to zero."""
        planes[:, self.stride :: self.stride] = 0


class Columns:
    """im2col of planes (C, slots, N), a strip at a time.

    Iterating gives (strip, columns (3 * (3 * C + 1), m)) from the top strip to the bottom one; the columns are
    overwritten as one goes on. All views are made here, once.
    """

    def __init__(self, slots: Slots, planes: FloatArray, memory: Workspace) -> None:
        count, _, positions = planes.shape
        strips = list(slots.strips(positions))
        longest = max(strip.slots.stop - strip.slots.start for strip in strips) * positions
        whole_rows = any(strip.rows.stop - strip.rows.start > 1 for strip in strips)
        lines = memory.shaped(3 if whole_rows else slots.height + 2, count * 3 + 1, longest + SKEW)
        lines[:, -1] = 1
        self._steps: list[tuple[Strip, FloatArray, FloatArray, FloatArray]] = []
        size, slot = planes.itemsize, positions * planes.itemsize
        for strip in strips:
            row, length = strip.rows.start, (strip.slots.stop - strip.slots.start) * positions
            top, new = (0, 3) if whole_rows or row == 0 else (row, 1)  # of its three lines, how many are new
            first = strip.slots.start + (2 - new) * slots.stride - 1
            seen: FloatArray = np.ndarray(
                (new, count, 3, length),
                planes.dtype,
                planes,
                first * slot,
                (slots.stride * slot, slots.count * slot, slot, size),
            )
            into = lines[top + 3 - new : top + 3, :-1, :length].reshape(seen.shape)
            columns = lines[top : top + 3].reshape(-1, longest + SKEW)[:, :length]
            self._steps.append((strip, into, seen, columns))

    def __iter__(self) -> Iterator[tuple[Strip, FloatArray]]:
        """Make the columns of one strip after the other."""
        for strip, into, seen, columns in self._steps:
            np.copyto(into, seen)
            yield strip, columns


def lines_of(weight: FloatArray, bias: FloatArray) -> FloatArray:
    """weight (F, C, 3, 3), bias (F,) -> (F, 3 * (3 * C + 1)), as columns are laid out.

    The bias meets the row of ones of the first line; the other two rows of ones meet zeros.
    """
    numbers = np.concatenate((weight.reshape(-1), bias, np.zeros(1, weight.dtype)))
    lines: FloatArray = numbers.take(_places(*weight.shape[:2]))
    return lines


@cache
def _places(filters: int, planes: int) -> NDArray[np.int64]:
    """Where in [weight, bias, 0] each number of lines_of is found: one look-up is cheaper than three copies."""
    bias = filters * planes * 9
    out = np.full((filters, 3, planes * 3 + 1), bias + filters)
    out[:, :, :-1].reshape(filters, 3, planes, 3)[...] = np.arange(bias).reshape(-1, planes, 3, 3).transpose(0, 2, 1, 3)
    out[:, 0, -1] = np.arange(bias, bias + filters)
    return out.reshape(filters, -1)


def from_lines(lines: FloatArray) -> FloatArray:
    """Undo lines_of: (F, 3 * (3 * C + 1)) -> (F, C, 3, 3)."""
    rows = lines.reshape(len(lines), 3, -1)[:, :, :-1]  # (F, 3, 3 * C)
    return rows.reshape(len(lines), 3, -1, 3).transpose(0, 2, 1, 3)
