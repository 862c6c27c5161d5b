"""The known wins are read as they stand, and a player's first moves are held against them."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.errors import UserError
from experiments.known_wins import begun, load_known_wins
from rl.agents import Agent, make_agent

WINS = Path(__file__).parent / "data" / "tactics" / "wins.json"


class Knows(Agent):
    """Plays what it was told for each board."""

    name = "knows"

    def __init__(self, wins):
        self.moves = {id(board): first for board, first in zip(wins.boards, wins.firsts, strict=True)}

    def choose(self, board, rng):
        return self.moves[id(board)]


def test_the_file_holds_legal_first_moves_and_players_differ():
    wins = load_known_wins(WINS)
    assert len(wins.boards) > 450
    assert all(board.legal_mask()[first] for board, first in zip(wins.boards, wins.firsts, strict=True))
    assert set(begun(Knows(wins), wins, np.random.default_rng(0)).values()) == {1.0}
    random, summed = (begun(make_agent(name), wins, np.random.default_rng(0)) for name in ("random", "summed"))
    assert random["all"] < 0.05 < 0.4 < summed["all"]
    assert list(summed) == ["all", "3 plies", "5 to 9", "longer"]


BROKEN = {"moves": "z9", "first": "q", "win_plies": 1}
ENDLESS = '{"positions": [{"moves": "h8", "first": "h9", "rule": "freestyle", "win_plies": 1e400}]}'
NO_WINS = ("", "[]", '{"positions": [{"moves": "a1"}]}', json.dumps({"positions": [BROKEN]}), ENDLESS)


@pytest.mark.parametrize("text", NO_WINS)
def test_another_file_is_one_line(tmp_path, text):
    path = tmp_path / "wins.json"
    path.write_text(text)
    with pytest.raises(UserError, match="holds no positions"):
        load_known_wins(path)
