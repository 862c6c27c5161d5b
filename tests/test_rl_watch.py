"""Watched games: the kept logits equal a whole pass through random play, wins, resets and undos."""

import numpy as np
import pytest

from env import Board
from env.lockstep import Lockstep
from env.observation import planes
from nn import ConvPolicyNet, PolicyNet
from rl.sampling import inverse_cdf
from rl.watch import Watch, WatchOne


def policy(height, width, rng):
    return PolicyNet(height, width, rng=rng, hidden=32, filters=(4, 5))


def conv(height, width, rng):
    return ConvPolicyNet(height, width, rng=rng, kernels=(7, 1), filters=6)


@pytest.mark.parametrize("make", [policy, conv])
def test_lockstep_games_through_wins_and_resets(make) -> None:
    rng = np.random.default_rng(1)
    net = make(7, 9, rng)
    games = Lockstep(20, 7, 9, 4)
    watch = Watch(net, games)
    finished = 0
    for _ in range(60):
        which = np.flatnonzero(rng.random(20) < 0.7)
        positions = games.positions(which)
        wanted, got = net.predict(positions.planes), watch.logits(which)
        assert np.abs(got - wanted).max(initial=0) <= 1e-5 * np.abs(wanted).max(initial=1)
        cells, colours = inverse_cdf(positions.legal, rng.random(len(which))), games.to_move[which].copy()
        games.play(cells, which)
        watch.moved(cells, colours, which)
        over = np.flatnonzero(games.over)
        finished += len(over)
        games.reset(over)
        watch.reset(over)
    assert finished > 5
    with pytest.raises(ValueError, match="from their beginning"):
        Watch(net, games)


@pytest.mark.parametrize("make", [policy, conv])
def test_one_game_with_undo(make) -> None:
    rng = np.random.default_rng(2)
    net = make(9, 9, rng)
    board, watch = Board(9, 9), WatchOne(net)
    for _ in range(300):
        if board.moves and (board.is_over or rng.random() < 0.45):
            board.undo()
            watch.undo()
        else:
            cell, colour = int(rng.choice(np.flatnonzero(board.legal_mask()))), board.to_move
            board.play(cell)
            watch.play(cell, colour)
        if rng.random() < 0.5:  # not after every move: several may have to be caught up
            wanted = net.predict(planes(board)[None])[0]
            assert np.abs(watch.logits(board.to_move) - wanted).max() <= 1e-5 * np.abs(wanted).max(initial=1)
