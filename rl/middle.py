"""The middle of a board, where random openings are strewn.

Stones strewn over all of a large board would not meet, and the games would be as from nothing.
"""

from __future__ import annotations

import numpy as np

from rl.sampling import BoolArray

MIDDLE = 9


def middle_cells(height: int, width: int) -> BoolArray:
    """All of a board up to 9x9, the central nine rows and columns of a larger one. Returns (A,) bool."""
    top, left = max(0, (height - MIDDLE) // 2), max(0, (width - MIDDLE) // 2)
    cells = np.zeros((height, width), dtype=np.bool_)
    cells[top : height - top, left : width - left] = True
    return cells.ravel()
