"""What the machine may do to a run: no room, no permission, half a file, no reader, a clock that goes back.

Each time it is one line and a clean exit, nothing that was written is lost, and the resumed run ends with the bytes of
one that nothing happened to. What else may happen, and where it is shown that nothing comes of it:

    a worker is killed, or all are        test_experiments_killed_workers, test_rl_fleet; over TCP: fleet_over_tcp.py
    a result is late, stale, told twice   test_experiments_fleets; while the learner goes on: test_experiments_flow
    the scheduler is started anew         test_experiments_fleets (one that is made up); over TCP: fleet_over_tcp.py
    SIGINT, SIGTERM, SIGKILL              test_experiments_train, test_experiments_sweep; 200 times: kills.py
    two processes, one run directory      here, test_experiments_run_dir
    no streams, a reader that goes        test_experiments_killed_workers, here
"""

import errno
import itertools
import os
import re
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from tiny_run import begin, outcome

from experiments import run_dir
from experiments.__main__ import main
from experiments.checkpoint import load_checkpoint, load_latest, save_checkpoint
from experiments.metrics import MetricsLog, read_metrics
from experiments.run_dir import RunDir, new_run_path
from nn.weights import WeightsError

ROOT = Path(__file__).resolve().parent.parent
BEGIN = begin()
NOBODY = 65534


@pytest.fixture(autouse=True)
def _blank_curve(monkeypatch):
    """Drawing takes longer than these runs do."""
    monkeypatch.setattr("experiments.plots.learning_curve", lambda ax, *rows: ax)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    assert main([*BEGIN, str(path)]) == 0
    return path


def goes_on(run):
    """Resume, or begin again if there is no run yet."""
    return main(["train", "--resume", str(run)] if (run / "config.json").exists() else [*BEGIN, str(run)])


def one_line(capsys):
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if line.startswith("gomoku: ") and "note:" not in line][-1]


def test_a_disk_that_fills_up_at_any_write_costs_nothing(whole, tmp_path, capsys, monkeypatch):
    sync, calls = os.fsync, itertools.count()

    def full_from(first):
        def fsync(file):
            if next(calls) >= first:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            sync(file)

        return fsync

    for first in itertools.count():
        run, calls = tmp_path / f"full{first}", itertools.count()
        monkeypatch.setattr(os, "fsync", full_from(first))
        code = main([*BEGIN, str(run)])
        monkeypatch.setattr(os, "fsync", sync)
        if code == 0:  # it has fewer writes than that
            break
        assert code == 1 and "No space left on device" in one_line(capsys)
        assert not [path for path in run.rglob("*.tmp")]
        if first % 4 == 0:
            assert goes_on(run) == 0 and outcome(run) == outcome(whole)
    assert 12 < first < 30


def test_a_file_that_may_grow_no_further_costs_nothing(whole, tmp_path, capsys):
    run = tmp_path / "run"
    with largest_file(3_000):  # room for config.json and some rows of metrics, not for a checkpoint
        assert main([*BEGIN, str(run)]) == 1
    assert "update_00000001.npz: cannot be written: File too large" in one_line(capsys)
    assert goes_on(run) == 0 and outcome(run) == outcome(whole)


def test_half_a_row_of_metrics_is_not_read_and_is_written_again(tmp_path):
    path, rows = tmp_path / "metrics.jsonl", 0
    with largest_file(100), pytest.raises(OSError, match="too large"), MetricsLog(path) as log:
        for update in itertools.count():
            log.append({"update": update, "text": "x" * 20})
            rows += 1
    assert rows == 2 and len(path.read_bytes()) == 100 and len(read_metrics(path)) == 2
    with MetricsLog(path, rows) as log:
        log.append({"update": rows})
    assert [row["update"] for row in read_metrics(path)] == [0, 1, 2]


@contextmanager
def largest_file(length):
    """The kernel writes files up to so many bytes and refuses the next, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def closed_to_us(path):
    """A directory in which we may write nothing; root is nobody meanwhile, for root may everywhere."""
    user, here = os.geteuid(), os.getcwd()
    os.chdir(path.parent)  # directories of pytest above it are closed to nobody
    path.parent.chmod(0o755)
    path.chmod(0o555)
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield Path(path.name)
    finally:
        os.seteuid(user)
        path.chmod(0o755)
        os.chdir(here)


def test_a_run_directory_that_is_read_only_is_left_alone(whole, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*")}
    with closed_to_us(run) as name:
        assert main(["train", "--resume", str(name)]) == 1
    assert re.fullmatch(r"gomoku: run/\S+: Permission denied", one_line(capsys))
    assert {path: path.stat().st_mtime_ns for path in run.rglob("*")} == before
    empty = tmp_path / "empty"
    empty.mkdir()
    with closed_to_us(empty) as name:
        assert main([*BEGIN, str(name / "new")]) == 1
    assert "Permission denied" in one_line(capsys) and not list(empty.iterdir())


def test_checkpoints_that_become_read_only_stop_the_run_and_cost_nothing(whole, tmp_path, capsys, monkeypatch):
    run = tmp_path / "run"

    def refused(*args, **kwargs):
        if kwargs["dir"].name == "checkpoints":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return temporary(*args, **kwargs)

    temporary = __import__("tempfile").NamedTemporaryFile
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.NamedTemporaryFile", refused)
        assert main([*BEGIN, str(run)]) == 1
    assert one_line(capsys).endswith("update_00000001.npz: cannot be written: Read-only file system")
    assert goes_on(run) == 0 and outcome(run) == outcome(whole)


def test_a_checkpoint_torn_at_any_byte_is_refused(tmp_path):
    with RunDir.create(tmp_path / "run", {}, []) as run:
        save_checkpoint(run, 1, {"a": np.arange(2)}, {"rows": 1})
        path = save_checkpoint(run, 2, {"a": np.arange(3)}, {"rows": 2})
        data = path.read_bytes()
        for length in range(len(data)):
            path.write_bytes(data[:length])
            with pytest.raises(WeightsError):
                load_checkpoint(path)
        assert load_latest(run).update == 1
        for length in (1, 512, 4096):  # what a file system may leave behind a file's end, or instead of it
            path.write_bytes(data + bytes(length))
            assert load_latest(run).update == 1
            path.write_bytes(data[:-length] + bytes(length))
            assert load_latest(run).update == 1
        path.write_bytes(data)
        assert load_latest(run).update == 2


@pytest.mark.parametrize("streams", ["stdout", "both"])
def test_a_reader_that_goes_costs_nothing(whole, tmp_path, streams):
    """`gomoku train | head -1`"""
    run = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-m", "experiments", *BEGIN, str(run)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT if streams == "both" else subprocess.PIPE,
        cwd=ROOT, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    ) as process:  # fmt: skip
        assert process.stdout.readline().startswith(b"run directory: ")
        process.stdout.close()
        assert streams == "both" or b"Traceback" not in process.stderr.read()
        assert process.wait(120) == 141
    assert goes_on(run) == 0
    assert outcome(run) == outcome(whole)


def test_a_run_in_use_is_left_alone(whole, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    with RunDir.open(run, []):
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
        assert main(["train", "--resume", str(run)]) == 2
        assert one_line(capsys) == f"gomoku: {run}: in use by another process (pid {os.getpid()})"
        assert main([*BEGIN, str(run)]) == 2
        assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before
    assert goes_on(run) == 0 and outcome(run) == outcome(whole)


def test_a_clock_that_goes_back_changes_no_order(whole, tmp_path, monkeypatch):
    class Back:
        seconds = 2_000_000_000

        @classmethod
        def now(cls, zone):
            cls.seconds -= 3_600
            return datetime.fromtimestamp(cls.seconds, UTC)

    monkeypatch.setattr(run_dir, "datetime", Back)
    monkeypatch.setattr("time.time", lambda: -1e9)
    monkeypatch.setattr("time.perf_counter", lambda: 5.0)  # one that stands, besides
    names = [new_run_path("tiny", 1, tmp_path).name for _ in range(2)]
    assert names[1] < names[0]
    run = tmp_path / "run"
    assert main([*BEGIN, str(run)]) == 0
    for path in (run / "checkpoints").iterdir():  # the newest is the one of the last update, whatever its file's time
        os.utime(path, (0, 2_000_000_000 - int(path.stem[-1])))
    with RunDir.open(run, []) as opened:
        assert load_latest(opened).update == 3
    assert goes_on(run) == 0 and outcome(run) == outcome(whole)


def test_the_name_of_a_run_is_all_that_asks_for_the_time_of_day():
    asking = re.compile(r"\btime\.time\(|\btime\.time_ns\(|datetime\.now\(|datetime\.utcnow\(|\.today\(|st_mtime")
    found = {
        path.relative_to(ROOT).as_posix(): len(asking.findall(path.read_text()))
        for package in ("nn", "env", "rl", "experiments")
        for path in (ROOT / package).rglob("*.py")
        if asking.search(path.read_text())
    }
    assert found.pop("experiments/run_dir.py") == 1
    assert set(found) <= {"rl/search/rule_file.py", "experiments/draw.py"}  # has a file changed: a mark, not an order
