"""Who sits opposite the learner: itself, its own frozen past, and named agents, in given shares.

Playing only its present self, a policy forgets how to beat what it once was; the pool of past selves remembers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from env import BLACK, WHITE
from nn import BoardNet
from rl.agents import BatchAgent, PolicyAgent, make_agent
from rl.sampling import IntArray, RandomSource, draw_uniforms, inverse_cdf
from rl.selfplay import LEARNER

SELF, POOL = "self", "pool"
FADE = 0.7  # weight of what was known of a past self when new games against it come in
LEAST_WEIGHT = 0.02  # even a past self that always loses is met now and then


class LeagueError(ValueError):
    """Opponents that cannot be trained against."""


class League:
    """The opponents of a training run and how often each is met.

    shares     {name: weight}: "self" (the learner takes both seats), "pool" (past selves), or any agent spec
    capacity   how many past selves are kept; a full pool drops every second one, so that it still spans the whole past
    at_once    how many different past selves are met in one batch of games (each is a forward pass of its own)
    difficulty draw past selves in proportion to (1 - w)^2, w the learner's recent share of wins against each (Vinyals
               et al. 2019, "prioritized fictitious self-play"), instead of evenly
    """

    def __init__(
        self, shares: Mapping[str, float], *, capacity: int, at_once: int, temperature: float, difficulty: bool = False
    ) -> None:
        if not shares or min(shares.values()) < 0 or sum(shares.values()) <= 0:
            raise LeagueError(f"opponent shares {dict(shares)}: name one with a positive weight or more, none negative")
        self.names = list(shares)
        self.weights = np.array([shares[name] for name in self.names], dtype=np.float64)
        self.capacity, self.at_once, self.temperature = capacity, at_once, temperature
        self.difficulty = difficulty
        self.snapshots: list[BoardNet] = []
        self.rates = np.zeros(0)  # the learner's share of wins against each snapshot, faded; 0.5 before any game
        self._agents = {name: batch_agent(name) for name in self.names if name not in (SELF, POOL)}

    def remember(self, net: BoardNet) -> None:
        """Add a frozen copy of the learner to the pool."""
        if len(self.snapshots) >= self.capacity:
            self.snapshots, self.rates = self.snapshots[::2], self.rates[::2]
        self.snapshots.append(net.copy())
        self.rates = np.append(self.rates, 0.5)

    def forget(self) -> None:
        """Empty the pool."""
        self.snapshots, self.rates = [], np.zeros(0)

    def draw(self, games: int, rng: RandomSource) -> tuple[IntArray, list[BatchAgent], IntArray]:
        """Seat `games` games: (seats (E, 2), opponents, kinds (E,)).

        A seat holds LEARNER or an index into `opponents`; kinds index `names`. The learner has black in every even
        game. While the pool is empty its games are played against oneself. Three draws a game, whatever comes of them.
        """
        kinds = inverse_cdf(np.tile(self.weights, (games, 1)), draw_uniforms(rng, games))
        which_past = draw_uniforms(rng, games)
        opponents: list[BatchAgent] = [self._agents[name] for name in self._agents]
        index_of = {name: i for i, name in enumerate(self._agents)}
        past = self._past_selves(rng)
        opponent = np.full(games, LEARNER, dtype=np.int64)
        for kind, name in enumerate(self.names):
            if name == POOL and past:
                opponent[kinds == kind] = len(opponents) + (which_past[kinds == kind] * len(past)).astype(np.int64)
            elif name in index_of:
                opponent[kinds == kind] = index_of[name]
        opponents += past
        seats = np.full((games, 2), LEARNER, dtype=np.int64)
        seats[np.arange(games), (np.arange(games) + 1) % 2] = opponent
        return seats, opponents, kinds

    def learn(self, seats: IntArray, opponents: Sequence[BatchAgent], winners: NDArray[np.int8]) -> None:
        """Take in how games ended: seats (E, 2) and opponents as drawn, winners (E,). Draws count as half a win."""
        colours = np.where(seats[:, 0] == LEARNER, BLACK, WHITE)
        scores = (1 + winners * colours) / 2
        places = {id(net): place for place, net in enumerate(self.snapshots)}
        for i, agent in enumerate(opponents):
            place = places.get(id(agent.net)) if isinstance(agent, PolicyAgent) else None
            met = (seats == i).any(axis=1)
            if place is not None and met.any():
                self.rates[place] += (1 - FADE) * (scores[met].mean() - self.rates[place])

    def _past_selves(self, rng: RandomSource) -> list[BatchAgent]:
        """`at_once` of the snapshots, drawn without replacement."""
        keys = draw_uniforms(rng, len(self.snapshots))
        if self.difficulty:  # the smallest of such keys are a weighted draw (Efraimidis and Spirakis 2006)
            keys = -np.log1p(-keys) / ((1 - self.rates) ** 2 + LEAST_WEIGHT)
        drawn = np.argsort(keys)[: self.at_once]
        return [PolicyAgent(self.snapshots[i], self.temperature, name=f"past{i}") for i in drawn]


def batch_agent(spec: str) -> BatchAgent:
    """The agent of that name, which must choose for many boards at once. Raises AgentSpecError, LeagueError."""
    agent = make_agent(spec)
    if not isinstance(agent, BatchAgent):
        raise LeagueError(f"{spec!r} cannot be a training opponent: it does not choose for many boards at once")
    return agent
