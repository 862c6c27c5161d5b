"""The weakest player: any legal cell, all equally likely."""

from __future__ import annotations

from env.observation import Positions
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, draw_uniforms, inverse_cdf


class RandomAgent(BatchAgent):
    """Plays a uniformly random legal cell; one uniform draw a move."""

    name = "random"

    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. Returns (N,) int64."""
        return inverse_cdf(positions.legal, draw_uniforms(rng, len(positions.legal)))
