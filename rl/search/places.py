"""Which cells of a board have to do with each other: near ones, and those of one line."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from rl.search.line_codes import lines_of
from rl.search.minimax import REACH


@cache
def surroundings(height: int, width: int) -> NDArray[np.bool_]:
    """Return, for each cell, which cells are within reach of it: (A, A) bool."""
    rows, cols = np.indices((height, width)).reshape(2, -1)
    return (abs(rows[:, None] - rows) <= REACH) & (abs(cols[:, None] - cols) <= REACH)


@cache
def apart(height: int, width: int, win_length: int) -> NDArray[np.bool_]:
    """Return, for each cell, which cells are on no line with it: (A, A) bool."""
    found = ~np.eye(height * width, dtype=np.bool_)
    for line in lines_of(height, width, win_length):
        found[np.ix_(line, line)] = False
    return found
