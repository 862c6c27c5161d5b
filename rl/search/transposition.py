"""What a search found out about positions, for when it comes to them again by another order of moves.
The key is the position itself, stone by stone, so that no two positions can be taken for each other.
"""

from __future__ import annotations

from typing import NamedTuple

from rl.search.minimax import DECIDED

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
MOST_KEPT = 400_000  # some 150 MB


class Found(NamedTuple):
    """What was found: the worth, or a bound of it, at exactly this depth, and the best move, by which to begin."""

    depth: int
    bound: int
    worth: int
    cell: int

    def settles(self, depth: int, k: int, alpha: int, beta: int) -> int | None:
        """Return the worth at level k if it is known well enough for this depth and window, else None."""
        if self.depth != depth:
            return None
        worth = seen_from(self.worth, -k)
        known = self.bound == EXACT or (worth >= beta if self.bound == AT_LEAST else worth <= alpha)
        return worth if known else None


class Transpositions(dict[int, Found]):
    """Positions by key; forgets everything when it is full, which only the longest searches see."""

    def keep(self, key: int, found: Found) -> None:
        """Remember what was found, in place of what is known of the position."""
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = found


def seen_from(worth: int, moves: int) -> int:
    """Return a win or loss counted from `moves` later (earlier, if negative) than it was; other worths unchanged."""
    return worth + moves if worth > DECIDED else worth - moves if worth < -DECIDED else worth
