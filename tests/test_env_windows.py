"""Window codes against the plain reading of a board, cell by cell."""

import numpy as np
import pytest

from env.rules import BLACK, EMPTY, WHITE
from env.windows import CODES, OFFSETS, OTHER, OWN, PLACES, REACH, window_codes

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def code_by_reading(cells: np.ndarray, colour: int, row: int, col: int, way: tuple[int, int]) -> int:
    """The eleven digits one after another, as in the drawing of env/windows.py."""
    code = 0
    for k in range(-REACH, REACH + 1):
        r, c = row + k * way[0], col + k * way[1]
        on_board = 0 <= r < cells.shape[0] and 0 <= c < cells.shape[1]
        digit = {EMPTY: 0, colour: OWN, -colour: OTHER}[int(cells[r, c])] if on_board else OTHER
        code = 3 * code + (digit if k else 0)
    return code


@pytest.mark.parametrize("colour", [BLACK, WHITE])
@pytest.mark.parametrize("height, width", [(5, 5), (3, 9), (9, 3), (1, 12), (12, 1), (15, 15)])
def test_every_code_is_the_number_read_off_the_board(height, width, colour):
    cells = np.random.default_rng(height).integers(-1, 2, size=(height, width)).astype(np.int8)
    codes = window_codes(cells, colour)
    assert codes.shape == (4, height, width)
    for way, row, col in np.ndindex(codes.shape):
        assert codes[way, row, col] == code_by_reading(cells, colour, row, col, DIRECTIONS[way])


def test_a_stone_on_the_middle_changes_nothing():
    cells = np.random.default_rng(1).integers(-1, 2, size=(7, 8)).astype(np.int8)
    for row, col in np.ndindex(cells.shape):
        other = cells.copy()
        other[row, col] = BLACK
        assert np.array_equal(window_codes(other, BLACK)[:, row, col], window_codes(cells, BLACK)[:, row, col])


def test_one_more_own_stone_adds_its_place():
    cells = np.zeros((11, 11), dtype=np.int8)
    for k, place in zip(OFFSETS, PLACES, strict=True):
        for way, (down, right) in enumerate(DIRECTIONS):
            cells[5 + k * down, 5 + k * right] = BLACK
            assert window_codes(cells, BLACK)[way, 5, 5] == place
            assert window_codes(cells, WHITE)[way, 5, 5] == OTHER * place
            cells[:] = EMPTY


def test_the_largest_code_is_exact_and_within_the_table():
    full = np.full((11, 11), WHITE, dtype=np.int8)
    assert window_codes(full, BLACK).max() == CODES - 1 - OTHER * 3**REACH


def test_many_boards_at_once_are_each_by_itself():
    boards = np.random.default_rng(2).integers(-1, 2, size=(2, 3, 6, 9)).astype(np.int8)
    codes = window_codes(boards, WHITE)
    assert codes.shape == (2, 3, 4, 6, 9)
    for game in np.ndindex(2, 3):
        assert np.array_equal(codes[game], window_codes(boards[game], WHITE))
    assert window_codes(boards[:0], WHITE).shape == (0, 3, 4, 6, 9)
