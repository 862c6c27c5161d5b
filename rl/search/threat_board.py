"""A position as the proving searches want it: it knows at every moment what each line threatens.

Stones of either colour are put down and taken off without asking whose turn it is; only what renju forbids to black
is judged, when asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE, Board, Rule
from env.renju import ALLOWED, forbidden_at
from rl.search.line_codes import LineCodes, lines_of, lines_through
from rl.search.threat_tables import NOTHING, threat_tables

Mark = tuple[list[int], list[tuple[Any, ...]], int, NDArray[np.int8]]
Window = tuple[int, tuple[int, ...]]  # its cells as bits, and one by one


class ThreatBoard:
    """The stones of a position, and the threats on every line.

    key      the stones: bit `cell` for black, bit `cell + area` for white; equal exactly for equal positions
    threats  what stands on each line, as ThreatTables has it
    codes    the code of each line
    steps    for each colour and cell, its lines and what the stone adds to the code of each
    windows  for each cell, the stretches of the winning length that hold it
    judged   whether some points may be forbidden to black
    """

    def __init__(self, board: Board) -> None:
        size = board.height, board.width, board.win_length
        self.area, self.win_length = board.height * board.width, board.win_length
        self.judged = board.rule is Rule.RENJU
        self.tables = threat_tables(*size, board.rule)
        self.steps, self.windows = _steps(*size), _windows(*size)
        self.codes = LineCodes.from_board(board).codes
        self.threats = [self.look(line, code) for line, code in enumerate(self.codes)]
        self.key = 0
        for cell, colour in enumerate(board.cells.ravel().tolist()):
            if colour != EMPTY:
                self.key |= self._bit(cell, colour)
        self._cells = np.array(board.cells)  # (H, W), for the judge of forbidden points
        self._flat = self._cells.reshape(-1)
        self._rays = _rays(board.height, board.width) if self.judged else ()

    def look(self, line: int, code: int) -> tuple[Any, ...]:
        """Return what the line would threaten if its code were `code`."""
        try:
            return self.tables.threats[line][code]
        except KeyError:
            return self.tables.learn(line, code)

    def place(self, cell: int, colour: int) -> None:
        """Put a stone on an empty cell."""
        codes, threats, tables = self.codes, self.threats, self.tables.threats
        for line, step in self.steps[colour][cell].items():
            code = codes[line] + step
            codes[line] = code
            try:
                threats[line] = tables[line][code]
            except KeyError:
                threats[line] = self.tables.learn(line, code)
        self.key ^= 1 << (cell if colour == BLACK else cell + self.area)
        if self.judged:
            self._flat[cell] = colour

    def remove(self, cell: int, colour: int) -> None:
        """Take a stone off again."""
        codes, threats, tables = self.codes, self.threats, self.tables.threats
        for line, step in self.steps[colour][cell].items():
            code = codes[line] - step
            codes[line] = code
            try:
                threats[line] = tables[line][code]
            except KeyError:
                threats[line] = self.tables.learn(line, code)
        self.key ^= 1 << (cell if colour == BLACK else cell + self.area)
        if self.judged:
            self._flat[cell] = EMPTY

    def mark(self) -> Mark:
        """Return what `return_to` needs to come back to these stones."""
        return self.codes.copy(), self.threats.copy(), self.key, self._cells.copy()

    def return_to(self, mark: Mark) -> None:
        """Put everything back as it was: a search that is broken off takes back nothing."""
        self.codes[:], self.threats[:], self.key, self._cells[:] = mark

    def _bit(self, cell: int, colour: int) -> int:
        return 1 << (cell if colour == BLACK else cell + self.area)

    def key_with(self, cell: int, colour: int) -> int:
        """Return the key after one more stone."""
        return self.key | self._bit(cell, colour)

    def stones(self, colour: int) -> int:
        """Return the stones of a colour as bits."""
        return self.key & (1 << self.area) - 1 if colour == BLACK else self.key >> self.area

    def empty(self) -> Iterator[int]:
        """Yield the empty cells."""
        taken = self.stones(BLACK) | self.stones(WHITE)
        return (cell for cell in range(self.area) if not taken >> cell & 1)

    def fives(self, colour: int) -> set[int]:
        """Return the empty cells that complete a win for `colour`."""
        which = 0 if colour == BLACK else 1
        return {cell for threats in self.threats for cell in threats[which]}

    def fives_beside(self, cell: int, colour: int) -> set[int]:
        """Return those on the lines through `cell`."""
        which = 0 if colour == BLACK else 1
        return {five for line in self.steps[colour][cell] for five in self.threats[line][which]}

    def fours(self, colour: int) -> dict[int, tuple[int, ...]]:
        """Return the empty cells that make a four of `colour`, each with the cells that would complete it."""
        which = 2 if colour == BLACK else 3
        moves: dict[int, tuple[int, ...]] = {}
        for threats in self.threats:
            if threats is not NOTHING:
                for cell, answers in threats[which]:
                    if cell not in moves:
                        moves[cell] = answers
                    elif moves[cell] != answers:
                        moves[cell] += answers
        return moves

    def threes(self, colour: int) -> dict[int, int]:
        """Return the empty cells that make a three of `colour`, each with the number of lines where it does."""
        which = 0 if colour == BLACK else 1
        found: dict[int, int] = {}
        for line, code in enumerate(self.codes):
            try:
                known = self.tables.threes[line][code]
            except KeyError:
                known = self.tables.learn_threes(line, code)
            for cell in known[which]:
                found[cell] = found.get(cell, 0) + 1
        return found

    def closed_threes(self, colour: int) -> list[int]:
        """Return the empty cells of stretches that then lack two stones of five, the other colour having none there."""
        which = 0 if colour == BLACK else 1
        found: set[int] = set()
        for line, code in enumerate(self.codes):
            try:
                known = self.tables.closed_threes[line][code]
            except KeyError:
                known = self.tables.learn_closed_threes(line, code)
            found.update(known[which])
        return sorted(found)

    def forbidden(self, cell: int) -> bool:
        """Whether renju forbids the empty `cell` to black, who makes no five there."""
        if not self.judged:
            return False
        crowded = 0
        for ray in self._rays[cell]:
            near = (self.key & ray).bit_count()
            crowded += 2 if near > 3 else near > 1
        return crowded > 1 and forbidden_at(self._cells, cell) != ALLOWED

    def can_move(self, colour: int) -> bool:
        """Whether `colour` may play anywhere at all."""
        return any(colour == WHITE or not self.forbidden(cell) for cell in self.empty())


@cache
def _steps(height: int, width: int, win_length: int) -> dict[int, tuple[dict[int, int], ...]]:
    """Return, for each colour and cell, the lines through it and what a stone adds to the code of each."""
    through = lines_through(height, width, win_length)
    return {
        colour: tuple({line: digit * power for line, power in pairs} for pairs in through)
        for colour, digit in ((BLACK, 1), (WHITE, 2))
    }


@cache
def _windows(height: int, width: int, win_length: int) -> tuple[tuple[Window, ...], ...]:
    """Return, for each cell, the stretches of the winning length that hold it."""
    windows: list[list[Window]] = [[] for _ in range(height * width)]
    for line in lines_of(height, width, win_length):
        for start in range(len(line) - win_length + 1):
            cells = line[start : start + win_length]
            for cell in cells:
                windows[cell].append((sum(1 << other for other in cells), cells))
    return tuple(tuple(found) for found in windows)


@cache
def _rays(height: int, width: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each cell, the cells within four steps along each of the four directions, as bits.

    A point with fewer than two black stones along two directions, or four along one, cannot be forbidden.
    """
    rays = []
    for cell in range(height * width):
        row, col = divmod(cell, width)
        around = []
        for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
            walk = [(row + k * down, col + k * across) for k in range(-4, 5) if k]
            inside = [r * width + c for r, c in walk if 0 <= r < height and 0 <= c < width]
            around.append(sum(1 << place for place in inside))
        rays.append(tuple(around))
    return tuple(rays)
