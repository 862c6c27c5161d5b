"""`gomoku evaluate`: as many games as it says, the same for one seed, told as a table, JSON and replayable lines."""

import json
from pathlib import Path

import numpy as np
import pytest

from env.record import GameRecord
from experiments.__main__ import main
from experiments.config_source import load_config
from experiments.files.output_place import check_place
from nn import PolicyNet
from rl.agents import RandomAgent
from rl.arena import wilson_interval
from rl.pairs import PAIRS_AT_ONCE, play_batches

SMALL = ["--size", "5", "--win-length", "4"]


def policy(path: Path, height: int = 4, width: int = 5) -> str:
    net = PolicyNet(height, width, filters=(2, 2), hidden=4, rng=np.random.default_rng(0))
    net.save(path)
    return f"policy:{path}"


def test_greedy_beats_random_and_every_form_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--json", str(tmp_path / "r.json"), "--save-games", str(tmp_path / "games.txt")]
    assert main(["evaluate", "greedy", "--against", "random", "--games", "60", *SMALL, *files]) == 0
    out = capsys.readouterr().out
    told = json.loads((tmp_path / "r.json").read_text())
    assert told["win_rate"] > 0.8
    assert told["games"] == 60 and told["as_black"]["games"] == told["as_white"]["games"] == 30

    records = [GameRecord.from_line(line) for line in (tmp_path / "games.txt").read_text().splitlines()]
    assert len(records) == 60
    for colour, side in ((1, "as_black"), (-1, "as_white")):
        mine = [record for record in records if (record.black if colour == 1 else record.white) == "greedy"]
        winners = [record.winner * colour for record in mine]
        counts = [winners.count(1), winners.count(0), winners.count(-1)]
        assert counts == [told[side][key] for key in ("wins", "draws", "losses")]
    for record in records:
        outcome = record.replay().outcome
        assert outcome is not None and outcome.winner == record.winner
        assert (record.height, record.width, record.win_length, record.opening) == (5, 5, 4, 4)
    for first, second in zip(records[::2], records[1::2], strict=True):  # one opening, colours swapped
        assert first.moves[:4] == second.moves[:4]
    assert len({record.moves[:4] for record in records}) > 20

    low, high = wilson_interval(told["wins"], 60)
    assert (told["low"], told["high"]) == (low, high)
    counts = [str(told[key]) for key in ("games", "wins", "draws", "losses")]
    both = out.splitlines()[-1].split()
    assert both == ["both", *counts, f"{told['win_rate']:.1%}", f"{low:.1%}", "to", f"{high:.1%}"]
    assert "greedy against random: 5x5, 4 in a row, freestyle, 4 random opening plies, seed 1" in out


def test_one_seed_one_result_and_another_seed_another(tmp_path: Path) -> None:
    def games(seed: str, name: str) -> bytes:
        path = tmp_path / name
        command = ["evaluate", "greedy", "--against", "random", "--games", "4", *SMALL, "--seed", seed]
        assert main([*command, "--save-games", str(path)]) == 0
        return path.read_bytes()

    assert games("5", "a") == games("5", "b") != games("6", "c")


def test_the_board_defaults_to_the_policys_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = policy(tmp_path / "net.npz")
    options = ["--games", "2", "--win-length", "3", "--opening-plies", "1"]
    assert main(["evaluate", spec, "--against", "random", *options]) == 0
    assert "4x5, 3 in a row" in capsys.readouterr().out
    assert main(["evaluate", "random", "--against", spec, *options]) == 0
    assert "4x5, 3 in a row" in capsys.readouterr().out


def test_a_path_that_is_no_utf_8_is_written_as_it_is(tmp_path: Path) -> None:
    spec, games = policy(tmp_path / "net\udcff.npz"), tmp_path / "games.txt"
    command = ["evaluate", spec, "--against", "random", "--games", "2", "--win-length", "4"]
    assert main([*command, "--save-games", str(games)]) == 0
    assert b"net%FF.npz" in games.read_bytes()


def test_the_board_defaults_to_15x15(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "random", "--against", "random", "--games", "2"]) == 0
    assert "15x15, 5 in a row, freestyle" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--games", "3"], "--games 3: games come in colour-swapped pairs"),
        (["--games", "0"], "--games 0: games come in colour-swapped pairs"),
        (["--games", "1" + "0" * 30], "at most 1,000,000"),
        (["--games", "2", "--size", "2"], "2"),
        (["--games", "2", "--size", "26"], "26"),
        (["--games", "2", "--win-length", "0"], "0"),
        (["--games", "2", "--size", "6", "--width", "5"], "--size says height and width at once"),
        (["--games", "2", "--height", "6"], "--height and --width go together"),
        (["--games", "2", "--size", "6", "--opening-plies", "36"], "--opening-plies 36: on a 6x6 board"),
        (["--games", "2", "--opening-plies", "-1"], "--opening-plies -1"),
        (["--games", "2", "--seed", "-1"], "--seed -1: a seed is 0 or larger"),
        (["--games", "2", "--jobs", "0"], "--jobs 0: name a number of processes from 1 to"),
        (["--games", "2", "--openings", "freestyle", "--opening-plies", "3"], "name one of them"),
        (["--games", "2", "--openings", "nowhere.txt"], "nowhere.txt: No such file"),
        (["--games", "2", "--openings", "renju", "--size", "7"], "renju.txt:2: move 1, 'f9': "),
        (["--games", "2", "--json", "both", "--save-games", "both"], "both name both; name two files"),
    ],
)
def test_a_contradiction_is_one_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "random", "--against", "random", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("gomoku: ") and complaint in err and err.count("\n") == 1


@pytest.mark.parametrize("option", ["--json", "--save-games"])
def test_a_file_that_cannot_be_written_is_noticed_before_the_games(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.evaluate.play_batches", None)  # no game is played
    words = ["evaluate", "random", "--against", "random", "--games", "2", *SMALL, option]
    (tmp_path / "file").write_text("")
    for path, complaint in (
        (tmp_path / "missing" / "x.json", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (tmp_path / "file" / "x.json", "Not a directory"),
    ):
        assert main([*words, str(path)]) == 2
        assert capsys.readouterr().err == (
            f"gomoku: {path}: {complaint}, so nothing could be written there after the work\n"
        )
    check_place(tmp_path / "file")
    check_place(Path("/dev/null"))
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_policy_on_another_board_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = policy(tmp_path / "net.npz")
    assert main(["evaluate", spec, "--against", "random", "--games", "2", "--size", "6"]) == 2
    assert f"{spec} plays on 4x5 only; the board is 6x6" in capsys.readouterr().err
    other = policy(tmp_path / "other.npz", 6, 6)
    assert main(["evaluate", spec, "--against", other, "--games", "2"]) == 2
    assert f"{other} plays on 6x6 only; the board is 4x5" in capsys.readouterr().err


def test_an_unknown_agent_and_a_bad_file_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "gredy", "--against", "random", "--games", "2"]) == 2
    assert "did you mean 'greedy'?" in capsys.readouterr().err
    (tmp_path / "bad.npz").write_bytes(b"PK garbage")
    assert main(["evaluate", f"policy:{tmp_path / 'bad.npz'}", "--against", "random", "--games", "2"]) == 2
    err = capsys.readouterr().err
    assert "bad.npz" in err and err.count("\n") == 1


def test_the_game_is_that_of_the_run_a_policy_lies_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = policy(tmp_path / "policy.npz")
    config = load_config(None, None, ["win_length=3", "rule=standard"])
    (tmp_path / "config.json").write_text(json.dumps(config.as_dict()))
    words = ["evaluate", spec, "--against", "random", "--games", "2", "--opening-plies", "0"]
    assert main(words) == 0
    assert "3 in a row, standard" in capsys.readouterr().out
    assert main([*words, "--win-length", "4", "--rule", "freestyle"]) == 0
    assert "4 in a row, freestyle" in capsys.readouterr().out


def test_the_games_are_the_same_on_several_processes(tmp_path: Path) -> None:
    spec = policy(tmp_path / "net.npz")
    written = []
    for jobs in ("1", "2"):
        files = [tmp_path / f"{kind}{jobs}" for kind in ("json", "games")]
        words = ["evaluate", spec, "--against", "greedy", "--games", "80", "--win-length", "4", "--jobs", jobs]
        assert main([*words, "--json", str(files[0]), "--save-games", str(files[1])]) == 0
        written.append([file.read_bytes() for file in files])
    assert written[0] == written[1]
    assert len(set(written[0][1].splitlines())) > 40


def test_the_games_stand_in_order_whichever_was_done_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from experiments import evaluate

    words = ["evaluate", "greedy", "--against", "random", "--games", "80", *SMALL, "--save-games"]
    assert main([*words, str(tmp_path / "a")]) == 0
    monkeypatch.setattr(evaluate, "play_batches", lambda *args, **more: [*play_batches(*args, **more)][::-1])
    assert main([*words, str(tmp_path / "b")]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_openings_come_from_a_file_line_by_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines, games = tmp_path / "openings.txt", tmp_path / "games.txt"
    lines.write_text("# two\na1c2\n\nB2 d4 e5\n")
    words = ["evaluate", "greedy", "--against", "random", *SMALL, "--openings", str(lines), "--save-games", str(games)]
    assert main([*words, "--games", "8"]) == 0
    out, err = capsys.readouterr()
    assert f"openings of {lines}" in out and "note" not in err
    records = [GameRecord.from_line(line) for line in games.read_text().splitlines()]
    assert [record.opening for record in records] == [2, 2, 3, 3] * 2
    assert records[0].to_line().split()[7:9] == ["a1", "c2"] and records[4].moves[:2] != records[0].moves[:2]
    assert main([*words, "--games", "34"]) == 0
    assert "gomoku: note: 2 openings, turned and mirrored, make 16 pairs; then they repeat" in capsys.readouterr().err
    wrong = {"a1c2\na1 c9": "2: move 2, 'c9'", "a1\n\na1": "3: the same opening as in line 1", "#": "no opening"}
    for text, complaint in wrong.items():
        lines.write_text(text)
        assert main([*words, "--games", "2"]) == 2
        err = capsys.readouterr().err
        assert complaint in err and f"{lines}:" in err and err.count("\n") == 1


def test_ctrl_c_tells_and_saves_what_was_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from experiments import evaluate

    def interrupted(*args: object, **more: object) -> object:
        played = play_batches(*args, **more)  # type: ignore[arg-type]
        yield next(played)
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "play_batches", interrupted)
    games = tmp_path / "games.txt"
    words = ["evaluate", "greedy", "--against", "random", "--games", "80", *SMALL, "--save-games", str(games)]
    assert main(words) == 130
    assert f"stopped after {2 * PAIRS_AT_ONCE} of 80 games" in capsys.readouterr().out
    assert len(games.read_text().splitlines()) == 2 * PAIRS_AT_ONCE


def test_a_forfeit_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RandomAgent, "choose_positions", lambda self, positions, rng: [-1] * len(positions))
    assert main(["evaluate", "greedy", "--against", "random", "--games", "2", *SMALL]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[-1].split()[:3] == ["both", "2", "2"]
    assert "gomoku: note: 2 games were forfeited; the first: random forfeits: cell -1 is off" in err
