"""Line codes: every line is there once, and codes kept stone by stone equal codes read off the board."""

import numpy as np
import pytest

from env import BLACK, WHITE, Board
from rl.search.line_codes import LineCodes, cells_of, code_of, lines_of

SIZES = [(3, 3, 3), (4, 6, 4), (15, 15, 5), (7, 5, 2), (25, 3, 5), (3, 3, 1)]


@pytest.mark.parametrize(("height", "width", "win_length"), SIZES)
def test_every_stretch_of_the_winning_length_lies_on_exactly_one_line(height, width, win_length):
    """Counted the other way: all stretches from every cell in every direction."""
    stretches = []
    for row in range(height):
        for col in range(width):
            for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
                ends = row + (win_length - 1) * down, col + (win_length - 1) * across
                if 0 <= ends[0] < height and 0 <= ends[1] < width:
                    stretches.append(tuple((row + k * down) * width + col + k * across for k in range(win_length)))
    lines = lines_of(height, width, win_length)
    found = [line[k : k + win_length] for line in lines for k in range(len(line) - win_length + 1)]
    assert sorted(found) == sorted(stretches)


def test_a_board_of_fifteen_has_72_lines():
    assert len(lines_of(15, 15, 5)) == 15 + 15 + 21 + 21


def test_the_drawing():
    assert code_of((0, BLACK, WHITE, 0, BLACK)) == 102
    assert cells_of(102, 5) == (0, BLACK, WHITE, 0, BLACK)


@pytest.mark.parametrize(("height", "width", "win_length"), SIZES)
def test_codes_kept_stone_by_stone_are_the_codes_of_the_board(height, width, win_length):
    rng = np.random.default_rng(height * width)
    for _ in range(5):
        board, codes = Board(height, width, win_length), LineCodes(height, width, win_length)
        while board.outcome is None:
            cell = int(rng.choice(np.flatnonzero(board.legal_mask())))
            codes.place(cell, board.to_move)
            board.play(cell)
            if rng.random() < 0.3:
                codes.remove(board.undo(), board.to_move)
            flat = board.cells.ravel().tolist()
            read = [code_of(tuple(flat[cell] for cell in line)) for line in codes.lines]
            assert codes.codes == read == LineCodes.from_board(board).codes
            assert [len(line) for line in codes.lines] == codes.lengths
            assert [cells_of(code, length) for code, length in zip(read, codes.lengths, strict=True)] == [
                tuple(flat[cell] for cell in line) for line in codes.lines
            ]
