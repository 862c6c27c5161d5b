"""`gomoku show`: games in three formats printed, drawn and converted; whatever is wrong is one line and exit 2."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import Circle, PathPatch

from env import BLACK, WHITE, Board, GameRecord, Rule
from env.coords import parse_cell
from env.render import MARK
from env.svg import LAST
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.files.game_files import read_games, write_games
from experiments.pictures.boards import board_figure, draw_board
from experiments.show import board_text, game_text
from nn import PolicyNet

RECORDS = Path(__file__).parent / "data" / "records"


def played(moves: str, height: int = 15, width: int = 15, rule: Rule = Rule.FREESTYLE, win_length: int = 5) -> Board:
    cells = [parse_cell(name, height, width) for name in moves.split()]
    return Board.from_moves(cells, height, width, win_length, rule)


def small_game(**changes: object) -> GameRecord:
    board = played("b2 a1 b3 b1 a3 c3 c2", 3, 3, win_length=3)
    fields: dict = {"moves": tuple(board.moves), "black": "Ann", "white": "Bob", "winner": 0, "opening": 0}
    return GameRecord(3, 3, 3, Rule.FREESTYLE, **{**fields, **changes})


# --- text


def test_the_printed_board() -> None:
    assert board_text(played("b2 a1 c1", 3, 3, win_length=3)) == (
        " 3   .  .  .\n"
        " 2   . X1  .\n"
        " 1  O2  .(X3)\n"
        "     a  b  c"
    )  # fmt: skip
    assert board_text(played("b2 c2", 3, 3, win_length=3)) == (
        " 3   .  .  .\n"
        " 2   . X1(O2)\n"
        " 1   .  .  .\n"
        "     a  b  c"
    )  # fmt: skip
    assert board_text(played("a1 b2", 3, 3, win_length=3), numbers=False) == (
        " 3  . . .\n"
        " 2  .(O).\n"
        " 1  X . .\n"
        "    a b c"
    )  # fmt: skip


def test_a_hundred_moves_keep_their_columns() -> None:
    board = Board(25, 25)
    rng = np.random.default_rng(5)
    while len(board.moves) < 120:
        board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
    lines = board_text(board).splitlines()
    assert {len(line) for line in lines[1:-1]} == {3 + 25 * 5}
    for ply, cell in enumerate(board.moves, start=1):
        row, col = divmod(cell, 25)
        assert lines[row][3 + 5 * col : 8 + 5 * col].strip(" ()") == f"{'OX'[ply % 2]}{ply}"


def test_forbidden_points_and_chances_in_text() -> None:
    board = played("h7 a1 h6 c1 i8 e1 j8 g1", rule=Rule.RENJU)
    chances = np.zeros(225)
    chances[parse_cell("a15", 15, 15)] = 0.36
    lines = board_text(board, chances=chances).splitlines()
    assert "!33" in lines[7]
    assert lines[0].split()[:3] == ["15", "36%", "."]
    assert "!" not in board_text(played("h7 a1 h6 c1 i8 e1 j8 g1"))


def test_the_story_around_the_board() -> None:
    game = small_game()
    board = game.replay()
    assert game_text(game, board).splitlines()[:2] == ["Ann (X) against Bob (O)", "3x3, 3 in a row, freestyle; 7 moves"]
    assert "after 7 moves: broken off with white to move\nb2 a1 b3 b1 a3 c3 c2" in game_text(game, board)
    won = small_game(winner=BLACK)
    assert "after 7 moves: black has won, though not on the board" in game_text(won, won.replay())
    five = played("b2 a1 b3 a3 b1", 3, 3, win_length=3)
    won = small_game(moves=tuple(five.moves), winner=BLACK, opening=2, black="", white="x" * 99 + "\x1b")
    text = game_text(won, five)
    assert "after 5 moves: black has won with b3 b2 b1" in text
    assert "; 5 moves, the first 2 given" in text
    assert f"black (X) against {'x' * 37}... (O)" in text
    full = played("b2 a1 c1 a3 a2 c2 b3 b1 c3", 3, 3, win_length=3)
    assert "after 9 moves: a draw" in game_text(small_game(moves=tuple(full.moves)), full)


# --- figures


def points(figure: Figure, colour: tuple[int, int, int], radius: float) -> list[tuple[float, float]]:
    wanted = tuple(part / 255 for part in colour)
    return sorted(
        patch.center
        for patch in figure.axes[0].patches
        if isinstance(patch, Circle) and to_rgb(patch.get_facecolor()) == wanted and abs(patch.radius - radius) < 0.03
    )


def test_the_figure_puts_everything_on_its_crossing() -> None:
    board = played("a1 a5 b2 b5 c3 c5 e5 d1 d4", 5, 7)
    figure = board_figure(board, title=r"$\frac$ of 2_3")
    (ax,) = figure.axes
    assert [label.get_text() for label in ax.get_xticklabels()] == list("abcdefg")
    assert [label.get_text() for label in ax.get_yticklabels()] == list("12345")
    assert list(ax.get_xticks()) == list(range(7))
    assert points(figure, MARK, 0.46) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]  # the five: a1 at the bottom left
    assert points(figure, (28, 28, 28), 0.4) == [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    assert points(figure, (244, 244, 244), 0.44) == [(0, 4), (1, 4), (2, 4), (3, 0)]
    numbers = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    assert len(numbers) == 9
    for patch, cell in zip(numbers, board.moves, strict=True):
        box = patch.get_path().get_extents()
        row, col = divmod(cell, 7)
        assert abs((box.x0 + box.x1) / 2 - col) < 1e-9
        assert abs((box.y0 + box.y1) / 2 - (4 - row)) < 0.03
        assert box.width < 0.7
    assert to_rgb(numbers[-1].get_facecolor()) == tuple(part / 255 for part in LAST[BLACK])
    figure.savefig(io.BytesIO())  # dollars in a title are no formula


def test_star_points_dots_and_forbidden_points_of_a_figure() -> None:
    board = played("h7 a1 h6 c1 i8 e1 j8 g1", rule=Rule.RENJU)
    figure = board_figure(board, numbers=False)
    stars = points(figure, (88, 62, 32), 0.1)
    assert stars == [(x, y) for x in (3, 7, 11) for y in (3, 7, 11)]
    assert points(figure, LAST[WHITE], 0.13) == [(6, 0)]
    (written,) = (patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch))
    assert to_rgb(written.get_facecolor()) == tuple(part / 255 for part in MARK)


def test_a_figure_writes_a_double_four_and_double_three_on_two_lines() -> None:
    moves = "e8 a1 f8 c1 g8 e1 h5 g1 h6 a3 h7 c3 i9 o1 j10 o3 i7 o5 j6 o7"
    figure = board_figure(played(moves, rule=Rule.RENJU), numbers=False)
    boxes = [each.get_path().get_extents() for each in figure.axes[0].patches if isinstance(each, PathPatch)]
    fours, threes = (box for box in boxes if abs((box.x0 + box.x1) / 2 - 7) < 0.01 and 6.5 < box.y0 < 7.5)
    assert 7.4 > fours.y1 > fours.y0 > 7 > threes.y1 > threes.y0 > 6.6


def test_the_heat_map_of_a_figure_is_the_right_way_up() -> None:
    heat = np.zeros((5, 5))
    heat[0, 0] = 0.9  # a5, top left
    ax = Figure().subplots()
    assert draw_board(ax, Board(5, 5), heat=heat) is ax
    (image,) = ax.images
    left, _, _, top = image.get_extent()
    assert (left, top) == (-0.5, 4.5)
    tints = np.asarray(image.get_array())
    assert (tints[0, 0] != tints[4, 4]).all()
    (label,) = (patch for patch in ax.patches if isinstance(patch, PathPatch))
    assert label.get_path().get_extents().x0 < 0 < label.get_path().get_extents().x1


# --- files


def test_every_format_holds_the_same_games(tmp_path: Path) -> None:
    games = read_games(RECORDS / "manager.sgf")
    for name in ("games.txt", "games.sgf"):
        write_games(tmp_path / name, games)
        assert read_games(tmp_path / name) == games
    for game in games:
        write_games(tmp_path / "game.psq", [game])
        assert read_games(tmp_path / "game.psq") == [game]
    with pytest.raises(UserError, match="holds one game, not 3"):
        write_games(tmp_path / "game.psq", games)


def test_a_file_with_an_unusual_ending_is_known_by_its_content(tmp_path: Path) -> None:
    for name in ("manager.sgf", "gomocup.psq"):
        (tmp_path / "game").write_bytes((RECORDS / name).read_bytes())
        assert read_games(tmp_path / "game") == read_games(RECORDS / name)


def test_endings_may_be_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "GAME.SGF").write_text("no game")
    with pytest.raises(UserError, match=r"GAME.SGF:1:1: no game found: a game begins with \(;"):
        read_games(tmp_path / "GAME.SGF")


def test_lines_may_be_commented_and_are_replayed(tmp_path: Path) -> None:
    path = tmp_path / "games.txt"
    line = small_game().to_line()
    path.write_text(f"# two games\n\n{line}\r\n{line}\n")
    assert read_games(path) == [small_game(), small_game()]
    for wrong, says in [
        ("a b", f"{path}:2: 'a b' is no game"),
        (line + " b2", f"{path}:2: move 8 .* b2 .* is occupied by black"),
        (line + " a" + "9" * 5000, f"{path}:2: "),
    ]:
        path.write_text(f"{line}\n{wrong}\n")
        with pytest.raises(UserError, match=says):
            read_games(path)


# --- the command


def gomoku(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = main(["show", *map(str, words)])
    said = capsys.readouterr()
    return code, said.out, said.err


def process(*words: object, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "experiments", "show", *map(str, words)],
        env={**os.environ, "PYTHONPATH": str(RECORDS.parents[2]), **environment},
        capture_output=True,
        check=False,
    )


def test_it_prints_the_game_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gomoku(capsys, RECORDS / "manager.sgf", "--game", 2, "--ply", 10)
    assert (code, err) == (0, "")
    assert out.startswith(f"{RECORDS / 'manager.sgf'}, game 2 of 3\nBirch (X) against Alder (O)\n")
    assert "after 10 moves: black to move\nh8 i9 g7 i7 i8 j8 h6 h7 k7 i5\n" in out
    assert "(O10)" in out
    assert "X11" not in out
    code, out, err = gomoku(capsys, RECORDS / "gomocup.psq", "--no-numbers")
    assert out.startswith(f"{RECORDS / 'gomocup.psq'}\nALDER23.zip (X)")
    assert "(X)" in out.splitlines()[15]


@pytest.mark.parametrize("ending", [".svg", ".pdf"])
def test_it_draws(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"game{ending}"
    assert gomoku(capsys, RECORDS / "chinese.sgf", "-o", path) == (0, f"{path}\n", "")
    assert path.read_bytes().startswith({".svg": b"<svg", ".pdf": b"%PDF"}[ending])


def test_it_draws_names_that_no_font_here_may_have_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "game.png"
    done = process(RECORDS / "chinese.sgf", "-o", path)
    assert (done.returncode, done.stdout.decode(), done.stderr) == (0, f"{path}\n", b"")
    picture = imread(path)
    assert picture.shape[0] > picture.shape[1] > 600


def test_it_converts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = gomoku(capsys, RECORDS / "manager.sgf", "--to", tmp_path / "all.txt")
    assert (code, out) == (0, f"{tmp_path / 'all.txt'}: 3 games\n")
    code, out, _ = gomoku(capsys, tmp_path / "all.txt", "--game", 3, "--to", tmp_path / "one.psq")
    assert (code, out) == (0, f"{tmp_path / 'one.psq'}: 1 game\n")
    assert read_games(tmp_path / "one.psq") == read_games(RECORDS / "manager.sgf")[2:]
    code, out, _ = gomoku(capsys, RECORDS / "gomocup.psq", "--rule", "standard", "--to", tmp_path / "two.sgf")
    assert read_games(tmp_path / "two.sgf")[0].rule is Rule.STANDARD


def test_what_a_network_thinks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = PolicyNet(15, 15, filters=(2, 2), hidden=4, rng=np.random.default_rng(0))
    last = net.parameters()[-1]
    last.value[:] = 0
    last.value[parse_cell("a15", 15, 15)] = 9
    net.save(tmp_path / "net.npz")
    code, out, err = gomoku(capsys, RECORDS / "manager.sgf", "--ply", 3, "--policy", tmp_path / "net.npz")
    assert (code, err) == (0, "")
    board = next(line for line in out.splitlines() if line.startswith("15 "))
    assert 90 <= int(board.split()[1].rstrip("%")) <= 100
    code, _, err = gomoku(capsys, RECORDS / "manager.sgf", "--policy", tmp_path / "net.npz")
    assert (code, "the game is over" in err) == (2, True)
    PolicyNet(9, 9, filters=(2, 2), hidden=4, rng=np.random.default_rng(0)).save(tmp_path / "small.npz")
    code, _, err = gomoku(capsys, RECORDS / "manager.sgf", "--ply", 3, "--policy", tmp_path / "small.npz")
    assert (code, err.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere.sgf"], "nowhere.sgf: No such file"),
        ([RECORDS], "Is a directory"),
        ([RECORDS / "manager.sgf", "--game", 4], "--game 4: there are 3 games in .*manager.sgf; use 1 to 3"),
        ([RECORDS / "manager.sgf", "--game", 0], "--game 0: there are 3 games"),
        ([RECORDS / "gomocup.psq", "--game", 2], "--game 2: there is 1 game in "),
        ([RECORDS / "manager.sgf", "--ply", 32], "--ply 32: there are 31 moves; use 0 to 31"),
        ([RECORDS / "manager.sgf", "--ply", -1], "--ply -1: "),
        ([RECORDS / "manager.sgf", "-o", "game.jpg"], "cannot draw .jpg"),
        ([RECORDS / "manager.sgf", "--to", "game.pgn"], "written as .sgf, .psq, .txt"),
        ([RECORDS / "manager.sgf", "--to", "x.sgf", "--ply", 3], "--to writes whole games"),
        ([RECORDS / "manager.sgf", "--policy", "nowhere.npz", "--ply", 3], "nowhere.npz"),
        ([RECORDS / "manager.sgf", "--rule", "freestyle", "--game", 2, "--policy", RECORDS / "manager.sgf"], ""),
        ([__file__], "test_experiments_show.py:1: .* are no settings of a game"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    words: list[object], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = gomoku(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("gomoku: ")
    assert re.search(says, err)
    assert list(tmp_path.iterdir()) == []


def test_a_mistake_in_a_file_is_told_with_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "game.sgf").write_text("(;SZ[15]\n;B[hh];W[hh])")
    code, _, err = gomoku(capsys, tmp_path / "game.sgf")
    assert code == 2
    assert err.startswith(f"gomoku: {tmp_path / 'game.sgf'}:2:8: W[hh]: h8 (cell 112) is occupied")


def test_a_terminal_without_the_letters_gets_question_marks() -> None:
    done = process(RECORDS / "chinese.sgf", "--ply", 0, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"?? (X) against ?? (O)" in done.stdout


def test_the_games_are_not_written_over_themselves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.sgf"
    path.write_bytes((RECORDS / "manager.sgf").read_bytes())
    (tmp_path / "link.sgf").symlink_to(path)
    for other in ("games.sgf", "link.sgf", "../" + tmp_path.name + "/games.sgf"):
        code, _, said = gomoku(capsys, path, "--to", tmp_path / other, "--game", 1)
        assert code == 2 and "the file the games are read from" in said
    assert path.read_bytes() == (RECORDS / "manager.sgf").read_bytes()
