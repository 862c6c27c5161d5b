import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env import BLACK, WHITE, Board, GameRecord, RecordError, Rule
from env.coords import parse_cell


def record_of(board, **names):
    return GameRecord(
        board.height, board.width, board.win_length, board.rule, tuple(board.moves),
        winner=board.outcome.winner if board.outcome else 0, **{"black": "a", "white": "b", **names},
    )  # fmt: skip


def test_the_line_is_what_the_docstring_shows():
    moves = tuple(parse_cell(word, 15, 15) for word in ["h8", "i9", "h7"])
    record = GameRecord(15, 15, 5, Rule.FREESTYLE, moves, "greedy", "policy:runs/a", BLACK, opening=2)
    line = "15x15 5 freestyle black=greedy white=policy:runs/a winner=black opening=2 h8 i9 h7"
    assert record.to_line() == line
    assert GameRecord.from_line(line) == GameRecord.from_line(line + "\n") == record
    assert record.replay().moves == list(moves)  # not over: black may have won on time


@pytest.mark.parametrize("winner", [2, -2, "black", None])
def test_a_winner_who_is_no_side_is_refused(winner):
    with pytest.raises(RecordError, match=f"winner {winner!r}: use 1 for black, -1 for white, 0 for nobody"):
        GameRecord(15, 15, 5, Rule.FREESTYLE, (), "a", "b", winner)


def test_a_note_says_why_a_game_ended():
    line = "15x15 5 freestyle black=a white=b winner=white opening=0 note=a%20forfeits:%20%E2%98%B9 h8"
    record = GameRecord(15, 15, 5, Rule.FREESTYLE, (112,), "a", "b", WHITE, note="a forfeits: \u2639")
    assert record.to_line() == line and GameRecord.from_line(line) == record
    with pytest.raises(RecordError, match="at most 1 here"):
        GameRecord.from_line(line.replace("opening=0", "opening=2"))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_a_game_reads_back_and_replays_to_its_outcome(data):
    rule = data.draw(st.sampled_from([Rule.FREESTYLE, Rule.STANDARD]))
    board = Board(data.draw(st.integers(3, 12)), data.draw(st.integers(3, 12)), data.draw(st.integers(1, 3)), rule)
    rng = random.Random(data.draw(st.integers(0, 999)))
    cells = list(range(board.height * board.width))
    rng.shuffle(cells)
    while not board.is_over:
        board.play(cells.pop())
    record = record_of(board, black=data.draw(st.text()), white=data.draw(st.text()), opening=len(board.moves) // 2)
    record = replace(record, note=data.draw(st.text()))
    line = record.to_line()
    assert len(line.splitlines()) == 1
    assert GameRecord.from_line(line) == record
    assert record.replay() == board
    assert record.replay().outcome == board.outcome


def test_a_record_that_contradicts_itself_is_refused():
    board = Board.from_moves([0, 3, 1, 4, 2], 3, 3, 3)
    record = record_of(board)
    assert record.replay().outcome == board.outcome
    with pytest.raises(RecordError, match="the record says winner=white, its moves say winner=black"):
        replace(record, winner=WHITE).replay()
    with pytest.raises(RecordError, match=r"move 6 of the record is illegal: .* the game is over, black has won"):
        replace(record, moves=(*record.moves, 5)).replay()
    with pytest.raises(RecordError, match=r"move 2 of the record is illegal: a3 \(cell 0\) is occupied"):
        replace(record, moves=(0, 0)).replay()


GOOD = "15x15 5 freestyle black=a white=b winner=black opening=0 h8"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("", "is no game"),
        ("15x15 5 freestyle", "is no game"),
        (GOOD.replace("15x15", "15"), "15"),
        (GOOD.replace("15x15", "2x15"), "height 2"),
        (GOOD.replace("15x15", "ax15"), "ax15"),
        (GOOD.replace(" 5 ", " 0 "), "win_length 0"),
        (GOOD.replace(" 5 ", " five "), "five"),
        (GOOD.replace("freestyle", "free"), "free"),
        (GOOD.replace("black=a", "black:a"), "expected black="),
        (GOOD.replace("white=b", "b"), "expected white="),
        (GOOD.replace("winner=black", "winner=x"), "winner=x"),
        (GOOD.replace("opening=0", "opening=2"), "at most 1"),
        (GOOD.replace("opening=0", "opening=-1"), "opening=-1"),
        (GOOD.replace("opening=0", "opening="), "opening="),
        (GOOD + " z9", "z9"),
    ],
)
def test_what_is_no_game_is_refused_naming_the_word(line, wrong):
    with pytest.raises(RecordError, match=wrong):
        GameRecord.from_line(line)
    assert GameRecord.from_line(GOOD).moves == (112,)
