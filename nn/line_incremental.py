"""One more stone: what changes in the logits of LinePolicyNet when one cell changes, and nothing else computed.

    reach 2     * . * . *       A stone on X is seen by the cells * on its four lines, 32 of them with reach 4, and each
                . * * * .       of them sees it on one line only. The number of that line (nn/line_tables.py) changes
                * * X * *       by a power of 3; the numbers of its three other lines stand as they are.
                . * * * .
                * . * . *       So four rows of the table are added up anew for 32 cells of 225, and no more.

All that is kept of a position is whole numbers: rounding errors cannot add up, however many stones come and go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray
from nn.line_policy_net import LinePolicyNet
from nn.line_tables import LINES
from nn.lines import DIRECTIONS
from nn.workspace import Workspace

Index = NDArray[np.integer[Any]]
TOGETHER = 128  # stones whose cells go through the layers at once: what is made of them stays in the cache


class LineIncremental:
    """The line numbers of E positions, kept up to date stone by stone; the net's weights must not change meanwhile.

    A position is two planes of zeros and ones. For a game seen from both sides, keep two positions. Its methods are
    those of nn.incremental.Incremental. codes (E, A + 1, 4): each line as (one half) * halves + (the other half);
    answers (E, A + 1), the logits. The last cell stands for all beyond the edge, and means nothing.
    """

    def __init__(self, net: LinePolicyNet, positions: int, memory: Sequence[Workspace] | None = None) -> None:
        """Begin with empty boards. ``memory``: a workspace to take room from, that of one no longer in use."""
        self._net, self._tables = net, net.tables
        tables = net.tables
        halves, area = tables.numbers.halves, net.height * net.width
        lines, _ = tables.table(np.arange(len(tables.numbers.windows)))
        self._table = lines.take(tables.numbers.pairs.reshape(-1), axis=0)  # (halves * halves, features)
        first = tables.first.astype(np.int32).reshape(2, LINES, area)  # half lines ahead and behind
        self._empty = np.zeros((area + 1, LINES), np.int32)
        self._empty[:area] = (first[0] * halves + first[1]).T
        self._seen_by, self._where, self._weight = around(net.height, net.width, net.reach, halves)
        self._no_stone = np.append(self._logits_of(self._empty[:area]), net.dtype.type(0))
        room = memory[0] if memory else Workspace(net.dtype)
        self.codes = np.empty((positions, *self._empty.shape), np.int32)
        self.answers = room.shaped(positions, area + 1)
        self.reset(slice(None))

    def reset(self, which: Index | slice) -> None:
        """Empty the boards of these positions (n,)."""
        self.codes[which] = self._empty
        self.answers[which] = self._no_stone

    def put(self, which: Index, planes: Index, cells: Index, stones: int = 1) -> None:
        """Put a stone on plane planes[i], cell cells[i] of position which[i], all (n,); stones = -1 takes it away.

        A position may be named only once.
        """
        digit = (np.asarray(planes) + 1) * stones  # as nn/line_tables.py counts: 1 on the first plane, 2 on the second
        flat = self.codes.reshape(len(self.codes), -1)
        for start in range(0, len(which), TOGETHER):
            some = slice(start, start + TOGETHER)
            position, cell = np.asarray(which[some])[:, None], cells[some]
            flat[position, self._where[cell]] += self._weight[cell] * digit[some, None]
            seen_by = self._seen_by[cell]  # (n, ways * reach)
            codes = self.codes[position, seen_by]
            self.answers[position, seen_by] = self._logits_of(codes.reshape(-1, LINES)).reshape(seen_by.shape)

    def put_one(self, position: int, plane: int, cell: int, stones: int = 1) -> None:
        """Do what put does, for one position."""
        self.put(np.array([position]), np.array([plane]), np.array([cell]), stones)

    def logits(self, which: Index) -> FloatArray:
        """The logits (n, A) of these positions (n,)."""
        return self.answers.take(which, axis=0)[:, :-1]

    def _logits_of(self, codes: NDArray[np.int32]) -> FloatArray:
        """codes (n, 4) -> logits (n,)."""
        return self._net.logits_of(self._tables.above(self._tables.summed(self._table, codes.T)))


def around(height: int, width: int, reach: int, halves: int) -> tuple[Index, Index, NDArray[np.int32]]:
    """For a stone on each cell, (A, 8 * reach) each: the cells that see it; their code of the line it lies on, as a
    place among (A + 1) * 4; and what the digit 1 adds to that code. Beyond the edge the cell is A and adds nothing."""
    area = height * width
    seen_by = np.full((area, len(DIRECTIONS), reach), area)
    weight = np.zeros(seen_by.shape, np.int32)
    line = np.empty(seen_by.shape, np.int64)
    row, col = np.divmod(np.arange(area), width)
    for way, (down, right) in enumerate(DIRECTIONS):
        line[:, way] = way % LINES
        for step in range(1, reach + 1):  # a cell that sees it so many steps along this direction lies so far back
            there, across = row - step * down, col - step * right
            on = (there >= 0) & (there < height) & (across >= 0) & (across < width)
            seen_by[on, way, step - 1] = (there * width + across)[on]
            weight[on, way, step - 1] = 3 ** (step - 1) * (halves if way < LINES else 1)
    cells = seen_by.reshape(area, -1)
    return cells, cells * LINES + line.reshape(area, -1), weight.reshape(area, -1)
