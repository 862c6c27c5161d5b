"""Where no four is worth playing out: what the last moves of a depth bring is then read off the gains.
A four is promising, as `promising` of rl/search/minimax.py says, where its stop may not quite settle it.

A stone makes no cell promising to the other side, nor any that is not on a line with it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from env import BLACK
from rl.search.line_values import LEAST, WORTH
from rl.search.lookahead import Lookahead
from rl.search.minimax import WIN
from rl.search.stretches import NEAR_FOURS, THREES, UNIT

Flags = NDArray[np.int64]


def flags_of(gains: NDArray[np.float64]) -> Flags:
    """Return what stones make beside their worth, of packed gains: see rl/search/stretches.py."""
    flags: Flags = gains.astype(np.int64) & UNIT - 1
    return flags


def are_promising(flags: Flags) -> NDArray[np.bool_]:
    """Return where flags tell of a promising four, were it legal."""
    found: NDArray[np.bool_] = (flags & THREES - 1 > 0) & (flags >= 2 * NEAR_FOURS)
    return found


def most_when_stopped(look: Lookahead, k: int, colour: int, stop: int) -> int:
    """Return no less than what the only stop to a win is worth at the end of the depth: as the position then stands.

    The opponent may do better than let it stand. No bound if the stop makes a four, which he must stop in his turn.
    """
    gain = look.gain(k, colour, stop)
    if gain & THREES - 1 or look.near_the_end(k):
        return WIN
    return colour * (look.levels[k].tally >> WORTH) + gain // UNIT


class Menace:
    """The promising fours of a side that is not to move, `cells`, whether legal as yet or not."""

    def __init__(self, look: Lookahead, k: int, colour: int) -> None:
        """Look at level k; the fours are those of `colour`."""
        self._look, self._k, self._colour = look, k, colour
        level = look.levels[k]
        self._flags = flags_of(level.black if colour == BLACK else level.white)
        self.cells: list[int] = are_promising(self._flags).nonzero()[0].tolist()

    def end(self, least: int) -> tuple[int, int] | None:
        """Return a move of the other side that leaves none, and its gain, `least` hundredths or more; None if none is.

        It makes no four itself, so its gain is what it brings.
        """
        look = self._look
        level = look.levels[self._k]
        gains = level.white if self._colour == BLACK else level.black
        right = level.near & (gains >= max(least * UNIT, LEAST))
        for cell in self.cells:
            right &= look.met[cell]
        for cell in look.legal(self._k, -self._colour, right.nonzero()[0].tolist()):
            gain = int(gains.item(cell))
            if not gain & THREES - 1 and self._ends(cell):
                return cell, gain // UNIT
        return None

    def _ends(self, cell: int) -> bool:
        """Whether a stone of the other side on `cell` leaves no promising four."""
        look = self._look
        left = {*self.cells} - {cell}
        for number, line, (after, _, _, _) in look.steps(self._k, cell, -self._colour):
            cells = look.lines[number]
            for other in left.intersection(cells):
                place = cells.index(other)
                old, new = line.gains.item(place), after.gains.item(place)
                was, now = (old.real, new.real) if self._colour == BLACK else (old.imag, new.imag)
                flags = int(self._flags[other]) - (int(was) & UNIT - 1) + (int(now) & UNIT - 1)
                if flags & THREES - 1 and flags >= 2 * NEAR_FOURS:
                    return False
                left.remove(other)
        return not left
