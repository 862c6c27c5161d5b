"""Positions in which the side to move has a forced win, found by a strong engine: how often a player begins it.

The file is JSON: {"positions": [{"rule", "moves", "win_plies", "first"}, ...]}, moves such as "h8i9g7" on a 15x15
board, win_plies the length of one known win, first the move it begins with, if that is told. Other winning moves may
exist, so the share that begins with it is a lower bound of what is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from env import Board, Rule
from env.coords import parse_cell
from experiments.errors import UserError
from experiments.files.position import move_names
from experiments.run_dir import read_json
from rl.agents import Agent
from rl.sampling import RandomSource

SIZE = 15


class KnownWin(NamedTuple):
    """A board, the length of a known win of the side to move, and the cell it begins with, if that is known."""

    board: Board
    win_plies: int
    first: int | None


def load_known_wins(path: Path) -> list[KnownWin]:
    """The positions of a file, at least one. Raises UserError naming the file and what is wrong in it."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    table = read_json(path)
    try:
        found = [_known_win(entry) for entry in table["positions"]]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:  # OverflowError: int(1e400)
        raise UserError(f"{path}: holds no positions with known wins: {error!r}; see {__name__}") from error
    if not found:
        raise UserError(f"{path}: holds no positions")
    return found


def _known_win(entry: dict[str, str]) -> KnownWin:
    names = move_names(entry["moves"])
    if not names:
        raise ValueError(f"moves {entry['moves']!r}: use names such as h8i9")
    cells = [parse_cell(name, SIZE, SIZE) for name in names]
    board = Board.from_moves(cells, SIZE, SIZE, rule=Rule(entry["rule"]))
    first = parse_cell(entry["first"], SIZE, SIZE) if "first" in entry else None
    if first is not None and not board.legal_mask()[first]:
        raise ValueError(f"first {entry['first']!r} cannot be played after {entry['moves']}")
    if int(entry["win_plies"]) < 1:
        raise ValueError(f"win_plies {entry['win_plies']}: wanted 1 or more")
    return KnownWin(board, int(entry["win_plies"]), first)


def beginnings(path: Path, rule: Rule) -> list[KnownWin]:
    """Those of a file under this rule whose first move is told. Raises UserError if there are none."""
    found = [win for win in load_known_wins(path) if win.board.rule is rule and win.first is not None]
    if not found:
        raise UserError(f"{path}: no position under the rule {rule.value} tells the first move of a win")
    return found


def begun(agent: Agent, wins: Sequence[KnownWin], rng: RandomSource) -> dict[str, float]:
    """The share of positions in which the agent plays the first move: of all, and by the length of the win."""
    right = np.array(agent.choose_many([win.board for win in wins], rng)) == [win.first for win in wins]
    plies = np.array([win.win_plies for win in wins])
    groups = {"all": plies > 0, "3 plies": plies <= 3, "5 to 9": (plies > 3) & (plies <= 9), "longer": plies > 9}
    return {name: float(right[group].mean()) for name, group in groups.items() if group.any()}
