"""How strong each of many players is, from the results of all their games: Elo ratings with 95 % intervals.

The model is Bradley and Terry's, with Davidson's term for draws and one for moving first; maximum likelihood fits it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ELO = 400 / math.log(10)  # Elo points in a natural unit: 400 points make ten wins for one loss
Z95 = 1.96
MOST_STEPS = 100
WIN, DRAW, LOSS = 0, 1, 2  # of black, along the last axis of results


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def as_dict(self) -> dict[str, float]:
        """Plain numbers, for JSON."""
        return {"elo": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Ratings:
    """What `fit` found.

    players     one Elo rating a player, in the order of the results
    first_move  Elo points that having black is worth
    draws       share of draws between equals when nobody moves first
    """

    players: tuple[Estimate, ...]
    first_move: Estimate
    draws: float


def chances(difference: Floats, draw_weight: float) -> Floats:
    """Chances of a win, a draw and a loss for black (Davidson, JASA 65, 1970).

        win : draw : loss = e^(x/2) : v : e^(-x/2),     x = black's strength - white's + the first move's worth

    difference: x, any shape, in natural units (Elo / ELO); draw_weight: v >= 0. Returns (..., 3), summing to 1.
    """
    drawn = np.full_like(difference, draw_weight)
    weights = np.stack([np.exp(difference / 2), drawn, np.exp(-difference / 2)], axis=-1)
    shares: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def fit(results: NDArray[np.number], anchor: int | None = None) -> Ratings:
    """The ratings under which the results are the likeliest, and how sure they are.

    results: (K, K, 3), results[i, j] = how often i with black won, drew, lost against j with white.
    anchor: the player whose rating is 0 by definition; without one the mean rating is.

    The unknowns u = (K strengths, the first move's worth h, log v) maximise the sum over all i, j of

        wins * log P(win) + draws * log P(draw) + losses * log P(loss),     x = u_i - u_j + h

    by Newton's method; the function is concave. So that somebody who won every game is not infinitely strong, each
    player has one virtual game more against a player of strength 0, half won and half lost, and so has black against
    its equal; so that draws are neither impossible nor certain, half of one more game between equals was drawn. The
    intervals are value +- 1.96 standard errors from the inverse of the information, which takes games as independent.
    """
    players = len(results)
    black, white = np.nonzero(np.sum(results, axis=2))
    rows = np.zeros((len(black) + players + 2, players + 1))  # x = rows @ u[:-1]
    games = np.arange(len(black))
    rows[games, black] += 1
    rows[games, white] -= 1
    rows[games, players] = 1
    rows[len(black) : -1] = np.eye(players + 1)
    virtual = [[0.5, 0, 0.5]] * (players + 1) + [[0.25, 0.5, 0.25]]
    counts = np.concatenate([np.asarray(results, dtype=np.float64)[black, white], virtual])  # (R, 3)
    unknowns = _newton(rows, counts)
    _, information = _slopes(rows, counts, unknowns)
    covariance = np.linalg.inv(information)[:-1, :-1]

    relative = np.eye(players + 1)  # each strength less the anchor's, or less the mean; the first move as it is
    if anchor is None:
        relative[:players, :players] -= 1 / players
    else:
        relative[:players, anchor] -= 1
    values = ELO * (relative @ unknowns[:-1])
    errors = ELO * np.sqrt(np.maximum(np.diag(relative @ covariance @ relative.T), 0))
    found = [
        Estimate(float(value), float(value - Z95 * error), float(value + Z95 * error))
        for value, error in zip(values, errors, strict=True)
    ]
    weight = math.exp(unknowns[-1])
    return Ratings(tuple(found[:-1]), found[-1], weight / (2 + weight))


def _newton(rows: Floats, counts: Floats) -> Floats:
    """The likeliest unknowns, (K + 2,); a step that would make them less likely is halved until it does not."""
    unknowns = np.zeros(rows.shape[1] + 1)
    for _ in range(MOST_STEPS):
        slope, information = _slopes(rows, counts, unknowns)
        step = np.linalg.solve(information, slope)
        here = _log_likelihood(rows, counts, unknowns)
        while _log_likelihood(rows, counts, unknowns + step) < here and np.abs(step).max() > 1e-9:
            step = step / 2
        unknowns = unknowns + step
        if np.abs(step).max() < 1e-9:
            break
    return unknowns


def _log_likelihood(rows: Floats, counts: Floats, unknowns: Floats) -> float:
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a step far too long is halved
        total = float((counts * np.log(chances(rows @ unknowns[:-1], np.exp(unknowns[-1])))).sum())
    return total if math.isfinite(total) else -math.inf


def _slopes(rows: Floats, counts: Floats, unknowns: Floats) -> tuple[Floats, Floats]:
    """The slope of the log-likelihood, (K + 2,), and minus its curvature, the information (K + 2, K + 2).

    One game tells two numbers, half its result (+-1/2 or 0) and whether it was drawn. The slope is what was told less
    what was expected, the information the covariance of the two, both carried over to the unknowns.
    """
    share = chances(rows @ unknowns[:-1], np.exp(unknowns[-1]))  # (R, 3)
    number = counts.sum(axis=1)
    expected = (share[:, WIN] - share[:, LOSS]) / 2
    drawn = share[:, DRAW]
    by_result = (counts[:, WIN] - counts[:, LOSS]) / 2 - number * expected
    slope = np.append(rows.T @ by_result, (counts[:, DRAW] - number * drawn).sum())
    variance = number * ((share[:, WIN] + share[:, LOSS]) / 4 - expected**2)
    both = rows.T @ (-number * drawn * expected)
    information = np.zeros((len(unknowns), len(unknowns)))
    information[:-1, :-1] = rows.T @ (variance[:, None] * rows)
    information[:-1, -1] = information[-1, :-1] = both
    information[-1, -1] = (number * drawn * (1 - drawn)).sum()
    return slope, information
