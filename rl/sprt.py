"""When a match has shown enough: Wald's sequential test of two hypotheses about an Elo difference, pair by pair.

A pair of games from one opening, colours swapped, is one observation: its games are not independent, pairs are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SCORES = np.arange(5) / 4  # of a pair, as a share: two losses, a loss and a draw, ..., two wins
UNSEEN = 1e-3  # stands for a count of 0, since a result not met yet is not impossible
HALVINGS = 60


class SprtError(ValueError):
    """Hypotheses or error rates that make no test."""


def expected_score(elo: float) -> float:
    """The share of points (a win 1, a draw 1/2) that an advantage of `elo` points brings: 1 / (1 + 10^(-elo/400))."""
    return 1 / (1 + 10 ** (-elo / 400))


@dataclass(frozen=True)
class Sprt:
    """A test of H0, the first player is `elo0` stronger, against H1, it is `elo1` stronger; elo0 < elo1.

    alpha: how often H1 may be accepted though H0 holds; beta: the other way round.
    Raises SprtError if they are out of order or out of range.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -2000 <= self.elo0 < self.elo1 <= 2000:
            raise SprtError(
                f"Elo {self.elo0:g} and {self.elo1:g}: name two numbers from -2000 to 2000, the smaller first"
            )
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < rate < 0.5:
                raise SprtError(f"{name} {rate:g}: an error rate lies between 0 and 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the log-likelihood ratio ends the test: H0 is accepted at or below the first, H1 from the second on."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def log_ratio(self, counts: NDArray[np.number]) -> Floats:
        """How much likelier the pairs are under H1 than under H0, as a logarithm.

            sum over k of n_k log(p1_k / p0_k)

        p0 and p1 are the distributions over the five results of a pair that are the likeliest among those with the
        mean score of H0 and of H1. counts: (..., 5), how often a pair brought 0, 1/2, 1, 3/2, 2 points. Returns (...).
        """
        seen = np.maximum(np.asarray(counts, dtype=np.float64), UNSEEN)
        ratio: Floats = (seen * (_tilt(seen, expected_score(self.elo0)) - _tilt(seen, expected_score(self.elo1)))).sum(
            axis=-1
        )
        return ratio

    def accepted(self, counts: NDArray[np.number]) -> str | None:
        """"H0", "H1", or None while the test goes on."""
        low, high = self.bounds
        ratio = float(self.log_ratio(counts))
        return "H0" if ratio <= low else "H1" if ratio >= high else None


def _tilt(counts: Floats, mean: float) -> Floats:
    """log(p_k / q_k), where p are the observed shares and q the likeliest ones with this mean score. Returns (..., 5).

    By Lagrange's rule q_k = p_k / (1 + t (s_k - mean)), s_k the scores; t is the one number for which q has that mean,
    and lies where every denominator is positive: between -1 / (1 - mean) and 1 / mean. It is found by halving.
    """
    shares = counts / counts.sum(axis=-1, keepdims=True)
    away = SCORES - mean
    low, high = np.full(shares.shape[:-1], -1 / (1 - mean)), np.full(shares.shape[:-1], 1 / mean)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        too_small = (shares * away / (1 + middle[..., None] * away)).sum(axis=-1) > 0
        low, high = np.where(too_small, middle, low), np.where(too_small, high, middle)
    tilt: Floats = np.log1p(((low + high) / 2)[..., None] * away)
    return tilt
