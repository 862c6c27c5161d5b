"""The player that looks ahead: alpha-beta over the readable rules, deepened move by move until its time is over.

What was finished before the clock or the node budget ran out decides; what was begun is thrown away.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from env import Board, IllegalMoveError
from rl.agents.base import Thinker
from rl.sampling import RandomSource
from rl.search.account import EvaluationRules
from rl.search.budget import Budget, undisturbed
from rl.search.insights import WIDTH, insights, urgent
from rl.search.rule_file import default_rules
from rl.search.search import DEEPEST

OPENING = 10  # stones on the board until then
ENDGAME = 0.5  # of the board taken, from then on
LOCAL_STEPS, LOCAL_MOVES = 4, 6  # the region of the endgame: so near to one of so many last moves


@dataclass(frozen=True)
class Settings:
    """How far to look: whatever runs out first.

    seconds, nodes  a move; math.inf for no limit
    depth           moves ahead
    width           candidates tried at each position
    phased          less deep: 6 moves in the opening, 4 in the middle game, 8 in the endgame, which looks only at the
                    region round the last moves
    """

    seconds: float = 1.5
    nodes: float = math.inf
    depth: int = DEEPEST
    width: int = WIDTH
    phased: bool = False


DEFAULT = Settings()
SLOW = Settings(nodes=15_000, phased=True)  # for a machine on which a node takes long


class AlphaBetaAgent(Thinker):
    """Plays what the search finds best. `rules` is asked before every move, so that they may change meanwhile."""

    def __init__(
        self,
        settings: Settings = DEFAULT,
        rules: Callable[[], EvaluationRules] = default_rules,
        name: str = "alphabeta",
    ) -> None:
        self.settings, self.rules, self.name = settings, rules, name

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell for the side to move. `rng` is not drawn from."""
        return self.think(board, rng, seconds=math.inf, stopped=None)

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool] | None) -> int:
        """A legal cell for the side to move, within `seconds` and the agent's own limits."""
        if board.is_over:
            raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
        if not board.moves:
            return board.height // 2 * board.width + board.width // 2
        move = urgent(board)
        if move is not None:
            return move
        settings = self.settings
        budget = Budget(min(seconds, settings.seconds), settings.nodes, stopped)
        depth, region = phase(board) if settings.phased else (settings.depth, None)
        depth = min(depth, settings.depth)
        with undisturbed():
            for best in insights(board, self.rules(), budget, depth, width=settings.width, region=region):
                if self.listener is not None:
                    self.listener(best)
        return best.line[0]


def phase(board: Board) -> tuple[int, NDArray[np.bool_] | None]:
    """Return the depth of a phased search, and the region its candidates are confined to, (A,) bool, or None."""
    if len(board.moves) < OPENING:
        return 6, None
    if len(board.moves) < ENDGAME * board.cells.size:
        return 4, None
    rows, cols = np.indices(board.cells.shape).reshape(2, -1)
    region = np.zeros(board.cells.size, dtype=np.bool_)
    for cell in board.moves[-LOCAL_MOVES:]:
        row, col = divmod(cell, board.width)
        region |= (abs(rows - row) <= LOCAL_STEPS) & (abs(cols - col) <= LOCAL_STEPS)
    return 8, region
