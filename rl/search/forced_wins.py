"""A forced win, proved: what the side to move plays, and what he plays on against every reply.
It is looked for by fours alone first, then by threes and fours too; nothing is claimed that is not proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from env import Board
from rl.search.budget import Budget, BudgetSpent
from rl.search.fours import ANYWHERE, FOREVER, FourSearch, Line
from rl.search.threat_board import ThreatBoard
from rl.search.threes import NO_HINTS, Hints, Position, ThreeSearch

FOURS_FIRST = 10_000  # nodes for the win by fours, before threes are tried too


@dataclass(frozen=True)
class Win:
    """A forced win.

    moves: the main line from the winner's move to his five, both sides' moves in turn; the other side may lose
    sooner, and other replies may lose more slowly.
    """

    moves: Line

    @property
    def plies(self) -> int:
        """How many moves of both sides the main line has."""
        return len(self.moves)


@dataclass(frozen=True)
class Proof:
    """Why a move wins.

    move     the move
    replies  the replies that are not lost to `rest`, each with the proof that goes on after it; none after a five
    rest     how every other legal reply is beaten: fours and their answers up to the five, whatever the reply
    plies    how many moves of both sides the win takes at most by this proof
    """

    move: int
    replies: Mapping[int, Proof] = field(default_factory=dict)
    rest: Line = ()
    plies: int = 1


def forced_win(board: Board, budget: Budget, *, threes: bool) -> Win | None:
    """Return a proved win of the side to move, by fours alone or by threes and fours.

    None when there is none of that kind or the budget was spent before one was found: `budget.spent` tells which.
    The board is left as it was.
    """
    try:
        proof = prove(board, budget, threes=threes)
    except BudgetSpent:
        return None
    return None if proof is None else Win(tuple(main_line(board, proof)))


def prove(board: Board, budget: Budget, *, threes: bool) -> Proof | None:
    """Return the proof of such a win, None if there is none. Raises BudgetSpent.

    Without `threes`, None is certain: there is no win by fours. With `threes` it means that none was found.
    """
    return None if board.is_over else Prover(board, board.to_move, threes=threes).prove(budget)


class Prover:
    """The search for a forced win of `colour`, as if it were to move; broken off, it can be gone on with.

    hints tell it what to try first: see `ThreeSearch`.
    """

    def __init__(self, board: Board, colour: int, hints: Hints = NO_HINTS, *, threes: bool) -> None:
        self._ground, self._colour = ThreatBoard(board), colour
        fours = self._fours = FourSearch(self._ground, colour)
        self._stages = [ThreeSearch(self._ground, colour, fours, hints, wide=wide) for wide in (False, True) if threes]

    def prove(self, budget: Budget) -> Proof | None:
        """Return the proof, None if there is none or none can be found. Raises BudgetSpent."""
        ground, colour = self._ground, self._colour
        if fives := ground.fives(colour):
            return Proof(min(fives))
        threats = ground.fives(-colour)
        if len(threats) > 1:
            return None
        must = min(threats, default=None)
        stones = ground.mark()
        try:
            line = self._fours.find(must, budget, FOURS_FIRST if self._stages else FOREVER)
            if line is not None:
                return _proof_of_line(line)
            while self._stages:
                position = self._stages[0].solve(must, budget)
                if position.proof == 0:
                    return _Reader().attack(position)
                del self._stages[0]
        finally:
            ground.return_to(stones)
        return None


def main_line(board: Board, proof: Proof) -> Iterator[int]:
    """Yield the moves of the win against the replies that hold out longest."""
    board = board.copy()
    rest: Line = ()
    while True:
        yield proof.move
        board.play(proof.move)
        if board.is_over:
            return
        if not proof.replies:  # whatever the other side plays now
            rest = (ANYWHERE, *proof.rest)
            break
        reply = max(proof.replies, key=lambda cell: proof.replies[cell].plies)
        yield reply
        board.play(reply)
        proof = proof.replies[reply]
    for cell in rest:
        move = cell if cell != ANYWHERE else int(np.argmax(board.legal_mask()))
        yield move
        board.play(move)


def winning_moves(proof: Proof, stones: int) -> Iterator[tuple[int, int]]:
    """Yield each position of a proof where the winner is to move: his stones as bits, and the move by which he wins.

    stones  his stones before the first move
    """
    waiting, seen = [(stones, proof)], {(stones, id(proof))}
    while waiting:
        stones, proof = waiting.pop()
        yield stones, proof.move
        for after in proof.replies.values():
            step = stones | 1 << proof.move, after
            if (step[0], id(after)) not in seen:
                seen.add((step[0], id(after)))
                waiting.append(step)


def _proof_of_line(line: Line) -> Proof:
    """Return the proof of a win by fours: after each four every reply but the answer loses to the five."""
    if len(line) == 1:
        return Proof(line[0])
    move, answer = line[:2]
    if answer == ANYWHERE:
        return Proof(move, {}, line[2:], 3)
    after = _proof_of_line(line[2:])
    return Proof(move, {answer: after}, (answer,), 2 + after.plies)


class _Reader:
    """Reads the proof out of a proved search, each position once."""

    def __init__(self) -> None:
        self._attacks: dict[int, Proof] = {}

    def attack(self, position: Position) -> Proof:
        """Return the shortest proof known of a position where the attacker is to move."""
        known = self._attacks.get(id(position))
        if known is None:
            known = self._attacks[id(position)] = self._shortest(position)
        return known

    def _shortest(self, position: Position) -> Proof:
        if position.line is not None:
            return _proof_of_line(position.line)
        found = []
        for edge, after in zip(position.edges or (), position.next, strict=True):
            if after.proof == 0 and len(edge) == 2:
                proof = self.attack(after)
                found.append(Proof(edge[0], {edge[1]: proof}, (edge[1],), 2 + proof.plies))
            elif after.proof == 0:
                found.append(self._threat(edge[0], after))
        return min(found, key=lambda proof: proof.plies)

    def _threat(self, move: int, position: Position) -> Proof:
        menace = position.line
        assert menace is not None, "only a threat is proved"
        replies = {cell: self.attack(after) for cell, after in position.beaten.items()}
        for edge, after in zip(position.edges or (), position.next, strict=True):
            replies[edge[0]] = self.attack(after)
        longest = max([len(menace), *(proof.plies for proof in replies.values())])
        return Proof(move, replies, menace, 2 + longest)
