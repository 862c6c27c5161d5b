"""The sequential test: its error rates are those asked for, and its ratio is a ratio of likelihoods."""

import math

import numpy as np
import pytest

from rl.elo import ELO, chances
from rl.sprt import SCORES, Sprt, SprtError, _tilt, expected_score


def pairs_of(elo: float, first_move: float, draw_weight: float) -> np.ndarray:
    """(5,) chances of a pair's results for a player `elo` stronger than the other."""
    as_black, other = chances(np.array([first_move + elo, first_move - elo]) / ELO, draw_weight)
    return np.convolve(as_black[::-1], other)  # points of either game 0, 1/2, 1; white wins where black loses


def simulated(test: Sprt, result_chances: np.ndarray, runs: int, rng: np.random.Generator) -> tuple[float, float]:
    """(share of runs that accept H1, mean number of pairs) until every run has ended."""
    low, high = test.bounds
    counts, won, pairs = np.zeros((runs, 5)), 0, 0
    while len(counts):
        counts[np.arange(len(counts)), rng.choice(5, size=len(counts), p=result_chances)] += 1
        pairs += len(counts)
        ratio = test.log_ratio(counts)
        won += int((ratio >= high).sum())
        counts = counts[(low < ratio) & (ratio < high)]
    return won / runs, pairs / runs


def strength_with_score(score: float, first_move: float, draw_weight: float) -> float:
    """The strength at which the mean score of a pair is this, by halving."""
    low, high = -1000.0, 1000.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if pairs_of(middle, first_move, draw_weight) @ SCORES < score else (low, middle)
    return low


@pytest.mark.parametrize(("elo0", "elo1", "first_move", "draw_weight"), [(0, 120, 60, 0.3), (-40, 80, 150, 0.01)])
def test_the_error_rates_are_those_asked_for(elo0: float, elo1: float, first_move: float, draw_weight: float) -> None:
    """600 matches under each hypothesis: the standard error of 5 % is 0.9 %, the tolerance three of them."""
    test, rng = Sprt(elo0, elo1), np.random.default_rng(1)
    strengths = [strength_with_score(expected_score(elo), first_move, draw_weight) for elo in (elo0, elo1)]
    (false_h1, _), (true_h1, pairs) = (
        simulated(test, pairs_of(strength, first_move, draw_weight), 600, rng) for strength in strengths
    )
    assert false_h1 < 0.077 and 1 - true_h1 < 0.077
    assert pairs < 100


def test_unequal_error_rates() -> None:
    """alpha 1 %, beta 20 %: few wrong H1, more wrong H0; and the bounds are Wald's."""
    test = Sprt(0, 150, alpha=0.01, beta=0.2)
    assert test.bounds == pytest.approx((math.log(0.2 / 0.99), math.log(0.8 / 0.01)))
    rng = np.random.default_rng(2)
    strength = strength_with_score(expected_score(150), 0, 0.1)
    assert simulated(test, pairs_of(0, 0, 0.1), 600, rng)[0] < 0.023
    assert 0.12 < 1 - simulated(test, pairs_of(strength, 0, 0.1), 600, rng)[0] < 0.25


def test_the_tilted_distribution_has_the_mean_and_is_the_likeliest() -> None:
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 30, size=(20, 5)).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    for mean in (0.3, 0.5, 0.8):
        tilted = shares / np.exp(_tilt(counts, mean))
        assert tilted.sum(axis=1) == pytest.approx(np.ones(20))
        assert tilted @ SCORES == pytest.approx(np.full(20, mean))
        likelihood = (counts * np.log(tilted)).sum(axis=1)
        for _ in range(20):  # no other with this mean is likelier: two free directions keep sum and mean
            step = rng.normal(size=5)
            basis = np.linalg.qr(np.stack([np.ones(5), SCORES], axis=1))[0]
            step -= basis @ (basis.T @ step)
            other = tilted + 0.05 * tilted.min(axis=1, keepdims=True) * step / np.abs(step).max()
            assert ((counts * np.log(other)).sum(axis=1) < likelihood).all()


def test_wins_speak_for_h1_and_losses_for_h0() -> None:
    test = Sprt(0, 100)
    assert test.accepted(np.zeros(5)) is None
    assert test.accepted(np.array([0, 0, 0, 0, 1])) is None
    assert test.accepted(np.array([0, 0, 3, 4, 40])) == "H1"
    assert test.accepted(np.array([40, 4, 3, 0, 0])) == "H0"
    assert test.accepted(np.array([0, 0, 60, 0, 0])) == "H0"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [((10, 10), "the smaller first"), ((20, 5), "the smaller first"), ((math.nan, 5), "the smaller first"),
     ((0, 5, 0.0), "alpha 0"), ((0, 5, 0.05, 0.7), "beta 0.7")],
)  # fmt: skip
def test_no_test_is_refused(words: tuple[float, ...], complaint: str) -> None:
    with pytest.raises(SprtError, match=complaint):
        Sprt(*words)
