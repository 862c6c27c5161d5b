"""A value network as the baseline: it learns beside the policy, from the same games.

What tree search asks (rl/value_learning) learns from games of a finished policy; this one has to follow a moving one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn import BoardNet
from nn.optim import Adam
from rl.baseline import Baseline
from rl.returns import FloatArray
from rl.sampling import IntArray, RandomSource, draw_uniforms
from rl.selfplay import Decisions
from rl.value_learning import learn, values_of

BATCH = 256
LEARNING_RATE = 1e-3
LEARNT_SHARE = 0.25  # neighbouring positions of a game tell much the same


class ValueNetBaseline(Baseline):
    """V(s) of a network, taught by one pass of Adam over a random quarter of each batch's returns.

    Against whom the game is played it cannot see: V is the mean over the opponents, each as often as it is met.
    """

    def __init__(self, net: BoardNet) -> None:
        self.net = net
        self.optimizer = Adam(net.parameters(), LEARNING_RATE)

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """V of each position, (T,)."""
        return values_of(self.net, decisions.planes)

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
        """One pass over some of the batch, in random order and random views."""
        some = np.argsort(draw_uniforms(rng, len(decisions)))[: max(1, round(LEARNT_SHARE * len(decisions)))]
        for index in np.array_split(some, max(1, round(len(some) / BATCH))):
            learn(self.net, self.optimizer, decisions.planes[index] > 0, returns[index].astype(np.float32), rng)

    def state(self) -> dict[str, NDArray[Any]]:
        """Weights and Adam's moments."""
        weights = {f"net.{name}": array.copy() for name, array in self.net.arrays().items()}
        return weights | {f"adam.{name}": array for name, array in self.optimizer.state().items()}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        for name, array in self.net.arrays().items():
            array[...] = state[f"net.{name}"]
        self.optimizer.load_state({name.removeprefix("adam."): a for name, a in state.items() if name[:5] == "adam."})
