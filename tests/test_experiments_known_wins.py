"""The known wins are read as they stand, and a player's first moves are held against them."""

import json
from pathlib import Path

import numpy as np
import pytest

from env import Rule
from experiments.errors import UserError
from experiments.strength.known_wins import beginnings, begun, load_known_wins
from rl.agents import Agent, make_agent

WINS = Path(__file__).parent / "data" / "tactics" / "wins.json"


class Knows(Agent):
    """Plays what it was told for each board."""

    name = "knows"

    def __init__(self, wins):
        self.moves = {id(win.board): win.first for win in wins}

    def choose(self, board, rng):
        return self.moves[id(board)]


@pytest.mark.parametrize("rule", list(Rule))
def test_the_file_holds_legal_first_moves_and_players_differ(rule):
    wins = beginnings(WINS, rule)
    assert len(wins) > 100 and {win.board.rule for win in wins} == {rule}
    assert all(win.board.legal_mask()[win.first] for win in wins)
    assert set(begun(Knows(wins), wins, np.random.default_rng(0)).values()) == {1.0}
    random, summed = (begun(make_agent(name), wins, np.random.default_rng(0)) for name in ("random", "summed"))
    assert random["all"] < 0.05 < 0.3 < summed["all"]
    assert list(summed) == ["all", "3 plies", "5 to 9", "longer"]


def test_a_file_without_a_first_move_under_the_rule_is_one_line(tmp_path):
    entry = json.loads(WINS.read_text())["positions"][0]
    path = tmp_path / "wins.json"
    path.write_text(json.dumps({"positions": [{key: entry[key] for key in ("rule", "moves", "win_plies")}]}))
    assert load_known_wins(path)[0].first is None
    for rule in Rule:
        with pytest.raises(UserError, match="no position under the rule"):
            beginnings(path, rule)


BROKEN = {"moves": "z9", "first": "q", "win_plies": 1}
ENDLESS = '{"positions": [{"moves": "h8", "first": "h9", "rule": "freestyle", "win_plies": 1e400}]}'
TAKEN = '{"positions": [{"moves": "h8h9", "first": "h8", "rule": "renju", "win_plies": 3}]}'
PAST = '{"positions": [{"moves": "h8h9", "first": "h7", "rule": "renju", "win_plies": -3}]}'
SKIPPED = '{"positions": [{"moves": "h8??zz99i9", "first": "h9", "rule": "renju", "win_plies": 3}]}'
NO_WINS = (
    "", "[]", '{"positions": []}', "[" * 100_000, SKIPPED, TAKEN, PAST, '{"positions": [{"moves": "a1"}]}',
    json.dumps({"positions": [BROKEN]}), ENDLESS,
)  # fmt: skip


@pytest.mark.parametrize("text", NO_WINS)
def test_another_file_is_one_line(tmp_path, text):
    path = tmp_path / "wins.json"
    path.write_text(text)
    with pytest.raises(UserError, match="wins.json"):
        load_known_wins(path)
