"""A run directory: complete from its first moment, never overwritten, used by one process at a time."""

import json
import platform
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from experiments.errors import UserError
from experiments.run_dir import RunDir, RunDirError, new_run_path, versions

CONFIG = {"seed": 1, "learning_rate": 1e-3}


def test_a_new_run_says_what_was_asked_for_and_under_which_versions(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run"
    with RunDir.create(path, CONFIG, ["train", "--set", "name=a b"]) as run:
        assert run.config() == CONFIG
        assert run.checkpoints.is_dir() and run.games.is_dir()
    assert (path / "command.txt").read_text() == "gomoku train --set 'name=a b'\n"
    version = json.loads((path / "version.json").read_text())
    assert version["python"] == platform.python_version()
    assert version["numpy"] == np.__version__
    assert version["blas"] and "None" not in version["blas"]
    assert set(version) == {"python", "numpy", "blas", "machine", "platform", "cores", "threads", "git"}


def test_the_commit_is_the_one_checked_out() -> None:
    root = Path(__file__).resolve().parent.parent
    if (root / ".git").exists():
        head = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        assert versions()["git"].removesuffix("-dirty") == head.stdout.strip()
    else:
        assert versions()["git"] is None


def test_a_directory_that_holds_anything_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(RunDirError, match=r"not empty \(it holds thesis.txt\).*--resume"):
        RunDir.create(tmp_path, CONFIG, [])
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_finished_run_is_refused(tmp_path: Path) -> None:
    RunDir.create(tmp_path / "run", CONFIG, ["first"]).close()
    with pytest.raises(RunDirError, match="not empty"):
        RunDir.create(tmp_path / "run", {"seed": 2}, ["second"])
    with RunDir.open(tmp_path / "run", []) as run:
        assert run.config() == CONFIG


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunDirError, match="a file stands in the way"):
        RunDir.create(tmp_path / "run", CONFIG, [])
    with pytest.raises(RunDirError, match="a file stands in the way"):
        RunDir.create(tmp_path / "run" / "below", CONFIG, [])


def test_what_a_killed_creation_left_is_no_run_and_can_be_created_again(tmp_path: Path) -> None:
    RunDir.create(tmp_path, CONFIG, []).close()
    for name in ("checkpoints", "games"):
        (tmp_path / name).rmdir()
    (tmp_path / "config.json").rename(tmp_path / ".config.json.x7f3")  # killed just before the last rename
    with pytest.raises(RunDirError, match="stopped before it began"):
        RunDir.open(tmp_path, [])
    RunDir.create(tmp_path, CONFIG, []).close()


def test_a_run_killed_before_its_folders_stood_opens(tmp_path: Path) -> None:
    RunDir.create(tmp_path, CONFIG, []).close()
    (tmp_path / "checkpoints").rmdir()
    with RunDir.open(tmp_path, []) as run:
        assert run.checkpoints.is_dir()


def test_a_command_line_is_added_once_it_is_accepted(tmp_path: Path) -> None:
    RunDir.create(tmp_path, CONFIG, ["train"]).close()
    with pytest.raises(UserError), RunDir.open(tmp_path, ["train", "--resume", "x"]):
        raise UserError("no checkpoint")
    assert (tmp_path / "command.txt").read_text() == "gomoku train\n"
    with pytest.raises(ValueError), RunDir.open(tmp_path, ["train", "--resume", "x"]) as run:
        run.accept()
        run.accept()
        raise ValueError("late: something was done")
    assert (tmp_path / "command.txt").read_text() == "gomoku train\ngomoku train --resume x\n"


def test_command_lines_are_kept_in_whatever_encoding_they_came(tmp_path: Path) -> None:
    with RunDir.create(tmp_path / "r", {}, ["train", "--run-dir", "r\udcff"]):
        pass
    with RunDir.open(tmp_path / "r", ["train", "--resume", "ü"]) as run:
        run.accept()
    said = (tmp_path / "r" / "command.txt").read_bytes()
    assert said == b"gomoku train --run-dir 'r\xff'\ngomoku train --resume '\xc3\xbc'\n"


def test_opening_nothing_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RunDirError, match="no such run directory"):
        RunDir.open(tmp_path / "missing", [])
    with pytest.raises(RunDirError, match="not a run directory"):
        RunDir.open(tmp_path, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("{", "not JSON"), ("[" * 100_000, "not JSON"), ("[]", "wanted a JSON object, found list")],
    ids=["cut", "deep", "list"],
)
def test_a_damaged_config_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    RunDir.create(tmp_path, CONFIG, []).close()
    (tmp_path / "config.json").write_text(text)
    with RunDir.open(tmp_path, []) as run, pytest.raises(RunDirError, match=rf"config\.json: {complaint}"):
        run.config()


def test_resuming_under_other_versions_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    RunDir.create(tmp_path, CONFIG, []).close()
    RunDir.open(tmp_path, []).close()
    assert capsys.readouterr().err == ""
    version = json.loads((tmp_path / "version.json").read_text()) | {"numpy": "1.0"}
    (tmp_path / "version.json").write_text(json.dumps(version))
    RunDir.open(tmp_path, []).close()
    assert f"began under numpy 1.0, this is {np.__version__}" in capsys.readouterr().err


HOLD = "import sys, pathlib, time\nfrom experiments.run_dir import RunDir\n"
HOLD += "run = RunDir.open(pathlib.Path(sys.argv[1]), [])\nprint('held', flush=True)\ntime.sleep(60)"


def test_two_processes_cannot_use_one_run_and_a_killed_one_lets_go(tmp_path: Path) -> None:
    RunDir.create(tmp_path, CONFIG, []).close()
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"held\n"
        with pytest.raises(RunDirError, match=rf"in use by another process \(pid {other.pid}\)"):
            RunDir.open(tmp_path, ["ignored"])
        assert "ignored" not in (tmp_path / "command.txt").read_text()
        other.kill()
    RunDir.open(tmp_path, []).close()


def test_who_is_about_to_let_go_is_waited_for(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run", {}, [])
    threading.Timer(0.2, run.close).start()
    RunDir.open(tmp_path / "run", []).close()


def test_two_creations_in_one_process_exclude_each_other(tmp_path: Path) -> None:
    with RunDir.create(tmp_path, CONFIG, []):
        (tmp_path / "config.json").unlink()  # as if the other had only begun
        for name in ("checkpoints", "games"):
            (tmp_path / name).rmdir()
        with pytest.raises(RunDirError, match="in use"):
            RunDir.create(tmp_path, CONFIG, [])


def test_a_new_path_is_new_and_says_what_runs(tmp_path: Path) -> None:
    first = new_run_path("quick", 7, root=tmp_path)
    assert first.name.startswith("quick__s7__20") and first.name.endswith("Z")
    paths = set()
    for _ in range(3):
        path = new_run_path("quick", 7, root=tmp_path)
        path.mkdir()
        paths.add(path)
    assert len(paths) == 3
