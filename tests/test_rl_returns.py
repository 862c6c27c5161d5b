"""Credit goes to the colour that moved, is discounted in its own moves, and sums to nothing over both colours."""

import numpy as np
import pytest

from rl.returns import discounted_returns, lambda_returns, signed_results


def test_the_example_of_the_docstring():
    results = signed_results(np.ones(5), np.array([1, -1, 1, -1, 1]))
    returns = discounted_returns(results, np.array([2, 1, 1, 0, 0]), 0.9)
    np.testing.assert_allclose(returns, [0.81, -0.9, 0.9, -1.0, 1.0], rtol=0, atol=1e-15)


def test_undiscounted_sums_of_both_colours_are_opposite():
    colours = np.tile([1, -1], 10)
    for winner in (1, -1, 0):
        returns = discounted_returns(signed_results(np.full(20, winner), colours), np.arange(20)[::-1] // 2, 1.0)
        assert returns[colours == 1].sum() == -returns[colours == -1].sum() == 10 * winner


def trajectories(rng, count):
    """Two interleaved players' decisions: results, following, moves_left."""
    players = np.array([t % 2 for t in range(count)])
    following = np.array([t + 2 if t + 2 < count else -1 for t in range(count)])
    moves_left = (count - 1 - np.arange(count)) // 2
    return np.where(players == 0, 1.0, -1.0), following, moves_left


def test_lambda_one_is_the_discounted_return():
    results, following, moves_left = trajectories(None, 13)
    values = np.random.default_rng(0).normal(size=13)
    np.testing.assert_allclose(
        lambda_returns(results, values, following, 0.9, 1.0), discounted_returns(results, moves_left, 0.9), rtol=1e-14
    )


def test_lambda_zero_is_the_next_value():
    results, following, _ = trajectories(None, 8)
    values = np.random.default_rng(1).normal(size=8)
    returns = lambda_returns(results, values, following, 0.9, 0.0)
    expected = [0.9 * values[f] if f >= 0 else z for f, z in zip(following, results, strict=True)]
    np.testing.assert_allclose(returns, expected, rtol=1e-15)


@pytest.mark.parametrize("trace", [0.3, 0.8])
def test_lambda_mixes_n_step_returns(trace):
    """G = (1 - lambda) sum_n lambda^(n-1) G^(n), the forward view, computed the long way."""
    results, following, _ = trajectories(None, 12)
    values = np.random.default_rng(2).normal(size=12)
    got = lambda_returns(results, values, following, 0.95, trace)
    for t in range(12):
        chain = [t]
        while following[chain[-1]] >= 0:
            chain.append(following[chain[-1]])
        last = len(chain) - 1
        total, weight = 0.0, 1.0
        for n in range(1, last + 1):
            total += (1 - trace) * weight * 0.95**n * values[chain[n]]
            weight *= trace
        total += weight * 0.95**last * results[chain[-1]]
        assert got[t] == pytest.approx(total, rel=1e-12)
