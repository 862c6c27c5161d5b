"""Self-play on watching networks is the self-play of `play`, and each network sees what it is shown."""

from functools import partial

import numpy as np
import pytest

from env import Board
from env.lockstep import Lockstep
from env.observation import planes
from env.symmetry import apply
from nn import ConvPolicyNet, LinePolicyNet, PolicyNet, ShapeError
from nn.losses import masked_log_softmax
from rl.agents import GreedyAgent, PolicyAgent
from rl.selfplay import LEARNER, open_randomly, play
from rl.watch import can_watch
from rl.watched_play import play_watched

GAMES = 24


def small_net(seed=0, height=7, width=7, dtype=np.float64):
    return PolicyNet(height, width, filters=(4, 4), hidden=16, rng=np.random.default_rng(seed), dtype=dtype)


def small_conv(seed=0, height=7, width=7, kernels=(5, 1)):
    rng = np.random.default_rng(seed)
    return ConvPolicyNet(height, width, kernels=kernels, filters=6, rng=rng, dtype=np.float64)


def small_line(seed=0, height=7, width=7):
    rng = np.random.default_rng(seed)
    return LinePolicyNet(height, width, reach=3, hidden=6, features=5, rng=rng, dtype=np.float64)


def mixed_seats():
    seats = np.full((GAMES, 2), LEARNER)
    seats[np.arange(GAMES), (np.arange(GAMES) + 1) % 2] = np.arange(GAMES) // 2 % 3 - 1  # itself, greedy, a past self
    return seats


def played(playing, symmetric, *, size=(7, 7), seed=3, make=small_net, **more):
    games = Lockstep(GAMES, *size, win_length=4)
    rng = np.random.default_rng(seed)
    open_randomly(games, np.arange(GAMES) % 4, rng)
    net = make(0, *size)
    past = PolicyAgent(make(5, *size), 0.7, name="past0")
    decisions = playing(
        net, mixed_seats(), [GreedyAgent(), past], games, temperature=0.8, symmetric=symmetric, rng=rng, **more
    )
    return net, games, decisions


@pytest.mark.parametrize("make", [small_net, small_conv, small_line])
def test_without_views_it_plays_the_games_of_play(make):
    _, games, decisions = played(play, False, make=make)
    _, watched_games, watched = played(play_watched, False, make=make, memory=[])
    np.testing.assert_array_equal(games.cells, watched_games.cells)
    for name in ("planes", "legal", "actions", "games", "colours", "following", "moves_left", "winners", "lengths"):
        np.testing.assert_array_equal(getattr(decisions, name), getattr(watched, name))
    # Rounding errors of updates stone by stone, float64.
    np.testing.assert_allclose(watched.log_p, decisions.log_p, atol=1e-9)


@pytest.mark.parametrize(
    ("size", "make"), [((7, 7), small_net), ((6, 8), small_net), ((6, 8), small_conv), ((6, 8), small_line)]
)
def test_every_decision_was_drawn_from_what_the_network_says_of_what_it_saw(size, make):
    net, _, decisions = played(play_watched, True, size=size, make=make, memory=[])
    log_p = masked_log_softmax(net.predict(decisions.planes) / 0.8, decisions.legal)
    np.testing.assert_allclose(log_p[np.arange(len(decisions)), decisions.actions], decisions.log_p, atol=1e-9)


def test_a_view_lasts_the_game_and_moves_come_back_to_the_board():
    _, games, decisions = played(play_watched, True, memory=[])
    views_used = set()
    for game in range(GAMES):
        for colour in (1, -1):
            mine = np.flatnonzero((decisions.games == game) & (decisions.colours == colour))
            if not len(mine):
                continue
            final = np.stack([games.cells[game] == colour, games.cells[game] == -colour])
            fitting = [k for k in range(8) if all(fits(apply(k, final), decisions, t) for t in mine)]
            assert fitting
            views_used.update(fitting if len(fitting) == 1 else ())
    assert len(views_used) >= 6


def fits(final, decisions, t):
    """Whether the stones seen and the one put are among those of the finished game in the same view."""
    after = decisions.planes[t] > 0
    after[0].ravel()[decisions.actions[t]] = True
    return (after <= final).all()


def test_memory_is_used_again_and_changes_nothing():
    memory = []
    _, _, first = played(play_watched, True, memory=memory)
    rooms = [room._memory for triple in memory for room in triple]
    _, _, again = played(play_watched, True, memory=memory)
    after = [room._memory for triple in memory for room in triple]
    assert len(rooms) == 6 and all(a is b for a, b in zip(rooms, after, strict=True))
    np.testing.assert_array_equal(first.actions, again.actions)


def test_a_game_without_views_replays_on_a_board():
    _, games, decisions = played(play_watched, False, seed=4, memory=[])
    both = np.flatnonzero((mixed_seats() == LEARNER).all(axis=1) & (np.arange(GAMES) % 4 == 0))
    for game in both:
        board = Board(7, 7, win_length=4)
        for t in np.flatnonzero(decisions.games == game):
            assert np.array_equal(planes(board), decisions.planes[t])
            board.play(int(decisions.actions[t]))
        assert board.outcome is not None and np.array_equal(board.cells, games.cells[game])


def test_a_conv_network_watches_unless_several_of_its_windows_are_large():
    assert can_watch(small_conv()) and can_watch(small_net()) and not can_watch(small_conv(kernels=(3, 3)))
    with pytest.raises(ShapeError, match="only the first window"):
        played(play_watched, True, make=partial(small_conv, kernels=(3, 3)), memory=[])


def test_a_policy_of_another_board_watches_from_its_copy_for_this_one():
    elsewhere = PolicyAgent(small_line(3, 5, 5), 0.7)
    games = Lockstep(4, 7, 7, win_length=4)
    seats = np.array([[LEARNER, 0]] * 4)
    rng = np.random.default_rng(1)
    decisions = play_watched(
        small_line(), seats, [elsewhere], games, temperature=1.0, symmetric=False, rng=rng, memory=[]
    )
    assert games.over.all() and len(decisions) > 8 and (elsewhere.net.height, elsewhere.net.width) == (5, 5)
