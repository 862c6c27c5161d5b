"""The window of a cell: the piece of a line that decides what a stone on the cell is worth there.
A window can be read as a number, its code, so that anything about windows can be looked up in a table.

A five through a cell reaches four cells to either side, and the cell beyond decides whether it would be six: a window
is the cell in the middle and five neighbours on each side. To one colour a neighbour is empty, own, or other; an
opposing stone and the edge of the board stop a line alike. The code reads the digits in base 3, the middle as 0,
so that a cell has the same code before and after a stone is put on it:

      o . x x . [ ] x . edge             x own 1 · o other 2 · . empty 0 · [ ] the middle
      2 0 1 1 0  0  1 0 2 2 2            one more own stone, k cells further on, adds 3**(5 - k) to the code
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

OWN, OTHER = 1, 2  # with EMPTY = 0, the three digits
REACH = 5  # neighbours on each side
SIDE = 2 * REACH + 1  # cells of a window
CODES = 3**SIDE  # how long a table indexed by code must be
OFFSETS = tuple(k for k in range(-REACH, REACH + 1) if k)  # of the ten neighbours from the middle
PLACES = tuple(3 ** (REACH - k) for k in OFFSETS)  # what an own stone on each of them adds to the code


class Ground:
    """A board laid out in one row, with so wide a margin of OTHER that every window is a regular slice of it.

    A row of the board takes its W cells and a margin of REACH, which is also the left margin of the row below;
    REACH rows of margin lie above and below. A step of steps[d] walks along direction d: right, down, down-right,
    down-left. Cell c lies at places[c].
    """

    def __init__(self, height: int, width: int) -> None:
        stride = width + REACH
        rows, cols = np.indices((height, width)).reshape(2, -1)
        self.size = (height + 2 * REACH) * stride + REACH
        self.steps = (1, stride, stride + 1, stride - 1)
        self.places = (rows + REACH) * stride + cols + REACH  # (A,)
        ways = np.multiply.outer(OFFSETS, self.steps)  # (10, 4)
        self._neighbours = (ways[:, :, None] + self.places).reshape(len(OFFSETS), -1)  # (10, 4 * A)
        # float32 is exact up to 2**24, far above the largest code, and its products are the fast ones.
        self._weight = np.array(PLACES, dtype=np.float32)  # (10,)

    def lay(self, cells: NDArray[Any], colour: int) -> NDArray[np.uint8]:
        """Return the digits of boards (..., H, W) as `colour` sees them, in this layout: (..., size)."""
        digits = np.full((*cells.shape[:-2], self.size), OTHER, dtype=np.uint8)
        # Own is +1, other -1, empty 0: the remainder by 3 is the digit.
        digits[..., self.places] = (cells * colour % 3).reshape(*cells.shape[:-2], len(self.places))
        return digits

    def codes(self, digits: NDArray[np.uint8]) -> NDArray[np.intp]:
        """Return the codes of all windows, (..., 4 * A) direction by direction, from digits (..., size)."""
        neighbours = digits.astype(np.float32).take(self._neighbours, axis=-1)  # (..., 10, 4 * A)
        codes: NDArray[np.float32] = self._weight @ neighbours
        return codes.astype(np.intp)


@cache
def ground(height: int, width: int) -> Ground:
    """Return the ground of a board size, made once."""
    return Ground(height, width)


def window_codes(cells: NDArray[Any], colour: int) -> NDArray[np.intp]:
    """Return the codes of the windows around every cell of boards (..., H, W), as `colour` sees them: (..., 4, H, W).

    Directions in the order right, down, down-right, down-left.
    """
    *games, height, width = cells.shape
    here = ground(height, width)
    return here.codes(here.lay(cells, colour)).reshape(*games, 4, height, width)
