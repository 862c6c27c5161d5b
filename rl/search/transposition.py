"""What a search found out about positions, for when it comes to them again by another order of moves.
The key is the position itself, stone by stone, so that no two positions can be taken for each other.
"""

from __future__ import annotations

from typing import NamedTuple

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
MOST_KEPT = 400_000  # some 150 MB


class Found(NamedTuple):
    """What was found: the worth, or a bound of it, at exactly this depth, and the best move, by which to begin."""

    depth: int
    bound: int
    worth: int
    cell: int


class Transpositions(dict[int, Found]):
    """Positions by key; forgets everything when it is full, which only the longest searches see."""

    def keep(self, key: int, found: Found) -> None:
        """Remember what was found, in place of what is known of the position."""
        if len(self) >= MOST_KEPT:
            self.clear()
        self[key] = found
