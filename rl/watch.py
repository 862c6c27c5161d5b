"""A network that watches games as they are played and always has its answer ready: no position is looked at twice.

It holds every game seen from both sides, since each stone is one's own to one side and the other's to the other.
Where a stone changes most of the board (6x6 and less) nothing is gained; on 15x15 a move costs half a forward pass in
lockstep and a fifth of one alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from env import BLACK
from env.lockstep import Lockstep
from nn import PolicyNet
from nn.incremental import Incremental
from nn.layers import FloatArray
from rl.sampling import IntArray


class Watch:
    """The games of a Lockstep, watched from their beginning: tell it every move and every reset."""

    def __init__(self, net: PolicyNet, games: Lockstep) -> None:
        if games.plies.any():
            raise ValueError("games are watched from their beginning, but some have stones already")
        self._games = games
        self._kept = Incremental(net, 2 * games.games)  # position 2 e is game e seen by black, 2 e + 1 by white

    def moved(self, cells: IntArray, colours: NDArray[np.int8], which: IntArray) -> None:
        """Stones of these colours were put on these cells of these games, all (n,), a game named only once."""
        white = (colours != BLACK).astype(np.int64)
        seen_by = np.concatenate([2 * which, 2 * which + 1])
        self._kept.put(seen_by, np.concatenate([white, 1 - white]), np.concatenate([cells, cells]))

    def reset(self, which: IntArray) -> None:
        """These games (n,) begin anew."""
        self._kept.reset(np.concatenate([2 * which, 2 * which + 1]))

    def logits(self, which: IntArray) -> FloatArray:
        """The net's logits (n, A) for the side to move in these games (n,)."""
        return self._kept.logits(2 * which + (self._games.to_move[which] != BLACK))


class WatchOne:
    """One game with undo. A side's view is brought up to date when it is asked, so that a move and its undo cost 0."""

    def __init__(self, net: PolicyNet) -> None:
        self._kept = Incremental(net, 2)
        self._stones: list[tuple[int, int]] = []  # (cell, colour) on the board, in the order played
        self._shown: list[list[tuple[int, int]]] = [[], []]  # those that black's and white's view have taken in

    def play(self, cell: int, colour: int) -> None:
        """A stone of this colour was put on the cell."""
        self._stones.append((cell, colour))

    def undo(self) -> None:
        """The last stone was taken away."""
        self._stones.pop()

    def logits(self, colour: int) -> FloatArray:
        """The net's logits (A,) as this colour sees the board."""
        view, mine = (0 if colour == BLACK else 1), colour
        shown = self._shown[view]
        same = 0
        while same < min(len(shown), len(self._stones)) and shown[same] == self._stones[same]:
            same += 1
        for stones, sign in ((shown[same:], -1), (self._stones[same:], 1)):
            for cell, stone in stones:
                self._kept.put_one(view, 0 if stone == mine else 1, cell, sign)
        self._shown[view] = list(self._stones)
        logits: FloatArray = self._kept.logits(np.array([view]))[0]
        return logits
