"""One more stone: what changes in the logits of ConvPolicyNet when one cell changes, and nothing else computed.

    x      . . . . . . .     pre1   . . . . . . .     all that follows is cell by cell: the
           . . . . . . .            . 1 1 1 1 1 .     same cells change, and no other.
           . . . . . . .            . 1 1 1 1 1 .
           . . . x . . .            . 1 1 1 1 1 .     (Here k = 5. With k = 9 it is 81 cells
           . . . . . . .            . 1 1 1 1 1 .     of 225, fewer near an edge.)
           . . . . . . .            . 1 1 1 1 1 .
           . . . . . . .            . . . . . . .

The first layer is linear in the stones: a stone adds the window, turned by half a turn, to the square around it. What
the layer gives before its ReLU is kept for every position, channels innermost, and changed in place; the layers after
it are 1 x 1, a matrix product over the changed cells. Rounding errors add up slowly; `reset` begins afresh.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn.conv import Conv2D
from nn.conv_policy_net import ConvPolicyNet
from nn.layers import FloatArray, ShapeError
from nn.workspace import Workspace

Index = NDArray[np.integer]
TOGETHER = 16  # stones whose squares go through the layers at once: what is made of them stays in the cache


class ConvIncremental:
    """The activations of E positions, kept up to date stone by stone; the net's weights must not change meanwhile.

    A position is C planes of zeros and ones. For a game seen from both sides, keep two positions. Its methods are
    those of nn.incremental.Incremental. pre1 (E, H, W * F), cell by cell along a row; answers (E, H, W), the logits.
    """

    def __init__(self, net: ConvPolicyNet, positions: int, memory: Sequence[Workspace] | None = None) -> None:
        """Begin with empty boards. ``memory``: two workspaces to take room from, those of one no longer in use.

        Raises ShapeError for a net in which more than the first window is larger than one cell.
        """
        if not net.cell_by_cell:
            raise ShapeError(f"kept up to date: only the first window may be larger than 1, got kernels {net.kernels}")
        memory = memory or [Workspace(net.dtype) for _ in range(2)]
        self.height, self.width, self.filters = net.height, net.width, net.filters
        first, *inner, last = [layer for layer in net.layers if isinstance(layer, Conv2D)]
        self._side = side = net.kernels[0]
        self._unit = net.dtype.type
        # stone[c] (k, k * F): what a stone on plane c adds to pre1 in the cells around it.
        self._stone = first.weight.value[:, :, ::-1, ::-1].transpose(1, 2, 3, 0).reshape(net.planes, side, -1)
        self._inner = [(np.ascontiguousarray(conv.weight.value[:, :, 0, 0].T), conv.bias.value) for conv in inner]
        self._last, self._bias = last.weight.value.reshape(-1), last.bias.value
        self._zeros = np.zeros(side * self.filters, net.dtype)
        empty = np.zeros((1, net.planes, net.height, net.width), net.dtype)
        self._empty = first.predict(empty)[0].transpose(1, 2, 0).reshape(net.height, -1)
        self._no_stone = net.predict(empty).reshape(net.height, -1)
        self.pre1 = memory[0].shaped(positions, *self._empty.shape)
        self.answers = memory[1].shaped(positions, net.height, net.width)
        self._squares = [np.empty((TOGETHER * side * side, self.filters), net.dtype) for _ in range(2)]
        self._around = [around(*divmod(cell, net.width), side, net) for cell in range(net.height * net.width)]
        self.reset(slice(None))

    def reset(self, which: Index | slice) -> None:
        """Empty the boards of these positions (n,)."""
        self.pre1[which] = self._empty
        self.answers[which] = self._no_stone

    def put(self, which: Index, planes: Index, cells: Index, stones: float = 1) -> None:
        """Put a stone on plane planes[i], cell cells[i] of position which[i], all (n,); stones = -1 takes it away.

        A position may be named only once.
        """
        for start in range(0, len(which), TOGETHER):
            some = slice(start, start + TOGETHER)
            self._put_few(which[some].tolist(), planes[some].tolist(), cells[some].tolist(), stones)

    def put_one(self, position: int, plane: int, cell: int, stones: float = 1) -> None:
        """Do what put does, for one position."""
        self._put_few([position], [plane], [cell], stones)

    def logits(self, which: Index) -> FloatArray:
        """The logits (n, A) of these positions (n,)."""
        return self.answers.take(which, axis=0).reshape(len(which), -1)

    def _put_few(self, which: list[int], planes: list[int], cells: list[int], stones: float) -> None:
        stone = self._stone if stones == 1 else self._stone * self._unit(stones)
        here, after = self._squares
        flat, end = here.reshape(-1), 0
        squares = [self._around[cell] for cell in cells]
        for position, plane, square in zip(which, planes, squares, strict=True):
            kept = self.pre1[position, square.rows, square.features]
            kept += stone[plane, square.window_rows, square.window_features]
            start, end = end, end + kept.size
            np.maximum(kept, self._zeros[: kept.shape[1]], out=flat[start:end].reshape(kept.shape))
        count = end // self.filters
        for weight, bias in self._inner:
            np.matmul(here[:count], weight, out=after[:count])
            after[:count] += bias
            np.maximum(after[:count], self._zeros[: self.filters], out=after[:count])
            here, after = after, here
        answers = here[:count] @ self._last
        answers += self._bias
        end = 0
        for position, square in zip(which, squares, strict=True):
            shown = self.answers[position, square.rows, square.cols]
            start, end = end, end + shown.size
            shown[...] = answers[start:end].reshape(shown.shape)


class Square(NamedTuple):
    """The cells of the board that a stone changes, and the part of the window that meets them."""

    rows: slice
    cols: slice
    features: slice  # the columns, when each has F numbers
    window_rows: slice
    window_features: slice


def around(row: int, col: int, side: int, net: ConvPolicyNet) -> Square:
    """The square of ``side`` around a cell, as far as it lies on the board."""
    up, left, filters = row - side // 2, col - side // 2, net.filters
    rows = slice(max(0, up), min(net.height, up + side))
    cols = slice(max(0, left), min(net.width, left + side))
    return Square(
        rows,
        cols,
        slice(cols.start * filters, cols.stop * filters),
        slice(rows.start - up, rows.stop - up),
        slice((cols.start - left) * filters, (cols.stop - left) * filters),
    )
