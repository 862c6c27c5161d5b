"""The tree that Monte Carlo tree search grows: what is known of each position it has met, and where to look next.

    descend   from the root, always the move that promises most, to a position not looked at before: a leaf
    grow      somebody says how likely each of the leaf's moves is and how well its side stands
    back up   along the way, that value is added to every move taken, turned round at each step

What the rules decide needs no value: a side that can complete a line wins, one that must stop two loses, and a position
whose moves all lose is lost. A win by fours alone, every move of which leaves one answer, can be looked for at each
leaf too: few networks see one coming. Such results are proven, go up the tree, and are never tried again.

Sources: Silver et al., "Mastering the game of Go without human knowledge" (2017), methods, "Search algorithm"; Winands,
Björnsson and Saito, "Monte-Carlo tree search solver" (2008).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from env import Board, Rule
from env.bitboard import Bitboard
from rl.search.budget import Budget
from rl.search.forced_wins import forced_win

EXPLORATION = 1.5  # how much a likely move that was tried seldom is worth beside one that did well
UNTRIED = 0.2  # how much worse than its position an untried move is taken to be
VIRTUAL_LOSS = 1.0  # counted against a move whose leaf is being judged, so that the next descent goes elsewhere
WON, LOST = 1, -1

Way = list[tuple["Node", int]]  # from the root: each node and the index of the move taken there


class Node:
    """A position, as its side to move sees it; n moves, of which those that lose at once are left out.

    moves   (n,) int64 cells         prior   (n,) how likely each is, summing to 1
    visits  (n,) tries of each       totals  (n,) the sum of the values that came of them, -1 to 1 each
    proven  (n,) int8 WON, LOST or 0 for not known
    result  WON, LOST, 0 for a game that ended in a draw, or None while nothing is proven
    value   the first judgement of the position
    grown   whether it was judged: only then there are prior, visits, totals and proven
    """

    __slots__ = ("children", "grown", "moves", "prior", "proven", "result", "totals", "value", "visits")

    def __init__(self, moves: NDArray[np.int64], result: int | None) -> None:
        self.moves, self.result = moves, result
        self.children: dict[int, Node] = {}
        self.value = float(result or 0)
        self.grown = False

    def grow(self, prior: NDArray[np.float64], value: float) -> None:
        """Take in the judgement of the position: prior (n,) and value."""
        count = len(self.moves)
        self.prior, self.value = prior, value
        self.visits, self.totals = np.zeros(count), np.zeros(count)
        self.proven = np.zeros(count, dtype=np.int8)
        self.grown = True

    def win_by(self, move: int) -> None:
        """Note that the side to move is proven to win by this move: no other needs a look."""
        self.moves, self.result, self.value = np.array([move], dtype=np.int64), WON, float(WON)

    def promising(self) -> int:
        """The index of the move to try next; no move that is proven to lose.

        mean value + EXPLORATION * prior * sqrt(all visits) / (1 + visits), with value - UNTRIED for the mean of a move
        without visits.
        """
        tried = self.visits > 0
        mean = np.where(tried, self.totals / np.where(tried, self.visits, 1), self.value - UNTRIED)
        scores = mean + (EXPLORATION * math.sqrt(1 + self.visits.sum())) * self.prior / (1 + self.visits)
        scores[self.proven == LOST] = -np.inf
        return int(scores.argmax())

    def learn(self, index: int, result: int) -> bool:
        """Note what a move is proven to be. Returns whether that proves something of the whole position."""
        self.proven[index] = result
        if result == WON or (self.proven == LOST).all():
            self.result = result
            return True
        return False


class Leaf:
    """A position that descent has come to: the way there, and what a judge needs to see."""

    __slots__ = ("cells", "colour", "history", "node", "way")

    def __init__(self, way: Way, node: Node, board: Bitboard) -> None:
        self.way, self.node, self.colour = way, node, board.to_move
        self.cells = board.as_cells()  # (H, W) int8
        self.history = tuple(board.moves)


class Tree:
    """The search of one position; `root` may be grown already, in an earlier search.

    fours  how many nodes the search for a win by fours may have at each leaf; 0 for no such search
    """

    def __init__(self, board: Board, root: Node | None = None, fours: int = 0) -> None:
        self._board = Bitboard.from_board(board)
        self._start, self._fours = board.copy(), fours
        self.root = met(self._board) if root is None else root
        self.simulations = 0

    def leaves(self, most: int) -> list[Leaf]:
        """Descend up to `most` times and return the leaves, to be judged, grown and given to `back_up`.

        Descents that end where the value is proven are backed up at once. It stops early when a descent
        ends at a leaf that is waiting already, or when the root is proven.
        """
        found: list[Leaf] = []
        waiting: set[Node] = set()
        for _ in range(most):
            if self.root.result is not None:
                break
            way, node = self._descend()
            if node in waiting:
                self._withdraw(way)
                break
            self.simulations += 1
            if node.result is None and self._fours:
                self._try_fours(way, node)
            if node.result is None:
                found.append(Leaf(way, node, self._board))
                waiting.add(node)
            self._climb(way)
            if node.result is not None:
                back_up(way, node)
        return found

    def _descend(self) -> tuple[Way, Node]:
        """Go down to a node that is not grown; the board goes along and stays there.

        An answer without choice needs no judge: descent goes on.
        """
        way: Way = []
        node = self.root
        while node.result is None:
            if not node.grown:
                if len(node.moves) != 1:
                    break
                node.grow(np.ones(1), 0.0)
            index = node.promising()
            node.visits[index] += 1
            node.totals[index] -= VIRTUAL_LOSS
            way.append((node, index))
            self._board.play(int(node.moves[index]))
            child = node.children.get(index)
            if child is None:
                child = node.children[index] = met(self._board)
            node = child
        return way, node

    def _try_fours(self, way: Way, node: Node) -> None:
        """Look for a win by fours at the end of the way."""
        board = self._start
        for above, index in way:
            board.play(int(above.moves[index]))
        win = forced_win(board, Budget(nodes=self._fours), threes=False)
        for _ in way:
            board.undo()
        if win is not None:
            node.win_by(win.moves[0])

    def _climb(self, way: Way) -> None:
        for _ in way:
            self._board.undo()

    def _withdraw(self, way: Way) -> None:
        """Undo a descent as if it had not been."""
        self._climb(way)
        for node, index in way:
            node.visits[index] -= 1
            node.totals[index] += VIRTUAL_LOSS


def back_up(way: Way, node: Node) -> None:
    """Give the value of `node`, at the end of `way`, to every move on the way, and what is proven upwards."""
    value = node.value
    for above, index in reversed(way):
        value = -value
        above.totals[index] += VIRTUAL_LOSS + value
    result = node.result
    for above, index in reversed(way):
        if not result or not above.learn(index, -result):
            break
        result = above.result


def met(board: Bitboard) -> Node:
    """A node for this position, with what the rules say of it at once.

    Whoever can complete a line does. Whoever cannot, while the other side could, has only the move that stops it; where
    two cells would have to be stopped, or renju forbids the one, the game is lost.
    """
    none = np.zeros(0, dtype=np.int64)
    if board.winner is not None:
        return Node(none, LOST if board.winner else 0)  # who won is always who moved last
    wins = board.winning(board.to_move)
    if wins:
        return Node(np.array(board.cells_of(wins)), WON)
    threats = board.winning(-board.to_move)
    if not threats:
        return Node(np.array(_legal(board)), None)
    blocks = board.cells_of(threats & board.legal())
    if len(board.cells_of(threats)) > 1 or not blocks:
        return Node(np.array(blocks or _legal(board)), LOST)
    return Node(np.array(blocks), None)


def _legal(board: Bitboard) -> NDArray[np.int64]:
    """The cells the side to move may play."""
    if board.rule is Rule.RENJU:
        return np.array(board.cells_of(board.legal()), dtype=np.int64)
    return np.flatnonzero(board.as_cells().ravel() == 0)
