import random

import pytest
from env_referee import LETTER, as_stones, winner
from hypothesis import given, settings
from hypothesis import strategies as st

import env.bitboard
from env import BLACK, WHITE, Board, Forbidden, ForbiddenMoveError, IllegalMoveError, Rule
from env.bitboard import Bitboard
from env.renju import ALLOWED


def check_equal(bits, board):
    """Everything that Bitboard and Board both know."""
    assert (bits.as_cells() == board.cells).all(), f"{board!r}"
    assert bits.to_move == board.to_move and bits.moves == board.moves
    assert bits.winner == (board.outcome.winner if board.outcome else None), f"{board!r}"
    assert bits.cells_of(bits.legal()) == board.legal_mask().nonzero()[0].tolist()
    assert bits.cells_of(bits.empty) == (board.cells.ravel() == 0).nonzero()[0].tolist()


def winning_by_trying(board, colour):
    """The cells where one stone of `colour` makes a winning line, by putting it there and reading the board."""
    settings = (board.height, board.width, board.win_length, board.rule)
    stones = as_stones(board.cells)
    assert winner(stones, *settings) is None
    return [
        cell
        for cell in range(board.height * board.width)
        if not board.cells.flat[cell]
        and winner({**stones, divmod(cell, board.width): LETTER[colour]}, *settings) == colour
    ]


def near_by_measuring(board, distance):
    """The empty cells within `distance` rows and columns of a stone."""
    stones = as_stones(board.cells)
    places = (divmod(cell, board.width) for cell in range(board.height * board.width))
    return [
        row * board.width + col
        for row, col in places
        if (row, col) not in stones and any(max(abs(row - r), abs(col - c)) <= distance for r, c in stones)
    ]


def follow_a_game(height, width, win_length, rule, rng, every=1):
    """A random game on both boards, the bits looked at in every way at every `every`-th ply, then taken back."""
    board, bits = Board(height, width, win_length, rule), Bitboard(height, width, win_length, rule)
    check_equal(bits, board)
    keys = []
    while not board.is_over:
        cell = rng.choice(board.legal_mask().nonzero()[0].tolist())
        keys.append(bits.key)
        board.play(cell)
        bits.play(cell)
        check_equal(bits, board)
        for forbidden, kind in board.forbidden().items():
            with pytest.raises(ForbiddenMoveError) as caught:
                bits.play(forbidden)
            assert caught.value.kind == kind, f"{board!r}"
        if not board.is_over and len(board.moves) % every == 0:
            for colour in (BLACK, WHITE):
                assert bits.cells_of(bits.winning(colour)) == winning_by_trying(board, colour), f"{board!r}"
            for distance in (1, 2, 3):
                assert bits.cells_of(bits.near(distance)) == near_by_measuring(board, distance)
            twin = Bitboard.from_board(board)
            assert twin.key == bits.key
            check_equal(twin, board)
    assert Bitboard.from_board(board).winner == board.outcome.winner
    for cell in range(-1, height * width + 1):
        with pytest.raises(IllegalMoveError):
            bits.play(cell)
    while board.moves:
        assert bits.undo() == board.undo()
        assert bits.key == keys.pop()
        assert bits.winner is None
    check_equal(bits, board)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.integers(3, 8), st.integers(3, 8), st.one_of(st.integers(2, 4), st.integers(1, 8)),
    st.sampled_from([Rule.FREESTYLE, Rule.STANDARD]), st.randoms(use_true_random=False),
)  # fmt: skip
def test_bits_play_as_the_board_does(height, width, win_length, rule, rng):
    follow_a_game(height, width, min(win_length, max(height, width)), rule, rng, every=3)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(3, 8), st.integers(5, 8), st.randoms(use_true_random=False))
def test_bits_play_renju_as_the_board_does(height, width, rng):
    follow_a_game(height, width, 5, Rule.RENJU, rng, every=3)


@pytest.mark.parametrize(
    ("height", "width", "rule"), [(15, 15, Rule.FREESTYLE), (3, 25, Rule.STANDARD), (25, 3, Rule.FREESTYLE)]
)
def test_bits_play_as_the_board_does_on_large_boards(height, width, rule):
    follow_a_game(height, width, 5, rule, random.Random(1), every=20)


def test_refused_moves_change_nothing():
    bits = Bitboard(3, 3, 3)
    bits.play(4)
    before = bits.key
    for cell, message in ((4, r"b2 \(cell 4\) is occupied"), (9, "cell 9"), (-1, "cell -1")):
        with pytest.raises(IllegalMoveError, match=message):
            bits.play(cell)
    assert bits.key == before and bits.moves == [4]
    bits.undo()
    with pytest.raises(IllegalMoveError, match="nothing to undo"):
        bits.undo()
    with pytest.raises(ValueError, match="height 2"):
        Bitboard(2, 3, 3)


def test_a_forbidden_point_is_refused_by_its_kind_and_white_may_play_it():
    bits = Bitboard(9, 9, 5, Rule.RENJU)
    for cell in (40, 0, 41, 2, 48, 6, 57, 8):  # two pairs that meet in d5, cell 39
        bits.play(cell)
    with pytest.raises(ForbiddenMoveError, match=r"d5 \(cell 39\) is forbidden to black: double three") as caught:
        bits.play(39)
    assert caught.value.kind == Forbidden.DOUBLE_THREE and len(bits.moves) == 8
    assert not bits.legal() & bits.bit(39)
    bits.play(80)
    assert bits.legal() & bits.bit(39)
    bits.play(39)


def test_black_with_nothing_but_forbidden_points_has_drawn():
    moves = [
        15, 1, 21, 4, 34, 24, 35, 17, 6, 33, 5, 30, 12, 2, 3, 31, 28,
        27, 0, 13, 20, 26, 23, 11, 18, 25, 10, 32, 22, 16, 9, 29, 14, 8,
    ]  # fmt: skip
    bits = Bitboard(6, 6, 5, Rule.RENJU)
    for cell in moves[:-1]:
        bits.play(cell)
    assert bits.winner is None
    bits.play(moves[-1])
    assert bits.winner == 0 and bits.legal() == 0 and bits.empty


def test_keys_tell_positions_apart_but_not_ways_to_them():
    def key(*cells):
        bits = Bitboard(5, 5, 4)
        for cell in cells:
            bits.play(cell)
        return bits.key

    assert key(0, 1, 2) == key(2, 1, 0) != key(0, 2, 1)
    assert len({key(0), key(1), key()}) == 3


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("steps", lambda width: (1, width + 1, width + 2, width + 2)),  # one diagonal is not looked at
        ("steps", lambda width: (1, width, width + 1, width - 1)),  # no wall between rows
        ("_whole_board", lambda height, width: (1 << height * (width + 1)) - 1),  # a wall may be played on
    ],
)
def test_a_wrong_rule_is_caught(name, wrong, monkeypatch):
    monkeypatch.setattr(env.bitboard, name, wrong)
    with pytest.raises((AssertionError, ValueError, IndexError)):
        for seed in range(30):
            follow_a_game(5, 6, 3, Rule.FREESTYLE, random.Random(seed))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("forbidden_points", lambda cells: {}),  # black may play everywhere
        ("forbidden_at", lambda cells, cell: ALLOWED),  # the mask is right, but a forbidden point is not refused
    ],
)
def test_a_wrong_rule_of_renju_is_caught(name, wrong, monkeypatch):
    monkeypatch.setattr(env.bitboard, name, wrong)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        for seed in range(30):
            follow_a_game(6, 7, 5, Rule.RENJU, random.Random(seed), every=9)
