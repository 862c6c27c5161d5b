"""How an update's games are cut into shares for a fleet, and what all of these have in common.

Each share draws from a seed of its own, made of the run's, the update's and the share's number.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from env import Rule
from experiments.config import Config
from nn import BoardNet
from rl.agents import BatchAgent, PolicyAgent
from rl.league import POOL, SELF
from rl.sampling import IntArray
from rl.shares import Cast, Share


def cast_of(config: Config, net: BoardNet, opponents: Sequence[BatchAgent]) -> Cast:
    """The learner as it is now and its opponents, of whom past selves come last and go out as networks."""
    named = tuple(name for name in config.opponents if name not in (SELF, POOL))
    past = opponents[len(named) :]
    return Cast(
        net.copy(),
        named=named,
        past=tuple(agent.net.copy() for agent in past if isinstance(agent, PolicyAgent)),
        past_temperature=config.pool_temperature,
        win_length=config.win_length,
        rule=Rule(config.rule),
        opening_plies=config.opening_plies,
        temperature=config.temperature,
        symmetric=config.symmetric,
        watched=config.watched,
    )


def cut_games(config: Config, update: int, seats: IntArray, count: int) -> list[Share]:
    """These games, seats (E, 2), in so many shares, or as many as there are games."""
    shares: list[Share] = []
    for number, part in enumerate(np.array_split(seats, min(count, len(seats))) if len(seats) else ()):
        seed = np.random.SeedSequence([config.seed, 4], spawn_key=(update, number))
        shares.append(Share(seed.spawn_key, np.random.default_rng(seed), part))
    return shares
