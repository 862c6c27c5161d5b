"""What one more stone would make on every empty cell, for both colours: how many fives, fours, threes, and what else.
Each line is looked up by its code, so that a board costs one look-up a line, and one more stone at most four.

What a stone makes of a line is the best kind of group it is then part of (rl/search/evaluation.py). The cells of a line
are packed into one whole number each, so that the four lines through a cell are added at one stroke:

      bits  0-19   value: the sum of (1 + own stones)**2 over the windows of win_length cells through it that are free
                   of opposing stones
      bits 20-23   lines on which it makes an open three, split or not     THREE each
      bits 24-27   lines on which it makes a four                          FOUR each
      bits 28-31   lines on which it makes an open four                    OPEN_FOUR each
      bits 32-35   lines on which it makes a win                           FIVE each
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise

from env import BLACK, EMPTY, WHITE, Board, Rule
from env.patterns import Law
from rl.search.evaluation import Kind, kind_of_stone
from rl.search.line_codes import DIGITS, LineCodes, cells_of

VALUE = 2**20 - 1
THREE, FOUR, OPEN_FOUR, FIVE = 1 << 20, 1 << 24, 1 << 28, 1 << 32
MAKES = {Kind.FIVE: FIVE, Kind.OPEN_FOUR: OPEN_FOUR, Kind.FOUR: FOUR, Kind.OPEN_THREE: THREE}
COUNT = 15  # a packed count, shifted down, lies in four bits
MOST_KEPT = 100_000  # lines remembered for one kind of board, some 50 MB at most

Row = tuple[int, ...]


@lru_cache(MOST_KEPT)  # for five in a row there are 3,969
def packed_by_definition(before: int, after: int, stones: int, win_length: int, law: Law) -> int:
    """Return what an own stone makes of its line, packed, on the cell that lies `before` cells into a stretch.

    The stretch has `after` more cells behind it, and `stones` are its own stones as bits. Whatever a stone can make
    lies within win_length of it, so that a longer stretch may be cut there: `Rows` does.
    """
    length = before + 1 + after
    value = 0
    for start in range(max(0, before - win_length + 1), min(before, length - win_length) + 1):
        value += (1 + (stones >> start & (1 << win_length) - 1).bit_count()) ** 2
    kind = kind_of_stone(before, length, stones | 1 << before, win_length, law)
    return value + MAKES.get(Kind(kind), 0) if kind else value


class Rows:
    """The packed numbers of all lines that have been met, under one winning length and rule."""

    def __init__(self, win_length: int, rule: Rule) -> None:
        self._win_length = win_length
        self._laws = {colour: Law.of(rule, colour) for colour in (BLACK, WHITE)}
        self._known: dict[tuple[int, int], tuple[Row, Row]] = {}

    def __call__(self, length: int, code: int) -> tuple[Row, Row]:
        """Return black's and white's number for each cell of a line, 0 where a stone stands."""
        rows = self._known.get((length, code))
        if rows is None:
            if len(self._known) >= MOST_KEPT:  # they can be worked out again
                self._known.clear()
            cells = cells_of(code, length)
            rows = self._known[length, code] = self._row(cells, BLACK), self._row(cells, WHITE)
        return rows

    def _row(self, cells: tuple[int, ...], colour: int) -> Row:
        row = [0] * len(cells)
        own = sum(1 << at for at, cell in enumerate(cells) if cell == colour)
        stops = [-1, *(at for at, cell in enumerate(cells) if cell == -colour), len(cells)]
        for low, high in pairwise(stops):
            for at in range(low + 1, high):
                if cells[at] == EMPTY:
                    start, end = max(low + 1, at - self._win_length), min(high, at + self._win_length + 1)
                    stones = own >> start & (1 << end - start) - 1
                    row[at] = packed_by_definition(
                        at - start, end - at - 1, stones, self._win_length, self._laws[colour]
                    )
        return tuple(row)


@cache
def rows_of(win_length: int, rule: Rule) -> Rows:
    """Return the rows of a kind of game, made once and shared by all who play it."""
    return Rows(win_length, rule)


class Prospects:
    """What one more stone would make on each cell of one position.

    of[colour][cell] is packed as above, summed over the lines through the cell; 0 on occupied cells.
    """

    def __init__(self, board: Board) -> None:
        self._rows = rows_of(board.win_length, board.rule)
        self._codes = LineCodes.from_board(board)
        black, white = [0] * board.cells.size, [0] * board.cells.size
        for cells, length, code in zip(self._codes.lines, self._codes.lengths, self._codes.codes, strict=True):
            for cell, blacks, whites in zip(cells, *self._rows(length, code), strict=True):
                black[cell] += blacks
                white[cell] += whites
        self.of = {BLACK: black, WHITE: white}

    def after(self, cell: int, colour: int, seen_by: int) -> dict[int, int]:
        """Return the numbers of `seen_by` that a stone of `colour` on an empty cell would change, by cell."""
        codes, own = self._codes, 0 if seen_by == BLACK else 1
        changed: dict[int, int] = {}
        before = self.of[seen_by]
        for line, power in codes.through[cell]:
            length, code = codes.lengths[line], codes.codes[line]
            old, new = self._rows(length, code)[own], self._rows(length, code + DIGITS[colour] * power)[own]
            for other, was, is_now in zip(codes.lines[line], old, new, strict=True):
                if was != is_now:
                    changed[other] = changed.get(other, before[other]) + is_now - was
        return changed
