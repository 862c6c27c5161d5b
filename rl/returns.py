"""Credit: what each decision is held to have earned. This is the only file where a sign flips.

A game's result is +1 for black's win, -1 for white's, 0 for a draw; multiplied by the colour that moved it becomes that
colour's own result z. A reward arrives only at the end, and is discounted per *own* move still to be made.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def signed_results(winners: NDArray[Any], colours: NDArray[Any]) -> FloatArray:
    """The result seen by the colour that moved: z = winner * colour. Both (T,); returns (T,) of +1, -1, 0."""
    signed: FloatArray = np.asarray(winners, dtype=np.float64) * colours
    return signed


def discounted_returns(results: FloatArray, moves_left: NDArray[Any], discount: float) -> FloatArray:
    """G = gamma ** k * z, with k the own moves still to come after this one (0 for a colour's last move).

    Two players, results +1 / -1, gamma = 0.9:

        ply      0      1      2      3      4 (black wins)
        colour   B      W      B      W      B
        k        2      1      1      0      0
        G      +0.81  -0.9   +0.9   -1.0   +1.0

    results (T,), moves_left (T,); returns (T,). With gamma = 1 black's and white's sums are opposite when both made
    equally many moves.
    """
    discounted: FloatArray = results * np.power(discount, moves_left)
    return discounted


def lambda_returns(
    results: FloatArray, values: FloatArray, following: NDArray[np.int64], discount: float, trace: float
) -> FloatArray:
    """The lambda-return of each decision, from an estimate V of the same player's next decision:

        G_t = gamma * ((1 - lambda) * V[t'] + lambda * G[t'])     t' = the same colour's next move in this game
        G_t = z                                                   at its last move

    lambda = 1 gives the discounted return exactly (REINFORCE); less leans on V (an actor-critic) and has less variance.
    `following` (T,) is the index t' > t, or -1 at a colour's last move; results, values (T,). Returns (T,).
    Source: Sutton and Barto, Reinforcement Learning, 2nd edition, section 12.1.
    """
    returns = results.copy()
    for t in range(len(returns) - 1, -1, -1):
        after = following[t]
        if after >= 0:
            returns[t] = discount * ((1 - trace) * values[after] + trace * returns[after])
    return returns


def explained_variance(returns: FloatArray, values: FloatArray) -> float:
    """The share of the returns' variance that the values foresaw: 1 - var(G - V) / var(G); 0 if G does not vary."""
    variance = float(returns.var())
    return 1 - float((returns - values).var()) / variance if variance > 0 else 0.0
