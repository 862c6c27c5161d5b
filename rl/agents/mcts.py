"""Monte Carlo tree search: look ahead where the policy network points and the values are good.

Leaves are judged in batches, over all games that are asked for at once. What was found about the line that is then
played is kept for the next move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from env import Board, IllegalMoveError
from nn import ShapeError
from rl.agents.base import Thinker
from rl.agents.judges import Judge
from rl.sampling import RandomSource, draw_uniforms, inverse_cdf
from rl.search.budget import Budget
from rl.search.tree import LOST, WON, Leaf, Node, Tree, back_up

TOGETHER = 8  # leaves of one tree that are judged at once
FOURS = 128  # nodes for a win by fours: most are found, or found not to be, in fewer
KEPT = 512  # trees that are remembered, for so many games at a time
CONCENTRATION = 10.0  # of the noise at the root: it falls on about so many moves
Key = tuple[object, ...]


class NoiseError(ValueError):
    """Noise at the root was asked for from a source that cannot draw it."""


class MctsAgent(Thinker):
    """Plays the move tried most often in `simulations` descents; proven wins at once, proven losses never by choice.

    temperature  T > 0 draws the move in proportion to visits ** (1 / T), for self-play
    noise        the share of Dirichlet noise in the root's prior, for self-play; 0 for none
    fours        nodes for the search of a win by fours at each leaf; 0 for no such search
    """

    def __init__(
        self,
        judge: Judge,
        simulations: int = 200,
        temperature: float = 0.0,
        noise: float = 0.0,
        fours: int = FOURS,
        name: str = "mcts",
    ) -> None:
        if simulations < 1:
            raise ValueError(f"simulations is {simulations}; there must be 1 or more")
        if not 0 <= temperature < math.inf:
            raise ValueError(f"the temperature is {temperature}; it must be 0 or positive")
        if not 0 <= noise <= 1:
            raise ValueError(f"the noise is {noise}; it is a share, from 0 to 1")
        if fours < 0:
            raise ValueError(f"fours is {fours}; so many nodes are 0 or more")
        self.judge, self.net, self.simulations, self.fours = judge, judge.net, simulations, fours
        self.temperature, self.noise, self.name = temperature, noise, name
        self._kept: dict[Key, Node] = {}

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell. Raises IllegalMoveError once the game is over, ShapeError if it is not the network's board."""
        return self.choose_many([board], rng)[0]

    def choose_many(self, boards: Sequence[Board], rng: RandomSource) -> list[int]:
        """One cell a board, in order; the leaves of all trees are judged together."""
        return self._search(boards, rng, lambda: False)

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        """A legal cell, after `simulations` descents or when the time is up."""
        budget = Budget(seconds, stopped=stopped)
        return self._search([board], rng, lambda: budget.spent)[0]

    def _search(self, boards: Sequence[Board], rng: RandomSource, spent: Callable[[], bool]) -> list[int]:
        own = self.net.height, self.net.width
        for board in boards:
            if board.is_over:
                raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
            if (board.height, board.width) != own:
                sizes = f"{own[0]}x{own[1]} only; the board is {board.height}x{board.width}"
                raise ShapeError(f"{self.name} plays on {sizes}")
        trees = [Tree(board, self._remembered(board), self.fours) for board in boards]
        self._judge([leaf for tree in trees if not tree.root.grown for leaf in tree.leaves(1)], boards[0], rng)
        if self.noise:
            self._add_noise([tree.root for tree in trees if tree.root.grown], rng)
        while not spent():
            searching = [tree for tree in trees if tree.simulations < self.simulations and has_choice(tree.root)]
            if not searching:
                break
            leaves = [
                leaf for tree in searching for leaf in tree.leaves(min(TOGETHER, self.simulations - tree.simulations))
            ]
            self._judge(leaves, boards[0], rng)
        return [self._decide(tree.root, board, rng) for tree, board in zip(trees, boards, strict=True)]

    def _judge(self, leaves: list[Leaf], board: Board, rng: RandomSource) -> None:
        """Grow the leaves, found in games of the settings of `board`, and give their values upwards."""
        if leaves:
            self.judge(leaves, board.win_length, board.rule, rng)
        for leaf in leaves:
            back_up(leaf.way, leaf.node)

    def _add_noise(self, roots: list[Node], rng: RandomSource) -> None:
        """Mix Dirichlet noise into the priors, so that self-play also tries what the network never would."""
        if not isinstance(rng, np.random.Generator):
            raise NoiseError(f"noise at the root needs numpy's Generator to draw it, got {type(rng).__name__}")
        for root in roots:
            count = len(root.moves)
            drawn = rng.dirichlet(np.full(count, CONCENTRATION / count))
            root.prior = (1 - self.noise) * root.prior + self.noise * drawn

    def _decide(self, root: Node, board: Board, rng: RandomSource) -> int:
        """The move to play, and what is worth keeping of the tree behind it."""
        if not root.grown or len(root.moves) == 1:
            return int(root.moves[0])  # there is no choice: it wins, or it is all the same
        index = self._chosen(root, rng)
        cell = int(root.moves[index])
        child = root.children.get(index)
        if child is not None and child.grown:
            self._kept[_key(board, [*board.moves, cell])] = child
            if len(self._kept) > KEPT:
                del self._kept[next(iter(self._kept))]
        return cell

    def _chosen(self, root: Node, rng: RandomSource) -> int:
        """The index of the move to play: a proven win, else by visits among those not proven to lose, if any."""
        if root.result == WON:
            return int((root.proven == WON).argmax())
        open_moves = (root.proven != LOST) | (root.result == LOST)
        visits = np.where(open_moves, root.visits, 0)
        if not visits.any():
            visits = np.where(open_moves, root.prior, 0)  # no time for a single descent
        if self.temperature == 0:
            return int(visits.argmax())
        weights = (visits / visits.max()) ** (1 / self.temperature)
        return int(inverse_cdf(weights[None], draw_uniforms(rng, 1))[0])

    def _remembered(self, board: Board) -> Node | None:
        """The node of this position in the tree of the move before, if it was kept."""
        if not board.moves:
            return None
        parent = self._kept.pop(_key(board, board.moves[:-1]), None)
        if parent is None or not (parent.moves == board.moves[-1]).any():
            return None
        return parent.children.get(int((parent.moves == board.moves[-1]).argmax()))


def has_choice(root: Node) -> bool:
    """Whether there is something to find out: nothing is proven, and there are two moves or more."""
    return root.result is None and len(root.moves) > 1


def _key(board: Board, moves: Sequence[int]) -> Key:
    return board.height, board.width, board.win_length, board.rule, tuple(moves)
