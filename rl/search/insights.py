"""Everything that is known about finding a move, in the order in which it is worth trying.
A proof of a forced win comes first; then alpha-beta, which keeps to moves that may stop what the other side threatens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from env import Board, Rule
from rl.search.account import EvaluationRules
from rl.search.budget import Budget
from rl.search.defence import Defence
from rl.search.forced_wins import forced_win
from rl.search.minimax import DECIDED, WIN, winning
from rl.search.search import DEEPEST, Insight, Search

FOURS_SHARE, THREES_SHARE, MENACE_SHARE, DEFENCE_SHARE = 0.1, 0.2, 0.15, 0.2  # of what is left when it is their turn
MORE_A_SECOND, MOST_SHARE = 0.25, 0.6  # the share for threes grows with the time: see `threes_share`
WIDTH = 12  # candidates of a position that alpha-beta tries: depth is worth more than the others
MOST_PROVING = 20_000  # nodes for a proof if there is no clock ...
MOST_TESTING = 3_000  # ... and for a look at what the other side threatens

Result = TypeVar("Result")


def insights(
    board: Board,
    rules: EvaluationRules,
    budget: Budget,
    depth: int = DEEPEST,
    *,
    width: int | None = WIDTH,
    region: NDArray[np.bool_] | None = None,
) -> Iterator[Insight]:
    """Yield better and better answers to what the side to move should play.

    The first comes at once, whatever the budget: depth 0 and the worth as the position stands. Ends at `depth`, when
    the budget is spent, or when the game is decided. width and region confine alpha-beta as they do in `Search`.
    Raises IllegalMoveError if the game is over.
    """
    search = Search(board, rules, budget, width=width, region=region)
    yield Insight(0, search.standing(), (search.first_moves()[0],), 0, 0)
    for threes in (False, True):
        share = threes_share(budget.remaining) if threes else FOURS_SHARE
        won = _with_share(budget, share, MOST_PROVING, partial(forced_win, board, threes=threes))
        if won is not None:
            yield Insight(won.plies, WIN - won.plies, won.moves, budget.used, 0)
            return

    defence = Defence(board)
    everything = search.look.candidates(0, board.to_move)
    beaten: set[int] = set()  # first moves that alpha-beta has seen lose ...
    ends: list[Insight] = []  # ... and how the best of them do

    def narrow() -> bool:
        """Keep to the moves that may hold; return whether there are any."""
        hopeful = defence.hopeful(cell for cell in everything if cell not in beaten)
        search.confine(hopeful)
        return bool(hopeful)

    def again(found: Insight) -> bool:
        """Look again at what the other side threatens, before or after this move; return whether others are tried now.

        If all that were tried lose, those are which were barred or not among the most promising.
        """
        if found.worth < -DECIDED:
            beaten.update(search.tried())
            ends.append(found)
            return narrow()
        cell, known = found.line[0], len(defence.proofs)
        if known or (defence.is_quiet and board.rule is Rule.RENJU):  # where a stone may forbid black his own stop
            share = DEFENCE_SHARE * patience(budget.remaining)
            _with_share(budget, share, MOST_TESTING, partial(defence.look_after, cell))
        else:
            _with_share(budget, MENACE_SHARE * patience(budget.remaining), MOST_TESTING, defence.look)
        if len(defence.proofs) > known:
            narrow()
        return cell in search.barred

    _with_share(budget, MENACE_SHARE * patience(budget.remaining), MOST_TESTING, defence.look)
    if defence.proofs:
        narrow()
    for insight in search.deepen(depth, again):
        if insight.worth < -DECIDED or insight.line[0] in search.barred:  # all is lost: what holds out longest
            for cell, won in defence.losses.items():
                ends.append(insight._replace(worth=won.plies + 1 - WIN, line=(cell, *won.moves)))
            yield max(ends, key=lambda end: end.worth)
            return
        yield insight


def _with_share(budget: Budget, share: float, nodes: float, work: Callable[[Budget], Result]) -> Result:
    """Return what comes of some work with a share of the budget, no more than so many nodes if there is no clock."""
    part = budget.share(share)
    if budget.remaining == math.inf:
        part.limit = min(part.limit, nodes)
    try:
        return work(part)
    finally:
        budget.settle(part)


def threes_share(seconds: float) -> float:
    """Return how much of the time goes to a proof by threes and fours.

    A second more brings alpha-beta a fraction of a move, while proofs go on being found: of 55 positions with a win
    that is not by fours alone, 41 were solved in 0.3 s of processor time, 45 in 1 s, 46 in 1.6 s.
    """
    return THREES_SHARE if seconds == math.inf else min(MOST_SHARE, THREES_SHARE + MORE_A_SECOND * seconds)


def patience(seconds: float) -> float:
    """Return which part of their shares looks at what the other side threatens get: all of it with half a second left.

    With less they find little, and alpha-beta's depth is worth more: by 0.2 s a move, of processor time, it won 28.5
    points in 48 games against itself with all of every share; by 0.1 s and without any look, 84.5 in 140.
    """
    return min(1.0, 4 * seconds**2)


def urgent(board: Board) -> int | None:
    """Return the move that needs no thought, None if there is none: a win, or else the only stop to one."""
    wins = winning(board, board.to_move)
    if wins:
        return wins[0]
    stops = [cell for cell in winning(board, -board.to_move) if board.legal_mask()[cell]]
    return stops[0] if len(stops) == 1 else None
