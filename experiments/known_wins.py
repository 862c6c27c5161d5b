"""Positions in which one side has a forced win, found by a strong engine: how often a player begins it.

The file is a JSON object; each of its "positions" has the moves that lead there ("h8i9..."), the winning line's "first"
move and its length "win_plies". Other winning moves may exist, so the share is a lower bound of what is right.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from env import Board
from env.coords import parse_cell
from experiments.errors import UserError
from rl.agents import Agent
from rl.sampling import RandomSource

SIZE = 15
MOVE = re.compile(r"[a-o]\d{1,2}")


class KnownWins(NamedTuple):
    """Boards, the first move of a forced win on each, and how many plies that win takes."""

    boards: tuple[Board, ...]
    firsts: tuple[int, ...]
    plies: tuple[int, ...]


def load_known_wins(path: Path) -> KnownWins:
    """The positions of a file, played freestyle. Raises UserError naming the file and what is wrong in it."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["positions"]
        found = [_position(entry) for entry in entries]
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:  # JSON, cells, illegal moves, int(1e400)
        raise UserError(f"{path}: holds no positions with known wins: {error}") from None
    return KnownWins(*zip(*found, strict=True))


def _position(entry: dict[str, str | int]) -> tuple[Board, int, int]:
    cells = [parse_cell(name, SIZE, SIZE) for name in MOVE.findall(str(entry["moves"]))]
    first = parse_cell(str(entry["first"]), SIZE, SIZE)
    return Board.from_moves(cells, SIZE, SIZE), first, int(entry["win_plies"])


def begun(agent: Agent, wins: KnownWins, rng: RandomSource) -> dict[str, float]:
    """The share of positions in which the agent plays the first move: of all, and by the length of the win."""
    right = np.array(agent.choose_many(wins.boards, rng)) == np.array(wins.firsts)
    plies = np.array(wins.plies)
    groups = {"all": plies > 0, "3 plies": plies <= 3, "5 to 9": (plies > 3) & (plies <= 9), "longer": plies > 9}
    return {name: float(right[group].mean()) for name, group in groups.items() if group.any()}
