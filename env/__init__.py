"""The game of Gomoku and its Gymnasium face; it knows no learning. Importing it registers "Gomoku-v0".
All but that face needs NumPy alone, so a reader of the lessons can do without Gymnasium.

Reading order: coords, lines, rules, windows, patterns, renju, board, bitboard, symmetry, record, record_text,
sgf_tree, setup_stones, sgf, psq, gomocup, observation, render, svg, lockstep, gomoku_env, vector_env, aec.
Shapes: H rows, W columns, A = H * W cells, N positions, E parallel games.
"""

from env.board import Board, ForbiddenMoveError
from env.lockstep import Lockstep
from env.observation import Positions
from env.record import GameRecord, RecordError
from env.renju import Forbidden
from env.rules import BLACK, EMPTY, WHITE, IllegalMoveError, Outcome, Rule, SettingsError

__all__ = [
    "BLACK",
    "EMPTY",
    "WHITE",
    "Board",
    "Forbidden",
    "ForbiddenMoveError",
    "GameRecord",
    "IllegalMoveError",
    "Lockstep",
    "Outcome",
    "Positions",
    "RecordError",
    "Rule",
    "SettingsError",
]

try:
    from env.gomoku_env import GomokuEnv
except ModuleNotFoundError as error:
    if error.name != "gymnasium":
        raise
else:
    __all__ += ["GomokuEnv"]
