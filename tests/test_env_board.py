import copy
import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, EMPTY, WHITE, Board, Forbidden, ForbiddenMoveError, IllegalMoveError, Outcome, Rule
from env.coords import parse_cell
from env.renju import forbidden_points

PARITY = Path(__file__).parent / "data" / "parity"
COLOUR_NUMBER = {BLACK: 1, WHITE: 2, 0: 0}


def test_every_step_of_the_java_games_is_taken_or_refused_alike():
    """env.json: moves off the board, on stones and after the end are refused and change nothing."""
    games = json.loads((PARITY / "env.json").read_text())["games"]
    assert len(games) > 10
    for number, game in enumerate(games):
        board = Board()
        for step_number, step in enumerate(game["steps"]):
            where = f"game {number} ({game['kind']}), step {step_number}: {step}"
            if step[0] == "reset":
                board = Board()
                wanted = step[1:]
            else:
                row, col, accepted, *wanted = step
                before = (board.cells.tobytes(), list(board.moves), board.to_move, board.outcome)
                try:
                    # Java checks row and column; a column off the board has no cell number here.
                    board.play(row * 15 + col if 0 <= col < 15 else -1)
                    played = 1
                except IllegalMoveError:
                    played = 0
                    assert (board.cells.tobytes(), board.moves, board.to_move, board.outcome) == before, where
                assert played == accepted, where
            winner = COLOUR_NUMBER[board.outcome.winner] if board.outcome else 0
            assert [winner, int(board.is_over), COLOUR_NUMBER[board.to_move], len(board.moves)] == wanted, where
        digits = "".join(str(COLOUR_NUMBER[int(stone)]) for stone in board.cells.ravel())
        assert digits == game["board"], f"game {number} ({game['kind']})"


def play(names, height=15, width=15, win_length=5, rule=Rule.FREESTYLE):
    cells = [parse_cell(name, height, width) for name in names.split()]
    return Board.from_moves(cells, height, width, win_length, rule)


def test_a_new_board():
    board = Board()
    assert (board.height, board.width, board.win_length, board.rule) == (15, 15, 5, Rule.FREESTYLE)
    assert board.cells.shape == (15, 15) and board.cells.dtype == np.int8 and not board.cells.any()
    assert board.to_move == BLACK == 1 and WHITE == -1 and EMPTY == 0
    assert board.outcome is None and board.moves == [] and not board.is_over
    assert board.legal_mask().shape == (225,) and board.legal_mask().dtype == np.bool_ and board.legal_mask().all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ((2, 15), "height 2: a board has from 3 to 25"),
        ((15, 26), "width 26: a board has from 3 to 25"),
        ((15, 15, 0), "win_length 0: .* use 1 to 15"),
        ((5.0, 15), "height 5.0: use a whole number"),
        ((15, None), "width None: use a whole number"),
        ((15, 15, 2.5), "win_length 2.5: use a whole number"),
        ((15, 15, True), "win_length True: use a whole number"),
        ((4, 7, 8), "win_length 8: no line of a 4x7 board is that long; use 1 to 7"),
        ((15, 15, 5, "freestyle"), "rule 'freestyle': use Rule.FREESTYLE"),
        ((15, 15, 4, Rule.RENJU), "win_length 4: renju"),
    ],
)
def test_settings_that_make_no_game_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Board(*settings)


#  An overline, completed by x:    b c d e f g
#                                8 X X X x X X
OVERLINE = "b8 a1 c8 b1 d8 c1 f8 a3 g8 b3 e8"


def test_an_overline_wins_in_freestyle_only():
    assert play(OVERLINE).outcome == Outcome(BLACK, tuple(parse_cell(f"{c}8", 15, 15) for c in "bcdefg"))
    standard = play(OVERLINE, rule=Rule.STANDARD)
    assert standard.outcome is None and standard.legal_mask().sum() == 225 - 11
    standard.play(parse_cell("d1", 15, 15))  # the game goes on


def test_an_overline_beside_a_five_does_not_spoil_it():
    with_five = OVERLINE.removesuffix("e8") + "e9 c3 e10 d3 e11 o1 e12 o3 e8"
    board = play(with_five, rule=Rule.STANDARD)
    assert board.outcome == Outcome(BLACK, tuple(parse_cell(f"e{row}", 15, 15) for row in (12, 11, 10, 9, 8)))


# Renju. White may make a line of six; black may not even play there, unless five comes of it elsewhere.
def test_an_overline_is_white_s_win_and_forbidden_to_black_in_renju():
    white = play("o15 b8 o13 c8 o11 d8 m15 f8 m13 g8 m11 e8", rule=Rule.RENJU)
    assert white.outcome is not None and white.outcome.winner == WHITE and len(white.outcome.line) == 6
    black = play(OVERLINE.removesuffix("e8"), rule=Rule.RENJU)
    e8 = parse_cell("e8", 15, 15)
    assert black.forbidden() == {e8: Forbidden.OVERLINE} and not black.legal_mask()[e8]
    with_five = OVERLINE.removesuffix("e8") + "e9 c3 e10 d3 e11 o1 e12 o3 "
    assert e8 not in play(with_five, rule=Rule.RENJU).forbidden()
    assert play(with_five + "e8", rule=Rule.RENJU).outcome == Outcome(BLACK, tuple(range(e8 - 60, e8 + 1, 15)))


def test_the_forbidden_points_of_all_positions_with_known_ones():
    data = json.loads((PARITY.parent / "renju" / "forbidden.json").read_text())
    assert len(data["positions"]) == 300
    for position in data["positions"]:
        names = re.findall(r"[a-o]\d+", position["moves"])
        board = Board.from_moves([parse_cell(name, 15, 15) for name in names], rule=Rule.RENJU)
        wanted = {parse_cell(name, 15, 15): kind for name, kind in position["forbidden"].items()}
        assert {cell: kind.code for cell, kind in board.forbidden().items()} == wanted, position["id"]
        assert (board.legal_mask() == [not board.cells.flat[c] and c not in wanted for c in range(225)]).all()
        twin = board.copy()
        for cell in wanted:
            for asked_before in (True, False):
                refused = board if asked_before else Board.from_moves(board.moves, rule=Rule.RENJU)
                with pytest.raises(ForbiddenMoveError, match=r"forbidden to black: (overline|double)") as caught:
                    refused.play(cell)
                assert caught.value.kind == board.forbidden()[cell]
                assert refused == twin and (refused.cells == twin.cells).all() and refused.to_move == BLACK
        free = next(cell for cell in range(225) if board.legal_mask()[cell])
        board.play(free)
        assert board.forbidden() == {} and board.legal_mask().sum() == 225 - len(names) - 1
        board.undo()
        assert board.forbidden() == twin.forbidden()


def test_what_is_forbidden_is_known_of_this_position_only():
    board = play(OVERLINE.removesuffix("e8"), rule=Rule.RENJU)
    first = board.forbidden()
    first.clear()
    assert len(board.forbidden()) == 1
    board.undo()
    assert board.forbidden() == {}
    board.play(parse_cell("e8", 15, 15))  # white may, and black's overline is gone
    board.play(parse_cell("o15", 15, 15))
    board.play(parse_cell("o13", 15, 15))
    assert board.forbidden() == {}
    assert play(OVERLINE).forbidden() == {}
    asked_at_every_move = Board(rule=Rule.RENJU)
    for ply, cell in enumerate(play(OVERLINE).moves[:-1], start=1):
        asked_at_every_move.forbidden()
        asked_at_every_move.play(cell)
        assert bool(asked_at_every_move.forbidden()) == (ply == 10)


def test_black_with_nothing_but_forbidden_points_has_drawn():
    """Both empty cells, b5 and b3, would be overlines: in the diagonal from a6 and in the fourth row from a3."""
    moves = [
        15, 1, 21, 4, 34, 24, 35, 17, 6, 33, 5, 30, 12, 2, 3, 31, 28,
        27, 0, 13, 20, 26, 23, 11, 18, 25, 10, 32, 22, 16, 9, 29, 14, 8,
    ]  # fmt: skip
    board = Board.from_moves(moves[:-1], 6, 6, 5, Rule.RENJU)
    assert board.outcome is None and board.legal_mask().sum() == 3
    board.play(moves[-1])
    assert (board.cells == EMPTY).sum() == 2
    assert forbidden_points(board.cells) == {7: Forbidden.OVERLINE, 19: Forbidden.OVERLINE}
    assert board.outcome == Outcome(0) and not board.legal_mask().any() and board.forbidden() == {}
    board.undo()
    assert board.outcome is None and board.to_move == WHITE


def test_white_wins_too_and_the_turn_still_changes():
    board = play("a1 a8 b1 b8 c1 c8 d1 d8 o15 e8")
    assert board.outcome is not None and board.outcome.winner == WHITE
    assert board.to_move == BLACK and board.is_over and not board.legal_mask().any()


def test_a_win_with_the_last_stone_is_a_win_and_a_full_board_a_draw():
    win = Board.from_moves([0, 1, 2, 3, 5, 4, 7, 6, 8], 3, 3, 3)
    assert len(win.moves) == 9 and win.outcome == Outcome(BLACK, (2, 5, 8))
    draw = Board.from_moves([0, 1, 2, 4, 3, 5, 7, 6, 8], 3, 3, 3)
    assert draw.outcome == Outcome(0, ()) and draw.is_over and not draw.legal_mask().any()


def test_the_smallest_games():
    assert Board.from_moves([4], 3, 3, 1).outcome == Outcome(BLACK, (4,))
    assert Board.from_moves([0, 5, 1], 3, 3, 2).outcome == Outcome(BLACK, (0, 1))


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (225, r"cell 225 is off the 15x15 board: use 0 to 224"),
        (-1, r"cell -1 is off the 15x15 board"),
        (112, r"h8 \(cell 112\) is occupied by black: play an empty cell"),
        (113, r"i8 \(cell 113\) is occupied by white"),
    ],
)
def test_a_refused_move_changes_nothing_and_says_why(cell, message):
    board = play("h8 i8")
    twin = board.copy()
    with pytest.raises(IllegalMoveError, match=message):
        board.play(cell)
    assert board == twin and (board.cells == twin.cells).all() and board.to_move == twin.to_move


def test_no_move_after_the_end():
    board = Board.from_moves([0, 3, 1, 4, 2], 3, 3, 3)
    with pytest.raises(IllegalMoveError, match=r"b1 \(cell 7\): the game is over, black has won"):
        board.play(7)
    assert board.undo() == 2 and board.outcome is None
    board.play(7)
    assert board.to_move == WHITE and board.outcome is None


def test_undo_needs_a_move():
    with pytest.raises(IllegalMoveError, match="nothing to undo"):
        Board().undo()


def test_moves_are_whole_numbers_whatever_their_type():
    board = Board(3, 3, 3)
    board.play(np.int64(4))
    assert board.moves == [4] and type(board.moves[0]) is int
    with pytest.raises(TypeError):
        board.play(1.0)
    assert board.moves == [4]


def test_from_moves_stops_at_the_first_illegal_one():
    with pytest.raises(IllegalMoveError, match="occupied"):
        Board.from_moves([0, 0], 3, 3, 3)


def test_cells_are_a_window_that_cannot_be_written_through():
    board = Board(3, 4, 3)
    cells = board.cells
    board.play(5)
    assert cells[1, 1] == BLACK
    with pytest.raises(ValueError, match="read-only"):
        cells[0, 0] = WHITE
    mask = board.legal_mask()
    mask[:] = False
    assert board.legal_mask().sum() == 11


@pytest.mark.parametrize("twin_of", [Board.copy, copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_a_copy_goes_its_own_way(twin_of):
    board = Board.from_moves([0, 3, 1, 4], 3, 4, 3, Rule.STANDARD)
    twin = twin_of(board)
    assert twin == board and twin.rule is Rule.STANDARD and (twin.cells == board.cells).all()
    twin.play(2)
    assert twin.outcome is not None and board.outcome is None and board.moves == [0, 3, 1, 4]
    assert twin.cells[0, 2] == BLACK and board.cells[0, 2] == EMPTY
    board.play(5)
    assert twin.cells[1, 1] == EMPTY and twin != board


def test_equality_is_of_the_whole_game():
    board = Board.from_moves([0, 1], 3, 3, 3)
    assert board == Board.from_moves([0, 1], 3, 3, 3)
    assert board != Board.from_moves([0, 2], 3, 3, 3)
    assert board != Board.from_moves([0, 1], 3, 3, 2)
    assert board != Board.from_moves([0, 1], 3, 3, 3, Rule.STANDARD)
    assert board != "board"
    with pytest.raises(TypeError, match="unhashable"):
        hash(board)


def test_repr_names_the_game():
    assert repr(Board.from_moves([0, 4], 3, 3, 3)) == "<Board 3x3 win_length=3 freestyle moves=a3 b2 outcome=None>"


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64])
def test_numpys_small_integers_do_not_overflow(kind):
    board = Board(kind(25), kind(25), kind(5))
    board.play(kind(24))
    board.play(624)
    assert board.legal_mask().shape == (625,) and board.moves == [24, 624]
    assert {type(number) for number in (board.height, board.width, board.win_length)} == {int}


def test_a_refusal_may_be_passed_on_to_another_process():
    for error in (ForbiddenMoveError("h8", Forbidden.OVERLINE | Forbidden.DOUBLE_FOUR), IllegalMoveError("occupied")):
        twin = pickle.loads(pickle.dumps(error))
        assert type(twin) is type(error) and str(twin) == str(error)
        assert getattr(twin, "kind", None) == getattr(error, "kind", None)
