"""In which order moves are tried: what was best before, or looks best, first.
Most positions are done with after one move, so the others are not even sorted until it has failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from env import BLACK
from rl.search.line_values import LEAST
from rl.search.lookahead import Lookahead


def in_order(
    look: Lookahead,
    k: int,
    colour: int,
    known: int,
    *,
    threatened: bool,
    barred: Collection[int] = (),
    width: int | None = None,
) -> Iterator[int]:
    """Yield the moves of `colour` that are tried at level k, the most promising first.

    known       the move to begin with, -1 for none
    threatened  whether the other side can make a four: then only what may stop two ways to complete, where he has them
    barred      moves that are not tried, unless no other is left
    width       only so many are tried; None for all
    """
    level = look.levels[k]
    first = -1
    if known >= 0 and known not in barred and level.near.item(known) and level.black.item(known) > LEAST:
        first = known
    elif not threatened and not barred:
        first = _favourite(look, k, colour)
    if first >= 0:
        yield first
    moves = look.candidates(k, colour)
    if barred:
        moves = [cell for cell in moves if cell not in barred] or moves
    if threatened:
        moves = look.answers(k, colour, moves)
    for cell in moves[:width]:
        if cell != first:
            yield cell


def _favourite(look: Lookahead, k: int, colour: int) -> int:
    """Return the first of the candidates if it is found without sorting, else -1."""
    level = look.levels[k]
    mine, theirs = (level.black, level.white) if colour == BLACK else (level.white, level.black)
    cell = int((mine + 0.5 * theirs).argmax())
    is_forbidden = look.renju and colour == BLACK and look.forbidden(k, cell)
    return cell if level.near.item(cell) and mine.item(cell) > LEAST and not is_forbidden else -1
