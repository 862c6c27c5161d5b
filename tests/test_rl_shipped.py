"""The weights that come along: they load by name, take wins and block fours, and beat greedy."""

import numpy as np
import pytest

from env import Board
from env.coords import parse_cell
from nn import ShapeError
from rl.agents import PolicyAgent, make_agent
from rl.agents.mcts import MctsAgent
from rl.arena import compare


def choice(spec: str, names: str) -> str:
    board = Board.from_moves([parse_cell(name, 15, 15) for name in names.split()])
    row, col = divmod(make_agent(spec).choose(board, np.random.default_rng(0)), 15)
    return f"{chr(ord('a') + col)}{15 - row}"


@pytest.mark.parametrize("spec", ["policy", "policy,views=8", "policy:scratch", "mcts,simulations=20"])
def test_without_a_path_the_weights_that_come_along_play(spec: str) -> None:
    agent = make_agent(spec)
    assert isinstance(agent, PolicyAgent | MctsAgent)
    assert choice(spec, "h8 a1 i8 b3 j8 c5 k8 d7") in ("g8", "l8")  # five
    assert choice(spec, "a1 h8 b3 i8 c5 j8 g8 k8") == "l8"  # the only block
    if isinstance(agent, MctsAgent):
        with pytest.raises((ShapeError, ValueError), match="15"):
            agent.choose(Board(9, 9), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("spec", "size", "win_length"), [("policy", 15, 5), ("policy:scratch", 15, 5), ("policy:quick", 6, 4)]
)
def test_they_beat_greedy_far_more_often_than_not(spec: str, size: int, win_length: int) -> None:
    """The README's figures, of 1,000 games, are no matter for a test; 60 games tell them from an untrained one."""
    result = compare(
        make_agent(spec), make_agent("greedy"), 60,
        new_board=lambda: Board(size, size, win_length), rng=np.random.default_rng(1),
    )  # fmt: skip
    assert result.total.interval[0] > 0.6


@pytest.mark.parametrize(("height", "width"), [(9, 9), (20, 20), (7, 13)])
def test_what_it_learnt_of_lines_it_knows_on_any_board(height: int, width: int) -> None:
    cells = [3 * width + 2, 0, 3 * width + 3, width - 1, 3 * width + 4, (height - 1) * width, 3 * width + 5, 2]
    board = Board.from_moves(cells, height, width)
    for views in ("", ",views=8"):
        assert make_agent(f"policy{views}").choose(board, np.random.default_rng(0)) in (3 * width + 1, 3 * width + 6)
