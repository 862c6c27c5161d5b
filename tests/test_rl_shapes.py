"""The heuristics made of shapes: what they play in given positions, their options, and how strong they are."""

import numpy as np
import pytest

from env import Board
from env.coords import cell_name, parse_cell
from rl.agents import AgentSpecError, make_agent
from rl.agents.base import Agent
from rl.agents.shapes import MINDS, ShapeAgent, best_cells
from rl.arena import compare

FAMILY = ["summed", "priority", *(f"shapes:{name}" for name in MINDS)]


def board_of(black: str, white: str, size: int = 15) -> Board:
    """A board with these stones, black to move; stones must be equally many."""
    board = Board(size, size)
    for pair in zip(black.split(), white.split(), strict=True):
        for name in pair:
            board.play(parse_cell(name, size, size))
    return board


def choices(agent: Agent, board: Board, tries: int = 40) -> set[str]:
    found = agent.choose_many([board] * tries, np.random.default_rng(1))
    return {cell_name(cell, board.height, board.width) for cell in found}


@pytest.mark.parametrize("spec", FAMILY)
def test_a_win_is_taken_before_a_five_is_blocked(spec: str) -> None:
    board = board_of("d4 e4 f4 g4", "d8 e8 f8 g8")
    assert choices(make_agent(spec), board) <= {"c4", "h4"}


@pytest.mark.parametrize("spec", FAMILY)
def test_a_five_is_blocked_before_one_s_own_three(spec: str) -> None:
    board = board_of("d4 e4 f12 c8", "d8 e8 f8 g8")
    assert choices(make_agent(spec), board) == {"h8"}


def test_priority_goes_by_its_list_and_draws_within_a_class() -> None:
    agent = make_agent("priority")
    own_four = board_of("d4 e4 f4", "d8 e8 f8")
    assert choices(agent, own_four) == {"b4", "c4", "g4", "h4"}
    block_four = board_of("d4 o1 a15", "d8 e8 f8")
    assert choices(agent, block_four) == {"b8", "c8", "g8", "h8"}
    own_three = board_of("d4 e4", "d8 o15")
    assert choices(agent, own_three, 200) == {"a4", "b4", "c4", "f4", "g4", "h4"}
    near = Board()
    near.play(parse_cell("h8", 15, 15))
    assert choices(agent, near, 200) == {"g7", "g8", "g9", "h7", "h9", "i7", "i8", "i9"}
    assert len(choices(agent, Board(), 200)) > 100


def test_summed_wins_even_where_a_block_would_stop_two_fives_and_a_three() -> None:
    board = board_of(
        "d4 e4 f4 g4 a1 c1 o1 o3 a15 a12 o15", "d10 e10 f10 g10 h11 h12 h13 h14 c4 i11 j12"
    )
    assert choices(make_agent("summed"), board) == {"h4"}


def test_summed_sees_a_double_threat_that_no_single_line_shows() -> None:
    board = board_of("f8 g8 h6 h7", "a1 a3 c1 o15")
    assert choices(make_agent("summed"), board) == {"h8"}


def test_minds_differ_where_attack_and_defence_part() -> None:
    """Both sides have an open two; only the attacker builds, only the defender stops."""
    board = board_of("d4 e4 o1", "k10 l10 m10")
    own, other = {"b4", "c4", "f4", "g4"}, {"i10", "j10", "n10", "o10"}
    assert choices(make_agent("shapes:lines"), board) <= own
    assert choices(make_agent("shapes:forcing"), board) <= own | other
    assert choices(make_agent("shapes:defence"), board) <= other
    assert choices(make_agent("shapes:wall"), board) <= other


def test_the_values_follow_a_turned_board() -> None:
    from env.observation import Positions, positions_of
    from rl.views import Views

    rng = np.random.default_rng(3)
    board = Board()
    for cell in rng.permutation(225)[:60].tolist():
        if board.outcome is None:
            board.play(cell)
    positions, views = positions_of([board] * 8), Views(15, 15)
    planes, legal = views.see(positions, np.arange(8))
    for spec in FAMILY:
        agent = make_agent(spec)
        assert isinstance(agent, ShapeAgent)
        plain = agent.values(positions).T
        turned = agent.values(Positions(planes, legal, 5, positions.rule)).T
        assert (views.show(plain, np.arange(8)) == turned).all(), spec


def test_noise_plays_anywhere_now_and_then() -> None:
    board = board_of("d4 e4 f4 g4", "d8 e8 f8 a1")
    assert choices(make_agent("summed"), board) <= {"c4", "h4"}
    assert len(choices(make_agent("summed,noise=0.5"), board, 200)) > 50
    assert len(choices(make_agent("priority,noise=1"), board, 200)) > 100


def test_weights_turn_summed_into_a_defender() -> None:
    board = board_of("d4 e4 o1", "k10 l10 a15")
    assert choices(make_agent("summed,own=2,other=0"), board) <= {"b4", "c4", "f4", "g4"}
    assert choices(make_agent("summed,own=0,other=1"), board) <= {"i10", "j10", "m10", "n10"}


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("summed:4", "takes no argument"),
        ("summed,own=-1", "own in 'summed,own=-1' must be from 0 to 20"),
        ("summed,owm=1", "did you mean 'own'"),
        ("summed,noise=2", "from 0 to 1"),
        ("priority:x", "takes no argument"),
        ("priority,noise=nan", "a chance"),
        ("shapes", "'shapes' takes no ''"),
        ("shapes:atack", "did you mean 'attack'"),
    ],
)
def test_a_wrong_spec_is_told(spec: str, complaint: str) -> None:
    with pytest.raises(AgentSpecError, match=complaint):
        make_agent(spec)


def test_every_line_of_best_cells() -> None:
    values = np.array([[1, 5, -1], [3, 5, -1], [3, 0, 2]])
    assert best_cells(values, np.array([0.0, 0.0, 0.9])).tolist() == [1, 0, 2]
    assert best_cells(values, np.array([0.99, 0.5, 0.0])).tolist() == [2, 1, 2]


def test_on_a_small_board_with_another_win_length_whole_games_are_played() -> None:
    for spec in FAMILY:
        result = compare(
            make_agent(spec),
            make_agent("random"),
            20,
            new_board=lambda: Board(5, 6, win_length=4),
            opening_plies=0,
            rng=np.random.default_rng(1),
        )
        assert result.total.wins >= 12, spec


def test_summed_is_far_stronger_than_greedy() -> None:
    rng = np.random.default_rng(4)
    for opponent, least in (("greedy:java", 0.79), ("greedy", 0.9)):
        assert compare(make_agent("summed"), make_agent(opponent), 100, rng=rng).total.win_rate > least
