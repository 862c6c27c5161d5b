import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import env.lockstep
from env import BLACK, WHITE, Board, Forbidden, ForbiddenMoveError, IllegalMoveError, Lockstep, Rule
from env.observation import positions_of


def check_equal(games, boards):
    """Everything Lockstep says of its games is what the boards say."""
    for e, board in enumerate(boards):
        assert (games.cells[e] == board.cells).all(), f"game {e}\n{games.cells[e]}\n{board!r}"
        assert games.to_move[e] == board.to_move
        assert games.plies[e] == len(board.moves)
        assert bool(games.over[e]) == board.is_over, f"game {e}: {board!r}"
        assert games.winner[e] == (board.outcome.winner if board.outcome else 0), f"game {e}: {board!r}"
        assert (games.legal[e] == board.legal_mask()).all()


def follow_games(game_count, height, width, win_length, rule, seed):
    """Random games, some of them resting in each step, some begun anew; at the end all are over."""
    rng = np.random.default_rng(seed)
    games = Lockstep(game_count, height, width, win_length, rule)
    boards = [Board(height, width, win_length, rule) for _ in range(game_count)]
    restarts = game_count
    check_equal(games, boards)
    while not games.over.all():
        running = np.flatnonzero(~games.over)
        which = rng.permutation(running)[: rng.integers(1, len(running) + 1)]
        seen = games.positions(which)
        wanted = positions_of([boards[e] for e in which])
        assert (seen.planes == wanted.planes).all() and seen.planes.dtype == np.float32
        assert (seen.legal == wanted.legal).all() and seen.legal.dtype == np.bool_
        assert (seen.win_length, seen.rule) == (win_length, rule)
        actions = np.array([rng.choice(np.flatnonzero(legal)) for legal in seen.legal])
        games.play(actions, which)
        for e, action in zip(which, actions, strict=True):
            boards[e].play(int(action))
        check_equal(games, boards)
        ended = np.flatnonzero(games.over)
        if restarts and len(ended):
            games.reset(ended)
            for e in ended:
                boards[e] = Board(height, width, win_length, rule)
            restarts -= 1
            check_equal(games, boards)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.integers(1, 6), st.integers(3, 8), st.integers(3, 8), st.integers(1, 8),
    st.sampled_from([Rule.FREESTYLE, Rule.STANDARD]), st.integers(0, 999),
)  # fmt: skip
def test_lockstep_plays_as_boards_do(game_count, height, width, win_length, rule, seed):
    follow_games(game_count, height, width, min(win_length, max(height, width)), rule, seed)


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.STANDARD])
@pytest.mark.parametrize(("height", "width", "win_length"), [(15, 15, 5), (3, 25, 4), (25, 3, 3), (6, 6, 4)])
def test_lockstep_plays_as_boards_do_on_other_sizes(height, width, win_length, rule):
    follow_games(3, height, width, win_length, rule, seed=7)


@pytest.mark.parametrize(("height", "width", "seed"), [(6, 6, 1), (7, 5, 2), (15, 15, 3)])
def test_lockstep_plays_renju_as_boards_do(height, width, seed):
    follow_games(6, height, width, 5, Rule.RENJU, seed)


def test_a_forbidden_point_is_refused_by_its_kind():
    games = Lockstep(2, 9, 9, 5, Rule.RENJU)
    moves = [40, 0, 41, 2, 48, 6, 57, 8]  # two pairs that meet in d5
    for cell in moves:
        games.play(np.array([cell, cell]))
    board = Board.from_moves(moves, 9, 9, 5, Rule.RENJU)
    (cell, kind), *_ = board.forbidden().items()
    assert not games.legal[1, cell] and games.cells[1].flat[cell] == 0
    with pytest.raises(ForbiddenMoveError, match=r"game 1: .* forbidden to black: double three") as caught:
        games.play(np.array([80, cell]))
    assert caught.value.kind == kind == Forbidden.DOUBLE_THREE
    assert games.plies.tolist() == [8, 8]


def test_black_with_nothing_but_forbidden_points_has_drawn():
    moves = [
        15, 1, 21, 4, 34, 24, 35, 17, 6, 33, 5, 30, 12, 2, 3, 31, 28,
        27, 0, 13, 20, 26, 23, 11, 18, 25, 10, 32, 22, 16, 9, 29, 14, 8,
    ]  # fmt: skip
    games = Lockstep(2, 6, 6, 5, Rule.RENJU)
    for cell in moves:
        assert not games.over.any()
        games.play(np.array([cell]), np.array([1]))
    assert games.over.tolist() == [False, True] and not games.winner.any()
    assert not games.legal[1].any() and (games.cells[1] == 0).sum() == 2


def test_what_lockstep_hands_out_is_fresh():
    games = Lockstep(3, 4, 5, 3)
    first = games.positions()
    games.play(np.array([0, 1, 2]))
    assert not first.planes.any() and first.legal.all()
    second = games.positions()
    second.planes[:] = 5
    second.legal[:] = False
    third = games.positions(np.array([2, 0]))
    assert np.argwhere(third.planes).tolist() == [[0, 1, 0, 2], [1, 1, 0, 0]]
    assert third.legal.sum() == 2 * 19


def test_a_game_may_be_named_by_a_mask():
    games = Lockstep(3, 3, 3, 3)
    mask = np.array([True, False, True])
    games.play(np.array([4, 0]), mask)
    assert games.plies.tolist() == [1, 0, 1]
    assert len(games.positions(mask)) == 2
    games.reset(~games.over & mask)
    assert games.plies.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("actions", "reason"),
    [
        ([4, 8, 1], r"game 1: c1 \(cell 8\).*over"),
        ([4, 4, 9], "game 2: cell 9 is off the 3x3 board: use 0 to 8"),
        ([-1, 4, 4], "game 0: cell -1 is off"),
        ([0, 4, 4], r"game 0: a3 \(cell 0\) is occupied"),
    ],
)
def test_an_illegal_move_moves_in_no_game(actions, reason):
    games = Lockstep(3, 3, 3, 3)
    games.play(np.array([0, 0, 0]))
    for cell in (3, 1, 4, 2):
        games.play(np.array([cell]), np.array([1]))
    assert games.winner.tolist() == [0, BLACK, 0]
    if "over" not in reason:
        games.reset(np.array([1]))
    before = [a.copy() for a in (games.cells, games.legal, games.to_move, games.plies, games.positions().planes)]
    with pytest.raises(IllegalMoveError, match=reason):
        games.play(np.array(actions))
    after = [games.cells, games.legal, games.to_move, games.plies, games.positions().planes]
    assert all((a == b).all() for a, b in zip(after, before, strict=True))


def test_wrong_calls_are_refused():
    games = Lockstep(3, 3, 3, 3)
    with pytest.raises(ValueError, match="named twice"):
        games.play(np.array([0, 1]), np.array([2, 2]))
    with pytest.raises(ValueError, match="one action a game"):
        games.play(np.array([0, 1]))
    with pytest.raises(TypeError):
        games.play(np.array([0.5, 1.5, 2.5]))
    with pytest.raises(ValueError, match="games 0"):
        Lockstep(0)
    with pytest.raises(ValueError, match="height 2"):
        Lockstep(1, 2, 3, 3)
    assert not games.plies.any()


def test_the_winner_is_the_colour_that_moved_and_both_can_win_at_once():
    games = Lockstep(2, 5, 5, 3)
    for actions in (
        [0, 24],
        [5, 0],
        [1, 23],
        [6, 5],
        [2, 20],
    ):
        games.play(np.array(actions))
    games.play(np.array([10]), np.array([1]))
    assert games.winner.tolist() == [BLACK, WHITE]
    assert games.over.all() and not games.legal.any()


def test_a_wrong_rule_is_caught(monkeypatch):
    monkeypatch.setattr(env.lockstep, "steps", lambda width: (1, width + 1, width + 2, width + 2))
    with pytest.raises(AssertionError):
        follow_games(20, 5, 5, 3, Rule.FREESTYLE, seed=0)
    monkeypatch.undo()
    monkeypatch.setattr(env.lockstep, "WALL", BLACK)
    with pytest.raises(AssertionError):
        follow_games(20, 5, 5, 3, Rule.FREESTYLE, seed=0)
    monkeypatch.undo()
    follow_games(20, 5, 5, 3, Rule.FREESTYLE, seed=0)


def test_taken_games_go_their_own_way_from_where_the_others_stand():
    games = Lockstep(5, 5, 6, win_length=4, rule=Rule.STANDARD)
    rng = np.random.default_rng(11)
    for _ in range(6):
        games.play(np.array([rng.choice(np.flatnonzero(legal)) for legal in games.legal]))
    which = np.array([3, 0, 3])
    taken, before = games.take(which), games.cells.copy()
    for name in ("cells", "legal", "to_move", "plies", "winner", "over"):
        assert np.array_equal(getattr(taken, name), getattr(games, name)[which])
    assert np.array_equal(taken.positions().planes, games.positions(which).planes)
    taken.play(np.array([np.flatnonzero(legal)[0] for legal in taken.legal]))
    assert np.array_equal(games.cells, before) and not np.array_equal(taken.cells, before[which])
