"""Q-learning: the target by hand, symmetric positions as one, files that come back, and learning that beats random."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from env import Board, IllegalMoveError
from env.symmetry import SYMMETRIES, apply_cell
from nn import PolicyNet
from nn.weights import WeightsError, load_arrays, save_arrays
from rl.agents import AgentSpecError, RandomAgent, make_agent
from rl.agents.qlearning import QLearningAgent
from rl.arena import ArenaResult, compare
from rl.q_table import QTable, Rewards, TableError

NOTHING = Rewards(0, 0, 0, 0)


def small(*cells: int) -> Board:
    return Board.from_moves(cells, height=4, width=4, win_length=3)


def learnt(games: int, seed: int, table: QTable | None = None) -> QTable:
    table = table or QTable(small())
    agent, rng = QLearningAgent(table, epsilon=0.2), np.random.default_rng(seed)
    for _ in range(games):
        board = small()
        while not board.is_over:
            board.play(agent.choose(board, rng))
            table.learn(board)
    return table


def test_a_win_is_learnt_and_then_feared_by_the_other_side() -> None:
    table = QTable(small(), learning_rate=0.5, discount=0.9, rewards=replace(NOTHING, win=50.0))
    won = small(0, 4, 1, 5, 2)
    assert table.learn(won) == 25.0  # half the way from 0 to 50
    before = small(0, 4, 1, 5)
    assert table.values(before)[2] == 25.0
    assert table.learn(before) == pytest.approx(0.5 * -0.9 * 25.0)  # white's last move let it happen
    assert table.values(small(0, 4, 1))[5] == pytest.approx(-11.25)
    assert table.learn(small(0, 4, 1)) == 0.0  # white need not play so: its best reply is one not known to lose


def test_rewards_of_fours() -> None:
    rewards = Rewards(win=50.0, make_four=20.0, block_four=10.0, let_four_through=-20.0)

    def of(*cells: int) -> float:
        after = small(*cells)
        before = after.copy()
        return rewards.of(before, before.undo(), after)

    assert of(0, 15, 1) == 20.0  # two of three: one more wins
    assert of(0, 15, 1, 2) == 10.0  # blocked
    assert of(0, 15, 1, 8) == -20.0  # let through
    assert of(0, 15, 1, 11) == 0.0 == 20.0 - 20.0  # let through, but a four of its own
    assert of(0, 15, 1, 11, 2) == 50.0
    assert of(5) == 0.0


def test_turned_boards_are_one_position_and_moves_that_a_symmetry_exchanges_one_move() -> None:
    table = learnt(40, 1)
    cells = [5]
    values = table.values(small(*cells))
    assert values.any()
    for k in SYMMETRIES:
        turned = table.values(small(*(apply_cell(k, cell, 4, 4) for cell in cells)))
        assert all(turned[apply_cell(k, cell, 4, 4)] == values[cell] for cell in range(16))
    mirrored = values.reshape(4, 4)
    assert (mirrored == mirrored.T).all()  # a stone on a diagonal leaves one symmetry, which exchanges moves
    oblong = QTable(Board(4, 5, 3))
    oblong.learn(Board.from_moves([0], height=4, width=5, win_length=3))
    assert len(oblong.known) == 1


def test_learning_leaves_the_board_alone_and_refuses_another_kind() -> None:
    table, board = QTable(small()), small(0, 5, 1)
    before = board.copy()
    table.learn(board)
    assert board.moves == before.moves and (board.cells == before.cells).all()
    with pytest.raises(IllegalMoveError):
        table.learn(small())
    with pytest.raises(TableError, match="the table is for 4x4, 3 in a row, freestyle"):
        table.values(Board(5, 5, 3))
    for settings in ({"learning_rate": 0.0}, {"discount": 1.5}):
        with pytest.raises(TableError, match="use 0 to 1"):
            QTable(small(), **settings)


def test_it_beats_random_and_what_it_learnt_survives_in_another_process(tmp_path: Path) -> None:
    def against_random(table: QTable) -> ArenaResult:
        rng = np.random.default_rng(4)
        return compare(QLearningAgent(table), RandomAgent(), 300, new_board=small, opening_plies=0, rng=rng)

    table = learnt(1500, 3)
    trained, untrained = against_random(table), against_random(QTable(small()))
    assert trained.total.interval[0] > untrained.total.interval[1]
    assert trained.as_black.interval[0] > 0.7
    path = tmp_path / "q.npz"
    save_arrays(path, table.arrays(), table.meta())
    code = (
        "import sys; from rl.agents import make_agent; from env import Board;"
        "agent = make_agent('qlearning:' + sys.argv[1]); board = Board(4, 4, 3); board.play(5);"
        "print(repr(agent.table.values(board).tolist()), len(agent.table.known))"
    )
    told = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True).stdout
    assert told.strip() == f"{table.values(small(5)).tolist()!r} {len(table.known)}"
    again = QTable.from_arrays(*load_arrays(path), path)
    assert learnt(20, 5, again).known == learnt(20, 5, table).known  # and learning goes on as if never stopped


def test_epsilon_and_the_network_decide_as_they_should() -> None:
    net = PolicyNet(4, 4, filters=(2, 3), hidden=4, rng=np.random.default_rng(0))
    net.fc2.bias.value[9] = 30.0
    rng, board = np.random.default_rng(1), small(0)
    assert {QLearningAgent(QTable(small()), net).choose(board, rng) for _ in range(20)} == {9}
    legal = set(np.flatnonzero(board.legal_mask()).tolist())
    assert {QLearningAgent(QTable(small()), net, epsilon=1.0).choose(board, rng) for _ in range(400)} == legal
    with pytest.raises(IllegalMoveError, match="the game is over"):
        QLearningAgent(QTable(small())).choose(small(0, 4, 1, 5, 2), rng)


def test_files_that_are_no_table_are_refused(tmp_path: Path) -> None:
    table, path = learnt(5, 1), tmp_path / "q.npz"
    arrays, meta = table.arrays(), table.meta()
    broken = [
        ({**arrays, "places": arrays["places"] + 16}, meta, "places must be"),
        ({**arrays, "which": arrays["which"] - len(arrays["positions"])}, meta, "which must be"),
        ({**arrays, "positions": arrays["positions"] * 2}, meta, "must be -1, 0 or 1"),
        ({**arrays, "positions": np.zeros_like(arrays["positions"])}, meta, "twice"),
        ({**arrays, "values": arrays["values"][1:]}, meta, "which has shape"),
        (arrays, {**meta, "height": 5}, "positions has shape"),
        (arrays, {**meta, "rule": "chess"}, "no table"),
        (arrays, {**meta, "table": "Other"}, "no table"),
        (arrays, {**meta, "rewards": {"gold": 1}}, "no table"),
        (arrays, {**meta, "discount": 7}, "no table"),
    ]
    for some, its_meta, message in broken:
        save_arrays(path, some, its_meta)
        with pytest.raises((TableError, WeightsError), match=message) as refused:
            make_agent(f"qlearning:{path}")
        assert str(path) in str(refused.value)
    for spec in ("qlearning", "qlearning:x,epsilon=2", "qlearning:x,alpha=1"):
        with pytest.raises(AgentSpecError):
            make_agent(spec)
