"""Ratings: strengths put in come out again, with intervals that hold the truth as often as they say."""

import math

import numpy as np
import pytest

from rl.elo import DRAW, ELO, LOSS, WIN, _log_likelihood, _slopes, chances, fit

TRUE = np.array([-210.0, -90.0, 0.0, 60.0, 240.0])  # Elo, mean 0
FIRST, DRAWS = 70.0, 0.25  # Elo of moving first; the weight of a draw


def simulated(rng: np.random.Generator, games: int) -> np.ndarray:
    """(5, 5, 3) results of `games` games of each player with black against each other."""
    shares = chances((TRUE[:, None] - TRUE[None, :] + FIRST) / ELO, DRAWS)  # (5, 5, 3)
    results = rng.multinomial(games, shares)
    results[np.arange(5), np.arange(5)] = 0
    return results


def test_known_strengths_are_recovered() -> None:
    """With 100,000 games of each kind the standard error is 0.9 Elo; the tolerance is four of them and more."""
    ratings = fit(simulated(np.random.default_rng(0), 100_000))
    assert [player.value for player in ratings.players] == pytest.approx(TRUE, abs=4)
    assert ratings.first_move.value == pytest.approx(FIRST, abs=4)
    assert ratings.draws == pytest.approx(DRAWS / (2 + DRAWS), abs=0.005)
    assert all(player.high - player.low < 4 for player in ratings.players)


def test_the_intervals_hold_the_truth_95_times_in_100() -> None:
    """300 tournaments, 6 numbers each; the share's standard error is about 0.6 %, the tolerance three of them."""
    rng = np.random.default_rng(1)
    truth = np.append(TRUE, FIRST)
    held = []
    for _ in range(300):
        ratings = fit(simulated(rng, 20))
        found = [*ratings.players, ratings.first_move]
        held += [each.low <= true <= each.high for each, true in zip(found, truth, strict=True)]
    assert 0.93 < np.mean(held) < 0.968


def test_the_fit_is_where_the_likelihood_is_flat() -> None:
    """Slope and information are the derivatives, by differences; the scores told and expected are equal at the top."""
    rng = np.random.default_rng(2)
    rows, counts, at = rng.normal(size=(7, 3)), rng.integers(0, 9, (7, 3)).astype(float), rng.normal(size=4)
    slope, information = _slopes(rows, counts, at)
    for i, step in enumerate(1e-5 * np.eye(4)):
        rise = _log_likelihood(rows, counts, at + step) - _log_likelihood(rows, counts, at - step)
        assert slope[i] == pytest.approx(rise / 2e-5, rel=1e-5, abs=1e-5)
        bend = _slopes(rows, counts, at - step)[0] - _slopes(rows, counts, at + step)[0]
        assert information[i] == pytest.approx(bend / 2e-5, rel=1e-5, abs=1e-5)


def test_two_players_by_hand() -> None:
    """3 wins to 1 with either colour and no draws: the odds are 3, but for the virtual games; draws are rare."""
    results = np.zeros((2, 2, 3))
    results[0, 1] = [7500, 0, 2500]
    results[1, 0] = [2500, 0, 7500]
    ratings = fit(results)
    assert ratings.players[0].value - ratings.players[1].value == pytest.approx(400 * math.log10(3), abs=0.5)
    assert ratings.players[0].value == pytest.approx(-ratings.players[1].value)
    assert ratings.first_move.value == pytest.approx(0, abs=1e-6)
    assert ratings.draws < 0.001


def test_the_first_move_is_told_from_strength() -> None:
    """Equal players; black wins twice as often as it loses."""
    results = np.zeros((2, 2, 3))
    results[0, 1] = results[1, 0] = [6000, 0, 3000]
    ratings = fit(results)
    assert ratings.first_move.value == pytest.approx(400 * math.log10(2), abs=0.5)
    assert [player.value for player in ratings.players] == pytest.approx([0, 0], abs=1e-6)


def test_whoever_won_every_game_is_far_above_with_a_wide_interval() -> None:
    results = np.zeros((2, 2, 3))
    results[0, 1, WIN] = results[1, 0, LOSS] = 100
    best, worst = fit(results).players
    assert 600 < best.value - worst.value < 2000 and best.high - best.low > 200
    nothing_but_draws = np.zeros((2, 2, 3))
    nothing_but_draws[:, :, DRAW] = 50 * (1 - np.eye(2))
    equal = fit(nothing_but_draws)
    assert equal.players[0].value == pytest.approx(0, abs=1e-6) and equal.draws > 0.9


def test_no_games_mean_no_knowledge() -> None:
    ratings = fit(np.zeros((3, 3, 3)))
    assert all(player.value == 0 and player.high > 300 for player in ratings.players)


def test_an_anchor_is_zero_and_moves_nobody_else() -> None:
    results = simulated(np.random.default_rng(3), 50)
    free, fixed = fit(results), fit(results, anchor=1)
    assert (fixed.players[1].low, fixed.players[1].value, fixed.players[1].high) == pytest.approx((0, 0, 0))
    for one, other in zip(free.players, fixed.players, strict=True):
        assert one.value - free.players[1].value == pytest.approx(other.value)
    assert fixed.players[0].high - fixed.players[0].low > free.players[0].high - free.players[0].low


def test_a_stronger_player_gains_and_a_draw_lies_between() -> None:
    shares = chances(np.array([0.0, 1.0]), 0.5)
    assert shares.sum(axis=1) == pytest.approx([1, 1])
    assert shares[0] == pytest.approx([0.4, 0.2, 0.4])
    assert shares[1, WIN] / shares[1, LOSS] == pytest.approx(math.e)
