"""Training on processes that are killed, one or all of them, or that have no stream to write to: the same bytes."""

import itertools
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tiny_run import begin, outcome

from experiments.__main__ import main
from experiments.training import fleets
from rl.fleet import Processes

ROOT = Path(__file__).resolve().parent.parent
BEGIN = begin("shares=4")


@pytest.fixture(autouse=True)
def _blank_curve(monkeypatch):
    """Drawing takes longer than these runs do."""
    monkeypatch.setattr("experiments.plots.learning_curve", lambda ax, *rows: ax)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody disturbed."""
    path = tmp_path_factory.mktemp("whole") / "run"
    assert main([*BEGIN, str(path)]) == 0
    return path


class Deadly(Processes):
    """In the second update one worker is killed while it works, in the third all are, between two shares."""

    def __init__(self, prepare, jobs, ahead):
        super().__init__(prepare, jobs, ahead)
        self.shares, self.killed = itertools.count(), []

    def submit(self, index, batch):
        super().submit(index, batch)
        share = next(self.shares)
        for pid in self.workers[:1] if share == 5 else self.workers if share == 10 else []:
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)


def test_workers_killed_in_mid_run_change_nothing(whole, tmp_path, monkeypatch):
    made = []

    def fleet(*how):
        made.append(Deadly(*how))
        return made[0]

    monkeypatch.setattr(fleets, "Processes", fleet)
    assert main([*BEGIN, str(tmp_path / "run"), "--fleet", "processes:2"]) == 0
    assert len(set(made[0].killed)) == 3
    assert outcome(tmp_path / "run") == outcome(whole)


def test_a_run_without_streams_writes_nothing_where_they_were(whole, tmp_path):
    """As a daemon is started: what is opened next takes the numbers 0, 1 and 2, and must not be written to as them."""
    run = tmp_path / "run"
    words = [sys.executable, "-m", "experiments", *BEGIN, str(run), "--fleet", "processes:1"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(f"{shlex.join(words)} <&- >&- 2>&-", shell=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0
    assert outcome(run) == outcome(whole)
    assert (run / "lock").read_text().startswith("pid ") and (run / "lock").read_text().count("\n") == 1
    assert (run / "command.txt").read_text().startswith("gomoku train ")
