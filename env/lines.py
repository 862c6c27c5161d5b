"""The four directions of a line, on a board laid out so that a walk along one always ends at a wall.

Board and Lockstep keep their stones in this layout, so neither asks at every step whether it is still on the board.

A board of width W is stored in rows of W + 1 slots: a wall slot, then the W cells. The wall left of one row is
also the wall right of the row above, and one full row of walls lies above the board and one below:

      # # # #
      # . . .      3x3, stride 4. A step of 1 goes right, 4 down, 5 down-right, 3 down-left;
      # . . .      whichever way it walks, a line meets a # before it comes back on the board.
      # . . .
      # # # #
      #
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Cells = TypeVar("Cells", int, NDArray[np.intp])

WALL = 2  # neither EMPTY nor a colour, so that a run of stones stops there


def stride(width: int) -> int:
    """How many slots one row takes: the cells and one wall."""
    return width + 1


def slot(cell: Cells, width: int) -> Cells:
    """Where a cell lies in the walled layout: (row + 1) * stride + col + 1; of an array, each cell's."""
    return cell + cell // width + width + 2


def slots(height: int, width: int) -> int:
    """How many slots a whole board takes, its walls included."""
    return (height + 2) * stride(width) + 1


def steps(width: int) -> tuple[int, int, int, int]:
    """The four directions as differences of slots: right, down, down-right, down-left."""
    across = stride(width)
    return 1, across, across + 1, across - 1
