"""What a stone on a cell would make of the four lines through it, for every cell of many boards at once.
The neighbours of a cell along a line are read as one number, its code, and whatever a line can tell is a table by code.

A five through a cell reaches four cells (win length less one) to either side. Each neighbour is a digit of base 4:

    x x . o [ ] x . | |           x own 1 · o other 2 · . empty 0 · | off the board 3 · [ ] the cell itself, no digit
    1 1 0 2     1 0 3 3           the nearest to the edge of the picture, left, is the lowest digit

so for five in a row there are 4**8 = 65,536 codes. With 1 and 2 exchanged a code is what the other side sees.
Every rule is read as freestyle here: a line longer than the win length wins.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

EMPTY_DIGIT, OWN_DIGIT, OTHER_DIGIT, OFF_DIGIT = range(4)
LONGEST = 6  # 4**10 codes; the tables of a longer win length would not fit the cache
AT_ONCE = 256  # boards whose planes fit the cache together

Codes = NDArray[np.uint32] | NDArray[np.uint16]


class NeighbourhoodError(ValueError):
    """A win length for which there are no tables."""


class Shape(IntEnum):
    """What a stone makes of its line, named as in five in a row; the larger, the nearer to winning.

    x own, the new stone among them · o other or the edge · . empty · * where one more stone takes the next step.
    In n in a row, FOUR means one stone short of n, and so on down.
    """

    NONE = 0  # oxxo         no n fits through it any more
    ONE = 1  # ox...o        a stone with room for n, and not for an open two
    OPEN_ONE = 2  # ..x..    one stone short of an open two
    TWO = 3  # oxx...        two short of a four
    OPEN_TWO = 4  # ..xx..   one stone short of an open three
    THREE = 5  # oxxx**      one stone short of a four
    OPEN_THREE = 6  # .xxx.  .xx*x.   one stone short of an open four
    FOUR = 7  # oxxxx*  xx*xx         one stone short of n, in one way
    OPEN_FOUR = 8  # *xxxx*  x*xxx*x  n in either of two ways: the open four, and two fours on one line
    FIVE = 9  # xxxxx        won


# From the top down: (what one more stone must make, in how many ways at least, what it is then).
LADDER = (
    (Shape.FIVE, 2, Shape.OPEN_FOUR),
    (Shape.FIVE, 1, Shape.FOUR),
    (Shape.OPEN_FOUR, 1, Shape.OPEN_THREE),
    (Shape.FOUR, 1, Shape.THREE),
    (Shape.OPEN_THREE, 1, Shape.OPEN_TWO),
    (Shape.THREE, 1, Shape.TWO),
    (Shape.OPEN_TWO, 1, Shape.OPEN_ONE),
    (Shape.TWO, 1, Shape.ONE),
)


def reach(win_length: int) -> int:
    """How many neighbours on each side can belong to a winning line through the cell. Raises NeighbourhoodError."""
    if not 2 <= win_length <= LONGEST:
        raise NeighbourhoodError(f"win length {win_length}: the tables of shapes are for 2 to {LONGEST} in a row")
    return win_length - 1


def digits_of(code: int, win_length: int) -> tuple[int, ...]:
    """The neighbours' digits, from one end of the line to the other without the cell itself."""
    return tuple(code >> 2 * place & 3 for place in range(2 * reach(win_length)))


def shape_by_definition(code: int, win_length: int) -> Shape:
    """The shape of an own stone on the cell: the definition, which tries every further stone until the line is won.

    `shape_table` holds the same for all codes.
    """
    return _shape(digits_of(code, win_length), win_length)


@cache
def _shape(digits: tuple[int, ...], win_length: int) -> Shape:
    side = len(digits) // 2
    run = 1
    for neighbours in (digits[:side][::-1], digits[side:]):  # from the cell outwards
        for digit in neighbours:
            if digit != OWN_DIGIT:
                break
            run += 1
    if run >= win_length:
        return Shape.FIVE
    after = [
        _shape((*digits[:place], OWN_DIGIT, *digits[place + 1 :]), win_length)
        for place, digit in enumerate(digits)
        if digit == EMPTY_DIGIT
    ]
    return next((shape for aim, ways, shape in LADDER if after.count(aim) >= ways), Shape.NONE)


@cache
def shape_table(win_length: int) -> NDArray[np.uint8]:
    """The shape an own stone makes, by code: (4 ** (2 * reach),) uint8.

    All codes come down the ladder together: one more own stone at place p is the code larger by 4**p.
    """
    side = reach(win_length)
    codes = np.arange(4 ** (2 * side), dtype=np.int64)
    digits = codes[:, None] >> 2 * np.arange(2 * side) & 3  # (codes, places)
    run = np.ones_like(codes)
    for neighbours in (digits[:, side - 1 :: -1], digits[:, side:]):
        run += np.cumprod(neighbours == OWN_DIGIT, axis=1).sum(axis=1)
    empty = digits == EMPTY_DIGIT
    grown = codes[:, None] + empty * 4 ** np.arange(2 * side)
    table = np.where(run >= win_length, Shape.FIVE, Shape.NONE).astype(np.uint8)
    for aim, ways, shape in LADDER:
        found = (empty & (table[grown] == aim)).sum(axis=1) >= ways
        table[found & (table == Shape.NONE)] = shape
    table.flags.writeable = False
    return table


def seen_by_other(table: NDArray[Any]) -> NDArray[Any]:
    """A table about own stones -> the same about the other side's, by the same codes."""
    codes = np.arange(len(table))
    even = 0x55555555 & (len(table) - 1)
    swapped: NDArray[Any] = table[(codes & even) << 1 | codes >> 1 & even]  # 1 = 01 and 2 = 10 change places
    return swapped


@cache
def next_to_stone(win_length: int) -> NDArray[np.bool_]:
    """Whether one of the two nearest neighbours is a stone of either side, by code."""
    side = reach(win_length)
    codes = np.arange(4 ** (2 * side))
    near = np.stack([codes >> 2 * place & 3 for place in (side - 1, side)])
    beside: NDArray[np.bool_] = ((near == OWN_DIGIT) | (near == OTHER_DIGIT)).any(axis=0)
    return beside


def line_codes(planes: NDArray[Any], win_length: int) -> Codes:
    """The code of every cell in every direction: planes (N, 2, H, W), own stones first -> (4, A, N).

    Directions right, down, down-right, down-left. The boards come last: then to look along a line from every cell of
    every board is to read one plane further on. A cell's own stone is not in its code.

        # # # #        slots: rows of W cells and `reach` walls, as many rows of walls above and below, so that
        # a b c        all neighbours of all cells are one plane of slots shifted by k steps
        # d e f
    """
    count, _, height, width = planes.shape
    side = reach(win_length)
    stride = width + side
    margin, size = side * (stride + 1), height * stride
    narrow: Any
    wide: Any
    narrow, wide = (np.uint8, np.uint16) if side <= 4 else (np.uint16, np.uint32)
    slots = np.full((margin + size + margin, count), OFF_DIGIT, dtype=narrow)
    board = slots[margin : margin + size].reshape(height, stride, count)[:, :width]
    stones = planes.reshape(count, 2, -1)
    digits = stones[:, 0].astype(narrow) + OTHER_DIGIT * stones[:, 1].astype(narrow)  # (N, A)
    board[...] = digits.T.reshape(height, width, count)
    digit = [slots << narrow(2 * place) for place in range(side)]

    def line(step: int, first: int) -> NDArray[Any]:
        """The `side` cells from `first` steps away on, as one number, seen from all slots of the board: (size, N)."""
        starts = [margin + (first + place) * step for place in range(side)]
        together = digit[0][starts[0] : starts[0] + size].copy()
        for shifted, start in zip(digit[1:], starts[1:], strict=True):
            together |= shifted[start : start + size]
        seen: NDArray[Any] = together.reshape(height, stride, count)[:, :width]
        return seen

    codes = np.empty((4, height, width, count), dtype=wide)
    for out, step in zip(codes, (1, stride, stride + 1, stride - 1), strict=True):
        out[...] = line(step, 1)
        out <<= wide(2 * side)
        out |= line(step, -side)
    return codes.reshape(4, height * width, count)


def over_lines(planes: NDArray[Any], win_length: int, table: NDArray[Any], combine: np.ufunc) -> NDArray[Any]:
    """combine (np.add, np.maximum ...) over the four directions of table[code]: planes (N, 2, H, W) -> (A, N)."""
    count, _, height, width = planes.shape
    out: NDArray[Any] = np.empty((height * width, count), dtype=table.dtype)
    for first in range(0, count, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        codes = line_codes(planes[some], win_length)
        total = table.take(codes[0])
        for direction in codes[1:]:
            combine(total, table.take(direction), out=total)
        out[:, some] = total
    return out
