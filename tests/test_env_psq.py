"""The Piskvork manager's files: read as the manager and Gomocup write them, written so that both read them."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env import BLACK, WHITE, Board, GameRecord, RecordError, Rule
from env.coords import cell_name, parse_cell
from env.psq import from_psq, to_psq

RECORDS = Path(__file__).parent / "data" / "records"
FIRST = "h8 i9 g7 j8 k7 h6 i7 j7 j6 g9 k5 l4 k6 k4 k8 k9 i5 l8 h4 g3 l6 i6 m6 n6 m7 j4 m4 n8 m5 m8 m3"
HEAD = "Piskvorky 15x15, 11:11, 0\n"
FIVE = "1,1,0\n1,2,0\n2,1,0\n2,2,0\n3,1,0\n3,2,0\n4,1,0\n4,2,0\n5,1,9\n"


def names(record: GameRecord) -> str:
    return " ".join(cell_name(cell, record.height, record.width) for cell in record.moves)


def message(text: str | bytes, rule: Rule | None = None) -> str:
    with pytest.raises(RecordError) as caught:
        from_psq(text, rule)
    said = str(caught.value)
    assert "\n" not in said
    assert re.match(r"[0-9]+:[0-9]+: ", said)
    return said


def test_a_gomocup_game() -> None:
    game = from_psq((RECORDS / "gomocup.psq").read_bytes())
    assert names(game) == FIRST
    assert (game.height, game.width, game.win_length, game.rule) == (15, 15, 5, Rule.RENJU)
    assert (game.black, game.white, game.opening) == ("ALDER23.zip", "BIRCH21.zip", 3)
    assert game.winner == BLACK  # the board says so, whatever Gomocup's number counts by
    assert game.replay().outcome is not None


def test_a_game_the_second_player_began_and_lost_on_time() -> None:
    """The header's last number says that player two began, so he is black; after 25 moves white ran out of time."""
    game = from_psq((RECORDS / "piskvork.psq").read_bytes())
    assert (game.black, game.white) == ("pbrain-alder.exe", "pbrain-birch.exe")
    assert (len(game.moves), game.winner, game.opening, game.rule) == (25, BLACK, 0, Rule.FREESTYLE)


def test_x_is_the_column_from_the_left_and_y_the_row_from_the_top() -> None:
    assert names(from_psq("Piskvorky 7x5, 0:0, 0\n1,1,0\n7,1,0\n1,5,0\n7,5,0\n0")) == "a5 g5 a1 g1"


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        ("0\n", ("", "", 0)),
        ("", ("", "", 0)),
        ("-1\n", ("", "", 0)),
        ("15\n", ("", "", WHITE)),  # black was to move
        ("-2\n", ("", "", WHITE)),
        ("Ann\nBob\n0\n", ("Ann", "Bob", 0)),
        ("Ann\nBob\n", ("Ann", "Bob", 0)),
        ("Ann\nBob\n15\n", ("Ann", "Bob", WHITE)),
        ("  Ann B. \n\n\tBob\n-1\n\n\x1a", ("Ann B.", "Bob", 0)),
        ("A.zip\nB.zip\n-1\n1,Freestyle15\n", ("A.zip", "B.zip", WHITE)),
        ("A.zip\nB.zip\n-1\n2,Freestyle15\n", ("A.zip", "B.zip", WHITE)),
        ("A.zip\nB.zip\n-1\n0,Freestyle15\n", ("A.zip", "B.zip", 0)),
        ("Ann\nBob\n0\nsome remark\nand another\n", ("Ann", "Bob", 0)),
        ("Al\x1b[1m\nB\xf6b\n0\n", ("Al\ufffd[1m", "B\xf6b", 0)),
    ],
)
def test_what_follows_the_moves(tail: str, expected: tuple[str, str, int]) -> None:
    text = f"{HEAD}8,8,10\n9,7,20\n{tail}"
    for written in (text, text.replace("\n", "\r\n"), text.encode(), text.encode("latin-1"), "\ufeff" + text):
        game = from_psq(written)
        assert (game.black, game.white, game.winner) == expected
        assert names(game) == "h8 i9"


def test_times_may_be_missing_and_blanks_are_no_matter() -> None:
    assert names(from_psq("Piskvorky  15 x 15 ,0 : 0,0\r\n\r\n 8 , 8\r\n9,7\r\n")) == "h8 i9"


@pytest.mark.parametrize(
    ("times", "opening"), [("00000", 0), ("00012", 3), ("50000", 0), ("00100", 2), ("00001", 4), ("11111", 0)]
)
def test_the_opening_is_the_moves_without_a_time(times: str, opening: int) -> None:
    moves = "".join(f"{3 * i + 1},{1 + i % 2},{time}\n" for i, time in enumerate(times))
    assert from_psq(HEAD + moves + "0\n").opening == opening


def test_the_rule_is_the_callers_else_hinted_at_by_the_tournament() -> None:
    assert from_psq(HEAD + "8,8,0\nA\nB\n-1\n0,Standard15_2").rule is Rule.STANDARD
    assert from_psq(HEAD + "8,8,0\nA\nB\n-1\n0,RENJU15").rule is Rule.RENJU
    assert from_psq(HEAD + "8,8,0\nA\nB\n-1\n0,RENJU15", Rule.FREESTYLE).rule is Rule.FREESTYLE
    assert from_psq(HEAD + "8,8,0\nRenju\nB\n-1\n").rule is Rule.FREESTYLE  # a player's name


def test_a_last_stone_on_a_forbidden_point_lost() -> None:
    six = HEAD + "1,1,0\n1,3,0\n2,1,0\n3,3,0\n3,1,0\n5,3,0\n5,1,0\n7,3,0\n6,1,0\n9,3,0\n4,1,0\n"
    game = from_psq(six, Rule.RENJU)
    assert (len(game.moves), game.winner) == (10, WHITE)
    assert from_psq(six).winner == BLACK
    assert "forbidden" in message(six + "11,3,0\n", Rule.RENJU)
    assert "12:1: move 12, 11,3: " not in message(six + "11,3,0\n")
    assert "13:1: move 12, 11,3: " in message(six + "11,3,0\n")


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", "1:1", "Piskvorky 15x15"),
        ("Gomoku 15x15, 0:0, 0\n8,8,0\n", "1:1", "Piskvorky 15x15"),
        ("\n\nPiskvorky 15, 0:0, 0\n", "3:1", "Piskvorky 15x15"),
        ("Piskvorky 30x30, 0:0, 0\n8,8,0\n", "1:1", "3 to 25"),
        ("Piskvorky 2x15, 0:0, 0\n", "1:1", "3 to 25"),
        (HEAD + "16,8,0\n", "2:1", "16,8 is off the board: use 1,1 to 15,15"),
        (HEAD + "0,8,0\n", "2:1", "0,8 is off the board"),
        (HEAD + "8,-8,0\n", "2:1", "8,-8 is off the board"),
        (HEAD + "8,8,0\n9,9,0\n8,8,0\n", "4:1", "move 3, 8,8: h8 (cell 112) is occupied by black"),
        (HEAD + "8,8,0\n8,x,0\n9,9,0\n", "3:1", "'8,x,0' is no move"),
        (HEAD + "8,8,0\r\n8;9;0\r\n", "3:1", "'8;9;0' is no move"),
        (HEAD + "8,8,0\nAnn\n9,9,0\n", "3:1", "'Ann' is no move"),
        (HEAD + FIVE + "9,9,0\n", "11:1", "the game is over, black has won"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, place: str, says: str) -> None:
    said = message(text)
    assert said.startswith(f"{place}: ")
    assert says in said


# --- ours


def record(moves: str, **changes: object) -> GameRecord:
    cells = tuple(parse_cell(name, 15, 15) for name in moves.split())
    settings: dict = {
        "win_length": 5,
        "rule": Rule.FREESTYLE,
        "black": "Ann",
        "white": "Bob",
        "winner": 0,
        "opening": 0,
    }
    return GameRecord(15, 15, moves=cells, **{**settings, **changes})


def test_what_we_write() -> None:
    assert to_psq(record("h8 i9 j8", opening=2)) == (
        "Piskvorky 15x15, 11:11, 0\n8,8,0\n9,7,0\n10,8,1\nAnn\nBob\n-1\n0,freestyle\n"
    )
    assert to_psq(record("h8", winner=BLACK, rule=Rule.RENJU)).endswith("\nAnn\nBob\n-2\n1,renju\n")
    assert "Ann" not in to_psq(record("h8", black="", white=""))
    assert "\nhomo-1\nBob\n" in to_psq(record("h8", black=""))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"win_length": 4}, "five in a row"),
        ({"winner": WHITE}, "side to move"),
        ({"black": "12"}, "the name '12'"),
        ({"black": "1,2"}, "the name '1,2'"),
        ({"white": "two\nlines"}, "the name"),
        ({"white": " blank"}, "the name"),
    ],
)
def test_what_the_format_cannot_say_is_refused(changes: dict, says: str) -> None:
    with pytest.raises(RecordError, match=says):
        to_psq(record("h8", **changes))


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    board = Board(draw(st.integers(5, 25)), draw(st.integers(5, 25)), 5, draw(st.sampled_from(list(Rule))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 60))):
        legal = np.flatnonzero(board.legal_mask())
        if len(legal) == 0:
            break
        board.play(int(rng.choice(legal)))
    winner = board.outcome.winner if board.outcome else draw(st.sampled_from([-board.to_move, 0]))
    opening = draw(st.integers(0, max(0, len(board.moves) - 1)))
    player = st.from_regex(r"[A-Za-z][\w .:/-]{0,8}\w", fullmatch=True)
    black, white = draw(st.one_of(st.tuples(player, player), st.just(("", ""))))
    return GameRecord(board.height, board.width, 5, board.rule, tuple(board.moves), black, white, winner, opening)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(records())
def test_what_we_write_reads_back_the_same(game: GameRecord) -> None:
    text = to_psq(game)
    assert from_psq(text) == game
    assert from_psq(text.replace("\n", "\r\n").encode()) == game


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(["gomocup.psq", "piskvork.psq"]),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 2), st.binary(min_size=1, max_size=3))),
)
def test_a_damaged_file_is_refused_by_name_or_read(name: str, edits: list[tuple[float, int, bytes]]) -> None:
    data = (RECORDS / name).read_bytes()
    for where, kind, wild in edits:
        at = int(where * len(data))
        data = [data[:at] + wild + data[at + 1 :], data[:at] + wild + data[at:], data[:at] + data[at + len(wild) :]][
            kind
        ]
    try:
        game = from_psq(data)
    except RecordError as error:
        assert "\n" not in str(error)
    else:
        game.replay()
