"""Winning by fours alone: every move threatens to complete five, so that the other side has one answer or none.
The search tries nothing else, which is why it sees so far.

Also called VCF, victory by continuous fours.
"""

from __future__ import annotations

from env import BLACK, WHITE
from env.bitboard import Bitboard
from rl.search.budget import Budget
from rl.search.threat_board import ThreatBoard

Line = tuple[int, ...]
Moves = dict[int, tuple[int, ...]]  # cells that make a four, each with the cells that would complete it
FOREVER = 1 << 30
ANYWHERE = -1  # in a line: an answer that does not matter
HOPELESS = -2  # in place of a cell to be stopped: there are several


def fours_by_definition(board: Bitboard) -> Line | None:
    """Return a win by fours of the side to move, moves and answers in turn up to the five, or None: there is none.

    Every legal move is played; it counts if the other side cannot win at once and would lose to a five.
    """
    attacker = board.to_move
    if fives := board.cells_of(board.winning(attacker)):
        return (fives[0],)
    for cell in board.cells_of(board.legal()):
        board.play(cell)
        line = None
        if board.winner is None and board.winning(attacker) and not board.winning(-attacker):
            line = _answered(board, attacker)
        board.undo()
        if line is not None:
            return cell, *line
    return None


def _answered(board: Bitboard, attacker: int) -> Line | None:
    """Return how the win goes on after a four: the answer that lasts longest and what follows; None if one holds."""
    fives = board.winning(attacker)
    answers = board.cells_of(fives & board.legal())
    if not answers:  # every answer is forbidden: another stone anywhere, and the five
        elsewhere = board.cells_of(board.legal())[0]
        return elsewhere, board.cells_of(fives)[0]
    lines = []
    for answer in answers:
        board.play(answer)
        line = fours_by_definition(board)
        board.undo()
        if line is None:
            return None
        lines.append((answer, *line))
    return max(lines, key=len)


class FourSearch:
    """Looks for wins by fours of one colour, on a board that others may change between two searches.

    What was found to fail is remembered by position. It looks at all wins of one four, then of two, and so on: a short
    win leaves the other side fewer cells to disturb it.
    """

    def __init__(self, board: ThreatBoard, colour: int) -> None:
        self._board, self._colour, self._budget = board, colour, Budget()
        self._fours_at, self._fives_at = (2, 1) if colour == BLACK else (3, 0)  # own fours, their fives in Threats
        self._own_steps, self._their_steps = board.steps[colour], board.steps[-colour]
        self._own_judged = board.judged and colour == BLACK
        self._their_judged = board.judged and colour == WHITE
        self._failed: dict[int, int] = {}  # position -> no win of so many fours
        self._left = 0
        self._cut = False  # whether the search has left out something only for want of depth or nodes
        self._nodes = 0

    def find(self, must: int | None, budget: Budget, nodes: int = FOREVER, most: int = FOREVER) -> Line | None:
        """Return a win by fours, at most so many, or None if there is none or none was found within so many nodes.

        must  the one cell where the other side would complete five, None if there is none

        The attacker has no five to complete. The line is move and answer in turn, up to the five; ANYWHERE stands for
        an answer that is not to be had, since black may not play it. Raises BudgetSpent, the board left anyhow.
        """
        self._left, self._budget = nodes, budget
        for fours in range(min(2, most), most + 1):  # a win of one four is seen before those of two are tried
            self._cut = False
            line = self._search(must, fours)
            if line is not None or not self._cut or self._left <= 0:
                return line
        return None

    def _search(self, must: int | None, fours: int) -> Line | None:
        """Return a win of at most so many fours."""
        board = self._board
        key = board.key
        done = self._failed.get(key, 0)
        if done >= fours:
            self._cut |= done < FOREVER
            return None
        self._count()
        moves = board.fours(self._colour)
        if must is None:
            tries = moves
        elif must in moves:
            tries = {must: moves[must]}
        else:
            tries = {}
        for cell, answers in tries.items():
            if len(answers) > 1 and not (self._own_judged and board.forbidden(cell)):
                answer = self.answer(cell, answers)
                if answer is not None:
                    return cell, answer, next(five for five in answers if five != answer)
        cut_above, self._cut = self._cut, False
        if fours > 1 or self._their_judged:
            line = self._try(tries, moves, fours)
            if line is not None:
                return line
        elif tries:
            self._cut = True
        if self._left > 0 or not self._cut:
            self._failed[key] = fours if self._cut else FOREVER
        self._cut |= cut_above
        return None

    def _count(self) -> None:
        self._left -= 1
        self._nodes += 1
        if not self._nodes & 31:  # the clock is read now and then
            self._budget.spend(32)

    def _try(self, tries: Moves, moves: Moves, fours: int) -> Line | None:
        """Return the win that begins with one of `tries`, the fours with one answer; first those that promise more."""
        board = self._board
        later = []
        for cell, answers in tries.items():
            if len(answers) > 1 or (self._own_judged and board.forbidden(cell)):
                continue
            answer = self.answer(cell, answers)
            if answer is None:
                continue
            if answer == ANYWHERE:
                return cell, ANYWHERE, answers[0]
            if fours == 1:
                self._cut = True
                continue
            new, doubled = self._gains(cell, answer, moves)
            threat = self._threat(cell, answer)
            if threat is not None and threat not in moves and threat not in new:
                continue  # it is to be stopped, and stopping it makes no four
            if doubled or self._their_judged:
                line = self._follow(cell, answer, threat, fours)
                if line is not None:
                    return line
            elif fours == 2:
                self._cut = True
            else:
                later.append((cell, answer, threat))
        for cell, answer, threat in later:
            if self._left <= 0:
                self._cut = True
                return None
            line = self._follow(cell, answer, threat, fours)
            if line is not None:
                return line
        return None

    def answer(self, cell: int, answers: tuple[int, ...]) -> int | None:
        """Return where a four at `cell` is answered: the first of the answers that the other side may play.

        ANYWHERE if renju forbids them all to black; None if he has no move at all, which is a draw.
        """
        if not self._their_judged:
            return answers[0]
        board = self._board
        board.place(cell, self._colour)
        legal = next((answer for answer in answers if not board.forbidden(answer)), None)
        if legal is None and board.can_move(-self._colour):
            legal = ANYWHERE
        board.remove(cell, self._colour)
        return legal

    def _gains(self, cell: int, answer: int, moves: Moves) -> tuple[Moves, bool]:
        """Return the fours on the lines of `cell` after it and its answer, before they are put down.

        And whether one of them may have two answers, which only a new four can bring about.
        """
        board, which = self._board, self._fours_at
        codes, threats, tables, theirs = board.codes, board.threats, board.tables, self._their_steps[answer]
        new: Moves = {}
        doubled = False
        for line, step in self._own_steps[cell].items():
            code = codes[line] + step
            if line in theirs:
                code += theirs[line]
            try:
                found = tables.threats[line][code][which]
            except KeyError:
                found = tables.learn(line, code)[which]
            if found and found != threats[line][which]:
                for at, ends in found:
                    if at != answer:
                        if len(ends) > 1 or moves.get(at, ends) != ends or new.get(at, ends) != ends:
                            doubled = True
                        new[at] = ends
        return new, doubled

    def _threat(self, cell: int, answer: int) -> int | None:
        """Return where the answer threatens to complete five, HOPELESS if on several cells, None if it does not."""
        board, which = self._board, self._fives_at
        codes, tables, own = board.codes, board.tables, self._own_steps[cell]
        threat: int | None = None
        for line, step in self._their_steps[answer].items():
            code = codes[line] + step
            if line in own:
                code += own[line]
            try:
                fives = tables.threats[line][code][which]
            except KeyError:
                fives = tables.learn(line, code)[which]
            if fives:
                if len(fives) > 1 or threat not in (None, fives[0]):
                    return HOPELESS
                threat = fives[0]
        return threat

    def _follow(self, cell: int, answer: int, threat: int | None, fours: int) -> Line | None:
        """Return the win that goes on after a four and its answer."""
        board, own, other = self._board, self._colour, -self._colour
        board.place(cell, own)
        board.place(answer, other)
        rest = self._search(threat, fours - 1)
        board.remove(answer, other)
        board.remove(cell, own)
        return None if rest is None else (cell, answer, *rest)
