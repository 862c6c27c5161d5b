"""The network as an agent: one forward pass a move, no search; or one for each way to look at the board.

A network has learnt from games, not from geometry: turn the board, and its answer does not turn quite with it. The mean
over all views does, and errs less than a single one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from env.observation import Positions
from env.symmetry import SYMMETRIES, apply, inverse
from nn import BoardNet
from nn.losses import masked_log_softmax
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, choose_cells


class PolicyAgent(BatchAgent):
    """Plays from softmax(logits / temperature) over the legal cells; temperature 0 plays the largest logit.

    A network of convolutions alone plays on boards of any size.
    With `views` 8 the logits are `mean_log_p` over the eight symmetric views (the four that fit, on an oblong board).
    """

    def __init__(self, net: BoardNet, temperature: float = 0.0, name: str = "policy", views: int = 1) -> None:
        if not 0 <= temperature < math.inf:
            raise ValueError(f"the temperature is {temperature}; it must be 0 (argmax) or positive")
        if views not in (1, 8):
            raise ValueError(f"views is {views}; a board is seen in 1 or 8 ways")
        self.net = net
        self.temperature = temperature
        self.name = name
        self.views = views
        self._elsewhere: dict[tuple[int, int], BoardNet] = {}

    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. Returns (N,) int64. Raises ShapeError for a board the weights do not fit."""
        net = self.net_for(*positions.planes.shape[2:])
        logits = net.logits(positions.seen(net.planes)) if self.views == 1 else mean_log_p(net, positions)
        return choose_cells(logits, positions.legal, self.temperature, rng)

    def net_for(self, height: int, width: int) -> BoardNet:
        """The network, or its copy for a board of this size, made once. Raises ShapeError if its weights do not fit."""
        if (height, width) == (self.net.height, self.net.width):
            return self.net
        if (height, width) not in self._elsewhere:
            self._elsewhere[height, width] = self.net.on_board(height, width)
        return self._elsewhere[height, width]


def mean_log_p(net: BoardNet, positions: Positions) -> NDArray[np.floating]:
    """The mean of log p over all symmetric views of each position: (N, A), 0 on illegal cells.

    The net sees the turned board, its log p is turned back. All eight symmetries serve on a square board, the four
    that keep height and width in place on an oblong one. Taken as logits, the mean is a geometric one of the chances,
    and it turns with the board.
    """
    seen = positions.seen(net.planes)
    count, height, width = len(seen), *seen.shape[2:]
    views = [k for k in SYMMETRIES if height == width or k % 2 == 0]
    logits = net.logits(np.concatenate([apply(k, seen) for k in views]))  # (views * N, A)
    boards = logits.reshape(len(views), count, height, width)
    back = np.stack([apply(inverse(k), board) for k, board in zip(views, boards, strict=True)])
    legal = np.broadcast_to(positions.legal, (len(views), *positions.legal.shape))
    log_p = masked_log_softmax(back.reshape(len(views) * count, -1), legal.reshape(len(views) * count, -1))
    mean: NDArray[np.floating] = log_p.reshape(legal.shape).mean(axis=0)
    return np.where(positions.legal, mean, mean.dtype.type(0))
