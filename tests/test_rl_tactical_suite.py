"""The deeper questions of the suite have the answers that trying every move gives."""

import numpy as np
import pytest

from env import Board
from env.coords import parse_cell
from env.lockstep import Lockstep
from env.observation import positions_of
from rl.agents import make_agent
from rl.tactical_suite import DEEPER, make_suite, right_cells
from rl.tactics import completing_cells


def board_of(black, white):
    """A position with black to move: equally many stones of each, by name."""
    board = Board()
    for pair in zip(black.split(), white.split(), strict=True):
        for name in pair:
            board.play(parse_cell(name, 15, 15))
    return board


def names(board, kind):
    right = right_cells(positions_of([board]))[kind][0]
    return {f"{chr(97 + cell % 15)}{15 - cell // 15}" for cell in np.flatnonzero(right)}


@pytest.mark.parametrize(
    ("black", "white", "kind", "answers"),
    [
        # White's g8 h8 i8 is open: stopped at its ends only, for a step further leaves the other end.
        ("a1 c3 e1", "g8 h8 i8", "stop_three", {"f8", "j8"}),
        # A split three may be stopped in its gap too.
        ("a1 c3 e1", "g8 h8 j8", "stop_three", {"f8", "i8", "k8"}),
        # Both have an open three: make the open four.
        ("g4 h4 i4", "g10 h10 i10", "own_four_first", {"f4", "j4"}),
        # A three blocked on one side crosses an open two: a four and an open three at once.
        ("c8 d8 e8 f7 f6", "b8 o1 o4 n14 a15", "double_threat", {"f8"}),
        # Two open twos cross: two open threes.
        ("g8 h8 i9 i10", "o1 o4 n14 a15", "double_threat", {"i8"}),
    ],
)
def test_positions_made_by_hand(black, white, kind, answers):
    board = board_of(black, white)
    assert names(board, kind) == answers
    for other in set(DEEPER) - {kind}:
        assert not names(board, other)


def test_nothing_is_asked_where_somebody_wins_at_once():
    assert not any(names(board_of("g4 h4 i4 j4", "g10 h10 i10 k1"), kind) for kind in DEEPER)
    assert not any(names(board_of("g4 h4 i4 a1", "g10 h10 i10 j10"), kind) for kind in DEEPER)


@pytest.fixture(scope="module")
def suite():
    return make_suite(lambda count: Lockstep(count, 11, 11), 20, np.random.default_rng(0))


def test_every_position_has_an_answer_and_is_met_once(suite):
    assert list(suite.boards) == ["win_in_one", "block_in_one", *DEEPER]
    for kind, boards in suite.boards.items():
        assert len(boards) == 20 and suite.right[kind].any(axis=1).all()
        assert not (suite.right[kind] & ~positions_of(boards).legal).any()


def test_it_tells_players_apart(suite):
    names = ("random", "summed", "priority")
    scores = {name: suite.score(make_agent(name), np.random.default_rng(1)) for name in names}
    assert max(scores["random"].values()) < 0.3
    assert min(scores["summed"].values()) > 0.8
    assert scores["priority"]["double_threat"] < 0.6 < scores["priority"]["stop_three"]


def test_a_stopped_three_is_not_followed_by_an_open_four(suite):
    for board, right in zip(suite.boards["stop_three"], suite.right["stop_three"], strict=True):
        for cell in np.flatnonzero(board.legal_mask())[::7]:
            after = board.copy()
            after.play(int(cell))
            assert (not can_make_two_ways(after)) == right[cell]


def can_make_two_ways(board):
    """Whether the side to move has a stone after which it could complete five at two cells: by trying all."""
    cells = np.flatnonzero(board.legal_mask())
    stones = np.repeat((board.cells == board.to_move)[None], len(cells), axis=0)
    stones.reshape(len(cells), -1)[np.arange(len(cells)), cells] = True
    empty = (board.cells == 0) & ~stones
    return bool(((completing_cells(stones, 5, exact=False) & empty).sum(axis=(1, 2)) >= 2).any())


@pytest.mark.parametrize(("size", "win_length", "left"), [(5, 5, ["stop_three"]), (7, 7, [])])
def test_only_what_can_be_met_is_asked(size, win_length, left, monkeypatch):
    """Where five in a row fill the board, hardly a threat crosses another; of seven in a row there are no tables."""
    monkeypatch.setattr("rl.tactical_suite.MOST_ROUNDS", 5)
    suite = make_suite(lambda count: Lockstep(count, size, size, win_length), 2, np.random.default_rng(0))
    assert [kind for kind in suite.boards if kind in DEEPER] == left
    assert min(suite.score(make_agent("random"), np.random.default_rng(1)).values()) >= 0
