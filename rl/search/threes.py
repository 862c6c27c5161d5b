"""Winning by threes and fours: every move makes a four, or threatens to win by fours if the other side does nothing.
Which moves to look at next is told by proof numbers, so that the search follows what is most nearly proved.

Also called VCT, victory by continuous threats. An attack that is no four is a threat if the attacker, were the other
side to pass, would win by fours. That win, the menace, tells where a reply can matter:

      . . * x x x * .     black threatens to win at either *. A reply on neither, nor next to them where the menace
                          runs, and without a four of its own, changes nothing: the menace goes through.

The numbers: `proof` is how many positions must at least still be proved to prove this one, `disproof` the same for
refuting it; 0 is done. The attacker needs one of his moves, so his proof is the least of theirs and his disproof
the sum; for the other side it is the other way about.

Source: Allis, van der Meulen, van den Herik, Proof-number search (1994); Allis, Go-Moku and threat-space search (1993).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from env import BLACK, WHITE
from rl.search.budget import Budget, BudgetSpent
from rl.search.fours import ANYWHERE, FOREVER, FourSearch, Line
from rl.search.threat_board import ThreatBoard

NEVER = 1 << 40  # the number of what cannot be done
FEW = 200  # nodes for one look for a win by fours
AT_SIGHT = 2  # fours of the wins that are looked for in every new position; longer ones when it is opened
NEW = 8  # the first proof number of a position ...
LATE = 20  # ... after a four, which forces much and often gains nothing: with 16 short proofs take less, long ones more
HINTED = 1  # ... where the attacker has won elsewhere with the same stones, and after the move by which he did
Hints = Mapping[int, Set[int]]  # the attacker's stones as bits -> moves by which he won with them elsewhere
NO_HINTS: Hints = {}
Edge = tuple[int, ...]  # the stones from one position to the next: a reply, an attack, or a four with its answer


class Position:
    """What is known of a position: one where the attacker is to move, or one where he has just made a threat.

    must     the cell where the other side would complete five, which the attacker must stop
    line     a win by fours: of the attacker if he is to move, else the menace; None if none was found
    edges    the moves that are worth a look, and `next`, where each leads; None until it has been opened
    beaten   replies that lose to a win by fours at once, with where they lead
    """

    __slots__ = ("attacking", "beaten", "disproof", "edges", "line", "must", "next", "proof")

    def __init__(self, attacking: bool, must: int | None = None) -> None:
        self.attacking, self.must = attacking, must
        self.proof, self.disproof = NEW, 1
        self.line: Line | None = None
        self.edges: list[Edge] | None = None
        self.next: list[Position] = []
        self.beaten: dict[int, Position] = {}

    @property
    def settled(self) -> bool:
        """Whether it is proved or refuted."""
        return not self.proof or not self.disproof

    def settle(self, won: bool) -> None:
        """Note that the attacker wins here, or that no win will be found."""
        self.proof, self.disproof = (0, NEVER) if won else (NEVER, 0)

    def close(self) -> None:
        """Be as before it was opened."""
        self.line, self.edges, self.next, self.beaten = None, None, [], {}

    def renew(self) -> bool:
        """Take the numbers from the positions that follow; return whether they have changed."""
        if self.edges is None:
            return True
        before = self.proof, self.disproof
        proofs = [after.proof for after in self.next]
        disproofs = [after.disproof for after in self.next]
        if self.attacking:
            self.proof, self.disproof = min(proofs, default=NEVER), min(sum(disproofs), NEVER)
        else:
            self.proof, self.disproof = min(sum(proofs), NEVER), min(disproofs, default=NEVER)
        return (self.proof, self.disproof) != before

    def best(self) -> int:
        """Return which move leads on to what would change the numbers here soonest."""
        if self.attacking:
            return min(range(len(self.next)), key=lambda i: self.next[i].proof)
        return min(range(len(self.next)), key=lambda i: self.next[i].disproof)


class ThreeSearch:
    """Looks for a win of one colour by threes and fours. The board is its own; BudgetSpent leaves it anyhow.

    wide   whether every move that brings a line within two stones of five is tried as a threat, and not the threes
           alone
    hints  what is tried first; a win after one reply is often a win after another
    """

    def __init__(
        self, board: ThreatBoard, colour: int, fours: FourSearch, hints: Hints = NO_HINTS, *, wide: bool
    ) -> None:
        self._board, self._colour, self._fours, self._hints = board, colour, fours, hints
        self._wide = wide
        self._their_judged = board.judged and colour == WHITE
        self._seen: dict[int, Position] = {}

    def solve(self, must: int | None, budget: Budget) -> Position:
        """Return the position on the board, the attacker to move, proved or refuted with all that it rests on.

        must  the cell where the other side would complete five, None if there is none

        Refuted means that no such win was found, not that there is none: a look for a win by fours stops after FEW
        nodes. Raises BudgetSpent.
        """
        self._budget = budget
        root = self._attack(must)
        position, path = root, []
        while not root.settled:
            while position.edges is not None:  # down to the position that matters most
                position.renew()
                if position.settled:
                    break
                best = position.best()
                self._play(position, position.edges[best])
                path.append((position, position.edges[best]))
                position = position.next[best]
            if not position.settled:
                self._budget.spend()
                self._open(position)
                position.renew()
            while path:  # and up again as far as numbers change
                position, edge = path.pop()
                self._take_back(position, edge)
                if not position.renew() and not position.settled:
                    break
        return root

    def _play(self, position: Position, edge: Edge) -> None:
        turn = self._colour if position.attacking else -self._colour
        for cell in edge:
            self._board.place(cell, turn)
            turn = -turn

    def _take_back(self, position: Position, edge: Edge) -> None:
        turn = self._colour if position.attacking == (len(edge) == 1) else -self._colour
        for cell in reversed(edge):
            self._board.remove(cell, turn)
            turn = -turn

    def _attack(self, must: int | None) -> Position:
        """Return the position on the board with the attacker to move; new ones are asked for a short win by fours."""
        position = self._seen.get(self._board.key)
        if position is None:
            position = self._seen[self._board.key] = Position(True, must)
            if self._hinted():
                position.proof = HINTED
            self._look_for_fours(position, AT_SIGHT)
        return position

    def _hinted(self) -> Set[int]:
        """Return the moves by which the attacker has won with these stones elsewhere."""
        return self._hints.get(self._board.stones(self._colour), frozenset()) if self._hints else frozenset()

    def _look_for_fours(self, position: Position, most: int) -> None:
        position.line = self._fours.find(position.must, self._budget, FEW, most)
        if position.line is not None:
            position.settle(won=True)

    def _open(self, position: Position) -> None:
        """Find the moves that are worth a look, all of them or none."""
        try:
            if position.attacking:
                self._open_attack(position)
            else:
                self._open_defence(position)
        except BudgetSpent:
            position.close()
            raise

    def _open_attack(self, position: Position) -> None:
        self._look_for_fours(position, FOREVER)
        if position.line is not None:
            return
        board, colour = self._board, self._colour
        fours, hinted = board.fours(colour), self._hinted()
        position.edges = []
        if position.must is None:
            threats = board.closed_threes(colour) if self._wide else board.threes(colour)
            attacks = [*fours, *(cell for cell in threats if cell not in fours)]
        else:
            attacks = [position.must]
        for cell in attacks:
            if colour == BLACK and board.forbidden(cell):
                continue
            if cell not in fours:
                key = board.key_with(cell, colour)
                after = self._seen.setdefault(key, Position(False))
                if cell in hinted and after.edges is None and not after.settled:
                    after.proof = HINTED
                position.edges.append((cell,))
                position.next.append(after)
                continue
            answer = self._fours.answer(cell, fours[cell])
            if answer is None or answer == ANYWHERE:
                continue  # a draw; a win would have been seen
            board.place(cell, colour)
            board.place(answer, -colour)
            threats_back = board.fives_beside(answer, -colour)
            if len(threats_back) < 2:
                position.edges.append((cell, answer))
                after = self._attack(min(threats_back, default=None))
                if after.edges is None and not after.settled and cell not in hinted:
                    after.proof = LATE
                position.next.append(after)
            board.remove(answer, -colour)
            board.remove(cell, colour)

    def _open_defence(self, position: Position) -> None:
        board, colour = self._board, self._colour
        menace = self._fours.find(None, self._budget, FEW)
        counters = [cell for cell in board.fours(-colour) if not self._is_illegal(cell)]
        if menace is None or any(self._threats_back(cell) > 1 for cell in counters):
            position.settle(won=False)
            return
        if self._their_judged and not board.can_move(-colour):
            position.settle(won=False)  # nobody can move: a draw
            return
        position.line = menace
        position.edges = []
        for cell in self.zone(menace):
            if self._is_illegal(cell):
                continue
            board.place(cell, -colour)
            after = self._attack(min(board.fives_beside(cell, -colour), default=None))
            board.remove(cell, -colour)
            if after.proof == 0:
                position.beaten[cell] = after
            else:
                position.edges.append((cell,))
                position.next.append(after)

    def _is_illegal(self, reply: int) -> bool:
        return self._their_judged and self._board.forbidden(reply)

    def _threats_back(self, reply: int) -> int:
        """Return on how many cells the other side would threaten to complete five."""
        self._board.place(reply, -self._colour)
        threats = len(self._board.fives_beside(reply, -self._colour))
        self._board.remove(reply, -self._colour)
        return threats

    def zone(self, menace: Line) -> Iterable[int]:
        """Return the cells where a reply can matter to the menace; every other reply loses to it.

        They are the cells where it is played and answered; where the other side makes a four now; and where it might
        make one later together with the answers, on a stretch that lacks three stones at most once they are there.
        When it rests on a forbidden point, or on one that seems forbidden and is not, every cell may matter.
        """
        board = self._board
        if ANYWHERE in menace or self._is_delicate(menace):
            return list(board.empty())
        zone = dict.fromkeys((*menace, *board.fours(-self._colour)))
        answers = menace[1:-2:2]
        if answers:
            own, theirs = board.stones(self._colour), board.stones(-self._colour)
            taken = own | theirs
            for answer in answers:
                theirs |= 1 << answer
            for answer in answers:
                for window, cells in board.windows[answer]:
                    if not window & own and (window & theirs).bit_count() >= board.win_length - 2:
                        zone.update(dict.fromkeys(cell for cell in cells if not taken >> cell & 1))
        return zone

    def _is_delicate(self, menace: Line) -> bool:
        """Whether black plays a point of two threes, allowed as long as one of them is not real.

        A white stone never makes a three or a four, but it may make a false three real.
        """
        board, colour = self._board, self._colour
        if not board.judged or colour == WHITE:
            return False
        delicate = False
        turn, played = colour, 0
        for cell in menace[:-2]:
            if turn == colour and board.threes(colour).get(cell, 0) > 1:
                delicate = True
                break
            board.place(cell, turn)
            turn, played = -turn, played + 1
        for cell in reversed(menace[:played]):
            turn = -turn
            board.remove(cell, turn)
        return delicate
