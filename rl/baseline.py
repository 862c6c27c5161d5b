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

from rl.agents.greedy_bits import greedy_digits
from rl.returns import FloatArray, discounted_returns, signed_results
from rl.sampling import IntArray, RandomSource
from rl.selfplay import Decisions


class Baseline(ABC):
    """Predicts the return of each decision, and learns from the returns that came.

    groups (T,) names the kind of each decision's opponent; decisions against a stronger one are worth less.
    """

    @abstractmethod
    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """V of each decision, (T,), from earlier batches or other games of this one: nothing of its own game's end."""

    @abstractmethod
    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
        """Take this batch's returns (T,) in. Called after `predict` for the same decisions; may draw from rng."""

    @abstractmethod
    def state(self) -> dict[str, NDArray[Any]]:
        """What a later prediction depends on, for a checkpoint."""

    @abstractmethod
    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""


class NoBaseline(Baseline):
    """V = 0: every result is a surprise."""

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """Zeros, (T,)."""
        return np.zeros(len(decisions))

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
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

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """The group's mean, (T,); 0 before the first batch."""
        means = self._sums / np.maximum(self._counts, 1e-9)
        values: FloatArray = means[groups, (decisions.colours < 0).astype(np.int64)]
        return values

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
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


class TacticalTable(Baseline):
    """V = the mean return so far of positions that look alike: a table over what is about to happen on the board.

    A position is looked up by whether its side to move can win in one (2 kinds), at how many cells the other side could
    (0, 1, more), at how many cells each could make a four that is not blocked (0, 1, more), and by the opponent and the
    colour. V = sum / (count + 2) of faded sums, so that a rare kind is held to be worth little either way.
    """

    def __init__(self, groups: int, decay: float = 0.9) -> None:
        self.decay = decay
        self._sums = np.zeros((2, 3, 3, 3, groups, 2))
        self._counts = np.zeros_like(self._sums)
        self._index: tuple[IntArray, ...] = ()

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """The table's entry of each decision, (T,)."""
        own, other = decisions.planes[:, 0] > 0, decisions.planes[:, 1] > 0
        empty = ~(own | other)
        fives, fours = [], []
        for stones in (own, other):
            digits = greedy_digits(stones, empty, win_length) * empty
            fives.append(np.minimum((digits == 5).sum(axis=(1, 2)), 2))
            fours.append(np.minimum((digits == 4).sum(axis=(1, 2)), 2))
        self._index = (np.minimum(fives[0], 1), fives[1], *fours, groups, (decisions.colours < 0).astype(np.int64))
        values: FloatArray = self._sums[self._index] / (self._counts[self._index] + 2)
        return values

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
        """Fade the table and add this batch's returns."""
        self._sums *= self.decay
        self._counts *= self.decay
        np.add.at(self._sums, self._index, returns)
        np.add.at(self._counts, self._index, 1.0)

    def state(self) -> dict[str, NDArray[Any]]:
        """Faded sums and counts."""
        return {"sums": self._sums.copy(), "counts": self._counts.copy()}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        self._sums[...], self._counts[...] = state["sums"], state["counts"]


class LeaveOneOut(Baseline):
    """V = the mean discounted return in the *other* games of this batch, against that opponent and with that colour:

        V_i = (sum of G - sum of G in its own game) / (how many - how many in its own game)

    It is as new as the policy itself, and owes nothing to the game it is compared with. 0 where there is no other game.
    Source: Kool, van Hoof and Welling, "Buy 4 REINFORCE samples, get a baseline for free!" (ICLR workshop, 2019).
    """

    def __init__(self, discount: float) -> None:
        self.discount = discount

    def predict(self, win_length: int, decisions: Decisions, groups: IntArray) -> FloatArray:
        """The others' mean, (T,)."""
        results = signed_results(decisions.winners, decisions.colours)
        returns = discounted_returns(results, decisions.moves_left, self.discount)
        white = (decisions.colours < 0).astype(np.int64)
        of_kind = groups * 2 + white
        of_game = decisions.games * 2 + white
        sums = np.bincount(of_kind, returns)[of_kind] - np.bincount(of_game, returns)[of_game]
        others = np.bincount(of_kind)[of_kind] - np.bincount(of_game)[of_game]
        return np.where(others > 0, sums / np.maximum(others, 1), 0.0)

    def learn(self, decisions: Decisions, groups: IntArray, returns: FloatArray, rng: RandomSource) -> None:
        """Nothing: each batch is its own."""

    def state(self) -> dict[str, NDArray[Any]]:
        """Nothing."""
        return {}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Nothing."""
