import numpy as np
import pytest

from env import BLACK, WHITE, Board, Rule
from env.observation import PlanesError, planes, positions_of, turn_planes


def test_the_side_to_move_comes_first():
    board = Board(3, 4, 3)
    board.play(0)
    board.play(5)
    board.play(11)
    seen = planes(board)
    assert seen.shape == (2, 3, 4) and seen.dtype == np.float32
    assert np.flatnonzero(seen[0]).tolist() == [5]  # white is to move and has one stone
    assert np.flatnonzero(seen[1]).tolist() == [0, 11]
    assert set(np.unique(seen)) == {0, 1}


def test_swapping_the_colours_swaps_the_planes():
    board = Board.from_moves([0, 5, 11, 7], 3, 4, 3)
    swapped = Board.from_moves([5, 0, 7, 11], 3, 4, 3)
    assert (board.cells == -swapped.cells).all()
    assert (planes(board) == planes(swapped)[::-1]).all()
    assert [board.to_move, swapped.to_move] == [BLACK, BLACK]


def test_planes_are_fresh_arrays():
    board = Board(3, 3, 3)
    first = planes(board)
    board.play(4)
    assert not first.any()
    first[:] = 9
    assert planes(board).sum() == 1


def test_a_batch_stacks_what_the_boards_show():
    boards = [Board(4, 5, 4, Rule.STANDARD) for _ in range(3)]
    boards[1].play(7)
    boards[2].play(0)
    boards[2].play(1)
    batch = positions_of(boards)
    assert len(batch) == 3 and batch.win_length == 4 and batch.rule is Rule.STANDARD
    assert batch.planes.shape == (3, 2, 4, 5) and batch.planes.dtype == np.float32
    assert batch.legal.shape == (3, 20) and batch.legal.dtype == np.bool_
    for n, board in enumerate(boards):
        assert (batch.planes[n] == planes(board)).all()
        assert (batch.legal[n] == board.legal_mask()).all()
    assert boards[1].to_move == WHITE and batch.planes[1, 1].sum() == 1


def test_boards_of_different_games_make_no_batch():
    with pytest.raises(ValueError, match="different games"):
        positions_of([Board(3, 3, 3), Board(3, 3, 2)])
    with pytest.raises(ValueError, match="at least one"):
        positions_of([])


def test_the_third_plane_says_whose_turn_it_is():
    boards = [Board.from_moves(moves, 3, 4, 3) for moves in ([], [0], [0, 5], [0, 5, 11])]
    positions = positions_of(boards)
    assert turn_planes(positions.planes)[:, 0, 0, 0].tolist() == [board.to_move for board in boards]
    seen = positions.seen(3)
    assert seen.shape == (4, 3, 3, 4) and seen.dtype == np.float32
    assert (seen[:, :2] == positions.planes).all()
    assert all((seen[i, 2] == board.to_move).all() for i, board in enumerate(boards))
    assert positions.seen(2) is positions.planes
    for count in (0, 1, 4):
        with pytest.raises(PlanesError, match="2, or 3 with the turn"):
            positions.seen(count)
