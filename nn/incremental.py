"""One more stone: what changes in PolicyNet's logits when a position changes in one cell, and nothing else computed.

    x      . . . . . . .     conv1  . . . . . . .     conv2  . . . . . . .     fc1: every hidden number is a sum over
           . . . . . . .            . . . . . . .            . 2 2 2 2 2 .     all cells, so it moves by the change of
           . . . . . . .            . . 1 1 1 . .            . 2 2 2 2 2 .     these 25 cells times their weights.
           . . . x . . .            . . 1 1 1 . .            . 2 2 2 2 2 .
           . . . . . . .            . . 1 1 1 . .            . 2 2 2 2 2 .     A fifth of the work of a whole pass on
           . . . . . . .            . . . . . . .            . 2 2 2 2 2 .     15x15; nothing is saved on 6x6.

What each layer gives before its ReLU is kept for every view of every game, channels innermost, and changed in place.
This is what chess programs call an efficiently updatable network (Nasu 2018). Rounding errors add up slowly, to some
1e-6 in sixty moves; `reset` begins afresh.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray
from nn.policy_net import PolicyNet
from nn.workspace import Workspace

Index = NDArray[np.integer]
# Stones put into the same block of cells share the products with the weights of the 6 x 7 cells that they may change:
# fewer cells to a block would be less to multiply, more stones to a block are multiplied faster.
BLOCK = (2, 3)
SINGLY = 3  # up to so many stones are put one by one


class Incremental:
    """The activations of E positions, kept up to date stone by stone; the net's weights must not change meanwhile.

    A position is C planes of zeros and ones. For a game seen from both sides, keep two positions.
    pre1 (E, H + 2, W + 2, F1), pre2 (E, H', W', F2) with two cells of border and more, pre3 (E, M).
    """

    def __init__(self, net: PolicyNet, positions: int, memory: Sequence[Workspace] | None = None) -> None:
        """Begin with empty boards. ``memory``: three workspaces to take room from, those of one no longer in use."""
        memory = memory or [Workspace(net.dtype) for _ in range(3)]
        self.height, self.width = height, width = net.height, net.width
        first, second = net.filters
        down, across = height + BLOCK[0] + 3, width + BLOCK[1] + 3
        # stone[c] (3, 3, F1): what a stone on plane c adds to conv1 in the cells around it.
        self._unit = net.dtype.type
        self._stone = np.ascontiguousarray(net.conv1.weight.value[:, :, ::-1, ::-1].transpose(1, 2, 3, 0))
        self._spread = spread(net.conv2.weight.value).reshape(9 * first, 25 * second)
        fc1 = net.fc1.weight.value.reshape(second, height, width, net.hidden)
        self._fc1 = np.zeros((down, across, second, net.hidden), net.dtype)
        self._fc1[2 : 2 + height, 2 : 2 + width] = fc1.transpose(1, 2, 0, 3)
        self._fc2, self._bias2 = net.fc2.weight.value, net.fc2.bias.value
        self._empty = self._of_an_empty_board(net, down, across)
        self.pre1, self.pre2, self.pre3 = (
            room.shaped(positions, *part.shape) for room, part in zip(memory, self._empty, strict=True)
        )
        self.reset(slice(None))
        rows, cols = np.divmod(np.arange(height * width), width)
        padded = np.pad(np.ones((height, width), net.dtype), 1).reshape(-1)  # conv2 sees zeros beyond the edge
        self._near1 = square(rows, cols, 3, width + 2)  # (A, 9) the cells of pre1 that a stone changes
        self._near2 = square(rows, cols, 5, across)  # (A, 25) the cells of pre2
        self._inside = padded[self._near1].reshape(-1, 3, 3, 1)
        self._block = rows // BLOCK[0] * across + cols // BLOCK[1]  # (A,) a number for the block of each cell
        # (A, 25) the cells of pre2, as numbered in the part of it that stones in this block may change.
        self._in_block = square(rows % BLOCK[0], cols % BLOCK[1], 5, BLOCK[1] + 4)

    def reset(self, which: Index | slice) -> None:
        """Empty the boards of these positions (n,)."""
        for kept, empty in zip((self.pre1, self.pre2, self.pre3), self._empty, strict=True):
            kept[which] = empty

    def put(self, which: Index, planes: Index, cells: Index, stones: float = 1) -> None:
        """Put a stone on plane planes[i], cell cells[i] of position which[i], all (n,); stones = -1 takes it away.

        A position may be named only once.
        """
        if len(which) <= SINGLY:
            for position, plane, cell in zip(which.tolist(), planes.tolist(), cells.tolist(), strict=True):
                self.put_one(position, plane, cell, stones)
            return
        blocks = self._block[cells]
        order = np.argsort(blocks, kind="stable")
        ends = np.flatnonzero(np.diff(blocks[order], append=-1)) + 1
        for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
            some = order[start:end]
            self._put_in_block(which[some], planes[some], cells[some], stones)

    def put_one(self, position: int, plane: int, cell: int, stones: float = 1) -> None:
        """Do what put does, for one position: by matrix-vector products, for which a matrix need not be repacked."""
        row, col = divmod(cell, self.width)
        change = moved(self.pre1[position, row : row + 3, col : col + 3], self._stone[plane] * self._unit(stones))
        change *= self._inside[cell]
        further = (change.reshape(-1) @ self._spread).reshape(5, 5, -1)
        change = moved(self.pre2[position, row : row + 5, col : col + 5], further).reshape(5, -1)
        for line in range(5):
            weights = self._fc1[row + line, col : col + 5].reshape(change.shape[1], -1)
            self.pre3[position] += change[line] @ weights

    def logits(self, which: Index) -> FloatArray:
        """The logits (n, A) of these positions (n,)."""
        hidden = self.pre3.take(which, axis=0)
        np.maximum(hidden, np.zeros_like(hidden[:1]), out=hidden)
        out: FloatArray = hidden @ self._fc2
        out += self._bias2
        return out

    def _put_in_block(self, which: Index, planes: Index, cells: Index, stones: float) -> None:
        count, first, second = len(which), self.pre1.shape[3], self.pre2.shape[3]
        rows1, rows2 = self.pre1.reshape(-1, first), self.pre2.reshape(-1, second)
        near = self._near1[cells] + (which * (self.pre1.shape[1] * self.pre1.shape[2]))[:, None]
        some = rows1.take(near, axis=0)
        change = moved(some, self._stone.reshape(-1, 9, first)[planes] * self._unit(stones))
        rows1[near] = some
        change *= self._inside.reshape(-1, 9, 1)[cells]
        near = self._near2[cells] + (which * (self.pre2.shape[1] * self.pre2.shape[2]))[:, None]
        further = (change.reshape(count, -1) @ self._spread).reshape(count, 25, second)
        some = rows2.take(near, axis=0)
        change = moved(some, further)
        rows2[near] = some
        tall, wide = BLOCK[0] + 4, BLOCK[1] + 4
        features = np.zeros((count, tall * wide, second), change.dtype)
        features[np.arange(count)[:, None], self._in_block[cells]] = change
        lines = features.reshape(count, tall, wide * second)
        row, col = divmod(int(cells[0]), self.width)
        row, col = row - row % BLOCK[0], col - col % BLOCK[1]
        total = np.zeros((count, self.pre3.shape[1]), change.dtype)
        for line in range(tall):
            total += lines[:, line] @ self._fc1[row + line, col : col + wide].reshape(wide * second, -1)
        self.pre3[which] += total

    def _of_an_empty_board(self, net: PolicyNet, down: int, across: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """pre1, pre2 and pre3 of a board without stones, by the readable layers."""
        x = np.zeros((1, net.planes, self.height, self.width), net.dtype)
        outputs = [x]
        for layer in net.layers:
            outputs.append(layer.predict(outputs[-1]))
        pre1 = np.zeros((self.height + 2, self.width + 2, net.filters[0]), net.dtype)
        pre2 = np.zeros((down, across, net.filters[1]), net.dtype)
        pre1[1:-1, 1:-1] = outputs[1][0].transpose(1, 2, 0)
        pre2[2 : 2 + self.height, 2 : 2 + self.width] = outputs[3][0].transpose(1, 2, 0)
        return pre1, pre2, outputs[6][0]


def moved(kept: FloatArray, by: FloatArray) -> FloatArray:
    """Add ``by`` to ``kept`` in place, same shape; returns how much the ReLU of it changes."""
    zeros = np.zeros(by.shape[1:], by.dtype)
    before = np.maximum(kept, zeros)
    kept += by
    after: FloatArray = np.maximum(kept, zeros)
    after -= before
    return after


def square(rows: Index, cols: Index, side: int, across: int) -> Index:
    """The cells (A, side * side) of squares with these upper left corners (A,), on a board of ``across`` columns."""
    lines = np.arange(side)
    cells = (rows[:, None, None] + lines[:, None]) * across + cols[:, None, None] + lines
    return cells.reshape(len(rows), side * side)


def spread(weight: FloatArray) -> FloatArray:
    """Convolution weight (F, C, 3, 3) -> (3, 3, C, 5, 5, F): what one input cell of nine adds to 25 output cells.

    Output cell v sees input cell u through window cell u - v + 1, in rows as in columns.
    """
    filters, planes = weight.shape[:2]
    out = np.zeros((3, 3, planes, 5, 5, filters), weight.dtype)
    for row in range(3):
        for col in range(3):
            out[row, col, :, row : row + 3, col : col + 3] = weight[:, :, ::-1, ::-1].transpose(1, 2, 3, 0)
    return out
