"""The network as an agent: one forward pass a move, no search."""

from __future__ import annotations

import math

from env.observation import Positions
from nn import PolicyNet
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, choose_cells


class PolicyAgent(BatchAgent):
    """Plays from softmax(logits / temperature) over the legal cells; temperature 0 plays the largest logit."""

    def __init__(self, net: PolicyNet, temperature: float = 0.0, name: str = "policy") -> None:
        if not 0 <= temperature < math.inf:
            raise ValueError(f"the temperature is {temperature}; it must be 0 (argmax) or positive")
        self.net = net
        self.temperature = temperature
        self.name = name

    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. Returns (N,) int64. Raises ShapeError if the board is not the network's."""
        logits = self.net.predict(positions.planes.astype(self.net.dtype, copy=False))
        return choose_cells(logits, positions.legal, self.temperature, rng)
