"""The expected return as a weighted sum of what can be seen on the board: who has a five, an open four, a three.

The weights are found by least squares from the games that were played, for each kind of opponent and each colour.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import Rule
from env.observation import Positions
from rl.baseline import Baseline
from rl.features import NAMES, tactical_features
from rl.returns import FloatArray
from rl.sampling import IntArray, RandomSource
from rl.selfplay import Decisions


class ValueRegression(Baseline):
    """V = phi . w, phi the tactical features of the position (a 1 among them), w by ridge regression:

        w = (sum of phi phi^T + ridge * I)^-1 (sum of G phi)        over the decisions of one group and colour

    The sums fade by `decay` a batch, so that the policy of long ago is forgotten. A group that has not been met has
    w = 0 and V = 0. Source: Hoerl and Kennard, "Ridge regression" (Technometrics 12, 1970).
    """

    def __init__(self, groups: int, decay: float = 0.85, ridge: float = 20.0) -> None:
        self.decay, self.ridge = decay, ridge
        size = len(NAMES)
        self._products = np.zeros((groups, 2, size, size))
        self._sums = np.zeros((groups, 2, size))
        self._features = np.zeros((0, size))

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """phi . w of each decision, (T,)."""
        positions = Positions(decisions.planes, decisions.legal, win_length, Rule.FREESTYLE)
        self._features = tactical_features(positions).astype(np.float64)
        penalty = self.ridge * np.eye(self._sums.shape[2])
        weights = np.linalg.solve(self._products + penalty, self._sums[..., None])[..., 0]  # (groups, 2, size)
        values = np.empty(len(decisions))
        for group, colour, index in self._cells(decisions, groups):
            values[index] = self._features[index] @ weights[group, colour]
        return values

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
        """Fade the sums and add this batch's."""
        self._products *= self.decay
        self._sums *= self.decay
        for group, colour, index in self._cells(decisions, groups):
            seen = self._features[index]
            self._products[group, colour] += seen.T @ seen
            self._sums[group, colour] += returns[index] @ seen

    def _cells(self, decisions: Decisions, groups: IntArray) -> list[tuple[int, int, IntArray]]:
        """(group, colour 0 or 1, its decisions) of every combination that there is."""
        both = groups * 2 + (decisions.colours < 0)
        return [(int(cell) // 2, int(cell) % 2, np.flatnonzero(both == cell)) for cell in np.unique(both)]

    def state(self) -> dict[str, NDArray[Any]]:
        """Faded sums."""
        return {"products": self._products.copy(), "sums": self._sums.copy()}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        self._products[...], self._sums[...] = state["products"], state["sums"]
