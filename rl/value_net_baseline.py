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
from rl.value_learning import learn

BATCH = 256
LEARNT_SHARE = 0.25  # neighbouring positions of a game tell much the same


class ValueNetBaseline(Baseline):
    """V(s) of a network, taught by one pass of Adam over a random quarter of each batch's returns.

    Against whom the game is played it cannot see: V is the mean over the opponents, each as often as it is met.
    """

    def __init__(self, net: BoardNet, learning_rate: float = 1e-3) -> None:
        self.net = net
        self.optimizer = Adam(net.parameters(), learning_rate)

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """V of each position, (T,)."""
        starts = range(0, len(decisions), BATCH)
        values = [self.net.values(decisions.planes[i : i + BATCH].astype(self.net.dtype)) for i in starts]
        return np.concatenate(values).astype(np.float64)

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
