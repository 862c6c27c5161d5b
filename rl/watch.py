"""A network that watches games as they are played and always has its answer ready: no position is looked at twice.

It holds every game seen from both sides, since each stone is one's own to one side and the other's to the other.
Where a stone changes most of the board (6x6 and less) little is gained; on 15x15 a move costs PolicyNet a third of a
forward pass in lockstep and a fifth of one alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from env import BLACK
from env.lockstep import Lockstep
from nn import BoardNet, ConvPolicyNet, LinePolicyNet, PolicyNet
from nn.conv_incremental import ConvIncremental
from nn.incremental import Incremental
from nn.layers import FloatArray
from nn.line_incremental import LineIncremental
from nn.workspace import Workspace
from rl.sampling import BoolArray, IntArray
from rl.views import Views

WatchingNet = PolicyNet | ConvPolicyNet | LinePolicyNet


def can_watch(net: BoardNet) -> TypeGuard[WatchingNet]:
    """Whether there is a way to keep the network's logits up to date stone by stone."""
    return isinstance(net, PolicyNet | LinePolicyNet) or (isinstance(net, ConvPolicyNet) and net.cell_by_cell)


def kept_up_to_date(
    net: WatchingNet, positions: int, memory: Sequence[Workspace] | None = None
) -> Incremental | ConvIncremental | LineIncremental:
    """The network's logits for so many positions, empty boards at first. Raises ShapeError if it cannot watch."""
    if isinstance(net, PolicyNet):
        return Incremental(net, positions, memory)
    if isinstance(net, LinePolicyNet):
        return LineIncremental(net, positions, memory)
    return ConvIncremental(net, positions, memory)


class Watch:
    """The games of a Lockstep, watched from their beginning: tell it every move and every reset."""

    def __init__(self, net: WatchingNet, games: Lockstep) -> None:
        if games.plies.any():
            raise ValueError("games are watched from their beginning, but some have stones already")
        self._games = games
        self._kept = kept_up_to_date(net, 2 * games.games)  # position 2 e is game e seen by black, 2 e + 1 by white

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


class SeatWatch:
    """A network that watches only from the seats it plays in, each through a view of its own that lasts the game."""

    def __init__(
        self,
        net: WatchingNet,
        games: Lockstep,
        seated: BoolArray,
        views: Views,
        view: IntArray,
        memory: Sequence[Workspace],
    ) -> None:
        """Take in the stones that are there. seated (E, 2): where the net plays black or white; view (E, 2)."""
        self._views, self._view = views, view
        self._position = np.full(seated.shape, -1, dtype=np.int64)  # (E, 2) the number of each seat's position
        self._position[seated] = np.arange(np.count_nonzero(seated))
        self._kept = kept_up_to_date(net, int(np.count_nonzero(seated)), memory)
        stones = games.cells.reshape(games.games, -1)
        game, cell = np.nonzero(stones)
        nth = np.arange(len(game)) - np.searchsorted(game, game)  # the how manyeth stone of its game
        for turn in range(int(nth.max(initial=-1)) + 1):
            now = nth == turn
            self.moved(cell[now], stones[game[now], cell[now]], game[now])

    def moved(self, cells: IntArray, colours: NDArray[np.int8], which: IntArray) -> None:
        """Stones of these colours were put on these cells of these games, all (n,), a game named only once."""
        stone, seat = np.nonzero(self._position[which] >= 0)  # each stone as each of the net's seats sees it
        game = which[stone]
        plane = (colours[stone] == BLACK) == (seat == 1)  # 0 one's own, 1 the other's
        shown = self._views.seen_at(cells[stone], self._view[game, seat])
        self._kept.put(self._position[game, seat], plane.astype(np.int64), shown)

    def logits(self, which: IntArray, seat: IntArray) -> FloatArray:
        """The net's logits (n, A) in these games (n,) for its seats (n,) there, 0 black and 1 white, in their views."""
        return self._kept.logits(self._position[which, seat])


class WatchOne:
    """One game with undo. A side's view is brought up to date when it is asked, so that a move and its undo cost 0."""

    def __init__(self, net: WatchingNet) -> None:
        self._kept = kept_up_to_date(net, 2)
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
