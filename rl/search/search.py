"""Alpha-beta: what rl/search/minimax.py defines, found without looking at most of it.
The fast twin: equal to `minimax` at every depth, and hundreds of times as fast.

What it leaves out cannot change the worth:

- A move that is no better than one already found is dropped as soon as an answer shows it; the others are first asked
  only whether they are better at all (a principal variation search).
- With a win on the next move, or against two, the rest is known. Against one, the only move is to stop it. So it is one
  move earlier: with a move that leaves two cells to complete, and against such moves of the other side's.
- One move before the end of the depth nothing is played unless fours are in the air: the gains of all cells are known,
  and the largest is the answer. Nor if a move that gains enough leaves no four worth playing out.
- Two and three moves before it, a quiet move is dropped if an answer elsewhere on the board is good enough already.
- A position met before at the same depth is looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from env import Board, IllegalMoveError
from rl.search.account import EvaluationRules
from rl.search.budget import Budget, BudgetSpent
from rl.search.calm import Menace, most_when_stopped
from rl.search.ceilings import ThreeMoves, TwoMoves
from rl.search.line_values import COUNT, COUNTS, WORTH, line_worths, lines_met
from rl.search.lookahead import Lookahead
from rl.search.minimax import DECIDED, DRAW, FOURS_AHEAD, WIN
from rl.search.ordering import in_order
from rl.search.transposition import AT_LEAST, AT_MOST, EXACT, Found, Transpositions, seen_from

DEEPEST = 60


class Insight(NamedTuple):
    """What a finished depth says: worth in hundredths of a point to the side to move, and the line of best play.

    nodes are the positions entered, scored the children whose worth was read off without entering them.
    """

    depth: int
    worth: int
    line: tuple[int, ...]
    nodes: int
    scored: int


class Search:
    """One search from one position, which is over when its budget is."""

    def __init__(
        self,
        board: Board,
        rules: EvaluationRules,
        budget: Budget,
        *,
        width: int | None = None,
        region: NDArray[np.bool_] | None = None,
        remember: bool = True,
    ) -> None:
        """Stand before `board`, which is left as it was.

        width     only so many candidates of a position are tried, the most promising; None for all
        region    (A,) bool, where candidates may lie; None for everywhere
        remember  whether positions are looked up

        The rules' weights are those after the moves on the board. Raises IllegalMoveError if the game is over.
        """
        if board.is_over:
            raise IllegalMoveError(f"there is nothing to search: the game is over in {board!r}")
        worths = rules.worths(len(board.moves))
        values = lines_met(board.win_length, board.rule, line_worths(worths))
        values.tidy()
        self.look = Lookahead(board, values, worths["centre"], region)
        self.budget, self.scored = budget, 0
        self.barred: set[int] = set()  # first moves that are not tried, unless no other is left
        self._colour, self._width, self._remember = board.to_move, width, remember
        self._table = Transpositions()
        self._lines: list[tuple[int, ...]] = [()] * (board.cells.size + 2)  # best play from each level on

    def standing(self) -> int:
        """Return the worth to the side to move as the position stands."""
        return self._colour * (self.look.levels[0].tally >> WORTH)

    def first_moves(self) -> list[int]:
        """Return the moves worth a thought, the most promising first: a win, else what stops one, else candidates.

        Not empty: against a win that cannot be stopped, any legal move will do, and a barred one if all are barred.
        """
        look, colour = self.look, self._colour
        urgent = look.winning(0, colour) or look.legal(0, colour, look.winning(0, -colour))
        moves = look.candidates(0, colour)
        return urgent or [cell for cell in moves if cell not in self.barred] or moves

    def confine(self, cells: set[int]) -> None:
        """Bar the first moves that are not among `cells`."""
        self.barred = {cell for cell in self.look.candidates(0, self._colour) if cell not in cells}
        self._lines[0] = ()  # what was best may be barred now

    def tried(self) -> set[int]:
        """Return the first moves than which the best is no worse: those looked at, and those that need not be."""
        look, colour = self.look, self._colour
        if look.winning(0, -colour):
            return {*look.candidates(0, colour)}
        moves = self.first_moves()
        answers = look.answers(0, colour, moves)
        return {*moves} - {*answers} | {*answers[: self._width]}

    def deepen(self, most: int = DEEPEST, again: Callable[[Insight], bool] | None = None) -> Iterator[Insight]:
        """Search one move deep, then two, and so on; yield what each depth says once it is finished.

        again is asked at each depth about what comes out, unless it is a win, and may bar moves; if it says yes, the
        depth is searched again. Ends at the depth `most`, when the budget is spent, or when the game is decided; where
        the last depth's move was barred since, the best of what was tried after it comes at the end.
        """
        insight: Insight | None = None
        for depth in range(1, min(most, self.look.empty) + 1):
            try:
                while True:
                    found = Insight(depth, self.worth(depth), self._best(), self.budget.used, self.scored)
                    if again is None or found.worth > DECIDED or found.line[0] in self.barred or not again(found):
                        break
            except BudgetSpent:
                if insight is not None and insight.line[0] in self.barred:
                    yield insight._replace(line=self._best(), nodes=self.budget.used, scored=self.scored)
                return
            yield (insight := found)
            if abs(found.worth) > DECIDED:
                return

    def _best(self) -> tuple[int, ...]:
        """Return the best line known at the root."""
        return self._lines[0] or (self.first_moves()[0],)

    def worth(self, depth: int) -> int:
        """Return the worth to the side to move, `depth` moves ahead. Raises BudgetSpent."""
        return self._worth(0, self._colour, depth, -2 * WIN, 2 * WIN)

    def _worth(self, k: int, colour: int, depth: int, alpha: int, beta: int) -> int:
        """Return the worth of level k to `colour`, who is to move: exact between alpha and beta, else a bound."""
        if depth == 0:
            return self._quiet(k, colour, alpha, beta, FOURS_AHEAD)
        self.budget.spend()
        self._lines[k] = ()
        look = self.look
        tally = look.levels[k].tally
        wins, threats, own, others = COUNTS[colour]
        if tally >> wins & COUNT:
            return WIN - (k + 1)
        if look.no_legal_move(k, colour):
            return DRAW
        here = colour * (tally >> WORTH)
        moves: Iterable[int] = ()
        if tally >> threats & COUNT:
            moves = stops = look.winning(k, -colour)
            if len(stops) > 1 or not look.legal(k, colour, stops):
                return -(WIN - (k + 2))
            if depth == 1 and (most := most_when_stopped(look, k, colour, stops[0])) <= alpha:
                return most
        elif k == 0 and self.barred:
            pass  # not every move may be tried
        elif tally >> own & COUNT and (doublers := look.doublers(k, colour)):
            self._lines[k] = (doublers[0],)
            return WIN - (k + 3)
        elif depth == 1:
            return self._last(k, colour, alpha, beta)

        key = look.levels[k].key
        known = self._table.get(key) if self._remember else None
        if known is not None and beta - alpha == 1 and (worth := known.settles(depth, k, alpha, beta)) is not None:
            return worth
        if not moves:
            self.scored += look.near_count(k)
            first, barred = -1 if known is None else known.cell, self.barred if k == 0 else ()
            threatened = tally >> others & COUNT > 0
            moves = in_order(look, k, colour, first, threatened=threatened, barred=barred, width=self._width)

        best, choice, lower = -2 * WIN, -1, alpha
        ceilings: TwoMoves | ThreeMoves | None = None
        bounded = 2 <= depth <= 3 and not tally >> threats & COUNT and not look.near_the_end(k + 1)
        for cell in moves:
            if bounded and choice >= 0:
                ceilings = ceilings or (TwoMoves if depth == 2 else ThreeMoves)(look, k, colour)
                bounded = ceilings.are_known
                if bounded and ceilings.hold(cell, lower - here):
                    best = max(best, lower)
                    continue
            look.play(k, cell, colour)
            if choice < 0:
                choice = cell
                worth = -self._worth(k + 1, -colour, depth - 1, -beta, -lower)
            else:
                worth = -self._worth(k + 1, -colour, depth - 1, -lower - 1, -lower)
                if lower < worth < beta:
                    worth = -self._worth(k + 1, -colour, depth - 1, -beta, -lower)
            if worth > best:
                best, choice = worth, cell
                if worth > lower:
                    lower = worth
                    self._lines[k] = cell, *self._lines[k + 1]
                    if worth >= beta:
                        break
        if self._remember:
            bound = AT_LEAST if best >= beta else AT_MOST if best <= alpha else EXACT
            self._table.keep(key, Found(depth, bound, seen_from(best, k), choice))
        return best

    def _last(self, k: int, colour: int, alpha: int, beta: int) -> int:
        """Return the worth one move before the end of the depth, where nobody can win at once: see `_worth`.

        A move of `colour` makes the opponent no new fours. So unless one of them is promising, the worth of a move that
        makes no four itself is its gain; and otherwise no more than that.
        """
        look = self.look
        level = look.levels[k]
        here = colour * (level.tally >> WORTH)
        _, _, own, others = COUNTS[colour]
        self.scored += look.near_count(k)
        best, lower = -2 * WIN, alpha
        rest: dict[int, int] = {}
        if look.near_the_end(k):  # nothing is read off
            order = look.candidates(k, colour)
        else:
            menace = Menace(look, k, -colour) if level.tally >> others & COUNT else None
            i_can, they_can = level.tally >> own & COUNT, menace is not None and bool(menace.cells)
            if not i_can:
                cell, gain = look.best_gain(k, colour)
                if cell >= 0 and (not they_can or here + gain <= alpha):
                    self._lines[k] = (cell,)
                    return here + gain
            if menace and they_can and (found := menace.end(beta - here)):
                self._lines[k] = found[:1]
                return here + found[1]
            fours = [cell for cell in look.fours(k, colour) if level.near[cell]] if i_can else []
            rest = {cell: gain for cell, gain in look.by_gain(k, colour) if cell not in fours}
            order = look.answers(k, colour, [*rest]) if they_can else [*rest]
            most = here + rest[order[0]] if order else -2 * WIN
            if order and (not they_can or most <= alpha):  # the best of the rest, or a bound for them all
                self._lines[k] = (order[0],)
                if most >= beta:
                    return most
                best, lower, order = most, max(alpha, most), fours
            else:
                order = order[:1] + fours + order[1:] if most >= beta else fours + order
        for cell in order:
            if cell in rest and here + rest[cell] <= lower:  # no better, nor are those after it
                return max(best, here + rest[cell])
            best = max(best, self._try(k, cell, colour, lower, beta))
            lower = max(lower, best)
            if best >= beta:
                break
        return best

    def _try(self, k: int, cell: int, colour: int, alpha: int, beta: int) -> int:
        """Return the quiet worth of one move."""
        self.look.play(k, cell, colour)
        worth = -self._quiet(k + 1, -colour, -beta, -alpha, FOURS_AHEAD)
        if worth > alpha:
            self._lines[k] = cell, *self._lines[k + 1]
        return worth

    def _quiet(self, k: int, colour: int, alpha: int, beta: int, fours: int) -> int:
        """Return the worth at the end of the depth: `quiet` of rl/search/minimax.py, pruned like `_worth`."""
        self.budget.spend()
        self._lines[k] = ()
        look = self.look
        tally = look.levels[k].tally
        wins, threats, own, _ = COUNTS[colour]
        if tally >> wins & COUNT:
            return WIN - (k + 1)
        if look.no_legal_move(k, colour):
            return DRAW
        if tally >> threats & COUNT:
            must = look.winning(k, -colour)
            if len(must) > 1 or not look.legal(k, colour, must):
                return -(WIN - (k + 2))
            if (most := most_when_stopped(look, k, colour, must[0])) <= alpha:
                return most
            look.play(k, must[0], colour)
            worth = -self._quiet(k + 1, -colour, -beta, -alpha, fours)
            self._lines[k] = must[0], *self._lines[k + 1]
            return worth
        best = colour * (tally >> WORTH)
        if best >= beta or not fours or not tally >> own & COUNT:
            return best
        if doublers := look.doublers(k, colour):
            self._lines[k] = (doublers[0],)
            return WIN - (k + 3)
        for cell in look.fours(k, colour, promising=True):
            look.play(k, cell, colour)
            worth = -self._quiet(k + 1, -colour, -beta, -max(alpha, best), fours - 1)
            if worth > best:
                best = worth
                self._lines[k] = cell, *self._lines[k + 1]
                if best >= beta:
                    break
        return best
