"""What quiet moves bring at most, two or three moves later: those that cannot be good enough are not played at all.
The answers looked at lie on no line with the move, so that what they gain is known before it is played.

Both stand where nobody can win at once; a move or an answer that makes a four is left to the search.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from env import BLACK
from rl.search.calm import are_promising, flags_of
from rl.search.line_values import COUNT, COUNTS, LEAST, TAKEN
from rl.search.lookahead import Lookahead
from rl.search.stretches import NEAR_FOURS, THREES, UNIT

ANSWERS = 8  # how many are looked at, two moves ahead ...
FEW = 4  # ... and three


class TwoMoves:
    """A move of `colour` and an answer."""

    def __init__(self, look: Lookahead, k: int, colour: int) -> None:
        """Stand at level k."""
        self._look, self._k, self._colour = look, k, colour
        level = look.levels[k]
        mine, theirs = (level.black, level.white) if colour == BLACK else (level.white, level.black)
        self._flags = flags_of(mine)
        self._fours = {*(self._flags & THREES - 1).nonzero()[0].tolist()}  # also where it is forbidden as yet
        self.are_known = not are_promising(self._flags).any()
        answers = np.where(_harmless(look, k, theirs), theirs, -TAKEN)
        loss = np.full(look.cells, -np.inf)
        for answer in answers.argsort()[-ANSWERS:].tolist():  # the best last, where it overwrites the others
            gain = answers.item(answer)
            if gain > LEAST:
                np.copyto(loss, gain // UNIT, where=look.apart[answer])
        self._most: list[float] = (mine // UNIT - loss).tolist()
        quiet = self._flags == 0
        for four in self._fours:
            quiet &= look.apart[four]
        self._quiet: list[bool] = quiet.tolist()

    def hold(self, cell: int, change: int) -> bool:
        """Whether a move is known to bring no more than `change`, in hundredths.

        If it makes no four, nor leaves `colour` a promising one to make, it brings its gain less the answer's.
        """
        return self._most[cell] <= change and (self._quiet[cell] or self._is_calm(cell))

    def _is_calm(self, cell: int) -> bool:
        """Whether `colour` makes no four on `cell`, and has no promising one to make after it."""
        if cell in self._fours:
            return False
        look = self._look
        _, _, own, _ = COUNTS[self._colour]
        for number, line, (after, _, _, _) in look.steps(self._k, cell, self._colour):
            if after.tally >> own & COUNT or not self._fours.isdisjoint(look.lines[number]):
                old, new = line.gains_of(self._colour), after.gains_of(self._colour)
                if are_promising(self._flags[look.slices[number]] - flags_of(old) + flags_of(new)).any():
                    return False
        return True


class ThreeMoves:
    """A move of `colour`, an answer, and the move after it, whatever it is."""

    def __init__(self, look: Lookahead, k: int, colour: int) -> None:
        """Stand at level k."""
        self._look, self._k, self._colour = look, k, colour
        level = look.levels[k]
        mine, theirs = (level.black, level.white) if colour == BLACK else (level.white, level.black)
        flags = flags_of(mine)
        self.are_known = not (flags & THREES - 1).any()
        self._gains = mine
        self._quiet: list[bool] = (flags == 0).tolist()
        answers = np.where(_harmless(look, k, theirs), theirs + 0.5 * mine, -TAKEN)
        few = answers.argsort()[-FEW:].tolist() if self.are_known else []
        replies = [_Reply(look, k, colour, cell) for cell in few if answers.item(cell) > LEAST]
        self._replies = sorted(replies, key=lambda reply: reply.most - reply.gain)

    def hold(self, cell: int, change: int) -> bool:
        """Whether a move is known to bring no more than `change`, in hundredths.

        It must come near no four. Then `colour` has none to make, and the third move brings no more than the largest
        gain. Where that lies on no line with the move or the answer, it is what it is now.
        """
        if not self._quiet[cell]:
            return False
        room = (change + 1) * UNIT - self._gains.item(cell)
        look, k, colour = self._look, self._k, self._colour
        for reply in self._replies:
            limit = room + reply.gain
            if not look.apart[reply.cell].item(cell) or reply.most_but(cell) >= limit:
                continue
            for number, _, (_, gains, _, more) in look.steps(k, cell, colour):
                if reply.tops[number] + more >= limit:
                    own = gains.real if colour == BLACK else gains.imag
                    if (reply.gains[look.slices[number]] + own).max() >= limit:
                        break
            else:
                return True
        return False


class _Reply:
    """An answer to a quiet move that is not on a line with it.

    gain   of the answer, packed, without what else it makes
    gains  (A,) packed gains of the other side's after it
    most   the largest of them
    tops   the largest on each line
    """

    def __init__(self, look: Lookahead, k: int, colour: int, cell: int) -> None:
        level = look.levels[k]
        mine, theirs = (level.black, level.white) if colour == BLACK else (level.white, level.black)
        self.cell = cell
        self.gain = theirs.item(cell) // UNIT * UNIT
        self.gains = mine.copy()
        for number, _, (_, gains, _, _) in look.steps(k, cell, -colour):
            self.gains[look.slices[number]] += gains.real if colour == BLACK else gains.imag
        first, second = self.gains.argsort()[:-3:-1].tolist()
        self._best, self.most, self._second = first, self.gains.item(first), self.gains.item(second)
        self.tops: list[float] = np.maximum.reduceat(self.gains[look.in_lines], look.starts).tolist()

    def most_but(self, cell: int) -> float:
        """Return the largest gain elsewhere than on `cell`."""
        return self._second if cell == self._best else self.most


def _harmless(look: Lookahead, k: int, gains: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return where a stone of the side with these gains is a candidate, makes no four and is surely legal."""
    made = flags_of(gains) & NEAR_FOURS - 1
    harmless: NDArray[np.bool_] = look.levels[k].near & (made & THREES - 1 == 0) & (made < 2 * THREES)
    return harmless
