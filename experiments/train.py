"""`gomoku train`: play, learn, measure, write down; again, until the games are played.

The loop is `train`, one page. Whatever it writes can be cut off at any moment: `--resume` goes on from the last
checkpoint, and the run ends with the bytes it would have had if never stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from experiments.checkpoint import load_latest, save_checkpoint
from experiments.config import config_from
from experiments.config_source import add_config_arguments, load_config, settings_of
from experiments.errors import EXIT_OK, UserError
from experiments.metrics import MetricsLog, Row
from experiments.run_dir import RunDir, add_run_dir_arguments, new_run_path
from experiments.training.fleets import fleet_named
from experiments.training.learner import Learner, Report
from experiments.training.learner_state import arrays_of, meta_of, restore
from experiments.training.progress import Progress
from experiments.training.verdict import check_evaluation, evaluate, report, tactical_suite
from rl.selfplay import LEARNER
from rl.shares import SHARES_AHEAD, prepare
from rl.tactical_suite import TacticalSuite

SHARES = 8  # of an update's games, if a fleet plays them and nothing else is asked for


class Stopped(Exception):
    """The run was asked to stop, and everything is saved. `code` is the exit code: 128 + the signal."""

    def __init__(self, code: int) -> None:
        self.code = code


def train(learner: Learner, run: RunDir, log: MetricsLog, suite: TacticalSuite, asked_to_stop: list[int]) -> None:
    """Play, learn and measure until the games are played, or a signal number appears in `asked_to_stop`.

    Raises Stopped in the latter case; either way the last thing done is a checkpoint.
    """
    config = learner.config
    if not learner.league.snapshots and learner.pupil is None:
        learner.league.remember(learner.net)
    if not log.rows:
        untrained = evaluate(learner.best_net(), config, suite, config.evaluation_games, 0)
        log.append({"update": 0, "games": 0, "positions": 0, "evaluation": untrained})
    progress = Progress(learner)
    while learner.games < config.games and not asked_to_stop:
        began, games_before = time.perf_counter(), learner.games + learner.imitated
        turn = learner.update()
        row = metrics_row(learner, turn, time.perf_counter() - began)

        def due(every: int, before: int = games_before) -> bool:
            return before // every < (learner.games + learner.imitated) // every or learner.games >= config.games

        if learner.pupil is None and (due(config.pool_every) or not learner.league.snapshots):
            learner.league.remember(learner.net)
        if due(config.evaluate_every):
            row["evaluation"] = evaluate(
                learner.best_net(), config, suite, config.evaluation_games, learner.updates
            )
        log.append(row)
        if due(config.checkpoint_every):
            save_checkpoint(run, learner.updates, arrays_of(learner), meta_of(learner, log.rows))
        progress.show(row)
    progress.close()
    if asked_to_stop:
        save_checkpoint(run, learner.updates, arrays_of(learner), meta_of(learner, log.rows))
        raise Stopped(128 + asked_to_stop[0])


def metrics_row(learner: Learner, turn: Report, seconds: float) -> Row:
    """One line of metrics.jsonl; everything but the two times is the same in every run of this configuration.

    What was not measured is left out: a turn of drills alone tells nothing of games, and the other way round.
    """
    row: Row = {
        "update": learner.updates,
        "games": learner.games + learner.imitated,
        "positions": learner.positions,
        "seconds": seconds,
        "games_per_second": turn.games / max(seconds, 1e-6),  # a clock may stand
        "learning_rate": turn.learning_rate,
        "entropy_weight": turn.entropy_weight,
    }
    if turn.imitated is not None:
        row["imitation"] = dataclasses.asdict(turn.imitated)
    if turn.drilled is not None:
        row["drill"] = dataclasses.asdict(turn.drilled)
    if turn.redone is not None:
        row["redone"] = dataclasses.asdict(turn.redone)
    if turn.stats is not None and turn.decisions is not None:
        decisions = turn.decisions
        black, white = (decisions.seats == LEARNER).T
        row |= dataclasses.asdict(turn.stats)
        row["game_length"] = float(decisions.lengths.mean())
        row["explained"] = turn.explained
        row["won"] = dict(turn.won)
        row["win_rate"] = {
            "black": share(decisions.game_winners[black] == 1),
            "white": share(decisions.game_winners[white] == -1),
        }
    if turn.staleness is not None:
        row["staleness"] = dataclasses.asdict(turn.staleness)
    if turn.rolled_back is not None:
        row["rolled_back"] = turn.rolled_back
    return row


def share(flags: NDArray[np.bool_]) -> float:
    """The share of True, 0 if there are none to count."""
    return float(flags.mean()) if len(flags) else 0.0


@contextmanager
def signals_noted() -> Iterator[list[int]]:
    """Within this block a first Ctrl-C or SIGTERM is written into the list; a second one ends the process at once."""
    asked: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)
        print("\ngomoku: stopping after this update; once more to stop now", file=sys.stderr)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_arguments(parser)
    add_run_dir_arguments(parser, "continue this run from its last checkpoint")
    parser.add_argument(
        "--fleet",
        metavar="FLEET",
        help="who plays the training games: processes:N here, or dask:tcp://HOST:8786 the workers of that Dask\n"
        f"scheduler; sets shares={SHARES} unless set. Any fleet gives the same bytes; --resume may name another.\n"
        "With --set staleness=N the learner does not wait for all of them, and no two runs are the same",
    )


def run(args: argparse.Namespace) -> int:
    """Train, then measure, draw and say what came out. Returns 0, or 130 / 143 if stopped by a signal."""
    # What overflows is told in words, by whoever finds a logit, a gradient or a metric that is not finite.
    with np.errstate(all="ignore"), open_run(args) as (run_dir, learner):
        if args.fleet is not None and not learner.config.shares:
            raise UserError(f"{run_dir.path}: games in one go; only a run begun with --fleet can use one")
        with (
            learner.fleet if args.fleet is None else fleet_named(args.fleet, prepare, SHARES_AHEAD) as learner.fleet,
            signals_noted() as asked_to_stop,
        ):
            try:
                suite = continue_run(learner, run_dir, asked_to_stop)
            except Stopped as stopped:
                learner.best_net().save(run_dir.path / "policy.npz")
                games = learner.games + learner.imitated
                print(f"stopped after {games:,} games; continue with: gomoku train --resume {run_dir.path}")
                return stopped.code
        report(learner, run_dir, suite)
    return EXIT_OK


def continue_run(learner: Learner, run: RunDir, asked_to_stop: list[int]) -> TacticalSuite:
    """Train from the last checkpoint, or from the beginning, to the end. Returns the suite it was measured on.

    Raises Stopped, see `train`.
    """
    suite = tactical_suite(learner)
    checkpoint, rows = load_latest(run), 0
    if checkpoint is not None:
        restore(learner, checkpoint.update, checkpoint.arrays, checkpoint.meta, str(run.path))
        rows = checkpoint.meta["rows"]
    with MetricsLog(run.metrics, rows) as log:
        run.accept()
        print(f"run directory: {run.path}   seed {learner.config.seed}", flush=True)
        train(learner, run, log, suite, asked_to_stop)
    return suite


@contextmanager
def open_run(args: argparse.Namespace) -> Iterator[tuple[RunDir, Learner]]:
    """The run directory to work in, new or resumed, and its learner as it was before any game.

    What the configuration asks for is made first, so that a run that cannot be leaves no directory behind.
    """
    if args.resume is not None:
        if args.preset or args.config or args.set or args.seed is not None or args.run_dir:
            raise UserError("--resume continues a run as it was configured; it goes with no other option")
        with RunDir.open(args.resume, sys.argv[1:]) as run_dir:
            yield run_dir, Learner(config_from(run_dir.config()))
        return
    config = load_config(args.preset, args.config, settings_of(args))
    if args.fleet is not None and not config.shares:
        config = dataclasses.replace(config, shares=SHARES)
    learner = Learner(config)
    check_evaluation(config)
    path = args.run_dir or new_run_path(config.name, config.seed)
    with RunDir.create(path, config.as_dict(), sys.argv[1:]) as run_dir:
        yield run_dir, learner
