"""What a player sees: two planes of zeros and ones, the stones of the side to move first.

Seen so, black's and white's positions look alike, and one network plays both colours. A third plane may say which.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.board import Board
from env.rules import Rule


class PlanesError(ValueError):
    """A network wants a number of planes that nobody makes."""


@dataclass(frozen=True, eq=False)
class Positions:
    """A batch of positions of one game, each seen by its side to move.

    planes  (N, 2, H, W) float32, own stones then the other colour's
    legal   (N, A) bool, the moves allowed; a row of False is a finished game
    """

    planes: NDArray[np.float32]
    legal: NDArray[np.bool_]
    win_length: int
    rule: Rule

    def __len__(self) -> int:
        return len(self.planes)

    def seen(self, count: int) -> NDArray[np.float32]:
        """What a network of so many planes is shown, see `shown`: (N, count, H, W) float32."""
        return shown(self.planes, count)


def shown(planes: NDArray[Any], count: int) -> NDArray[Any]:
    """Planes (N, 2, H, W) as a network of so many is shown them: (N, count, H, W).

    2  as they are
    3  and a third, `turn_planes`

    Raises PlanesError for another number.
    """
    if count == 2:
        return planes
    if count == 3:
        return np.concatenate([planes, turn_planes(planes)], axis=1)
    raise PlanesError(f"a network of {count} planes cannot be shown a position: there are 2, or 3 with the turn")


def turn_planes(planes: NDArray[Any]) -> NDArray[np.float32]:
    """One plane a position, 1 everywhere if black is to move, -1 if white is: (N, 2, H, W) -> (N, 1, H, W).

    Black moves first, so black is to move when both sides have equally many stones.
    """
    stones = planes.sum(axis=(2, 3))  # (N, 2)
    turn = np.where(stones[:, 0] == stones[:, 1], np.float32(1), np.float32(-1))
    return np.broadcast_to(turn[:, None, None, None], (len(planes), 1, *planes.shape[2:]))


def planes(board: Board) -> NDArray[np.float32]:
    """The position as (2, H, W) float32: 1 where the side to move has a stone, 1 where the other has one."""
    own = board.to_move
    seen = np.empty((2, board.height, board.width), dtype=np.float32)
    np.equal(board.cells, own, out=seen[0])
    np.equal(board.cells, -own, out=seen[1])
    return seen


def positions_of(boards: Sequence[Board]) -> Positions:
    """The boards as one batch, in their order.

    Raises ValueError when there are none, or when they differ in size, win length or rule.
    """
    if not boards:
        raise ValueError("no boards: a batch needs at least one")
    first = boards[0]
    wanted = (first.height, first.width, first.win_length, first.rule)
    for board in boards:
        if (board.height, board.width, board.win_length, board.rule) != wanted:
            raise ValueError(f"boards of different games in one batch: {first!r} and {board!r}")
    return Positions(
        np.stack([planes(board) for board in boards]),  # (N, 2, H, W)
        np.stack([board.legal_mask() for board in boards]),  # (N, A)
        first.win_length,
        first.rule,
    )
