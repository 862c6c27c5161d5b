"""The fast twin of the layers that read lines: a line is a number, and what they make of it stands in a table.

Skip this file on a first reading: `line_layers` (nn/lines.py) is the definition, here is only how to get there sooner.

    reach 4     o . x . [ ] x x . |         eight cells round the one in brackets, each empty, mine (x) or the other's
                behind      ahead           (o); | is the edge

1. The cells ahead are a number in base 3, nearest first: 1 + 1 * 3 + 0 * 9 = 4. So are those behind, nearest first:
   0 + 1 * 3 + 0 * 9 + 2 * 27 = 57. A half line that the edge cuts short has numbers of its own: 121 in all.
2. Both directions of a line are added up, so which half is ahead does not matter: the pair (larger, smaller) is the
   line's number, one of 121 * 122 / 2 = 7,381. The layers before the sum are asked once for each number that occurs,
   instead of 8 A times a position: 7,381 lines are the work of four positions on 15x15.
3. A position is then four numbers a cell, and its features four rows of the table added up. The layers after the sum
   are products over some thousand cells at a time, which stay in the cache.
4. On the way back, the slope of a row of the table is the sum over all cells that used it: a count with weights
   (np.bincount), feature by feature. Lines without a stone are most of all; they are added up by one product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nn.conv import Conv2D
from nn.layers import FloatArray, NoForwardError
from nn.lines import DIRECTIONS
from nn.workspace import Workspace

LINES = len(DIRECTIONS) // 2
CELLS = 4096  # about so many cells go through the layers after the sum at once
Codes = NDArray[np.integer[Any]]


def holds_stones(x: FloatArray) -> bool:
    """Whether x (N, 2, H, W) holds zeros and ones and no cell has both: then a cell is empty, mine or the other's."""
    return bool(((x == 0) | (x == 1)).all() and not (x[:, 0] * x[:, 1]).any())


class LineNumbers(NamedTuple):
    """How lines are numbered for one reach; see the drawing.

    halves    how many half lines there are, 121 for reach 4
    start     (reach + 1,) the first number of the half lines with so many cells on the board
    windows   (numbers, 2, 6 * reach) what LineWindows shows of a line, read in both directions
    pairs     (halves, halves) the number of a line by its two halves, either way round
    """

    halves: int
    start: Codes
    windows: NDArray[np.int8]
    pairs: Codes


@lru_cache
def line_numbers(reach: int) -> LineNumbers:
    """The numbering for so many cells either way."""
    counts = [3**cells for cells in range(reach + 1)]
    start = np.cumsum([0, *counts[:-1]])
    halves = sum(counts)
    seen = np.zeros((halves, 3, reach), np.int8)  # [half, plane, step - 1]
    for cells in range(reach + 1):
        for number in range(3**cells):
            half = seen[start[cells] + number]
            half[2, cells:] = 1
            for step in range(cells):
                stone = number // 3**step % 3
                half[:2, step] = stone == 1, stone == 2
    large, small = np.tril_indices(halves)
    pairs = np.empty((halves, halves), np.uint16 if len(large) < 2**16 else np.int32)
    pairs[large, small] = pairs[small, large] = np.arange(len(large))
    read = [
        np.concatenate([seen[behind][:, :, ::-1], seen[ahead]], axis=2).reshape(len(large), -1)
        for ahead, behind in ((large, small), (small, large))
    ]
    return LineNumbers(halves, start, np.stack(read, axis=1), pairs)


class LineTables:
    """forward, predict and gradients of ``line_layers`` on boards with stones: features of each cell, (N * A, F).

    It reads the layers' Parameters and adds to their slopes. Its workspaces have the size of the largest batch that
    forward has met, and what it returns lies in them until the next call.
    """

    def __init__(self, convs: Sequence[Conv2D], reach: int, height: int, width: int) -> None:
        self.read, self.tell, self.weigh = convs
        self.reach, self.height, self.width = reach, height, width
        self.dtype = self.read.weight.value.dtype
        self.numbers = line_numbers(reach)
        # first (8, H, W): the number of a half line without a stone, by direction and cell
        ahead = np.stack([_steps_to_the_edge(way, height, width, reach) for way in DIRECTIONS])
        self.first = self.numbers.start[ahead].astype(np.uint16)
        self.no_stone = self.numbers.pairs[self.first[:LINES], self.first[LINES:]].reshape(LINES, -1)  # (4, A)
        self._workspaces = [Workspace(self.dtype) for _ in range(6)]
        self._codes: Codes | None = None

    def predict(self, x: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
        """x (N, 2, H, W) -> (which of the N * A cells, their features (n, F)), some at a time; keeps nothing."""
        used, codes = compact(self.codes(x), len(self.numbers.windows))
        table, _ = self.table(used)
        for some in _slices(codes.shape[1]):
            yield some, self.above(self.summed(table, codes[:, some]))

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, 2, H, W) -> features (N * A, F), keeping what add_gradients needs."""
        self._used, self._codes = compact(self.codes(x), len(self.numbers.windows))
        table, self._lines = self.table(self._used)
        cells, features = self._codes.shape[1], len(self.tell.bias.value)
        self._sums, self._weighed = (room.shaped(cells, features) for room in self._workspaces[:2])
        for some in _slices(cells):
            self.summed(table, self._codes[:, some], out=self._sums[some])
            self.above(self._sums[some], out=self._weighed[some])
        return self._weighed

    def add_gradients(self, d_features: Callable[[slice], FloatArray], cells: int) -> None:
        """Add to the slopes of all parameters, given those of the features of some cells: (n, F), to be written on.

        Raises NoForwardError if forward saw another number of cells.
        """
        saw = 0 if self._codes is None else self._codes.shape[1]
        if cells != saw:
            raise NoForwardError(f"backward got slopes of {cells} cells, but the last forward saw {saw}")
        d_sums = self._workspaces[2].shaped(*self._sums.shape)
        by_feature = self._workspaces[5].shaped(*self._sums.shape[::-1])
        weigh = matrix(self.weigh)
        d_bias, d_weight = np.zeros_like(self.weigh.bias.grad), np.zeros_like(weigh)
        for some in _slices(cells):
            d_weighed = d_features(some)
            d_weighed *= self._weighed[some] > 0
            d_bias += d_weighed.sum(axis=0)
            d_weight += d_weighed.T @ self._sums[some]
            np.matmul(d_weighed, weigh, out=d_sums[some])
            d_sums[some] *= self._sums[some] > 0
            by_feature[:, some] = d_sums[some].T  # here, while it is in the cache
        self.weigh.bias.grad += d_bias
        self.weigh.weight.grad[:, :, 0, 0] += d_weight
        self._below(self._by_line(d_sums, by_feature))

    def memory(self) -> int:
        """Bytes held by all workspaces."""
        return sum(workspace.memory() for workspace in self._workspaces)

    # --- The parts -------------------------------------------------------------------------------------------------

    def codes(self, x: FloatArray) -> Codes:
        """x (N, 2, H, W), stones -> the numbers of the lines through each cell (4, N * A)."""
        reach, count = self.reach, len(x)
        stones = np.zeros((count, self.height + 2 * reach, self.width + 2 * reach), np.uint16)
        stones[:, reach:-reach, reach:-reach] = x[:, 0] + 2 * x[:, 1]
        halves = np.empty((len(DIRECTIONS), count, self.height, self.width), np.uint16)
        for half, first, (down, right) in zip(halves, self.first, DIRECTIONS, strict=True):
            half[...] = first
            for step in range(1, reach + 1):
                top, left = reach + step * down, reach + step * right
                half += stones[:, top : top + self.height, left : left + self.width] * np.uint16(3 ** (step - 1))
        pair = halves[:LINES].astype(np.intp)
        pair *= self.numbers.halves
        pair += halves[LINES:]
        return self.numbers.pairs.take(pair.reshape(LINES, -1))

    def table(self, used: Codes) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
        """What the sum gets from each of these lines (n,) read both ways: (n, features), and what it was made from."""
        windows = self.numbers.windows[used].reshape(2 * len(used), 6 * self.reach).astype(self.dtype)
        hidden = windows @ matrix(self.read).T
        hidden += self.read.bias.value
        np.maximum(hidden, np.zeros_like(hidden[:1]), out=hidden)
        told = hidden @ matrix(self.tell).T
        told += self.tell.bias.value
        return told[::2] + told[1::2], (windows, hidden)

    def summed(self, table: FloatArray, codes: Codes, out: FloatArray | None = None) -> FloatArray:
        """Rows of the table, picked by codes (4, n), added up, with their ReLU: (n, features)."""
        first, *others = codes
        out = np.take(table, first, axis=0, out=out, mode="clip")
        more = self._workspaces[3].shaped(*out.shape)
        for code in others:
            out += np.take(table, code, axis=0, out=more, mode="clip")
        return np.maximum(out, np.zeros_like(out[:1]), out=out)

    def above(self, sums: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """sums (n, F) -> features (n, F)."""
        out = np.matmul(sums, matrix(self.weigh).T, out=self._workspaces[4].shaped(*sums.shape) if out is None else out)
        out += self.weigh.bias.value
        features: FloatArray = np.maximum(out, np.zeros_like(out[:1]), out=out)
        return features

    def _by_line(self, d_sums: FloatArray, by_feature: FloatArray) -> FloatArray:
        """d_sums (N * A, features) and its transpose -> the slopes of the table (n, features).

        For each line the sum over the cells that lie on one.
        """
        assert self._codes is not None
        area = self.no_stone.shape[1]
        count = self._codes.shape[1] // area
        bare = np.searchsorted(self._used, self.no_stone)  # (4, A), beyond the last if no such line occurs
        without = self._codes.reshape(LINES, count, area) == bare[:, None]
        line, cells = np.nonzero(~without.reshape(LINES, -1))
        codes = self._codes[line, cells]
        d_table = np.zeros((len(self._used) + 1, len(by_feature)))
        for feature, column in enumerate(by_feature):
            d_table[:-1, feature] = np.bincount(codes, weights=column.take(cells), minlength=len(self._used))
        share = without.transpose(2, 0, 1).astype(self.dtype)  # (A, 4, N) @ (A, N, features), cell by cell
        rest = share @ d_sums.reshape(count, area, d_sums.shape[1]).transpose(1, 0, 2)
        np.add.at(d_table, bare.T, rest)
        return d_table[:-1].astype(self.dtype)

    def _below(self, d_table: FloatArray) -> None:
        """Add the slopes of the layers that read lines."""
        windows, hidden = self._lines
        d_told = d_table.repeat(2, axis=0)
        self.tell.bias.grad += d_told.sum(axis=0)
        self.tell.weight.grad[:, :, 0, 0] += d_told.T @ hidden
        d_hidden = d_told @ matrix(self.tell)
        d_hidden *= hidden > 0
        self.read.bias.grad += d_hidden.sum(axis=0)
        self.read.weight.grad[:, :, 0, 0] += d_hidden.T @ windows


def compact(codes: Codes, numbers: int) -> tuple[Codes, Codes]:
    """(the different codes that occur, ascending; the codes as places among these)."""
    occurs = np.zeros(numbers, bool)
    occurs[codes] = True
    place = np.cumsum(occurs) - 1
    return np.flatnonzero(occurs), place.take(codes)


def matrix(conv: Conv2D) -> FloatArray:
    """The weight of a 1 x 1 convolution as the matrix it is, (filters, planes)."""
    return conv.weight.value[:, :, 0, 0]


def _steps_to_the_edge(way: tuple[int, int], height: int, width: int, most: int) -> Codes:
    """(H, W) how many steps along a direction stay on the board, at most ``most``."""
    row, col = np.ogrid[:height, :width]
    room = np.full((height, width), most)
    for step, place, size in zip(way, (row, col), (height, width), strict=True):
        if step:
            room = np.minimum(room, size - 1 - place if step > 0 else place)
    return room


def _slices(cells: int) -> list[slice]:
    return [slice(start, start + CELLS) for start in range(0, cells, CELLS)]
