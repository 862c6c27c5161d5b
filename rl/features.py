"""What a position says about who will win, in about thirty numbers: who has a five, an open four, a four, a three.
A linear function of these is a value estimate that costs next to nothing, which is what a baseline is made of.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from env.observation import Positions
from rl.neighbourhood import AT_ONCE, Shape, over_lines, seen_by_other, shape_table

# A cell is counted once under each of these that a stone of one side there would make, in any of its four lines.
MAKES = ("five", "straight four", "four", "four-three", "open three", "double three", "open two")
#        won      two ways to     one way  a four and    (and more is    two open      two open
#                 five, maybe by  to five  an open three  counted above)  threes        twos, or one
#                 two fours
MOST = (2, 3, 6, 2, 12, 4, 40)  # counts above these tell no more

# What decides the game first; exactly one of them holds. "I" am the side to move.
STAGES = (
    "I win now",
    "the other has two fives to come",
    "I must block a five",
    "I can make a straight four",
    "I can make a four and an open three",
    "the other could make a straight four",
    "I can make two open threes",
    "quiet",
)
NAMES = (
    *STAGES,
    *(f"my {name}" for name in MAKES),
    *(f"their {name}" for name in MAKES),
    "share of cells taken",
    "its square",
    "I am black",
    "one",
)

_COUNTED = (Shape.FIVE, Shape.OPEN_FOUR, Shape.FOUR, Shape.OPEN_THREE, Shape.OPEN_TWO)
_BITS = 3  # a shape stands in none to all four of the lines through a cell
_SIDE = _BITS * len(_COUNTED)  # bits for one side
_FIELD = 16  # bits of a count over the cells of one board


@cache
def _shapes_by_code(win_length: int) -> NDArray[np.int32]:
    """A one in the field of the shape that a line makes, mine in the low half and theirs above: by code."""
    one = np.zeros(len(Shape), dtype=np.int32)
    for place, shape in enumerate(_COUNTED):
        one[shape] = 1 << _BITS * place
    table = one[shape_table(win_length)]
    return table + (seen_by_other(table) << _SIDE)


@cache
def _makes_by_shapes() -> NDArray[np.uint64]:
    """What a cell makes, from the sum of its lines' fields for one side: (2**15, 2) uint64.

    A one in the field of each of MAKES that applies, four fields in the first word, three in the second.
    """
    index = np.arange(1 << _SIDE)
    five, straight, four, three, two = (index >> _BITS * place & 7 for place in range(len(_COUNTED)))
    makes = (
        five > 0,
        (straight > 0) | (four > 1),
        four + straight > 0,
        (four + straight > 0) & (three > 0),
        three > 0,
        three > 1,
        two > 0,
    )
    words = np.zeros((len(index), 2), dtype=np.uint64)
    for place, applies in enumerate(makes):
        words[:, place // 4] |= applies.astype(np.uint64) << np.uint64(_FIELD * (place % 4))
    return words


def count_cells(positions: Positions) -> NDArray[np.int64]:
    """At how many legal cells each side would make each of MAKES: (2, 7, N), mine first."""
    count = len(positions)
    counts = np.empty((2, len(MAKES), count), dtype=np.int64)
    words = _makes_by_shapes()
    for first in range(0, count, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        table = _shapes_by_code(positions.win_length)
        sums = over_lines(positions.planes[some], positions.win_length, table, np.add)  # (A, n)
        sums *= positions.legal[some].T
        for side, fields in enumerate((sums & (1 << _SIDE) - 1, sums >> _SIDE)):
            for word in range(2):
                total = np.ascontiguousarray(words[:, word]).take(fields).sum(axis=0)  # (n,)
                for place in range(4 * word, min(4 * word + 4, len(MAKES))):
                    counts[side, place, some] = total >> np.uint64(_FIELD * (place % 4)) & np.uint64((1 << _FIELD) - 1)
    return counts


def tactical_features(positions: Positions) -> NDArray[np.float32]:
    """The numbers NAMES of each position, all from 0 to 1: (N, len(NAMES)) float32."""
    counts = count_cells(positions)
    (five, straight, _, four_three, _, double_three, _), (their_five, their_straight, *_) = counts
    stages = np.array(
        [
            five > 0,
            their_five > 1,
            their_five > 0,
            straight > 0,
            four_three > 0,
            their_straight > 0,
            double_three > 0,
            np.ones_like(five, dtype=np.bool_),
        ]
    )
    first = stages.argmax(axis=0)  # the first that holds
    out = np.zeros((len(positions), len(NAMES)), dtype=np.float32)
    out[np.arange(len(positions)), first] = 1
    most = np.array(MOST)[:, None]
    scaled = np.minimum(counts, most) / most  # (2, 7, N)
    at = len(STAGES)
    out[:, at : at + 2 * len(MAKES)] = scaled.reshape(2 * len(MAKES), -1).T
    stones = positions.planes.sum(axis=(2, 3))  # (N, 2)
    share = stones.sum(axis=1) / positions.legal.shape[1]
    out[:, -4], out[:, -3], out[:, -2], out[:, -1] = share, share**2, stones[:, 0] == stones[:, 1], 1
    return out
