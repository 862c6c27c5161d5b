"""The fleet: the same results from anywhere, nothing lost when workers die, nobody left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rl.fleet import Fleet, FleetError, InProcess, Processes

ROOT = Path(__file__).resolve().parent.parent
Fleets = Callable[[Callable], Fleet]


def multiplier(factor):
    """prepare: a batch times the value, plus the batch's own chance."""
    return lambda batch: factor * batch[0] + batch[1].random()


def surroundings(value):
    return lambda batch: (os.getpid(), {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS",)})


def killer(folder):
    """Work that kills its process the first times it is done: batch = (how often, name)."""

    def work(batch):
        times, name = batch
        marks = [Path(folder) / f"{name}{i}" for i in range(times)]
        for mark in marks:
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return name

    return work


class Unsendable(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fault(value):
    def work(batch):
        if batch == "unsendable":
            raise Unsendable(1, 2)
        if batch == "result":
            return lambda: 0
        raise ValueError(f"no {batch}")

    if value == "prepare":
        raise KeyError("prepare")
    return work


def slow(value):
    def work(batch):
        time.sleep(batch)
        return batch

    return work


def batch(index):
    return index, np.random.default_rng([7, index])


def all_of(fleet, count):
    return sorted((fleet.take() for _ in range(count)), key=lambda done: done.index)


def test_any_number_of_workers_gives_the_same_results() -> None:
    results = []
    for fleet in (InProcess(multiplier), Processes(multiplier, 1), Processes(multiplier, 2, ahead=3)):
        with fleet:
            assert fleet.put(10.0) == 1
            for index in range(20):
                fleet.submit(index, batch(index))
            first = all_of(fleet, 20)
            assert fleet.put(-1.0) == 2
            fleet.submit(0, batch(5))
            results.append((first, fleet.take()))
    assert results[0] == results[1] == results[2]
    first, last = results[0]
    assert [done.index for done in first] == list(range(20)) and {done.version for done in first} == {1}
    assert last.version == 2 and last.result == pytest.approx(-5 + first[5].result - 50)
    assert len({done.result % 1 for done in first}) == 20


def test_workers_have_one_thread_and_are_as_many_as_asked_for() -> None:
    with Processes(surroundings, 2) as fleet:
        fleet.put(None)
        assert fleet.workers == []
        for index in range(6):
            fleet.submit(index, None)
        done = [fleet.take().result for _ in range(6)]
        workers = fleet.workers
        assert len(workers) == 2 and {pid for pid, _ in done} <= set(workers) and os.getpid() not in workers
        assert {words["OPENBLAS_NUM_THREADS"] for _, words in done} == {"1"}
    assert not any(alive(pid) for pid in workers)


@pytest.mark.parametrize("ahead", [0, 4])
def test_a_killed_worker_is_replaced_and_its_batches_done_again(ahead: int, tmp_path: Path) -> None:
    with Processes(killer, 2, ahead) as fleet:
        fleet.put(str(tmp_path))
        for index, times in enumerate([0, 1, 0, 2, 0]):
            fleet.submit(index, (times, f"batch{index}"))
        assert [(done.index, done.result) for done in all_of(fleet, 5)] == [(i, f"batch{i}") for i in range(5)]


def test_a_batch_that_nobody_survives_is_named(tmp_path: Path) -> None:
    with Processes(killer, 2) as fleet:
        fleet.put(str(tmp_path))
        fleet.submit(4, (9, "bad"))
        with pytest.raises(FleetError, match="batch 4 has cost 3 worker processes, the last one killed by signal 9"):
            fleet.take()
        fleet.submit(5, (0, "good"))
        assert fleet.take().result == "good"


def test_batches_that_wait_behind_one_that_nobody_survives_are_done(tmp_path: Path) -> None:
    with Processes(killer, 1, ahead=3) as fleet:
        fleet.put(str(tmp_path))
        for index, times in enumerate([9, 0, 0, 0]):
            fleet.submit(index, (times, f"batch{index}"))
        with pytest.raises(FleetError, match="batch 0 has cost 3"):
            fleet.take()
        assert [done.index for done in all_of(fleet, 3)] == [1, 2, 3]


def test_a_batch_that_waits_in_a_process_is_done_with_the_newest_value(tmp_path: Path) -> None:
    """And the result says with which value, whenever it was put."""
    begun = tmp_path / "begun"
    with Processes(waiter, 1, ahead=2) as fleet:
        fleet.put(1.0)
        for index in range(4):
            fleet.submit(index, str(begun))
        assert [len(worker.jobs) for worker in fleet._workers] == [3]  # and one is kept for whoever is free first
        while not begun.exists():
            time.sleep(0.01)
        fleet.put(2.0)
        begun.rename(tmp_path / "go")
        done = all_of(fleet, 4)
        assert [each.version for each in done] == [each.result for each in done] == [1, 2, 2, 2]


def waiter(value):
    """Says that it works, and waits until it may go on."""

    def work(path):
        go = Path(path).with_name("go")
        if not go.exists():
            Path(path).touch()
        while not go.exists():
            time.sleep(0.01)
        return value

    return work


def test_the_last_batches_are_kept_for_whoever_is_free_first() -> None:
    with Processes(slow, 2, ahead=1) as fleet:
        fleet.put(None)
        fleet.submit(0, 60)
        for index in range(1, 6):
            fleet.submit(index, 0)
        assert [fleet.take().index for _ in range(4)] == [1, 3, 4, 5]  # 2 waits behind 0


def test_a_worker_killed_while_it_waits_is_replaced() -> None:
    with Processes(slow, 1) as fleet:
        fleet.put(None)
        for index in range(3):
            fleet.submit(index, 0)
            assert fleet.take().index == index
            (worker,) = fleet.workers
            os.kill(worker, signal.SIGKILL)
            while alive(worker):
                time.sleep(0.01)


@pytest.mark.parametrize("jobs", [0, 1])
def test_exceptions_come_out_of_take_and_the_fleet_goes_on(jobs: int) -> None:
    with Processes(fault, jobs) if jobs else InProcess(fault) as fleet:
        fleet.put(None)
        for _ in range(2):
            fleet.submit(1, "luck")
            with pytest.raises(ValueError, match="no luck") as raised:
                fleet.take()
        if jobs:
            assert "in a worker process" in raised.value.__notes__[0] and "in work" in raised.value.__notes__[0]
            fleet.submit(2, "unsendable")
            with pytest.raises(RuntimeError, match=r"Unsendable in a worker process: 1 and 2"):
                fleet.take()
            with pytest.raises(Exception, match="pickle"):
                fleet.submit(3, lambda: 0)
            fleet.submit(3, "result")
            with pytest.raises(Exception, match="pickle"):
                fleet.take()
            fleet.put("prepare")
            fleet.submit(4, "")
            with pytest.raises(KeyError, match="prepare"):
                fleet.take()


def test_out_of_turn() -> None:
    for fleet in (InProcess(slow), Processes(slow, 1)):
        with fleet:
            with pytest.raises(RuntimeError, match="before any value"):
                fleet.submit(0, 0)
            fleet.put(None)
            with pytest.raises(RuntimeError, match="nothing to take"):
                fleet.take()
    with pytest.raises(ValueError, match="0 processes: use 1 to"):
        Processes(slow, 0)


def test_large_values_and_results_do_not_block_each_other() -> None:
    """Each message is larger than a pipe holds, and goes both ways at once."""
    with Processes(_echo, 1) as fleet:
        for index in range(4):
            fleet.put(np.full(500_000, index, dtype=np.float64))
            fleet.submit(index, np.ones(500_000))
        assert [done.index for done in all_of(fleet, 4)] == [0, 1, 2, 3]


def _echo(value):
    return lambda batch: value + batch


def test_closing_stops_work_that_is_not_done() -> None:
    began = time.monotonic()
    with Processes(slow, 2) as fleet:
        fleet.put(None)
        for index in range(4):
            fleet.submit(index, 60)
        workers = fleet.workers
    assert time.monotonic() - began < 20 and len(workers) == 2 and not any(alive(pid) for pid in workers)


OWNER = """
import sys, time
sys.path[:0] = {paths!r}
from rl.fleet import Processes
from test_rl_fleet import slow

if __name__ == "__main__":
    fleet = Processes(slow, 2)
    fleet.put(None)
    fleet.submit(0, 0)
    fleet.take()
    for index in range(2):
        fleet.submit(index, 100)
    try:
        print(*fleet.workers, flush=True)
        fleet.take()
    except KeyboardInterrupt:
        time.sleep(0.3)
        print(all(worker.process.is_alive() for worker in fleet._workers), flush=True)
        fleet.close()
"""


def test_workers_do_not_hear_ctrl_c_and_do_not_outlive_their_owner(tmp_path: Path) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER.format(paths=[str(ROOT), str(ROOT / "tests")]))
    for how in (signal.SIGINT, signal.SIGKILL):
        with subprocess.Popen(
            [sys.executable, script], stdout=subprocess.PIPE, text=True, start_new_session=True
        ) as owner:
            assert owner.stdout is not None
            workers = [int(word) for word in owner.stdout.readline().split()]
            assert len(workers) == 2 and all(alive(pid) for pid in workers)
            if how == signal.SIGINT:
                os.killpg(owner.pid, how)  # as a terminal does: to the workers too
                assert owner.stdout.readline() == "True\n" and owner.wait(timeout=20) == 0
            else:
                owner.kill()
                owner.wait(timeout=20)
            until = time.monotonic() + 10
            while any(alive(pid) for pid in workers) and time.monotonic() < until:
                time.sleep(0.02)
            assert not any(alive(pid) for pid in workers)


def test_the_first_worker_too_is_deaf_from_its_beginning(tmp_path: Path) -> None:
    """Where multiprocessing has started nothing yet: Ctrl-C might come before `serve`, while the worker imports."""
    script = tmp_path / "mask.py"
    script.write_text(
        "import signal\nfrom multiprocessing import resource_tracker\nfrom rl.fleet_worker import surroundings\n"
        "with surroundings():\n    resource_tracker.ensure_running()\n"  # as the start of a process does
        "    print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
        "print(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))\n"
    )
    done = subprocess.run(
        [sys.executable, script], env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("True\nFalse\n", "")


def alive(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
