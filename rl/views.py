"""A board seen turned or mirrored: the game is the same, and a network that plays through a random view learns all.

One view is one of the symmetries; what is chosen in the view is translated back to the board.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.observation import Positions
from env.symmetry import SYMMETRIES, permutation
from rl.sampling import BoolArray, IntArray, RandomSource, draw_numbers


class Views:
    """The symmetries that keep a board's shape: eight on a square, four on an oblong.

    A view k shows the board turned or mirrored; a cell chosen in the view stands for cell `tables[k, chosen]` of the
    board. Playing through a random view, and learning from that same view, augments without leaving the policy that
    played (copies of a move in the seven other views would be off-policy: the network is not equivariant).
    """

    def __init__(self, height: int, width: int) -> None:
        keeping = [k for k in SYMMETRIES if height == width or k % 2 == 0]  # odd k swap height and width
        self.tables = np.stack([permutation(k, height, width) for k in keeping])  # (K, A)
        self._seen_at = np.argsort(self.tables, axis=1)  # (K, A), the way back

    def draw(self, count: int, symmetric: bool, rng: RandomSource) -> IntArray:
        """A view for each of `count` positions: random, one draw each, or the plain one unless `symmetric`."""
        if not symmetric:
            return np.zeros(count, dtype=np.int64)
        return draw_numbers(rng, count, len(self.tables))

    def see(self, positions: Positions, views: IntArray) -> tuple[NDArray[np.float32], BoolArray]:
        """(planes (N, 2, H, W), legal (N, A)) of N positions, each through its view (N,)."""
        planes = positions.planes
        shown = self.show(planes.reshape(*planes.shape[:2], -1), views).reshape(planes.shape)
        return shown, self.show(positions.legal, views)

    def show(self, board: NDArray[Any], views: IntArray) -> NDArray[Any]:
        """board (N, ..., A) flat cells, each seen through its view (N,)."""
        index = self.tables[views].reshape(len(views), *[1] * (board.ndim - 2), -1)
        return np.take_along_axis(board, index, axis=-1)

    def cells(self, chosen: IntArray, views: IntArray) -> IntArray:
        """The board's cells behind cells chosen in the views. Both (N,)."""
        return self.tables[views, chosen]

    def seen_at(self, cells: IntArray, views: IntArray) -> IntArray:
        """Where the views show these cells of the board. Both (N,)."""
        return self._seen_at[views, cells]
