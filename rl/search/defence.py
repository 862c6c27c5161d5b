"""What the other side threatens to do by force, and which moves do not stop it.
Each search goes on where it was broken off when it is asked for again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from env import Board
from rl.search.budget import Budget, BudgetSpent
from rl.search.forced_wins import Proof, Prover, Win, main_line, winning_moves
from rl.search.fours import ANYWHERE


class Defence:
    """The other side's forced wins in one position: the menace, if it were to move now, and those after each move.

    is_quiet  whether no menace is to be found
    proofs    of each proof that was found, the menace's first if there is one, the cells on which it lets stones fall
    losses    the moves that are known to lose, with what the other side does then
    """

    def __init__(self, board: Board) -> None:
        self._board = board.copy()
        self._menacing = Prover(board, -board.to_move, threes=True)
        self._provers: dict[int, Prover] = {}
        self._won: dict[int, set[int]] = {}  # the other side's stones as bits -> moves by which it has won with them
        self.proofs: list[set[int]] = []
        self.is_quiet = False
        self.losses: dict[int, Win] = {}

    def look(self, budget: Budget) -> None:
        """Go on looking for the menace."""
        if not self.proofs and not self.is_quiet:
            try:
                proof = self._menacing.prove(budget)
            except BudgetSpent:
                return
            self.is_quiet = proof is None
            if proof is not None:
                self._note(proof, self._board)

    def look_after(self, cell: int, budget: Budget) -> None:
        """Go on looking for what the other side wins by after a move."""
        after = self._board.copy()
        after.play(cell)
        if cell in self.losses or after.is_over:
            return
        if cell not in self._provers:
            self._provers[cell] = Prover(after, after.to_move, self._won, threes=True)
        try:
            proof = self._provers[cell].prove(budget)
        except BudgetSpent:
            return
        if proof is not None:
            self.losses[cell] = Win(tuple(main_line(after, proof)))
            self._note(proof, after)

    def _note(self, proof: Proof, board: Board) -> None:
        self.proofs.append(cells_of(proof))
        stones = sum(1 << cell for cell in np.flatnonzero(board.cells == -self._board.to_move).tolist())
        for held, move in winning_moves(proof, stones):
            self._won.setdefault(held, set()).add(move)

    def hopeful(self, cells: Iterable[int]) -> set[int]:
        """Return those of `cells` that are not known to lose and lie in the way of most proofs; none if all lose.

        A move that is no part of a proof hardly disturbs it, though it was found for another move.
        """
        left = {cell: sum(cell in proof for proof in self.proofs) for cell in cells if cell not in self.losses}
        most = max(left.values(), default=0)
        return {cell for cell, count in left.items() if count == most}


def cells_of(proof: Proof) -> set[int]:
    """Return all cells on which the proof lets stones fall. Its parts are shared, and each is looked at once."""
    cells: set[int] = set()
    waiting, seen = [proof], {id(proof)}
    while waiting:
        part = waiting.pop()
        cells.update((part.move, *part.replies, *part.rest))
        for after in part.replies.values():
            if id(after) not in seen:
                seen.add(id(after))
                waiting.append(after)
    return cells - {ANYWHERE}
