"""SGF: files of other programs come in, ours go out, and what is wrong is one line with its place."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from env import BLACK, WHITE, Board, GameRecord, RecordError, Rule
from env.coords import cell_name, parse_cell
from env.record_text import MAX_BYTES
from env.sgf import from_sgf, to_sgf
from env.sgf_tree import MOST_NODES, MOST_VALUES

RECORDS = Path(__file__).parent / "data" / "records"
FIRST = "h8 i9 g7 j8 k7 h6 i7 j7 j6 g9 k5 l4 k6 k4 k8 k9 i5 l8 h4 g3 l6 i6 m6 n6 m7 j4 m4 n8 m5 m8 m3"


def read(name: str) -> list[GameRecord]:
    return from_sgf((RECORDS / name).read_bytes())


def one(text: str | bytes, rule: Rule | None = None) -> GameRecord:
    (game,) = from_sgf(text, rule)
    return game


def names(record: GameRecord) -> str:
    return " ".join(cell_name(cell, record.height, record.width) for cell in record.moves)


def message(text: str | bytes, rule: Rule | None = None) -> str:
    with pytest.raises(RecordError) as caught:
        from_sgf(text, rule)
    said = str(caught.value)
    assert "\n" not in said
    assert re.match(r"[0-9]+:[0-9]+: ", said)
    return said


# --- files of other programs


def test_a_match_managers_file() -> None:
    first, second, third = read("manager.sgf")
    assert names(first) == FIRST
    assert (first.rule, second.rule, third.rule) == (Rule.RENJU, Rule.STANDARD, Rule.FREESTYLE)
    assert (first.black, first.white, second.black) == ("Alder", "Birch", "Birch")
    assert (first.winner, second.winner) == (BLACK, WHITE)
    assert first.opening == second.opening == 3  # their comments say "opening move"
    assert first.replay().outcome is not None
    assert third.replay().outcome is None
    assert third.winner == WHITE  # on time: RE alone says so


def test_a_managers_game_counted_from_the_bottom_is_the_same_game_upside_down() -> None:
    """Every row letter reversed, as a manager that counts rows from the bottom writes them."""
    text = (RECORDS / "manager.sgf").read_text()
    flipped = re.sub(r";([BW])\[(.)(.)\]", lambda m: f";{m[1]}[{m[2]}{chr(ord('a') + ord('o') - ord(m[3]))}]", text)
    for game, twin in zip(from_sgf(text), from_sgf(flipped), strict=True):
        upright, mirrored = game.replay(), twin.replay()
        assert np.array_equal(upright.cells, mirrored.cells[::-1])
        assert game.winner == twin.winner
        assert game.moves != twin.moves


def test_an_editors_file() -> None:
    """A BOM, CRLF, escapes, setup stones with white to move, variations within variations."""
    game = one((RECORDS / "editor.sgf").read_bytes())
    assert names(game) == "h8 i8 h6 i7 j9 g6 i10 k8"
    assert (game.black, game.white) == ("Zo\u00eb [5 dan]", "back\\slash")
    assert (game.opening, game.winner, game.rule) == (3, 0, Rule.RENJU)


def test_chinese_and_japanese_files_that_name_no_encoding() -> None:
    chinese, japanese = one((RECORDS / "chinese.sgf").read_bytes()), one((RECORDS / "japanese.sgf").read_bytes())
    assert names(chinese) == names(japanese) == FIRST
    assert (chinese.black, chinese.white) == ("\u9ed1\u65b9", "\u767d\u65b9")
    assert (japanese.black, japanese.white) == ("\u9ed2\u85ae\u69d8\u30bd", "\u767d\u85ae\u69d8")
    assert chinese.rule is japanese.rule is Rule.RENJU  # RU says so in Chinese characters
    assert chinese.winner == japanese.winner == BLACK


def test_all_moves_in_one_node() -> None:
    game = one((RECORDS / "onenode.sgf").read_bytes())
    assert names(game) == " ".join(FIRST.split()[:9])
    assert game.winner == BLACK


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"(;PB[Zo\xc3\xab])", "Zo\u00eb"),
        (b"(;PB[Zo\xeb])", "Zo\u00eb"),
        (b"(;CA[ISO-8859-1]PB[Zo\xeb])", "Zo\u00eb"),
        (b"(;CA[gb2312]PB[\xb9\xc5\xc1\xa6])", "\u53e4\u529b"),
        (b"(;CA[GBK]PB[\x81\x5c\x81\x5d])", "\u4e57\u4e5a"),  # trail bytes that look like a backslash and a bracket
        (b"(;CA[Shift_JIS]PB[\x83\x5c])", "\u30bd"),
        (b"(;CA[windows-1251]PB[\xc0\xed\xed\xe0])", "\u0410\u043d\u043d\u0430"),
        (b"(;CA[UTF-8]PB[Zo\xeb])", "Zo\u00eb"),  # it lies
        (b"(;CA[no-such]PB[Zo\xeb])", "Zo\u00eb"),
        (b"(;CA[unicode_escape]PB[\\\\x41])", "\\x41"),  # an encoding of Python's, not of files
        (b"\xff\xfe" + "(;PB[Zo\u00eb])".encode("utf-16-le"), "Zo\u00eb"),
        (b"\xfe\xff" + "(;PB[Zo\u00eb])".encode("utf-16-be"), "Zo\u00eb"),
    ],
)
def test_encodings(data: bytes, name: str) -> None:
    assert one(data).black == name


# --- what a file can say


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;B[hh];W[ig])", "h8 i9"),
        ("(;B[aa];W[oo];B[ao];W[oa])", "a15 o1 a1 o15"),
        ("(;SZ[20];B[at];W[ta])", "a1 t20"),
        ("(;SZ[25];B[yy];W[aa])", "y1 a25"),
        ("(;SZ[3];B[bb];W[ac])", "b2 a1"),
        ("(;SZ[20];B[tt];W[aa])", "t1 a20"),  # no pass on a board so large
        ("(;SZ[7:5];B[ga];W[ae])", "g5 a1"),  # columns:rows
        ("(;B[HH];W[h9])", "h8 h9"),  # capitals; names of crossings
        ("mail text ( and so on\n( ;B[hh]\n;\tW [ig]\n)\n\x1a", "h8 i9"),
        ("(;Black[hh];White[ig])", "h8 i9"),
        ("(;B[hh]C[a \\] b \\\\];W[ig])", "h8 i9"),
        ("(;B[h\\\nh])", None),
        ("(;B[hh];W[ig];B[];W[])", "h8 i9"),  # passes after the last stone
        ("(;B[hh];W[tt])", "h8"),
        ("(;B[hh](;W[ig];B[ii](;W[aa])(;W[bb]))(;W[jj]))", "h8 i9 i7 a15"),
        ("(;(;B[hh])(;B[ii]))", "h8"),
        ("(;AB[hh][ii]AW[jj][kk];B[ll])", "h8 j6 i7 k5 l4"),
        ("(;AB[aa:bb]AW[ca:cd];B[hh])", "a15 c15 b15 c14 a14 c13 b14 c12 h8"),
        ("(;AB[hh][ii];AW[jj]AE[ii];W[kk])", None),
        ("(;AB[hh][ii];AW[jj]AE[ii]PL[B];B[kk])", "h8 j6 k5"),
        ("(;PL[B]B[hh])", "h8"),
        ("(;)", ""),
    ],
)
def test_moves(text: str, moves: str | None) -> None:
    if moves is None:
        message(text)
    else:
        assert names(one(text)) == moves


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("0", Rule.FREESTYLE),
        ("1", Rule.STANDARD),
        ("4", Rule.RENJU),
        ("", Rule.FREESTYLE),
        ("Gomoku", Rule.FREESTYLE),
        ("Swap2", Rule.FREESTYLE),
        ("Standard", Rule.STANDARD),
        ("exactly five", Rule.STANDARD),
        ("Renju", Rule.RENJU),
        ("Taraguchi-10", Rule.RENJU),
        ("RIF", Rule.RENJU),
    ],
)
def test_rules(said: str, rule: Rule) -> None:
    assert one(f"(;RU[{said}];B[hh])").rule is rule
    assert one(f"(;RU[{said}];B[hh])", Rule.STANDARD).rule is Rule.STANDARD


@pytest.mark.parametrize(
    ("said", "winner"),
    [
        ("B+1", BLACK),
        ("B+", BLACK),
        ("b+Resign", BLACK),
        ("Black wins", BLACK),
        ("W+T", WHITE),
        ("W", WHITE),
        ("White +", WHITE),
        ("0", 0),
        ("Draw", 0),
        ("?", 0),
        ("Void", 0),
        ("*", 0),
        ("", 0),
        ("Both passed", 0),
    ],
)
def test_results(said: str, winner: int) -> None:
    assert one(f"(;RE[{said}];B[hh])").winner == winner


def test_the_board_decides_where_the_file_says_nothing() -> None:
    five = "B[aa];W[ab];B[ba];W[bb];B[ca];W[cb];B[da];W[db];B[ea]"
    for said in ("", "RE[?]", "RE[0]", "RE[B+1]"):
        assert one(f"(;{said};{five})").winner == BLACK
    assert "RE[W+R]: on the board black has won" in message(f"(;RE[W+R];{five})")


def test_an_overline_wins_as_the_rule_says() -> None:
    """Black's sixth stone on one row: freestyle won, standard goes on, renju lost."""
    six = "(;RU[{}];B[aa];W[ac];B[ba];W[cc];B[ca];W[ec];B[ea];W[gc];B[fa];W[ic];B[da]{})"
    assert one(six.format("freestyle", "")).winner == BLACK
    assert one(six.format("standard", ";W[kc]")).winner == 0
    renju = one(six.format("renju", ""))
    assert (renju.winner, len(renju.moves)) == (WHITE, 10)  # the forbidden stone is left out, and lost
    assert renju.replay().outcome is None
    assert "forbidden" in message(six.format("renju", ";W[kc]"))
    assert "forbidden" in message(six.format("renju", "RE[B+]"))
    assert "after the end" in message(six.format("freestyle", ";W[kc]"))


def test_setup_stones_are_put_in_an_order_that_is_a_game() -> None:
    """Black's five is there; its last stone must be the last move, and here only one of nine will do."""
    cross = "AB[cc][ca][cb][cd][ce][ac][bc][dc][ec]AW[ia][ib][id][ie][ig][ih][ij][ik]"
    game = one(f"(;{cross})")
    assert game.winner == BLACK
    assert game.opening == len(game.moves) == 17
    assert cell_name(game.moves[-1], 15, 15) == "c13"
    assert game.replay().outcome is not None


def test_setup_stones_of_renju_wait_until_they_are_legal() -> None:
    """In the order of the file, h8 would be a double three; once i8 is white's, it is not."""
    text = "(;RU[renju]AB[hi][hj][ih][jh][hh]AW[aa][ca][ea][gh])"
    with pytest.raises(ValueError, match="forbidden"):
        cells = [parse_cell(name, 15, 15) for name in ["h7", "a15", "h6", "c15", "i8", "e15", "j8", "o1", "h8"]]
        Board.from_moves(cells, rule=Rule.RENJU)
    assert one(text).opening == 9
    assert one(text).replay().to_move == WHITE


# --- what is wrong


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", "1:1", "begins with (;"),
        ("nothing", "1:1", "begins with (;"),
        ("(;B[hh]", "1:8", "begins at 1:1: a ) is missing"),
        ("\n (;B[hh]\n", "3:1", "begins at 2:2: a ) is missing"),
        ("(;B[hh];\nW[ig)", "2:2", "a ] is missing"),
        ("(;B[hh]C[a\\])", "1:9", "a ] is missing"),
        ("(;B;W[hh])", "1:3", "B has no value"),
        ("(;B[hh]])", "1:8", "']' is out of place"),
        ("(;B[hh]))", "1:9", "after the end of a game"),
        ("(;B[hh])\r\n\r\nThe end", "3:1", "after the end of a game"),
        ("(;B[hh](W[ig]))", "1:9", "expected a ;"),
        ("(;B[hh]((;W[ig])))", "1:9", "expected a ;"),
        ("(;B[hh];\rW[hh])", "2:1", "occupied"),  # old Macintoshes
        ("(;B[];AB[hh])", "1:7", "in the middle of a game"),
        ("(;B[hh](;W[ig]);B[ii])", "1:16", "out of place after ')'"),
        ("(;B[hh]())", "1:9", "expected a ;"),
        ("(;5[hh])", "1:3", "out of place"),
        ("(;\u5b57[hh])", "1:3", "out of place"),
        ("(;B[hh](;W[ig]", "1:15", "a ) is missing"),
        ("(;B[hh](;W[ig])(;W[)", "1:19", "a ] is missing"),  # in a variation
        ("(;GM[1];B[hh])", "1:3", "another game"),
        ("(;SZ[26])", "1:3", "3 to 25"),
        ("(;SZ[2])", "1:3", "3 to 25"),
        ("(;SZ[15:99])", "1:3", "3 to 25"),
        ("(;SZ[big])", "1:3", "no size of a board"),
        ("(;RU[renju, 4 in a row])", "1:3", "win_length 4"),
        ("(;RU[Caro])", "1:3", "a rule unknown here"),
        ("(;B[hh];W[hh])", "1:9", "W[hh]: h8 (cell 112) is occupied by black"),
        ("(;B[hh];W[po])", "1:9", "W[po]: off the 15x15 board: use aa to oo"),
        ("(;SZ[7:5];B[af])", "1:11", "B[af]: off the 5x7 board: use aa to ge"),
        ("(;B[h16])", "1:3", "off the 15x15 board"),
        ("(;B[resign])", "1:3", "no point"),
        ("(;B[hh][ii])", "1:3", "2 points in one move"),
        ("(;W[hh])", "1:3", "black is to play move 1"),
        ("(;B[hh];B[ii])", "1:9", "white is to play move 2"),
        ("(;B[hh];W[];B[ii])", "1:9", "a pass in the middle"),
        ("(;SZ[19];B[hh];W[tt];B[ii])", "1:16", "a pass in the middle"),
        ("(;B[hh];AB[ii])", "1:9", "in the middle of a game"),
        ("(;AB[hh][ii])", "1:3", "2 black and 0 white setup stones"),
        ("(;AW[hh];B[ii])", "1:3", "0 black and 1 white setup stones"),
        ("(;AB[hh]AW[zz])", "1:9", "AW[zz]: off the 15x15 board"),
        ("(;AB[])", "1:3", "no point"),
        ("(;AB[hh]PL[B])", "1:9", "PL[B]: white is to move"),
        ("(;PL[W];W[hh])", "1:3", "black is to move"),
        ("(;AB[aa:ea]AW[ab:eb])", "1:3", "no legal moves lead to"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, place: str, says: str) -> None:
    said = message(text)
    assert said.startswith(f"{place}: ")
    assert says in said


def test_another_game_is_read_when_the_caller_names_its_rule() -> None:
    """Some Gomoku programs write GM[1]."""
    assert names(one("(;GM[1]SZ[15];B[hh];W[ig])", Rule.RENJU)) == "h8 i9"


def test_a_name_cannot_steer_the_terminal() -> None:
    assert one("(;PB[a\x1b[2J\tb\nc])").black == "a\ufffd[2J b c"


def test_names_and_comments() -> None:
    assert one("(;PB[a\\\nb];PB[c]PW[d\r\ne])").black == "ab"  # an escaped line end is none; the first one counts
    assert one("(;PB[a]PW[d\r\ne])").white == "d  e"
    assert one("(;B[hh]C[opening move];W[ig]C[opening];B[ii]C[a fine opening];W[jj]C[opening])").opening == 2


def test_sizes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RecordError, match="bytes"):
        from_sgf(b"(;C[" + b"x" * MAX_BYTES + b"])")
    assert "values in one node" in message("(;" + "AB[aa]" * (MOST_VALUES + 1) + ")")
    assert "values in one node" in message("(;AB" + "[aa]" * (MOST_VALUES + 1) + ")")
    deep = "(;B[hh](;C[x])" + "(;C[x]" * 100_000
    assert "1:600015: the file ends inside the game" in message(deep)
    assert names(one(deep + ")" * 100_001)) == "h8"
    assert names(one("(;B[hh]" + ";C[x]" * (MOST_NODES - 1) + ")")) == "h8"
    assert "nodes in one game" in message("(;B[hh]" + ";C[x]" * MOST_NODES + ")")
    full = "AB[aa:yy]AE[aa:yy]" * 2
    assert names(one(f"(;SZ[25]{full};B[aa])")) == "a25"
    assert "1:45: AB[yy]: more than 2500 points set up" in message(f"(;SZ[25]{full}AB[yy];B[aa])")
    monkeypatch.setattr("env.sgf.MOST_GAMES", 3)
    assert len(from_sgf("(;)" * 3)) == 3
    assert "1:10: more than 3 games" in message("(;)" * 4)


# --- ours


letters = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), max_size=12)


@st.composite
def records(draw: st.DrawFn) -> GameRecord:
    rule = draw(st.sampled_from(list(Rule)))
    height, width = draw(st.integers(5, 25)), draw(st.integers(5, 25))
    win_length = 5 if rule is Rule.RENJU else draw(st.integers(3, 5))
    board = Board(height, width, win_length, rule)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(0, 60))):
        legal = np.flatnonzero(board.legal_mask())
        if len(legal) == 0:
            break
        board.play(int(rng.choice(legal)))
    winner = board.outcome.winner if board.outcome else draw(st.sampled_from([BLACK, WHITE, 0]))
    opening = draw(st.integers(0, len(board.moves)))
    return GameRecord(
        height, width, win_length, rule, tuple(board.moves), draw(letters), draw(letters), winner, opening
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(records(), max_size=3).filter(bool))
def test_what_we_write_reads_back_the_same(games: list[GameRecord]) -> None:
    text = to_sgf(games)
    assert from_sgf(text) == games
    assert from_sgf(text.encode()) == games


def test_what_we_write_is_what_others_read() -> None:
    cells = tuple(parse_cell(name, 15, 15) for name in ["h8", "i9", "j10"])
    record = GameRecord(15, 15, 5, Rule.RENJU, cells, "Ann]", "Bob\\", WHITE, 1)
    assert to_sgf([record]) == (
        "(;FF[4]GM[4]CA[UTF-8]AP[gomoku-lab]SZ[15]RU[renju]PB[Ann\\]]PW[Bob\\\\]RE[W+]\n"
        ";B[hh]C[opening move];W[ig];B[jf])\n"
    )


def mutated(data: bytes, edits: list[tuple[float, int, int]]) -> bytes:
    """Bytes replaced, removed, inserted or doubled at random places."""
    wild = b"()[];\\:BWAZC+ \n\x00\x81\xff" + data[:40]
    for where, kind, byte in edits:
        at = int(where * len(data))
        chosen = wild[byte % len(wild) : byte % len(wild) + 1]
        data = [
            data[:at] + chosen + data[at + 1 :],
            data[:at] + data[at + 1 + byte % 9 :],
            data[:at] + chosen + data[at:],
            data[:at] + data[at // 2 : at] + data[at:],
        ][kind][:20_000]
    return data


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(path.name for path in RECORDS.glob("*.sgf"))),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 3), st.integers(0, 255)), max_size=8),
)
def test_a_damaged_file_is_refused_by_name_or_read(name: str, edits: list[tuple[float, int, int]]) -> None:
    data = mutated((RECORDS / name).read_bytes(), edits)
    try:
        games = from_sgf(data)
    except RecordError as error:
        assert "\n" not in str(error)
    else:
        for game in games:
            game.replay()
            assert from_sgf(to_sgf([game])) == [game]
