"""The player with a table: it plays what has proved best, and now and then something else.

It learns while it plays, if whoever leads the game calls `table.learn(board)` after each move.
"""

from __future__ import annotations

import numpy as np

from env import Board, IllegalMoveError
from env.observation import positions_of
from nn import BoardNet
from nn.losses import masked_log_softmax
from rl.agents.base import Agent
from rl.q_table import QTable
from rl.sampling import RandomSource, draw_uniforms, inverse_cdf


class QLearningAgent(Agent):
    """Plays the largest Q, ties at random; with chance `epsilon`, any legal cell.

    With a network, its log p is added to Q: it decides where nothing was learnt.
    """

    def __init__(
        self, table: QTable, net: BoardNet | None = None, epsilon: float = 0.0, name: str = "qlearning"
    ) -> None:
        if not 0 <= epsilon <= 1:
            raise ValueError(f"epsilon is {epsilon}; a chance is from 0 to 1")
        self.table, self.net, self.epsilon, self.name = table, net, epsilon, name

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell. Two draws a move. Raises TableError for a board that the table is not for."""
        legal = board.legal_mask()
        if not legal.any():
            raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
        worth = self.table.values(board)
        if self.net is not None:
            positions = positions_of([board])
            log_p = masked_log_softmax(self.net.logits(positions.seen(self.net.planes)), positions.legal)[0]
            worth = worth + np.where(legal, log_p, 0)
        explore, which = draw_uniforms(rng, 2)
        best = legal & (worth == worth[legal].max())
        return int(inverse_cdf((legal if explore < self.epsilon else best)[None], which[None])[0])
