"""`gomoku pretrain`: make a network play like a teacher, from a teacher on the fly, examples, or recorded games.

The loop is `pretrain`, one page. An epoch is so many lessons of a teacher, or all examples once; after each there is a
row of metrics with loss and accuracy on what was learnt and on what was not, and what is needed to continue.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from env import Board, Rule
from experiments.checkpoint import load_latest, save_checkpoint
from experiments.errors import EXIT_OK, UserError
from experiments.files.example_files import examples_from
from experiments.metrics import MetricsLog, Row, read_metrics
from experiments.run_dir import RunDir, add_run_dir_arguments, new_run_path
from experiments.train import Stopped, signals_noted
from experiments.training.pretrain_plan import COSINE, POLICIES, STEPS, Plan, plan_from
from experiments.training.pupil import Pupil
from nn import BoardNet
from nn.weights import replace_file
from rl.agents import PolicyAgent, make_agent
from rl.arena import compare

SECONDS_BETWEEN_CHECKPOINTS = 30.0
DEFAULTS = Plan()


def pretrain(pupil: Pupil, run: RunDir, log: MetricsLog, asked_to_stop: list[int]) -> None:
    """Learn, validate and measure until all epochs are done, or a signal number appears in `asked_to_stop`.

    Raises Stopped in the latter case, after the epoch; either way the last thing done is a checkpoint.
    """
    plan = pupil.plan
    saved = time.monotonic()
    with tqdm(total=plan.epochs, initial=pupil.epochs, unit="epoch", disable=None) as bar:
        while pupil.epochs < plan.epochs and not asked_to_stop:
            began = time.perf_counter()
            stats, rate = pupil.epoch()
            seconds = time.perf_counter() - began
            net, loss, accuracy = pupil.best()
            row: Row = {
                "update": pupil.updates,
                "epoch": pupil.epochs,
                "games": pupil.games,
                "positions": pupil.positions,
                "seconds": seconds,
                "learning_rate": rate,
                **dataclasses.asdict(stats),
                "validation": {"loss": loss, "accuracy": accuracy},
            }
            if pupil.epochs % plan.evaluate_every == 0 and pupil.epochs < plan.epochs:
                row["evaluation"] = evaluate(net, plan, plan.evaluation_games, pupil.epochs)
            log.append(row)
            text = _told(row)
            if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
                save_checkpoint(run, pupil.epochs, pupil.arrays(), pupil.meta(log.rows))
                saved = time.monotonic()
            bar.set_postfix_str(text, refresh=False)
            bar.update()
            if bar.disable:
                print(f"epoch {pupil.epochs} of {plan.epochs}  {seconds:.0f} s  {text}", file=sys.stderr, flush=True)
    save_checkpoint(run, pupil.epochs, pupil.arrays(), pupil.meta(log.rows))
    if asked_to_stop:
        raise Stopped(128 + asked_to_stop[0])


def _told(row: Row) -> str:
    text = f"loss {row['loss']:.3f}  validation {row['validation']['loss']:.3f}, {row['validation']['accuracy']:.1%}"
    return text + "".join(f"  {name} {of['win_rate']:.0%}" for name, of in row.get("evaluation", {}).items())


def evaluate(net: BoardNet, plan: Plan, games: int, stream: int) -> Row:
    """The network alone, argmax, against each agent of the plan, in colour-swapped pairs from random openings."""
    agent, rng = PolicyAgent(net), np.random.default_rng([plan.seed, 3, stream])

    def new_board() -> Board:
        return Board(plan.height, plan.width, plan.win_length, Rule(plan.rule))

    return {
        name: compare(
            agent, make_agent(name), games, new_board=new_board, opening_plies=plan.evaluation_plies, rng=rng
        ).as_dict()
        for name in plan.evaluate_against
    }


def report(pupil: Pupil, run: RunDir) -> None:
    """Save the network, measure it, draw the curve, and say what came out and where it is."""
    from matplotlib.figure import Figure

    from experiments.pictures.figures import save_figure
    from experiments.plots import learning_curve

    plan = pupil.plan
    net, loss, accuracy = pupil.best()
    net.save(run.path / "policy.npz")
    result: Row = {"validation": {"loss": loss, "accuracy": accuracy}}
    if plan.evaluate_against:
        print(f"measuring: {plan.final_games:,} games against each of {', '.join(plan.evaluate_against)}", flush=True)
        result["evaluation"] = evaluate(net, plan, plan.final_games, 0)
    replace_file(run.path / "result.json", (json.dumps(result, indent=2) + "\n").encode())
    rows = [*read_metrics(run.metrics), {"games": pupil.games, **result}]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    learning_curve(figure.subplots(), rows)
    save_figure(figure, run.curve)
    print(f"validation: loss {loss:.3f}, accuracy {accuracy:.1%}")
    for name, of in result.get("evaluation", {}).items():
        print(f"wins against {name:<16} {of['win_rate']:>6.1%}  ({of['low']:.1%} to {of['high']:.1%})")
    print(f"learning curve   {run.curve}\npolicy           {run.path / 'policy.npz'}\nmetrics          {run.metrics}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments; defaults are those of `Plan`, so that one not given stays out of sight."""
    parser.add_argument(
        "--from", dest="source", nargs="+", type=Path, metavar="PATH",
        help="examples: an .npz of gomoku generate, or files and folders of recorded games; default: a teacher",
    )  # fmt: skip
    texts: dict[str, tuple[type, str]] = {
        "teacher": (str, "who labels the positions on the fly"),
        "net-share": (float, "chance of a seat in those games to be the network's own"),
        "noise": (float, "chance of a random move in those games"),
        "opening-plies": (int, "most random stones those games open with"),
        "games-at-once": (int, "games that take turns in giving a position"),
        "lessons": (int, "updates in an epoch on the fly"),
        "epochs": (int, "epochs"),
        "batch": (int, "positions in an update"),
        "power": (float, "soft targets (value / best)^power; 0: the one move"),
        "urgent": (float, "weight of positions on the fly with a five at stake"),
        "learning-rate": (float, "Adam's"),
        "final-learning-rate": (float, "where the cosine falls to"),
        "step-epochs": (int, "with --schedule steps: epochs between steps"),
        "step-factor": (float, "with --schedule steps: what a step multiplies by"),
        "warm-up": (int, "updates over which the learning rate rises"),
        "average": (float, "of the running mean of the weights, an update"),
        "validation": (float, "share of the examples' games not learnt from"),
        "init": (str, "weights to start from"),
        "height": (int, "rows of the board"),
        "width": (int, "columns"),
        "win-length": (int, "stones in a row that win"),
        "net": (str, f"the network: {', '.join(POLICIES)}"),
        "hidden": (int, "width of the hidden layer, if not the network's own"),
        "evaluate-every": (int, "epochs between evaluations"),
        "evaluation-games": (int, "games in each of them"),
        "final-games": (int, "games in the last"),
        "name": (str, "part of the run directory's name"),
        "seed": (int, "of all chance in the run"),
    }
    for key, (kind, text) in texts.items():
        default = getattr(DEFAULTS, key.replace("-", "_"))
        shown = f"{text} (default: {default})" if default not in ("", 0) else text
        parser.add_argument(f"--{key}", type=kind, metavar="X" if kind is float else "N" if kind is int else "TEXT",
                            help=shown)  # fmt: skip
    parser.add_argument("--filters", type=int, nargs=2, metavar="N", help="of the two convolutions, likewise")
    parser.add_argument("--schedule", choices=[COSINE, STEPS], help="of the learning rate (default: cosine)")
    parser.add_argument("--rule", choices=[rule.value for rule in Rule], help="default: freestyle")
    parser.add_argument("--drivers", nargs="+", metavar="AGENT", help="who plays the other seats on the fly")
    parser.add_argument(
        "--evaluate-against", nargs="*", metavar="AGENT", help=f"default: {' '.join(DEFAULTS.evaluate_against)}"
    )
    add_run_dir_arguments(parser, "continue this run from its last checkpoint")


def asked_for(args: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line names."""
    given = {field.name: getattr(args, field.name, None) for field in dataclasses.fields(Plan)}
    settings = {key: tuple(of) if isinstance(of, list) else of for key, of in given.items() if of is not None}
    if "source" in settings:
        settings["source"] = tuple(str(path.resolve()) for path in settings["source"])
    return settings


def run(args: argparse.Namespace) -> int:
    """Learn, measure, and say what came out. Returns 0, or 130 / 143 if stopped by a signal."""
    with np.errstate(all="ignore"), open_run(args) as (run_dir, pupil):
        rows = 0
        checkpoint = load_latest(run_dir)
        if checkpoint is not None:
            pupil.restore(checkpoint.update, checkpoint.arrays, checkpoint.meta, str(run_dir.path))
            rows = checkpoint.meta["rows"]
        with MetricsLog(run_dir.metrics, rows) as log, signals_noted() as asked_to_stop:
            run_dir.accept()
            print(f"run directory: {run_dir.path}   seed {pupil.plan.seed}", flush=True)
            try:
                pretrain(pupil, run_dir, log, asked_to_stop)
            except Stopped as stopped:
                pupil.best()[0].save(run_dir.path / "policy.npz")
                print(f"stopped after {pupil.epochs} epochs; continue with: gomoku pretrain --resume {run_dir.path}")
                return stopped.code
        report(pupil, run_dir)
    return EXIT_OK


@contextmanager
def open_run(args: argparse.Namespace) -> Iterator[tuple[RunDir, Pupil]]:
    """The run directory to work in, new or resumed, and its pupil as it was at first.

    What the plan asks for is made first, so that a run that cannot be leaves no directory behind.
    """
    settings = asked_for(args)
    if args.resume is not None:
        if settings or args.run_dir:
            raise UserError("--resume continues a run as it was configured; it goes with no other option")
        with RunDir.open(args.resume, sys.argv[1:]) as run_dir:
            yield run_dir, new_pupil(plan_from(run_dir.config()))
        return
    plan = dataclasses.replace(DEFAULTS, **settings)
    pupil = new_pupil(plan)
    for name in plan.evaluate_against:
        make_agent(name)
    path = args.run_dir or new_run_path(plan.name, plan.seed)
    with RunDir.create(path, dataclasses.asdict(plan), sys.argv[1:]) as run_dir:
        yield run_dir, pupil


def new_pupil(plan: Plan) -> Pupil:
    """The pupil of a plan, before any lesson."""
    if not plan.source:
        return Pupil(plan, None)
    paths = [Path(path) for path in plan.source]
    return Pupil(plan, examples_from(paths, plan.height, plan.width, plan.win_length, Rule(plan.rule)))
