"""Training on a real Dask scheduler with two workers over TCP on this machine, while they are killed and come back.

`make fleet-test` runs it; it needs the extra `dist`. Too slow and too many processes for `make test`.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SETTINGS = (
    "name=tiny", "height=6", "width=6", "win_length=4", "filters=[4, 4]", "hidden=16", "games=480",
    "games_per_update=48", "batch=64", "pool_every=48", "evaluate_every=480", "evaluation_games=2", "final_games=2",
    "evaluation_plies=2", "opening_plies=2", "checkpoint_every=48", "shares=6",
)  # fmt: skip


class Machines:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self, folder):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder, self.started = folder, []

    def run(self, name, *words):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", *words], env=environment, cwd=self.folder, stdout=log, stderr=log
            )
        self.started.append(process)
        return process

    def scheduler(self):
        process = self.run("scheduler", "distributed.cli.dask_scheduler", "--host", "127.0.0.1",
                           "--port", str(self.port), "--no-dashboard")  # fmt: skip
        limit = time.monotonic() + 120
        while time.monotonic() < limit:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return process
            time.sleep(0.1)
        raise AssertionError("the scheduler does not answer")

    def worker(self):
        return self.run("worker", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard",
                        "--no-nanny", "--death-timeout", "600", "--local-directory", str(self.folder))  # fmt: skip

    def train(self, run, *words):
        sets = [word for setting in SETTINGS for word in ("--set", setting)]
        return self.run(run.name, "experiments", "train", *sets, "--run-dir", str(run), *words)

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path):
    machines = Machines(tmp_path)
    yield machines
    machines.close()


@pytest.fixture(scope="module")
def weights_of_one_process(tmp_path_factory):
    """What the run in one process ends with."""
    folder = tmp_path_factory.mktemp("here")
    assert Machines(folder).train(folder / "run").wait(600) == 0
    return (folder / "run" / "policy.npz").read_bytes()


def wait_for_rows(process, run, rows):
    metrics, limit = run / "metrics.jsonl", time.monotonic() + 600
    while not metrics.exists() or metrics.read_bytes().count(b"\n") < rows:
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.02)


def rows_of(run):
    return (run / "metrics.jsonl").read_bytes().count(b"\n")


def kill(*processes):
    for process in processes:
        process.send_signal(signal.SIGKILL)
        process.wait()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", ["one worker", "all workers", "scheduler"])
def test_what_is_killed_changes_nothing(fault, machines, weights_of_one_process, tmp_path):
    scheduler = machines.scheduler()
    workers = [machines.worker(), machines.worker()]
    run = tmp_path / "run"
    training = machines.train(run, "--fleet", f"dask:{machines.address}")
    wait_for_rows(training, run, 4)
    if fault == "one worker":
        kill(workers[0])
    elif fault == "all workers":
        kill(*workers)
        time.sleep(1)
        before = rows_of(run)
        time.sleep(2)
        assert rows_of(run) == before  # nobody there to play
        machines.worker()
    else:
        kill(scheduler)
        kill(*workers)
        machines.scheduler()
        machines.worker()
    assert training.wait(1200) == 0, (tmp_path / "run.log").read_text()
    assert rows_of(run) == 11
    assert (run / "policy.npz").read_bytes() == weights_of_one_process
