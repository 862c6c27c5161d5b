"""Self-play in which every network watches its games: the fast twin of `rl.selfplay.play` for large boards.

A network keeps its activations up to date stone by stone, in the seats it plays in and nowhere else. For that a view
must last a whole game, where `play` draws one for every move; what is learnt from is still exactly what was seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from env.lockstep import Lockstep
from nn import BoardNet
from nn.losses import masked_log_softmax
from nn.workspace import Workspace
from rl.agents import PolicyAgent
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, choose_cells, draw_numbers, draw_uniforms, inverse_cdf
from rl.selfplay import LEARNER, Decisions, Step, gather, open_randomly, play
from rl.views import Views
from rl.watch import SeatWatch, WatchingNet, can_watch


def play_watched(
    net: WatchingNet,
    seats: IntArray,
    opponents: Sequence[BatchAgent],
    games: Lockstep,
    *,
    temperature: float,
    symmetric: bool,
    rng: RandomSource,
    memory: list[list[Workspace]],
) -> Decisions:
    """Play all games to their end and return the learner's decisions; arguments and result as those of `play`.

    `memory` is the caller's to keep from one batch of games to the next, empty at first: what the networks watch takes
    some 110 MB for 2,000 games on 15x15, and memory fresh from the system is slow.
    Without `symmetric` the games are those that `play` plays, rounding errors of the networks apart.
    """
    views = Views(games.height, games.width)
    view = views.draw(2 * games.games, symmetric, rng).reshape(games.games, 2)
    policies = {i: agent for i, agent in enumerate(opponents) if isinstance(agent, PolicyAgent) and agent.views == 1}
    theirs = {i: agent.net_for(games.height, games.width) for i, agent in policies.items()}
    nets: dict[int, WatchingNet] = {i: its for i, its in theirs.items() if can_watch(its)}
    nets[LEARNER] = net
    watching = [player for player in np.unique(seats[~games.over]).tolist() if player in nets]
    memory.extend([Workspace(net.dtype) for _ in range(3)] for _ in watching[len(memory) :])
    watches = {
        player: SeatWatch(nets[player], games, seats == player, views, view, room)
        for player, room in zip(watching, memory, strict=False)
    }
    steps: list[Step] = []
    running = np.flatnonzero(~games.over)
    while len(running):
        seat = (games.to_move[running] < 0).astype(np.int64)
        to_move, movers = seats[running, seat], games.to_move[running]
        cells = np.empty(len(running), dtype=np.int64)
        for player in np.unique(to_move):
            asked = np.flatnonzero(to_move == player)
            which = running[asked]
            positions = games.positions(which)
            if player not in watches:
                cells[asked] = opponents[player].choose_positions(positions, rng)
                continue
            through = view[which, seat[asked]]
            logits = watches[player].logits(which, seat[asked])
            if player == LEARNER:
                planes, legal = views.see(positions, through)
                log_p = masked_log_softmax(logits / temperature, legal)
                chosen = inverse_cdf(np.exp(log_p), draw_uniforms(rng, len(which)))
                drawn_with = log_p[np.arange(len(which)), chosen]
                steps.append(Step(planes, legal, chosen, drawn_with, which, movers[asked].copy()))
            else:
                legal = views.show(positions.legal, through)
                chosen = choose_cells(logits, legal, policies[player].temperature, rng)
            cells[asked] = views.cells(chosen, through)
        games.play(cells, running)
        going = ~games.over[running]
        for watch in watches.values():
            watch.moved(cells[going], movers[going], running[going])
        running = running[going]
    return gather(steps, seats, games)


class Manner(Protocol):
    """How whole games are played: the settings of a run have these, and so has what is sent to a fleet."""

    @property
    def opening_plies(self) -> int:
        """Games start from 0 to so many random stones."""

    @property
    def temperature(self) -> float:
        """What the learner's preferences are divided by before it samples."""

    @property
    def symmetric(self) -> bool:
        """Whether each decision, or each watched game, is seen through a random view."""

    @property
    def watched(self) -> bool:
        """Whether networks watch their games, if they can."""


def play_whole_games(
    net: BoardNet,
    seats: IntArray,
    opponents: Sequence[BatchAgent],
    games: Lockstep,
    manner: Manner,
    rng: RandomSource,
    memory: list[list[Workspace]],
) -> Decisions:
    """Play empty games from random openings to their end: watched, if so asked and the net can, else by `play`."""
    open_randomly(games, draw_numbers(rng, games.games, manner.opening_plies + 1), rng)
    temperature, symmetric = manner.temperature, manner.symmetric
    if manner.watched and can_watch(net):
        return play_watched(
            net, seats, opponents, games, temperature=temperature, symmetric=symmetric, rng=rng, memory=memory
        )
    return play(net, seats, opponents, games, temperature=temperature, symmetric=symmetric, rng=rng)
