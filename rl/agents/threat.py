"""The player that goes by what is most urgent: win, stop a win, make two threats, stop two, make one, stop one.
Both ends of every line are judged and gaps seen; it looks one stone ahead, and at its own stop when there are several.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from env import Board, IllegalMoveError, Rule
from env.renju import forbidden_points
from env.rules import BLACK
from rl.agents.base import Agent
from rl.sampling import RandomSource, draw_uniforms
from rl.search.prospects import COUNT, FIVE, FOUR, OPEN_FOUR, THREE, VALUE, Prospects


class Urgency(IntEnum):
    """What a stone makes on all lines through it together; the larger, the fewer stones before it wins."""

    QUIET = 0
    OPEN_THREE = 1  # one open three
    TWO_THREES = 2  # two of them: one stone does not stop both
    FOUR_AND_THREE = 3  # a four that must be answered, and then the three
    OPEN_FOUR = 4  # two ways to five, on one line or by two fours
    FIVE = 5  # won


# From the most urgent down, what is looked for: my stone that makes it, or a stop to the other side's.
MINE, THEIRS = True, False
ORDER = (
    (MINE, Urgency.FIVE),
    (THEIRS, Urgency.FIVE),
    (MINE, Urgency.OPEN_FOUR),
    (MINE, Urgency.FOUR_AND_THREE),
    (THEIRS, Urgency.OPEN_FOUR),  # before two threes of my own: their open four would come first
    (THEIRS, Urgency.FOUR_AND_THREE),
    (MINE, Urgency.TWO_THREES),
    (THEIRS, Urgency.TWO_THREES),
    (MINE, Urgency.OPEN_THREE),
    (THEIRS, Urgency.OPEN_THREE),
)


def urgency(packed: int) -> Urgency:
    """Return what a stone makes, from its packed prospects."""
    if packed < THREE:
        return Urgency.QUIET
    if packed >= FIVE:
        return Urgency.FIVE
    fours, threes = packed // FOUR & COUNT, packed // THREE & COUNT
    if packed >= OPEN_FOUR or fours >= 2:
        return Urgency.OPEN_FOUR
    if fours:
        return Urgency.FOUR_AND_THREE if threes else Urgency.QUIET
    return Urgency.TWO_THREES if threes >= 2 else Urgency.OPEN_THREE


class ThreatAgent(Agent):
    """Plays the first of ORDER that the board offers; where cells are equal, the one of most value; then at random.

    The value of a cell is that to both sides together: see rl/search/prospects.py. One uniform draw a move.
    """

    name = "threat"

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell for the side to move. Raises IllegalMoveError once the game is over."""
        if board.is_over:
            raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
        best = candidates(board)
        return best[int(draw_uniforms(rng, 1)[0] * len(best))]


def candidates(board: Board) -> list[int]:
    """Return the legal cells among which the threat player draws; the game must go on."""
    return _Position(board).candidates()


class _Position:
    """One position, as the side to move sees it."""

    def __init__(self, board: Board) -> None:
        self.me = board.to_move
        self.prospects = Prospects(board)
        self.mine, self.theirs = self.prospects.of[self.me], self.prospects.of[-self.me]
        self.legal: list[int] = np.flatnonzero(board.legal_mask()).tolist()
        self.urgent = {cell: urgency(self.mine[cell]) for cell in self.legal}
        barred = forbidden_points(board.cells) if board.rule is Rule.RENJU and self.me != BLACK else {}
        self.danger = {
            cell: urgency(packed) for cell, packed in enumerate(self.theirs) if packed >= THREE and cell not in barred
        }

    def candidates(self) -> list[int]:
        """The equally good cells."""
        for whose, level in ORDER:
            if whose is MINE:
                cells = [cell for cell in self.legal if self.urgent[cell] is level]
            elif level in self.danger.values():
                cells = self._stops(level)
            else:
                continue
            if cells:
                return self._best(cells)
        return self._best(self.legal)

    def _stops(self, level: Urgency) -> list[int]:
        """Of the legal cells on which the other side would make something, those that leave it fewest of this level.

        If none leaves it without one, a four of my own comes first: it must be answered, and may find something better.
        """
        dangers = [cell for cell, urgent in self.danger.items() if urgent >= level]
        if level is Urgency.FIVE:
            return [cell for cell in dangers if cell in self.urgent]
        left: dict[int, int] = {}
        for cell in self.legal:
            if self.theirs[cell] >= THREE:
                after = self.prospects.after(cell, self.me, -self.me)
                left[cell] = sum(urgency(after.get(other, self.theirs[other])) >= level for other in dangers)
        fewest = min(left.values(), default=0)
        if fewest:
            fours = [cell for cell in self.legal if self.mine[cell] >= FOUR]
            if fours:
                return fours
        return [cell for cell, count in left.items() if count == fewest]

    def _best(self, cells: Iterable[int]) -> list[int]:
        """Those of `cells` that are of most value, to both sides together."""
        value = {cell: (self.mine[cell] & VALUE) + (self.theirs[cell] & VALUE) for cell in cells}
        most = max(value.values())
        return [cell for cell in value if value[cell] == most]
