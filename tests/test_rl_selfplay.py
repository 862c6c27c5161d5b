"""What self-play writes down is what happened: every decision can be replayed on a board."""

import numpy as np
import pytest

from env import Board
from env.lockstep import Lockstep
from env.observation import planes
from env.symmetry import apply, permutation
from nn import PolicyNet
from nn.losses import masked_log_softmax
from rl.agents import GreedyAgent, RandomAgent
from rl.agents.base import BatchAgent
from rl.league import League
from rl.selfplay import LEARNER, NoDecisionError, open_randomly, play
from rl.views import Views


def small_net(seed=0, **size):
    sizes = {"height": 6, "width": 6, "filters": (4, 4), "hidden": 16} | size
    return PolicyNet(sizes.pop("height"), sizes.pop("width"), rng=np.random.default_rng(seed), **sizes)


def played(symmetric, seats, opponents=(), count=24, size=(6, 6), seed=3):
    games = Lockstep(count, *size, win_length=4)
    rng = np.random.default_rng(seed)
    open_randomly(games, np.arange(count) % 4, rng)
    start = games.cells.copy()
    net = small_net(height=size[0], width=size[1])
    decisions = play(net, seats, opponents, games, temperature=1.0, symmetric=symmetric, rng=rng)
    return start, games, decisions


def both_learner(count=24):
    return np.full((count, 2), LEARNER)


def test_without_symmetry_the_decisions_replay_to_the_same_games():
    start, games, decisions = played(False, both_learner())
    for game in range(24):
        opening = [int(c) for c in np.flatnonzero(start[game].ravel())]
        black = [c for c in opening if start[game].ravel()[c] == 1]
        white = [c for c in opening if start[game].ravel()[c] == -1]
        moves = [c for pair in zip(black, [*white, None], strict=False) for c in pair if c is not None]
        board = Board.from_moves(moves[: len(opening)], 6, 6, win_length=4)
        for t in np.flatnonzero(decisions.games == game):
            assert board.to_move == decisions.colours[t]
            assert np.array_equal(planes(board), decisions.planes[t])
            assert np.array_equal(board.legal_mask(), decisions.legal[t])
            board.play(int(decisions.actions[t]))
        assert board.outcome is not None
        assert board.outcome.winner == decisions.game_winners[game]
        assert len(board.moves) == decisions.lengths[game]
        assert np.array_equal(board.cells, games.cells[game])


def test_through_views_every_decision_is_a_symmetric_picture_of_a_legal_move():
    _, games, decisions = played(True, both_learner())
    for t in range(len(decisions)):
        assert decisions.legal[t, decisions.actions[t]]
        occupied = decisions.planes[t].sum(axis=0).ravel() > 0
        assert np.array_equal(decisions.legal[t], ~occupied)
    # The last position of a game plus the last move equals the final board under exactly the view that was used.
    for game in range(24):
        last = np.flatnonzero(decisions.games == game)[-1]
        final = decisions.planes[last].copy()
        final[0].ravel()[decisions.actions[last]] = 1
        mover = decisions.colours[last]
        board = np.stack([games.cells[game] == mover, games.cells[game] == -mover]).astype(np.float32)
        assert any(np.array_equal(apply(k, board), final) for k in range(8))


@pytest.mark.parametrize(("height", "width", "count"), [(6, 6, 8), (4, 7, 4)])
def test_views_show_and_undo(height, width, count):
    views = Views(height, width)
    assert len(views.tables) == count
    rng = np.random.default_rng(0)
    board = rng.random((count, 2, height * width))
    which = np.arange(count)
    shown = views.show(board, which)
    cells = rng.integers(0, height * width, count)
    for i in which:
        assert (shown[i, :, cells[i]] == board[i, :, views.cells(cells, which)[i]]).all()
    assert not views.draw(5, False, rng).any()
    drawn = views.draw(4000, True, rng)
    assert np.bincount(drawn, minlength=count).min() > 4000 / count * 0.7
    assert np.array_equal(views.tables[0], permutation(0, height, width))


def test_following_and_moves_left_chain_one_colour_of_one_game():
    _, _, decisions = played(True, both_learner())
    for t in range(len(decisions)):
        after = decisions.following[t]
        later = [
            s
            for s in range(t + 1, len(decisions))
            if decisions.games[s] == decisions.games[t] and decisions.colours[s] == decisions.colours[t]
        ]
        assert after == (later[0] if later else -1)
        assert decisions.moves_left[t] == len(later)


def test_only_the_learner_is_written_down_and_the_others_are_asked_in_their_seats():
    class Asked(BatchAgent):
        name = "asked"

        def __init__(self):
            self.positions = 0

        def choose_positions(self, positions, rng):
            self.positions += len(positions)
            return RandomAgent().choose_positions(positions, rng)

    asked = Asked()
    seats = np.array([[LEARNER, 0], [0, LEARNER]] * 12)
    _, games, decisions = played(True, seats, [asked])
    assert set(decisions.colours[decisions.games % 2 == 0]) == {1}
    assert set(decisions.colours[decisions.games % 2 == 1]) == {-1}
    assert asked.positions + len(decisions) == games.plies.sum() - (np.arange(24) % 4).sum()


def test_the_log_probability_written_down_is_that_of_the_move_in_the_view_played():
    _, _, decisions = played(True, both_learner())
    log_p = masked_log_softmax(small_net().predict(decisions.planes), decisions.legal)
    np.testing.assert_allclose(decisions.log_p, log_p[np.arange(len(decisions)), decisions.actions], atol=1e-5)


def test_the_learner_without_a_seat_is_an_error():
    with pytest.raises(NoDecisionError, match="no decision in"):
        played(False, np.zeros((24, 2), dtype=int), [RandomAgent()])


def test_same_seed_same_decisions():
    first, second = (played(True, both_learner(), seed=9)[2] for _ in range(2))
    assert np.array_equal(first.actions, second.actions) and np.array_equal(first.planes, second.planes)


def league(shares, **options):
    return League(shares, **({"capacity": 4, "at_once": 2, "temperature": 1.0} | options))


def test_league_shares_and_colours():
    made = league({"self": 1.0, "greedy": 2.0, "random": 1.0})
    seats, opponents, kinds = made.draw(8000, np.random.default_rng(0))
    share = np.bincount(kinds) / 8000
    assert np.abs(share - [0.25, 0.5, 0.25]).max() < 0.03
    assert [agent.name for agent in opponents] == ["greedy", "random"]
    assert (seats[np.arange(8000), np.arange(8000) % 2] == LEARNER).all()
    other = seats[np.arange(8000), (np.arange(8000) + 1) % 2]
    assert np.array_equal(other, np.array([LEARNER, 0, 1])[kinds])


def test_pool_is_bounded_spans_the_past_and_is_frozen():
    made, net = league({"pool": 1.0}), small_net()
    seats, _, _ = made.draw(4, np.random.default_rng(0))
    assert (seats == LEARNER).all()  # nobody to meet yet
    for step in range(11):
        net.parameters()[0].value[...] = step
        made.remember(net)
    marks = [snapshot.parameters()[0].value.flat[0] for snapshot in made.snapshots]
    assert len(marks) <= 4 and marks[0] == 0 and marks[-1] == 10 and marks == sorted(marks)
    seats, opponents, _ = made.draw(100, np.random.default_rng(1))
    assert len(opponents) == 2 and set(seats.ravel()) == {LEARNER, 0, 1}


@pytest.mark.parametrize("shares", [{}, {"self": -1.0, "pool": 2.0}, {"self": 0.0}])
def test_league_refuses_shares_that_mean_nothing(shares):
    with pytest.raises(ValueError, match="shares"):
        league(shares)


def test_greedy_wins_more_than_random_does_in_lockstep():
    seats = np.array([[LEARNER, 0]] * 24)
    _, _, against_greedy = played(False, seats, [GreedyAgent()])
    _, _, against_random = played(False, seats, [RandomAgent()])
    assert (against_greedy.game_winners == -1).mean() > (against_random.game_winners == -1).mean()

