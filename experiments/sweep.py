"""`gomoku sweep`: one experiment with several values of its settings, several seeds of each, several runs at a time.

    runs/sweep_quick__s1__20261129T201500Z/
        config.json                  every setting of every run      results.json   mean and range over the seeds
        learning_rate=1e-3__s1/      a run as gomoku train makes it, curve.png      a learning curve for each value
        learning_rate=1e-3__s2/ ...  what it printed in log.txt

A sweep killed at any moment goes on with --resume: finished runs are kept, a broken one continues from its checkpoint.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from tqdm import tqdm

from experiments.config import config_from
from experiments.config_source import add_config_arguments, settings_of
from experiments.errors import EXIT_FAILED, EXIT_OK, UserError
from experiments.run_dir import RunDir, add_run_dir_arguments, new_run_path
from experiments.train import Stopped, continue_run
from experiments.training.fleets import fleet_named
from experiments.training.learner import Learner
from experiments.training.sweep_plan import Plan, plan_from, planned, updates_in
from experiments.training.sweep_results import final_rates, is_finished, table, write_results
from experiments.training.verdict import report
from rl.fleet import MOST_JOBS, FleetError

LOOK_EVERY = 1.0  # seconds between two looks at how far the runs are


class SweepDir(RunDir):
    """The directory of a sweep: a run's, with runs in it."""

    def _make_folders(self) -> None:
        pass


@dataclass(frozen=True)
class Task:
    """A run to be done: where, how, and the command line that asked for it."""

    path: Path
    config: Mapping[str, Any]
    argv: tuple[str, ...]


def prepare(_: None) -> Callable[[Task], str]:
    """What a fleet of runs does with a task: the run, from wherever it is to its end. See train_one."""
    tqdm.set_lock(threading.RLock())  # its own lock, for several processes at one terminal, outlives a killed process
    return train_one


def train_one(task: Task) -> str:
    """Begin or continue a run, and measure it at the end. What it says goes to its log.txt.

    Returns in one line what training refuses or the machine does, and "" if all went well.
    """
    begun = (task.path / "config.json").is_file()
    try:
        with (
            np.errstate(all="ignore"),
            RunDir.open(task.path, task.argv) if begun else RunDir.create(task.path, task.config, task.argv) as run,
            open(task.path / "log.txt", "a", encoding="utf-8") as log,
            redirect_stdout(log),
            redirect_stderr(log),
        ):
            if run.config() != json.loads(json.dumps(task.config)):
                raise UserError(f"{task.path}: its configuration is not the one of this sweep")
            learner = Learner(config_from(run.config()))
            report(learner, run, continue_run(learner, run, []))
    except (UserError, ValueError, OSError, MemoryError) as error:
        if isinstance(error, ValueError) and type(error).__module__ == "builtins":
            raise  # a fault of the program
        return " ".join(str(error).split()) or type(error).__name__
    return ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_arguments(parser)
    parser.add_argument(
        "--vary",
        metavar="KEY=V,V,...",
        action="append",
        default=[],
        help="a setting and the values it is to have; given again, every combination is run",
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="how many seeds, from --seed on (default: 1)")
    add_run_dir_arguments(parser, "go on with a sweep; --jobs or --fleet may differ")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--jobs", type=int, metavar="N", help="how many runs at a time, a process each (default: 1)")
    where.add_argument(
        "--fleet",
        metavar="FLEET",
        help="dask:tcp://HOST:8786: on the workers of that Dask scheduler, who must see the same files as this machine",
    )


def run(args: argparse.Namespace) -> int:
    """Do the runs that are not done, then say what came out. Returns 0, 1 if a run failed, 130 or 143 if stopped."""
    jobs = 1 if args.jobs is None else args.jobs
    if not 1 <= jobs <= MOST_JOBS:
        raise UserError(f"--jobs {jobs}: wanted 1 to {MOST_JOBS}")
    fleet = args.fleet or f"processes:{jobs}"
    with open_sweep(args) as (directory, plan):
        directory.accept()
        print(f"sweep directory: {directory.path}   {len(plan)} runs", flush=True)
        how_to_go_on = f"go on with: gomoku sweep --resume {directory.path}"
        try:
            with signals_raised():
                failed = train_all(directory.path, plan, fleet)
        except Stopped as stopped:
            print(f"\nstopped; {how_to_go_on}")
            return stopped.code
        except FleetError as error:
            raise UserError(f"{error}; {how_to_go_on}") from None
        rates = final_rates(directory.path, plan)
        if rates:
            write_results(directory, plan, rates)
            print(f"\n{table(rates)}\n\nresults           {directory.path / 'results.json'}")
            print(f"learning curves   {directory.curve}")
    for folder, reason in failed.items():
        print(f"gomoku: {folder} failed: {reason}", file=sys.stderr)
    if failed:
        print(f"gomoku: {len(failed)} of {len(plan)} runs failed; {how_to_go_on}", file=sys.stderr)
    return EXIT_FAILED if failed else EXIT_OK


def train_all(path: Path, plan: Plan, fleet_name: str) -> dict[str, str]:
    """Do every run that is not finished, on a fleet; returns why those failed that did."""
    missing = [folder for folder in plan if not is_finished(path / folder)]
    failed: dict[str, str] = {}
    with fleet_named(fleet_name, prepare) as fleet, watched(path, {folder: plan[folder] for folder in missing}) as tell:
        fleet.put(None)
        for number, folder in enumerate(missing):
            argv = ("sweep", "--resume", str(path))
            fleet.submit(number, Task(path.resolve() / folder, plan[folder].as_dict(), argv))
        for count in range(1, len(missing) + 1):
            done = fleet.take()
            folder = missing[done.index]
            if done.result:
                failed[folder] = done.result
            tell(f"{folder}: {'failed' if done.result else 'done'}, {count} of {len(missing)}")
    return failed


@contextmanager
def watched(path: Path, plan: Plan) -> Iterator[Callable[[str], None]]:
    """A bar over the updates of these runs, as their metrics show them; yields what prints a line and the time left."""
    logs = [path / folder / "metrics.jsonl" for folder in plan]
    total = sum(updates_in(config) for config in plan.values())

    def done() -> int:
        return sum(max(0, log.read_bytes().count(b"\n") - 1) for log in logs if log.is_file())

    def look() -> None:
        while not over.wait(LOOK_EVERY):
            bar.update(done() - bar.n)

    def tell(text: str) -> None:
        now = done()
        left = (time.monotonic() - began) * (total - now) / max(1, now - first)
        bar.write(f"{text}, about {left:.0f} s left", file=sys.stderr)

    began, first = time.monotonic(), done()
    over, looking = threading.Event(), threading.Thread(target=look, daemon=True)
    with tqdm(total=total, initial=first, unit="update", smoothing=0.05, disable=None) as bar:
        looking.start()
        try:
            yield tell
        finally:
            over.set()
            looking.join()


@contextmanager
def signals_raised() -> Iterator[None]:
    """Within this block Ctrl-C and SIGTERM raise Stopped: runs may be killed at any moment and lose next to nothing."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped(128 + number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def open_sweep(args: argparse.Namespace) -> Iterator[tuple[SweepDir, Plan]]:
    """The directory to work in, new or resumed, and what is to be run. Raises UserError, or what check_run does."""
    asked: Sequence[object] = (args.preset, args.config, args.set, args.vary, args.seed, args.seeds, args.run_dir)
    if args.resume is not None:
        if any(value not in (None, []) for value in asked):
            raise UserError("--resume goes on as it was begun; nothing but --jobs or --fleet goes with it")
        with SweepDir.open(args.resume, sys.argv[1:]) as directory:
            yield directory, plan_from(directory.config(), args.resume / "config.json")
        return
    seeds = 1 if args.seeds is None else args.seeds
    plan = planned(args.preset, args.config, settings_of(args), args.vary, seeds)
    first = next(iter(plan.values()))
    path = args.run_dir or new_run_path(f"sweep_{first.name}", first.seed)
    config = {"runs": {folder: of.as_dict() for folder, of in plan.items()}}
    with SweepDir.create(path, config, sys.argv[1:]) as directory:
        yield directory, plan
