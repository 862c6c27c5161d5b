"""`gomoku train-q`: the table and its picture are written, learnt on, kept at Ctrl-C, and guarded against a mix-up."""

from pathlib import Path

import pytest

from experiments import train_q
from experiments.__main__ import main
from nn.weights import load_arrays

FEW = ["--evaluation-games", "20", "--every", "20"]


def test_it_learns_writes_and_learns_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "q.npz"
    assert main(["train-q", str(table), "--games", "40", *FEW]) == 0
    told = capsys.readouterr().out
    assert "40 games" in told and "of 20 against random" in told
    assert table.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    _, meta = load_arrays(table)
    assert meta["games"] == 40 and [point["games"] for point in meta["curve"]] == [0, 20, 40]
    assert main(["train-q", str(table), "--games", "20", "--against", "random", *FEW]) == 0
    _, after = load_arrays(table)
    assert after["curve"][:3] == meta["curve"] and after["games"] == 60
    assert main(["train-q", str(table), "--size", "5", *FEW]) == 2
    assert "has height 4, width 4" in capsys.readouterr().err
    assert main(["evaluate", f"qlearning:{table}", "--against", "random", "--games", "4", "--size", "4",
                 "--win-length", "3", "--opening-plies", "1"]) == 0  # fmt: skip


def test_the_same_seed_gives_the_same_table(tmp_path: Path) -> None:
    for name in ("a.npz", "b.npz"):
        assert main(["train-q", str(tmp_path / name), "--games", "30", "--seed", "7", *FEW]) == 0
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_ctrl_c_keeps_what_was_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table, played, play = tmp_path / "q.npz", [], train_q.play

    def stopping(*args: object) -> None:
        if len(played) == 25:
            raise KeyboardInterrupt
        played.append(0)
        play(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(train_q, "play", stopping)
    assert main(["train-q", str(table), "--games", "100", *FEW]) == 130
    assert load_arrays(table)[1]["games"] == 25


@pytest.mark.parametrize(
    "wrong",
    [["--games", "0"], ["--epsilon", "2"], ["--evaluation-games", "3"], ["--learning-rate", "0"], ["--size", "2"],
     ["--seed", "-1"], ["--against", "nobody"], ["--net", "missing.npz"], ["--win", "x"]],
)  # fmt: skip
def test_wrong_settings_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: list[str]) -> None:
    assert main(["train-q", str(tmp_path / "q.npz"), *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_place_that_nothing_can_be_written_to_is_told_before_the_games(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train-q", str(tmp_path / "none" / "q.npz"), *FEW]) == 2
    assert "nothing could be written there" in capsys.readouterr().err
