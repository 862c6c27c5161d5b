"""Learning to say how well a side stands, from how games ended.

    target = discount ** (plies to the end) * (1 if the side to move won, -1 if it lost, 0 for a draw)

Only quiet positions count, in which nobody can make a five at once: of the others tree search needs no opinion. With a
discount below 1 a win that is near is worth more than one that is far, and less certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.lockstep import Lockstep
from nn import BoardNet
from nn.losses import squared_error
from nn.optim import Adam, clip_gradients
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, draw_uniforms
from rl.supervised import is_urgent, seen_by
from rl.views import Views

MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Ends:
    """N positions and how their games went on.

    planes (N, 2, H, W) bool, the side to move first; results (N,) int8 1, -1 or 0 for that side; left (N,) int64 plies
    to the end, 1 before the last move; games (N,) int64 the game that each was met in.
    """

    planes: NDArray[np.bool_]
    results: NDArray[np.int8]
    left: IntArray
    games: IntArray

    def __len__(self) -> int:
        return len(self.planes)

    def targets(self, discount: float) -> NDArray[np.float32]:
        """The formula above, (N,)."""
        return (self.results * discount**self.left).astype(np.float32)

    def some(self, which: NDArray[Any]) -> Ends:
        """Those of these indices, or marked True."""
        return Ends(self.planes[which], self.results[which], self.left[which], self.games[which])


def watch_games(
    seats: IntArray, players: Sequence[BatchAgent], games: Lockstep, *, share: float, rng: RandomSource
) -> Ends:
    """Play all games to their end and return a share of their quiet positions.

    seats (E, 2): indices into `players` of who has black and white. `games` may hold opening stones; the positions are
    those met after them, each kept with chance `share`.
    """
    planes, colours, plies, of_game = [], [], [], []
    running = np.flatnonzero(~games.over)
    while len(running):
        kept = running[draw_uniforms(rng, len(running)) < share]
        if len(kept):
            positions = games.positions(kept)
            quiet = ~is_urgent(positions)
            planes.append(positions.planes[quiet] > 0)
            colours.append(games.to_move[kept[quiet]])
            plies.append(games.plies[kept[quiet]])
            of_game.append(kept[quiet])
        to_move = seats[running, (games.to_move[running] < 0).astype(np.int64)]
        for player in np.unique(to_move):
            which = running[to_move == player]
            games.play(players[player].choose_positions(games.positions(which), rng), which)
        running = running[~games.over[running]]
    if not planes:
        return Ends(np.zeros((0, 2, games.height, games.width), bool), *(np.zeros(0, t) for t in (np.int8, int, int)))
    games_met = np.concatenate(of_game)
    results = games.winner[games_met] * np.concatenate(colours)
    return Ends(np.concatenate(planes), results, games.plies[games_met] - np.concatenate(plies), games_met)


def joined(parts: Sequence[Ends]) -> Ends:
    """All of them, their games numbered on."""
    numbers, first = [], 0
    for part in parts:
        numbers.append(part.games + first)
        first += int(part.games.max(initial=-1)) + 1
    return Ends(
        np.concatenate([part.planes for part in parts]),
        np.concatenate([part.results for part in parts]),
        np.concatenate([part.left for part in parts]),
        np.concatenate(numbers),
    )


def begin_with(net: BoardNet, policy: BoardNet) -> list[str]:
    """Give the value network what the policy has learnt where an array has the same name and shape; return the names.

    A dense layer's answers are another network's affair: only convolutions are taken, those of lines among them.
    """
    its = policy.arrays()
    taken = [
        name for name, array in net.arrays().items()
        if not name.startswith("fc") and name in its and its[name].shape == array.shape
    ]  # fmt: skip
    for name in taken:
        net.arrays()[name][...] = its[name]
    return taken


def learn(
    net: BoardNet, optimizer: Adam, planes: NDArray[np.bool_], targets: NDArray[np.float32], rng: RandomSource
) -> float:
    """One step towards the targets (N,), each position in a random view; returns the loss before it."""
    views = Views(net.height, net.width)
    view = views.draw(len(planes), True, rng)
    turned = views.show(planes.reshape(*planes.shape[:2], -1), view).reshape(planes.shape)
    values = net.forward(seen_by(net, turned))
    loss, d_values = squared_error(values, targets[:, None].astype(net.dtype))
    optimizer.zero_grad()
    net.add_gradients(d_values)
    clip_gradients(net.parameters(), MAX_GRADIENT_NORM)
    optimizer.step()
    return loss


def values_of(net: BoardNet, planes: NDArray[Any]) -> NDArray[np.float64]:
    """What the net says of positions (N, 2, H, W): (N,)."""
    some = [net.values(seen_by(net, planes[i : i + 256])) for i in range(0, len(planes), 256)]
    return np.concatenate(some).astype(np.float64) if some else np.zeros(0)
