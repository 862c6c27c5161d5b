"""Codes of the lines through a cell, and the tables of shapes that they index."""

import numpy as np
import pytest
from numpy.typing import NDArray

from env.patterns import Law, Pattern, pattern_table
from env.windows import OFFSETS, PLACES
from rl.neighbourhood import (
    EMPTY_DIGIT,
    OFF_DIGIT,
    OTHER_DIGIT,
    OWN_DIGIT,
    NeighbourhoodError,
    Shape,
    digits_of,
    line_codes,
    next_to_stone,
    over_lines,
    seen_by_other,
    shape_by_definition,
    shape_table,
)

STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))
LETTERS = {"x": OWN_DIGIT, "o": OTHER_DIGIT, ".": EMPTY_DIGIT, "|": OFF_DIGIT}


def random_planes(count: int, height: int, width: int, seed: int) -> NDArray[np.float32]:
    what = np.random.default_rng(seed).integers(0, 4, (count, height, width))  # 0 and 3: empty
    return np.stack([what == 1, what == 2], axis=1).astype(np.float32)


def code_of(planes: NDArray[np.float32], row: int, col: int, step: tuple[int, int], win_length: int) -> int:
    """The code of one cell of one board (2, H, W), neighbour by neighbour."""
    code = 0
    for place, k in enumerate((*range(1 - win_length, 0), *range(1, win_length))):
        r, c = row + k * step[0], col + k * step[1]
        on_board = 0 <= r < planes.shape[1] and 0 <= c < planes.shape[2]
        digit = int(planes[0, r, c] + 2 * planes[1, r, c]) if on_board else OFF_DIGIT
        code += digit * 4**place
    return code


@pytest.mark.parametrize(("height", "width", "win_length"), [(7, 7, 5), (5, 8, 4), (9, 4, 6), (3, 3, 3), (2, 5, 2)])
def test_codes_are_read_neighbour_by_neighbour(height: int, width: int, win_length: int) -> None:
    planes = random_planes(3, height, width, seed=1)
    codes = line_codes(planes, win_length).reshape(4, height, width, 3)
    for direction, step in enumerate(STEPS):
        for game in range(3):
            for row, col in np.ndindex(height, width):
                assert codes[direction, row, col, game] == code_of(planes[game], row, col, step, win_length)


@pytest.mark.parametrize("win_length", [2, 3, 4])
def test_the_table_is_the_definition(win_length: int) -> None:
    table = shape_table(win_length)
    assert [shape_by_definition(code, win_length) for code in range(len(table))] == table.tolist()


@pytest.mark.parametrize("win_length", [5, 6])
def test_the_long_tables_are_the_definition_at_random_codes(win_length: int) -> None:
    """At codes with few empty neighbours, or the definition would play out too many lines."""
    table = shape_table(win_length)
    checked = 0
    for code in np.random.default_rng(2).integers(0, len(table), 1_000).tolist():
        if digits_of(code, win_length).count(EMPTY_DIGIT) <= 4:
            assert shape_by_definition(code, win_length) == table[code]
            checked += 1
    assert checked > 500


def test_five_in_a_row_agrees_with_the_patterns_of_the_rules() -> None:
    """Two tables of five in a row, made independently, say the same of every code."""
    names = {
        Pattern.FIVE: Shape.FIVE,
        Pattern.OPEN_FOUR: Shape.OPEN_FOUR,
        Pattern.DOUBLE_FOUR: Shape.OPEN_FOUR,
        Pattern.FOUR: Shape.FOUR,
        Pattern.OPEN_THREE: Shape.OPEN_THREE,
        Pattern.SPLIT_THREE: Shape.OPEN_THREE,
        Pattern.CLOSED_THREE: Shape.THREE,
        Pattern.OPEN_TWO: Shape.OPEN_TWO,
        Pattern.SPLIT_TWO: Shape.OPEN_TWO,
        Pattern.CLOSED_TWO: Shape.TWO,
    }
    codes = np.arange(4**8)
    windows = np.full_like(codes, 2 * (PLACES[0] + PLACES[-1]))  # beyond the fourth neighbour: closed
    for place in range(8):
        digit = np.minimum(codes >> 2 * place & 3, 2)  # the edge stops a line as a stone does
        windows += digit * PLACES[OFFSETS.index((-4, -3, -2, -1, 1, 2, 3, 4)[place])]
    wanted = pattern_table(Law.FIVE_OR_MORE)[windows]
    found = shape_table(5)
    for pattern, shape in names.items():
        assert (found[wanted == pattern] == shape).all(), pattern
    assert (found[wanted == Pattern.NONE] < Shape.TWO).all()


@pytest.mark.parametrize(
    ("line", "shape"),
    [
        (".xxx_x...", Shape.FIVE),
        ("xxxx_xxxx", Shape.FIVE),
        ("..xx_x...", Shape.OPEN_FOUR),
        (".x.x_x.xo", Shape.OPEN_FOUR),  # two fours on one line
        ("|oxx_x...", Shape.FOUR),
        (".oxx_.x..", Shape.FOUR),
        ("...x_x...", Shape.OPEN_THREE),
        ("..x._x...", Shape.OPEN_THREE),
        ("||ox_x...", Shape.THREE),
        ("|.xx_.o..", Shape.THREE),
        ("...._x...", Shape.OPEN_TWO),
        ("..ox_...o", Shape.TWO),
        ("..ox_..o.", Shape.NONE),
        ("...o_x...", Shape.TWO),
        ("...._....", Shape.OPEN_ONE),
        ("||||_....", Shape.ONE),
        ("ooo|_oooo", Shape.NONE),
    ],
)
def test_shapes_by_their_picture(line: str, shape: Shape) -> None:
    before, after = line.split("_")
    code = sum(LETTERS[letter] * 4**place for place, letter in enumerate(before + after))
    assert shape_table(5)[code] == shape


def test_seen_by_the_other_side() -> None:
    swap = {OWN_DIGIT: OTHER_DIGIT, OTHER_DIGIT: OWN_DIGIT}
    table = np.arange(4**4)
    for code, other in enumerate(seen_by_other(table).tolist()):
        assert digits_of(other, 3) == tuple(swap.get(digit, digit) for digit in digits_of(code, 3))


def test_over_lines_adds_what_the_table_says_over_any_number_of_boards() -> None:
    planes = random_planes(300, 6, 6, seed=3)
    table = np.random.default_rng(4).integers(0, 1000, 4**8).astype(np.int32)
    codes = line_codes(planes, 5)
    assert (over_lines(planes, 5, table, np.add) == table[codes].sum(axis=0)).all()
    assert (over_lines(planes, 5, table, np.maximum) == table[codes].max(axis=0)).all()


def test_next_to_a_stone() -> None:
    planes = np.zeros((1, 2, 5, 5), dtype=np.float32)
    planes[0, 1, 2, 2] = 1
    near = over_lines(planes, 5, next_to_stone(5).astype(np.int32), np.maximum).reshape(5, 5)
    wanted = np.zeros((5, 5))
    wanted[1:4, 1:4] = 1
    wanted[2, 2] = 0
    assert (near == wanted).all()


def test_a_win_length_without_tables_is_named() -> None:
    with pytest.raises(NeighbourhoodError, match="win length 7"):
        line_codes(np.zeros((1, 2, 9, 9)), 7)
