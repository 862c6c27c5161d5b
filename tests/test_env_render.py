import numpy as np

from env import Board
from env.coords import parse_cell
from env.render import MARK, board_pixels, board_text, position_text, star_points


def board_15(moves):
    return Board.from_moves([parse_cell(word, 15, 15) for word in moves.split()])


def test_text_shows_coordinates_stones_the_last_move_and_whose_turn_it_is():
    board = Board(3, 4, 3)
    assert (
        board_text(board) == " 3  .  .  .  .\n 2  .  .  .  .\n 1  .  .  .  .\n    a  b  c  d\nmove 0: black (X) to move"
    )
    board.play(0)
    board.play(5)
    assert board_text(board).splitlines() == [
        " 3  X  .  .  .",
        " 2  . (O) .  .",
        " 1  .  .  .  .",
        "    a  b  c  d",
        "move 2, last b2: black (X) to move",
    ]
    board.play(1)
    board.play(6)
    board.play(2)
    assert board_text(board).endswith("move 5, last c3: black (X) has won")
    drawn = Board.from_moves([0, 1, 2, 4, 3, 5, 7, 6, 8], 3, 3, 3)
    assert board_text(drawn).endswith("move 9, last c1: a draw")


def test_marks_stand_on_empty_cells_only():
    board = Board.from_moves([0], 3, 3, 3)
    assert position_text(board.cells, None, {0: "*", 1: "*"}).splitlines()[0] == " 3  X  *  ."


def test_star_points():
    names = {(row, col) for row in (3, 7, 11) for col in (3, 7, 11)}
    assert {divmod(cell, 15) for cell in star_points(15, 15)} == names
    assert [len(star_points(size, size)) for size in (3, 6, 8, 9, 19, 20)] == [1, 0, 4, 9, 9, 4]
    assert all(0 <= cell < 21 * 8 for cell in star_points(8, 21))


def test_pixels_show_every_stone_at_its_crossing():
    board = board_15("a15 o1 h8 i9")
    picture = board_pixels(board, cell=32)
    assert picture.shape == (480, 480, 3) and picture.dtype == np.uint8

    def centre(name):
        row, col = divmod(parse_cell(name, 15, 15), 15)
        return picture[row * 32 + 10, col * 32 + 22].astype(int)  # off the middle: clear of lines and the mark

    for name in ("a15", "h8"):
        assert centre(name).max() < 110, name
    for name in ("o1", "i9"):
        assert centre(name).min() > 200, name
    red, green, blue = centre("c3")
    assert red > green > blue  # wood


def test_pixels_mark_the_last_move_and_ring_the_winning_line():
    board = board_15("h8 a1 i8 b1 j8 c1 k8 d1")
    picture = board_pixels(board)
    row, col = divmod(board.moves[-1], 15)
    assert tuple(picture[row * 32 + 15, col * 32 + 15]) == MARK
    ringed = (picture == MARK).all(axis=-1)
    assert ringed.sum() == ringed[row * 32 : (row + 1) * 32, col * 32 : (col + 1) * 32].sum()
    board.play(parse_cell("l8", 15, 15))
    ringed = (board_pixels(board) == MARK).all(axis=-1).reshape(15, 32, 15, 32).sum(axis=(1, 3))
    assert {(int(r), int(c)) for r, c in np.argwhere(ringed)} == {divmod(cell, 15) for cell in board.outcome.line}


def test_pixels_of_all_sizes_and_shapes():
    for height, width, cell in [(3, 25, 8), (25, 3, 17), (6, 9, 64)]:
        board = Board(height, width, 3)
        board.play(height * width - 1)
        assert board_pixels(board, cell).shape == (height * cell, width * cell, 3)
