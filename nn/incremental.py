"""One more stone: what changes in PolicyNet's logits when a position changes in one cell, and nothing else computed.

    x      . . . . . . .     conv1  . . . . . . .     conv2  . . . . . . .     fc1: every hidden number is a sum over
           . . . . . . .            . . . . . . .            . 2 2 2 2 2 .     all cells, so it moves by the change of
           . . . . . . .            . . 1 1 1 . .            . 2 2 2 2 2 .     these 25 cells times their weights.
           . . . x . . .            . . 1 1 1 . .            . 2 2 2 2 2 .     A ninth of the work of a whole pass on
           . . . . . . .            . . 1 1 1 . .            . 2 2 2 2 2 .     15x15; little is saved on 6x6.
           . . . . . . .            . . . . . . .            . 2 2 2 2 2 .

What each layer gives before its ReLU is kept for every view of every game, channels innermost, and changed in place.
This is what chess programs call an efficiently updatable network (Nasu 2018). Rounding errors add up slowly, to some
1e-6 in sixty moves; `reset` begins afresh.

Many stones at a time share products, so that a weight is fetched once for all of them. Those put into one column
change the same five columns of conv2, in lines of five cells; sorted by row, those that change a given line lie side
by side, for whichever of its five lines each of them it is:

    stones of one column, sorted    a  row 3     changes lines 1 2 3 4 5            line 4 is changed by a b c d,
                                    b  row 3             1 2 3 4 5                  in one product with its weights,
                                    c  row 5                 3 4 5 6 7              line 6 by c d e, and so on
                                    d  row 6                   4 5 6 7 8
                                    e  row 8                       6 7 8 9 10
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from nn.layers import FloatArray
from nn.policy_net import PolicyNet
from nn.rows import overlapping
from nn.workspace import Workspace

Index = NDArray[np.integer]
Runs = NDArray[np.void]
SINGLY = 3  # up to so many stones are put one by one


class Incremental:
    """The activations of E positions, kept up to date stone by stone; the net's weights must not change meanwhile.

    A position is C planes of zeros and ones. For a game seen from both sides, keep two positions.
    pre1 (E, H + 2, W + 2, F1), pre2 (E, H, W + 4, F2), with a border of cells that mean nothing, pre3 (E, M).
    """

    def __init__(self, net: PolicyNet, positions: int, memory: Sequence[Workspace] | None = None) -> None:
        """Begin with empty boards. ``memory``: three workspaces to take room from, those of one no longer in use."""
        memory = memory or [Workspace(net.dtype) for _ in range(3)]
        self.height, self.width = height, width = net.height, net.width
        # stone[c] (3, 3, F1): what a stone on plane c adds to conv1 in the cells around it.
        self._unit = net.dtype.type
        self._stone = np.ascontiguousarray(net.conv1.weight.value[:, :, ::-1, ::-1].transpose(1, 2, 3, 0))
        self._spread = spread(net.conv2.weight.value)
        fc1 = net.fc1.weight.value.reshape(net.filters[1], height, width, net.hidden)
        self._fc1 = np.ascontiguousarray(fc1.transpose(1, 2, 0, 3))  # (H, W, F2, M)
        self._fc2, self._bias2 = net.fc2.weight.value, net.fc2.bias.value
        self._empty = self._of_an_empty_board(net)
        self.pre1, self.pre2, self.pre3 = (
            room.shaped(positions, *part.shape) for room, part in zip(memory, self._empty, strict=True)
        )
        self._runs1, self._runs2 = runs(self.pre1, 3), runs(self.pre2, 5)
        self.reset(slice(None))
        board = np.pad(np.ones((height, width), net.dtype), 1)  # conv2 sees zeros beyond the edge
        self._inside = sliding_window_view(board, (3, 3)).reshape(-1, 3, 3, 1).copy()  # (A, 3, 3, 1)
        self._room = Workspace(net.dtype)

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
        height, area = self.height, self.height * self.width
        by_column = cells % self.width * height + cells // self.width
        order = np.argsort(by_column, kind="stable")
        which, planes, cells, by_column = which[order], planes[order], cells[order], by_column[order]
        seen = by_column[:, None] % height + np.arange(-2, 3)  # (n, 5) the rows of the lines that they change
        key = np.where((seen >= 0) & (seen < height), by_column[:, None] + np.arange(-2, 3), area).reshape(-1)
        lines = np.argsort(key.astype(np.min_scalar_type(area)), kind="stable")  # numbers 5 * stone + line
        ends = np.append(0, np.cumsum(np.bincount(key, minlength=area)))  # of those of one row, of one column
        change = self._change_first(which, planes, cells, stones)
        total = self.pre3.take(which, axis=0)
        columns = np.searchsorted(by_column, np.arange(0, area + 1, height)).tolist()
        for col, (first, end) in enumerate(pairwise(columns)):
            if first < end:
                own = ends[col * height : (col + 1) * height + 1]
                place = which[first:end] * height + by_column[first:end] % height  # of pre2's rows
                number = lines[own[0] : own[-1]] - 5 * first
                self._put_in_column(col, place, change[first:end], number, own - own[0], total[first:end])
        self.pre3[which] = total

    def put_one(self, position: int, plane: int, cell: int, stones: float = 1) -> None:
        """Do what put does, for one position: by matrix-vector products, for which a matrix need not be repacked."""
        row, col = divmod(cell, self.width)
        change = moved(self.pre1[position, row : row + 3, col : col + 3], self._stone[plane] * self._unit(stones))
        padded = np.zeros((7, change.size // 3), change.dtype)  # the three lines between two of zeros
        np.multiply(change, self._inside[cell], out=padded[2:5].reshape(change.shape))
        further = (overlapping(padded, (5, change.size), padded.strides) @ self._spread).reshape(5, 5, -1)
        top, left, bottom, right = max(0, row - 2), max(0, col - 2), min(self.height, row + 3), min(self.width, col + 3)
        further = further[top - row + 2 : bottom - row + 2, left - col + 2 : right - col + 2]
        change = moved(self.pre2[position, top:bottom, left + 2 : right + 2], further).reshape(bottom - top, -1)
        weights = self._fc1[top:bottom, left:right].reshape(*change.shape, -1)  # a matrix for each line, still a view
        self.pre3[position] += np.matmul(change[:, None], weights).sum(axis=0)[0]

    def logits(self, which: Index) -> FloatArray:
        """The logits (n, A) of these positions (n,)."""
        hidden = self.pre3.take(which, axis=0)
        np.maximum(hidden, np.zeros_like(hidden[:1]), out=hidden)
        out: FloatArray = hidden @ self._fc2
        out += self._bias2
        return out

    def _change_first(self, which: Index, planes: Index, cells: Index, stones: float) -> FloatArray:
        """Put the stones into pre1; returns by how much what conv2 sees of it changes, (n, 3 * 3 * F1)."""
        across = self.width + 2
        corner = which * (self.pre1.shape[1] * across) + cells // self.width * across + cells % self.width
        place = corner[:, None] + np.arange(0, 3 * across, across)
        kept = self._runs1[place].view(self.pre1.dtype)  # (n, 3 * 3 * F1)
        change = moved(kept, (self._stone * self._unit(stones)).reshape(-1, kept.shape[1])[planes])
        self._runs1[place] = kept.view(self._runs1.dtype)
        near = change.reshape(-1, 9, self.pre1.shape[3])
        near *= self._inside.reshape(-1, 9, 1)[cells]
        return change

    def _put_in_column(
        self, col: int, place: Index, change: FloatArray, lines: Index, ends: Index, total: FloatArray
    ) -> None:
        """Carry on what n stones of one column, sorted by row, change (n, 3 * 3 * F1): to pre2 and total (n, M).

        place (n,) is the row of each, counted through all positions; lines 5 * stone + line are sorted by row, those
        of row r from ends[r] to ends[r + 1].
        """
        across, size, third = self.pre2.shape[2], 5 * self.pre2.shape[3], change.shape[1] // 3
        further = self._room.shaped(len(change), 5, size)
        for line in range(5):
            seen, window = slice(max(0, line - 2) * third, (line + 1) * third), slice(max(0, 2 - line) * third, None)
            part = change[:, seen]
            np.matmul(part, self._spread[window][: part.shape[1]], out=further[:, line])
        stone = lines // 5
        run = (place[stone] + lines % 5 - 2) * across + col
        kept = self._runs2[run].view(change.dtype).reshape(-1, size)
        change = moved(kept, further.reshape(-1, size).take(lines, axis=0))
        self._runs2[run] = kept.view(self._runs2.dtype)[:, 0]
        left, right = max(0, col - 2), min(self.width, col + 3)
        change = change.reshape(len(lines), 5, -1)[:, left - col + 2 : right - col + 2].reshape(len(lines), -1)
        for row, (first, end) in enumerate(pairwise(ends.tolist())):
            if first < end:
                weights = self._fc1[row, left:right].reshape(-1, total.shape[1])
                those = slice(stone[first], stone[first] + end - first)
                total[those] += change[first:end] @ weights

    def _of_an_empty_board(self, net: PolicyNet) -> tuple[FloatArray, FloatArray, FloatArray]:
        """pre1, pre2 and pre3 of a board without stones, by the readable layers."""
        outputs = [np.zeros((1, net.planes, self.height, self.width), net.dtype)]
        for layer in net.layers:
            outputs.append(layer.predict(outputs[-1]))
        pre1 = np.pad(outputs[1][0].transpose(1, 2, 0), ((1, 1), (1, 1), (0, 0)))
        pre2 = np.pad(outputs[3][0].transpose(1, 2, 0), ((0, 0), (2, 2), (0, 0)))
        return pre1, pre2, outputs[6][0]


def moved(kept: FloatArray, by: FloatArray) -> FloatArray:
    """Add ``by`` to ``kept`` in place, same shape; returns how much the ReLU of it changes."""
    zeros = np.zeros(by.shape[1:], by.dtype)
    before = np.maximum(kept, zeros)
    kept += by
    after: FloatArray = np.maximum(kept, zeros)
    after -= before
    return after


def runs(maps: FloatArray, length: int) -> Runs:
    """maps (..., F) -> every run of ``length`` cells of a row as one item, a view: item i begins at cell i."""
    cell = maps.shape[-1] * maps.itemsize
    item = np.dtype((np.void, length * cell))
    view: Runs = np.ndarray((max(0, maps.size * maps.itemsize // cell - length + 1),), item, maps, 0, (cell,))
    return view


def spread(weight: FloatArray) -> FloatArray:
    """Convolution weight (F, C, 3, 3) -> (3 * 3 * C, 5 * F): what lines of three cells add to a line of five.

    The lines are those that the three rows of the window see, from above; cell u adds to cell v through window column
    u - v + 2.
    """
    filters, planes = weight.shape[:2]
    out = np.zeros((3, 3, planes, 5, filters), weight.dtype)
    for col in range(3):
        out[:, col, :, col : col + 3] = weight[:, :, :, ::-1].transpose(2, 1, 3, 0)
    return out.reshape(9 * planes, 5 * filters)
