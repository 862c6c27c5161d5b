"""Which cells of a board have to do with each other: near ones, those of one line, those that one win may hold."""

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


@cache
def together(height: int, width: int, win_length: int) -> list[int]:
    """Return, for each cell, the cells that may be part of a win together with it, itself included, as bits."""
    found = [1 << cell for cell in range(height * width)]
    for line in lines_of(height, width, win_length):
        for start in range(len(line) - win_length + 1):
            cells = line[start : start + win_length]
            bits = sum(1 << cell for cell in cells)
            for cell in cells:
                found[cell] |= bits
    return found
