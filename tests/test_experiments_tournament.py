"""`gomoku tournament`: the same end from one process or two, after any kill, with faults, and by a sequential test."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from env import GameRecord
from experiments import tournament
from experiments.__main__ import main
from experiments.errors import UserError
from nn import PolicyNet
from rl.agents import RandomAgent
from rl.openings import is_balanced
from rl.pairs import play_batches

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ("games.txt", "results.json")  # which the picture is drawn from
SMALL = ["random", "greedy", "greedy:sharp", "--games", "40", "--size", "6", "--win-length", "4", "--seed", "3"]


def results(path: Path) -> list[bytes]:
    return [(path / name).read_bytes() for name in RESULTS]


@pytest.fixture(autouse=True)
def _blank_picture(monkeypatch: pytest.MonkeyPatch, whole: Path) -> None:
    """Drawing takes longer than these tournaments do."""
    monkeypatch.setattr("experiments.pictures.arena_plots.tournament_figure", lambda standings: Figure(figsize=(1, 1)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tournament that nothing disturbed."""
    path = tmp_path_factory.mktemp("whole") / "t"
    assert main(["tournament", *SMALL, "--run-dir", str(path)]) == 0
    return path


def test_everybody_meets_everybody_from_balanced_openings(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [GameRecord.from_line(line) for line in (whole / "games.txt").read_text().splitlines()]
    assert len(records) == 120
    for first, second in zip(records[0::2], records[1::2], strict=True):
        assert first.moves[:4] == second.moves[:4] and (first.black, first.white) == (second.white, second.black)
    assert {(record.black, record.white) for record in records[:40:2]} == {("random", "greedy")}
    assert [record.moves[:4] for record in records[:40]] == [record.moves[:4] for record in records[40:80]]
    assert len({record.moves[:4] for record in records[:40]}) == 20
    for record in records:
        board = record.replay()
        assert board.outcome is not None and board.outcome.winner == record.winner
        while len(board.moves) > 4:
            board.undo()
        assert is_balanced(board)
    told = json.loads((whole / "results.json").read_text())
    ratings = {player["name"]: player["elo"] for player in told["players"]}
    assert ratings["random"] < ratings["greedy"] and sum(ratings.values()) == pytest.approx(0, abs=1e-6)
    wins = sum(record.winner == 1 and (record.black, record.white) == ("greedy", "random") for record in records)
    assert {"black": "greedy", "white": "random", "wins": wins}.items() <= told["matches"][2].items()
    assert told["forfeits"] == 0 and told["sprt"] is None
    assert (whole / "ratings.png").read_bytes().startswith(b"\x89PNG")


def test_several_processes_end_the_same(whole: Path, tmp_path: Path) -> None:
    assert main(["tournament", *SMALL, "--jobs", "2", "--run-dir", str(tmp_path / "t")]) == 0
    assert results(tmp_path / "t") == results(whole)


def test_a_log_cut_off_anywhere_is_continued(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = (whole / "pairs.jsonl").read_bytes()
    lines = log.splitlines(keepends=True)
    assert len(lines) == 6  # 3 matches, 16 pairs and 4
    played = []
    monkeypatch.setattr(tournament, "play_batches", lambda *args, **more: _noted(play_batches(*args, **more), played))
    for length in [len(lines[0]) - 1, len(lines[0] + lines[1]) + 99, len(log) - 1, len(log)]:
        path = tmp_path / str(length)
        path.mkdir()
        for name in ("config.json", "version.json", "command.txt"):
            (path / name).write_bytes((whole / name).read_bytes())
        (path / "pairs.jsonl").write_bytes(log[:length])
        played.clear()
        assert main(["tournament", "--resume", str(path)]) == 0
        assert len(played) == 6 - log[:length].count(b"\n")
        assert results(path) == results(whole) and (path / "pairs.jsonl").read_bytes() == log


def _noted(batches: Iterator, played: list) -> Iterator:
    for batch in batches:
        played.append(batch)
        yield batch


def test_ctrl_c_is_130_and_nothing_finished_is_played_again(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **more: object) -> Iterator:
        batches = play_batches(*args, **more)  # type: ignore[arg-type]
        yield next(batches)
        yield next(batches)
        raise KeyboardInterrupt

    path = tmp_path / "t"
    with monkeypatch.context() as patched:
        patched.setattr(tournament, "play_batches", interrupted)
        assert main(["tournament", *SMALL, "--run-dir", str(path)]) == 130
    out = capsys.readouterr().out
    assert f"stopped early; go on with: gomoku tournament --resume {path}" in out and "black won" in out
    assert (path / "pairs.jsonl").read_bytes().count(b"\n") == 2 and not (path / "results.json").exists()
    assert main(["tournament", "--resume", str(path), "--jobs", "2"]) == 0
    assert results(path) == results(whole)


def test_kills_change_nothing(tmp_path: Path) -> None:
    """The whole process is killed twice, a little after it has got on; the end is that of an undisturbed one."""
    words = ["greedy", "greedy:java", "--games", "160", "--size", "8", "--run-dir"]
    assert main(["tournament", *words, str(tmp_path / "whole")]) == 0
    path, chance = tmp_path / "t", random.Random(2)
    command = ["tournament", *words, str(path), "--jobs", "2"]
    for kill in range(2):
        with started(command) as process:
            wait_for_pairs(path, kill + 1)
            time.sleep(0.1 * chance.random())
            os.kill(process.pid, signal.SIGKILL)
        command = ["tournament", "--resume", str(path), "--jobs", "2"]
    assert not (path / "results.json").exists()
    assert main(["tournament", "--resume", str(path)]) == 0
    assert results(path) == results(tmp_path / "whole")


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_pairs(path: Path, batches: int) -> None:
    """Until the log has so many lines."""
    log, until = path / "pairs.jsonl", time.monotonic() + 200
    while not (log.exists() and log.read_bytes().count(b"\n") >= batches):
        assert time.monotonic() < until
        time.sleep(0.01)


def test_ctrl_c_at_a_terminal_leaves_nobody_behind(tmp_path: Path) -> None:
    path = tmp_path / "t"
    command = ["tournament", "greedy", "greedy:java", "--games", "20000", "--jobs", "2", "--run-dir", str(path)]
    with started(command) as process:
        wait_for_pairs(path, 1)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130 and "go on with: gomoku tournament --resume" in out
        assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            os.killpg(process.pid, 0)
            time.sleep(0.02)


def test_a_sequential_test_ends_early_and_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "greedy", "random", "--games", "400", "--size", "6", "--win-length", "4", "--sprt", "0:80"]
    for jobs in ("1", "2"):
        assert main([*words, "--jobs", jobs, "--run-dir", str(tmp_path / jobs)]) == 0
    assert results(tmp_path / "1") == results(tmp_path / "2")
    told = json.loads((tmp_path / "1" / "results.json").read_text())
    assert told["sprt"]["accepted"] == "H1" and 5 < told["sprt"]["pairs"] < 60
    assert len((tmp_path / "1" / "games.txt").read_text().splitlines()) == 2 * told["sprt"]["pairs"]
    assert f"H1 accepted after {told['sprt']['pairs']} pairs" in capsys.readouterr().out
    log = (tmp_path / "2" / "pairs.jsonl").read_bytes()
    assert log.count(b"\n") < 9  # of 13
    assert main(["tournament", "--resume", str(tmp_path / "2")]) == 0  # nothing is played once it is decided
    assert (tmp_path / "2" / "pairs.jsonl").read_bytes() == log and results(tmp_path / "1") == results(tmp_path / "2")


def test_a_sequential_test_takes_the_pairs_in_order(tmp_path: Path) -> None:
    """Of batches that came out of order, only those before the first gap count."""
    words = ["tournament", "greedy", "random", "--games", "96", "--size", "6", "--win-length", "4", "--sprt", "0:1"]
    assert main([*words, "--run-dir", str(tmp_path / "t")]) == 0
    log = tmp_path / "t" / "pairs.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [row["first"] for row in rows] == [0, 16, 32]
    plan = tournament.plan_from(json.loads((tmp_path / "t" / "config.json").read_text()), "")
    finished = tournament.read_pairs(log, plan)
    del finished[1]
    assert tournament._first_pairs(plan, finished) == list(finished[0])


def test_a_crash_costs_games_not_the_tournament(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def crash(self: object, positions: object, rng: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(RandomAgent, "choose_positions", crash)
    words = ["tournament", "greedy", "random", "--games", "4", "--size", "5", "--anchor", "random"]
    assert main([*words, "--run-dir", str(tmp_path / "t")]) == 0
    assert "4 games were forfeited; the first: random forfeits: ZeroDivisionError: by zero" in capsys.readouterr().err
    told = json.loads((tmp_path / "t" / "results.json").read_text())
    assert told["forfeits"] == 4 and told["players"][1]["elo"] == 0 < told["players"][0]["elo"]
    records = [GameRecord.from_line(line) for line in (tmp_path / "t" / "games.txt").read_text().splitlines()]
    assert all(record.note.startswith("random forfeits") for record in records)


def test_openings_of_a_file_and_a_network_of_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = tmp_path / "net.npz"
    PolicyNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(0)).save(net)
    (tmp_path / "openings").write_text("c3d4\nd3 c4 b2\n")
    words = ["tournament", f"policy:{net}", "greedy", "--games", "8", "--win-length", "4"]
    words += ["--openings", str(tmp_path / "openings"), "--run-dir", str(tmp_path / "t")]
    assert main(words) == 0
    games = (tmp_path / "t" / "games.txt").read_text()
    assert games.count("opening=2 c3 d4 ") == games.count("opening=3 d3 c4 b2 ") == 2
    assert "6x6, 4 in a row, freestyle, openings of" in capsys.readouterr().out
    (tmp_path / "openings").unlink()  # no longer needed
    assert main(["tournament", "--resume", str(tmp_path / "t")]) == 0
    PolicyNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(1)).save(net)
    assert main(["tournament", "--resume", str(tmp_path / "t")]) == 2
    assert f"{net} has changed since the tournament began" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "0 players: name from 2 to 64"),
        (["greedy"], "1 players: name from 2 to 64"),
        (["greedy", "random", "greedy"], "greedy was named twice"),
        (["greedy", "randon"], "did you mean 'random'?"),
        (["greedy", "random", "--games", "3"], "--games 3: games come in pairs"),
        (["greedy", "random", "--anchor", "gredy"], "--anchor gredy: no such player; did you mean 'greedy'?"),
        (["greedy", "random", "--sprt", "5"], "--sprt 5: write two numbers"),
        (["greedy", "random", "--sprt", "50:0"], "the smaller first"),
        (["greedy", "random", "--sprt", "0:50", "--alpha", "2"], "alpha 2"),
        (["greedy", "random", "--alpha", "0.1"], "the error rates of --sprt"),
        (["greedy", "random", "greedy:java", "--sprt", "0:50"], "--sprt compares two players; 3 were named"),
        (["greedy", "random", "--seed", "-1"], "--seed -1"),
        (["greedy", "random", "--jobs", "0"], "--jobs 0"),
        (["greedy", "random", "--win-length", "1", "--size", "5", "--opening-plies", "2"], "ask for fewer"),
        (["greedy", "--resume", "here"], "nothing but --jobs goes with it, and not agents"),
        (["--resume", "here", "--seed", "1"], "nothing but --jobs goes with it, and not seed"),
        (["--resume", "nowhere"], "nowhere: no such run directory"),
    ],
)
def test_a_contradiction_is_one_line(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["tournament", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("gomoku: ") and complaint in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("config.json", {'"games": 40': '"games": "40"'}, "games is '40'; a tournament has a int there"),
        ("config.json", {'"rule": "freestyle"': '"rule": "bingo"'}, "bingo"),
        ("config.json", {'"width": 6': '"width": 99'}, "99"),
        ("config.json", {'"openings": []': '"openings": ["z99"]'}, "z99"),
        ("config.json", {'"sprt": []': '"sprt": [0, "x"]'}, "--sprt compares"),
        ("pairs.jsonl", {'"match": 0': '"match": 9'}, "line 1: not a batch of this tournament"),
        ("pairs.jsonl", {'"match": 0': '"match": []'}, "line 1: not a batch of this tournament"),
        ("pairs.jsonl", {'"match": 1': '"match": 0'}, "line 2: not a batch of this tournament, or there twice"),
        ("pairs.jsonl", {"winner=": "winner=no"}, "line 1: "),
        ("pairs.jsonl", {"black=random": "black=nobody"}, "line 1: not the players"),
    ],
)
def test_a_directory_that_is_no_tournament_is_told(
    name: str, change: dict[str, str], complaint: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kept in ("config.json", "version.json", "command.txt", "pairs.jsonl"):
        (tmp_path / kept).write_bytes((whole / kept).read_bytes())
    text = (tmp_path / name).read_text()
    for old, new in change.items():
        assert old in text
        text = text.replace(old, new, 1)
    (tmp_path / name).write_text(text)
    assert main(["tournament", "--resume", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert complaint in err and err.count("\n") == 1
    assert (tmp_path / name).read_text() == text


def test_a_plan_with_an_enormous_board_is_refused_before_it_is_made(tmp_path: Path) -> None:
    config = {
        "players": ["greedy", "random"], "games": 2, "height": 10**9, "width": 6, "win_length": 4, "rule": "freestyle",
        "openings": [], "openings_from": "", "opening_plies": 2, "seed": 1, "anchor": "", "sprt": [], "files": {},
    }  # fmt: skip
    with pytest.raises(UserError, match="height 1000000000: a board has from 3 to 25"):
        tournament.plan_from(config, "config.json")
