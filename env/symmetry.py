"""The eight ways to turn and mirror a board, for a position, for a move, and for a whole batch of arrays.

They are numbered k = 0..7: k < 4 is k quarter turns to the left (counter-clockwise); k >= 4 mirrors left and
right first, then makes k - 4 quarter turns. With odd k the height and the width of the board change places.

      k = 0     1     2     3     4     5     6     7
        ab    bd    dc    ca    ba    ac    cd    db
        cd    ac    ba    db    dc    bd    ab    ca
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

SYMMETRIES = range(8)


def apply(k: int, array: NDArray[Any]) -> NDArray[Any]:
    """Turn an array as k says over its last two axes: (..., H, W) -> (..., H, W), or (..., W, H) for odd k.

    It is a view of the argument's memory, so it costs nothing and follows later changes; copy it to keep it.
    """
    turns, mirrored = _parts(k)
    return np.rot90(array[..., ::-1] if mirrored else array, turns, axes=(-2, -1))


def inverse(k: int) -> int:
    """The symmetry that undoes k: apply(inverse(k), apply(k, x)) is x. A mirrored one undoes itself."""
    turns, mirrored = _parts(k)
    return k if mirrored else -turns % 4


def compose(j: int, k: int) -> int:
    """The one symmetry that equals k followed by j: apply(compose(j, k), x) is apply(j, apply(k, x)).

    Mirroring after a turn to the left is a turn to the right after mirroring.
    """
    turns_j, mirrored_j = _parts(j)
    turns_k, mirrored_k = _parts(k)
    turns = (turns_j - turns_k if mirrored_j else turns_j + turns_k) % 4
    return turns + 4 * (mirrored_j != mirrored_k)


@lru_cache(maxsize=1024)
def permutation(k: int, height: int, width: int) -> NDArray[np.intp]:
    """Where each cell of the turned board comes from: perm (A,), A = H * W, read-only.

    apply(k, x).ravel() is x.ravel()[perm], so one `take` turns logits, masks or planes.
    """
    cells = np.arange(height * width, dtype=np.intp).reshape(height, width)
    perm = apply(k, cells).ravel()
    perm.flags.writeable = False
    return perm


def apply_cell(k: int, cell: int, height: int, width: int) -> int:
    """The cell where a stone on `cell` of a height x width board lies after the board is turned as k says."""
    turns, mirrored = _parts(k)
    row, col = divmod(cell, width)
    if mirrored:
        col = width - 1 - col
    for _ in range(turns):
        row, col = width - 1 - col, row
        height, width = width, height
    return row * width + col


def _parts(k: int) -> tuple[int, bool]:
    """Quarter turns of k, and whether it mirrors first."""
    if k not in SYMMETRIES:
        raise ValueError(f"symmetry {k}: there are eight, 0 to 7")
    return k % 4, k >= 4
