"""`gomoku analyse`: a line a depth, positions from moves and from files, one-line errors, and what Ctrl-C leaves."""

import re

import pytest

from experiments import __main__ as cli
from experiments import analyse
from rl.search.search import Insight

SCORE = r"[+-]\d+\.\d\d|wins in \d+|loses in \d+"
ROW = re.compile(rf"^ +(\d+) +({SCORE}) +\d+\.\d\d +[\d,]+ +[\d,]+  ([a-o]\d+(?: [a-o]\d+)*)$")


def rows(text):
    return [match.groups() for line in text.splitlines() if (match := ROW.match(line))]


def test_a_line_for_every_depth(capsys):
    assert cli.main(["analyse", "h8 h9,g8", "--depth", "3"]) == 0
    out = capsys.readouterr().out
    found = rows(out)
    assert [depth for depth, _, _ in found] == ["0", "1", "2", "3"]
    assert [len(line.split()) for _, _, line in found] == [1, 1, 2, 3]
    assert f"best: {found[-1][2].split()[0]} ({found[-1][1]})" in out


def test_a_win_is_told_as_moves_to_go(capsys):
    assert cli.main(["analyse", "h8a1i8a3j8a5", "--depth", "4"]) == 0
    _, score, line = rows(capsys.readouterr().out)[-1]
    assert score == "wins in 3" and line.split()[0] in {"g8", "k8"}
    assert cli.main(["analyse", "h8a1i8a3j8a5k8", "--depth", "4"]) == 0
    assert rows(capsys.readouterr().out)[-1][1] == "loses in 2"


def test_positions_come_from_files_too(tmp_path, capsys):
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[4]SZ[15];B[hh];W[aa];B[ih];W[ca];B[jh];W[ea];B[kh];W[ga];B[lh])")
    assert cli.main(["analyse", str(path), "--ply", "7", "--depth", "1"]) == 0
    assert "loses in 2" in capsys.readouterr().out
    assert cli.main(["analyse", str(path), "--depth", "1"]) == 2
    assert "the game is over" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["h8h8"], "move 2 of the position, h8: h8 (cell 112) is occupied"),
        (["h8z9"], "move 2 of the position, z9"),
        (["nowhere"], "neither a list of moves"),
        (["h8h9", "--ply", "3"], "use 0 to 2"),
        (["h8", "--time", "0"], "--time 0"),
        (["h8", "--depth", "0"], "--depth 0"),
        (["h8", "--size", "2"], "height 2"),
        (["h8", "--rules", "nowhere.json"], "nowhere.json"),
        (["-", "--game", "2"], "--game"),
    ],
)
def test_mistakes_are_told_in_one_line(words, says, capsys):
    assert cli.main(["analyse", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1


def test_ctrl_c_prints_the_best_so_far(monkeypatch, capsys):
    def interrupted(*args):
        yield Insight(1, 250, (112,), 1, 224)
        raise KeyboardInterrupt

    monkeypatch.setattr(analyse, "insights", interrupted)
    assert cli.main(["analyse", "-"]) == 130
    assert "best: h8 (+2.50)" in capsys.readouterr().out
