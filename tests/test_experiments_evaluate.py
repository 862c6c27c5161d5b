"""`gomoku evaluate`: as many games as it says, the same for one seed, told as a table, JSON and replayable lines."""

import json
from pathlib import Path

import numpy as np
import pytest

from env.record import GameRecord
from experiments.__main__ import main
from experiments.config import load_config
from nn import PolicyNet
from rl.arena import wilson_interval

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
        (["--games", "2", "--json", "both", "--save-games", "both"], "both name both; name two files"),
    ],
)
def test_a_contradiction_is_one_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "random", "--against", "random", *words]) == 2
    err = capsys.readouterr().err
    assert err.startswith("gomoku: ") and complaint in err and err.count("\n") == 1


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
