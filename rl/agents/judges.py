"""Who judges the leaves of a tree search: how likely each move is, and how well the side to move stands.

The policy network knows the moves. How the side stands is said by a network with values, or found out by playing on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from env import Rule
from env.lockstep import Lockstep
from env.observation import Positions
from nn import AnswerError, BoardNet
from rl.agents.base import BatchAgent
from rl.sampling import RandomSource
from rl.search.tree import Leaf

Values = NDArray[np.float64]
FARTHEST = 32  # plies a game is played on: an end farther off says little, and greedy boards fill up slowly


class ValueSource(Protocol):
    """How well the side to move stands at each leaf."""

    def __call__(self, leaves: Sequence[Leaf], seen: Positions, rng: RandomSource) -> Values:
        """Values (N,), -1 to 1, of N leaves; `seen` are the same positions for a network."""
        ...


class NetValues:
    """What a network with values says. Raises AnswerError for one without."""

    def __init__(self, net: BoardNet) -> None:
        if not net.HAS_VALUE:
            raise AnswerError(f"{type(net).__name__} does not say how well a side stands; a value network is wanted")
        self.net = net

    def __call__(self, leaves: Sequence[Leaf], seen: Positions, rng: RandomSource) -> Values:
        """Values (N,). Raises ShapeError if the board is not the network's."""
        return self.net.values(seen.seen(self.net.planes)).astype(np.float64)


class Rollouts:
    """How one game ends that `agent` plays on against itself: 1 if the side to move wins, -1 if it loses, else 0."""

    def __init__(self, agent: BatchAgent) -> None:
        self.agent = agent

    def __call__(self, leaves: Sequence[Leaf], seen: Positions, rng: RandomSource) -> Values:
        """Values (N,), each -1, 0 or 1."""
        height, width = seen.planes.shape[2:]
        games = Lockstep(len(leaves), height, width, seen.win_length, seen.rule)
        lengths = np.array([len(leaf.history) for leaf in leaves])
        for ply in range(int(lengths.max())):
            which = np.flatnonzero(lengths > ply)
            games.play(np.array([leaves[i].history[ply] for i in which.tolist()]), which)
        for _ in range(FARTHEST):
            running = np.flatnonzero(~games.over)
            if not len(running):
                break
            games.play(self.agent.choose_positions(games.positions(running), rng), running)
        return games.winner.astype(np.float64) * [leaf.colour for leaf in leaves]


class Judge:
    """A policy network for the moves and a source of values; a network that knows both is asked once.

    Raises AnswerError if what is needed of the network is not there.
    """

    def __init__(self, net: BoardNet, values: ValueSource | None = None) -> None:
        if not net.HAS_POLICY or (values is None and not net.HAS_VALUE):
            raise AnswerError(f"{type(net).__name__} knows no moves, or no values and none come from elsewhere")
        self.net, self.values = net, values

    def __call__(self, leaves: Sequence[Leaf], win_length: int, rule: Rule, rng: RandomSource) -> None:
        """Grow the nodes of all leaves. Raises ShapeError if the board is not the network's."""
        cells = np.stack([leaf.cells for leaf in leaves])  # (N, H, W)
        own = np.array([leaf.colour for leaf in leaves], dtype=np.int8)[:, None, None]
        planes = np.stack([cells == own, cells == -own], axis=1).astype(np.float32)
        seen = Positions(planes, (cells == 0).reshape(len(leaves), -1), win_length, rule)
        x = seen.seen(self.net.planes)
        if self.values is None:
            out = self.net.predict(x)
            logits, values = out[:, :-1], out[:, -1].astype(np.float64)
        else:
            logits, values = self.net.logits(x), self.values(leaves, seen, rng)
        for leaf, row, value in zip(leaves, logits, values, strict=True):
            some = row[leaf.node.moves].astype(np.float64)
            likely = np.exp(some - some.max())
            leaf.node.grow(likely / likely.sum(), float(value))
