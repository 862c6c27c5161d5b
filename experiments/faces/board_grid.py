"""Where the crossings of a drawn board lie, and which one a pointer means: the same for a window and a browser.

Lengths are in whatever the picture is measured in: pixels on a canvas, user units in an SVG.
"""

import math
from dataclasses import dataclass

from env import Board
from env.svg import UNIT


@dataclass(frozen=True)
class Grid:
    """A board of `height` x `width` crossings, `unit` apart; (left, top) is the crossing of cell 0."""

    height: int
    width: int
    unit: float
    left: float
    top: float

    def point(self, cell: int) -> tuple[float, float]:
        """Return (x, y) of a cell's crossing."""
        row, col = divmod(cell, self.width)
        return self.left + col * self.unit, self.top + row * self.unit

    def nearest(self, x: float, y: float) -> int | None:
        """Return the cell whose crossing is nearest, None beyond half a unit from the outermost lines."""
        if not (math.isfinite(x) and math.isfinite(y)):
            return None
        col, row = (math.floor((at - first) / self.unit + 0.5) for at, first in ((x, self.left), (y, self.top)))
        return row * self.width + col if 0 <= row < self.height and 0 <= col < self.width else None


def svg_grid(board: Board) -> Grid:
    """The grid of the picture that `env.svg.board_svg` draws without a title."""
    return Grid(board.height, board.width, UNIT, 1.15 * UNIT, 0.65 * UNIT)


def window_grid(height: int, width: int, room_x: int, room_y: int) -> Grid:
    """The largest grid with whole pixels that fits into so many pixels, a rim for the names around it, centred.

    The rim is half a unit wide, so that the whole is (width + 1) x (height + 1) units.
    """
    unit = max(8, min(room_x // (width + 1), room_y // (height + 1)))
    left, top = (
        max(unit // 2, (room - unit * size) // 2) + unit // 2
        for room, size in ((room_x, width), (room_y, height))
    )
    return Grid(height, width, unit, left, top)
