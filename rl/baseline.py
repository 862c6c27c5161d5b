"""What a result is compared with: the return expected of a position, so that only surprises teach.

Subtracting a value that does not depend on the move chosen leaves the expected gradient as it is and takes away most
of its noise (Williams 1992; Sutton and Barto, section 13.4).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn import PolicyNet, Sequential
from rl.returns import FloatArray
from rl.sampling import IntArray
from rl.selfplay import Decisions


class Baseline(ABC):
    """Predicts the return of each decision, and learns from the returns that came.

    groups (T,) names the kind of each decision's opponent; decisions against a stronger one are worth less.
    """

    @abstractmethod
    def predict(self, net: PolicyNet, decisions: Decisions, groups: IntArray) -> FloatArray:
        """V of each decision, (T,), from what was learnt from *earlier* batches: nothing of this one's results."""

    @abstractmethod
    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray) -> None:
        """Take this batch's returns (T,) in. Called after `predict` for the same decisions."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """What a later prediction depends on, for a checkpoint."""

    @abstractmethod
    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""


class NoBaseline(Baseline):
    """V = 0: every result is a surprise."""

    def predict(self, net: PolicyNet, decisions: Decisions, groups: IntArray) -> FloatArray:
        """Zeros, (T,)."""
        return np.zeros(len(decisions))

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray) -> None:
        """Nothing to learn."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Nothing."""


class RunningMean(Baseline):
    """V = the mean return so far against that kind of opponent with that colour, recent batches counting more."""

    def __init__(self, groups: int, decay: float = 0.9) -> None:
        self.decay = decay
        self._sums = np.zeros((groups, 2))
        self._counts = np.zeros((groups, 2))

    def predict(self, net: PolicyNet, decisions: Decisions, groups: IntArray) -> FloatArray:
        """The group's mean, (T,); 0 before the first batch."""
        means = self._sums / np.maximum(self._counts, 1e-9)
        values: FloatArray = means[groups, (decisions.colours < 0).astype(np.int64)]
        return values

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray) -> None:
        """Fade the sums and add this batch's."""
        self._sums *= self.decay
        self._counts *= self.decay
        index = (groups, (decisions.colours < 0).astype(np.int64))
        np.add.at(self._sums, index, returns)
        np.add.at(self._counts, index, 1.0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Faded sums and counts, (groups, 2) each."""
        return {"sums": self._sums.copy(), "counts": self._counts.copy()}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        self._sums[...], self._counts[...] = state["sums"], state["counts"]


class FeatureRegression(Baseline):
    """V = w . phi(s), a ridge regression of the returns on the network's own hidden features phi (M,) and a 1.

        w = (X'X + ridge I)^-1 X'y      X'X and X'y faded by `decay` a batch

    Nothing of it flows back into the network: the features are those the policy has made for itself.
    """

    def __init__(self, net: PolicyNet, decay: float = 0.8, ridge: float = 10.0) -> None:
        self.decay, self.ridge = decay, ridge
        size = net.hidden + 1
        self._gram = np.zeros((size, size))
        self._moment = np.zeros(size)
        self._features: NDArray[Any] = np.zeros((0, size))

    def predict(self, net: PolicyNet, decisions: Decisions, groups: IntArray) -> FloatArray:
        """w . phi for each decision, (T,); 0 before the first batch."""
        hidden = Sequential(net.layers[:-1]).predict(decisions.planes.astype(net.dtype, copy=False))  # (T, M)
        self._features = np.hstack([hidden, np.ones((len(hidden), 1))]).astype(np.float64)
        weights = np.linalg.solve(self._gram + self.ridge * np.eye(len(self._gram)), self._moment)
        values: FloatArray = np.clip(self._features @ weights, -1.0, 1.0)
        return values

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray) -> None:
        """Fade the sums and add this batch's."""
        self._gram = self.decay * self._gram + self._features.T @ self._features
        self._moment = self.decay * self._moment + self._features.T @ returns

    def state(self) -> dict[str, NDArray[Any]]:
        """X'X (M + 1, M + 1) and X'y (M + 1,)."""
        return {"gram": self._gram.copy(), "moment": self._moment.copy()}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        self._gram, self._moment = state["gram"].copy(), state["moment"].copy()


def make_baseline(kind: str, net: PolicyNet, groups: int) -> Baseline:
    """The baseline of that name: none, mean or features."""
    if kind == "none":
        return NoBaseline()
    return RunningMean(groups) if kind == "mean" else FeatureRegression(net)
