"""`gomoku scale`: what training costs here, what more processes bring, and where the learner is the narrow place.

Three tables: what was measured (experiments/speed/scale_costs.py), the same from the model and its simulation
(experiments/speed/scale_model.py), and these two for more workers than there are here.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.config import Config
from experiments.config_source import add_config_arguments, load_config, settings_of
from experiments.errors import EXIT_OK, UserError
from experiments.files.output_place import check_report
from experiments.speed.scale_costs import AHEAD, Findings, measure
from experiments.speed.scale_model import Costs, Layout, Simulated, games_per_second, saturation, simulate
from experiments.train import SHARES
from experiments.training.verdict import check_evaluation
from nn.weights import replace_file
from rl.fleet import MOST_JOBS

MANY = tuple(2**k for k in range(11))
SIMULATED_SHARES = 2_000  # about so many shares in each simulation, of 8 updates or more


@cache
def simulated(costs: Costs, layout: Layout) -> Simulated:
    """The simulation of a layout, long enough to tell."""
    updates = max(8, SIMULATED_SHARES // layout.shares)
    return simulate(costs, layout, updates, np.random.default_rng([layout.workers, layout.staleness]))


def costs_text(config: Config, costs: Costs) -> str:
    """The costs, a line each."""
    learner = 1 / (costs.learn + costs.receive + costs.fixed / config.games_per_update)
    return (
        f"{config.name}: {config.height}x{config.width}, updates of {config.games_per_update} games in {config.shares} "
        "shares; CPU time\n"
        f"  play      {1e3 * costs.play:9.3f} ms a game: {1 / costs.play:,.0f} games/s a core; "
        f"shares differ by {costs.spread:.0%}\n"
        f"  learn     {1e3 * costs.learn:9.3f} ms a game, receive {1e3 * costs.receive:.3f} ms a game, hand out "
        f"{1e3 * costs.fixed:.1f} ms an update: at most {learner:,.0f} games/s\n"
        f"  bytes     {costs.weights / 1e6:9.3f} MB of weights to each worker an update, "
        f"{costs.result / 1e3:.1f} kB of results a game"
    )


def here_text(config: Config, found: Findings, cores: int) -> str:
    """What was measured on this machine beside what the model and its simulation say."""
    first = next(iter(found.play))
    lines = [
        f"{'on this machine, games/s':<26}{'play alone':>22}{'to ' + str(first):>8}"
        f"{'training that waits':>36}{f'{AHEAD} updates ahead':>36}",
        f"{'processes':<26}{'(lowest..highest)':>22}{'':>8}" + 2 * f"{'measured':>14}{'simulated':>12}{'model':>10}",
    ]
    for jobs, rates in found.play.items():
        ratio = float(np.median(np.divide(rates, found.play[first])))
        line = f"{jobs:<26}{f'{np.median(rates):,.0f} ({min(rates):,.0f}..{max(rates):,.0f})':>22}{ratio:>8.2f}"
        for staleness in (0, AHEAD):
            layout = Layout(jobs, config.games_per_update, config.shares, staleness, cores)
            expected = simulated(found.costs, layout).games_per_second, games_per_second(found.costs, layout)
            line += f"{found.training[jobs, staleness]:>14,.0f}{expected[0]:>12,.0f}{expected[1]:>10,.0f}"
        lines.append(line)
    return "\n".join(lines)


def layouts(config: Config, staleness: int, bandwidth: float) -> list[Layout]:
    """One core for each of 1 to 1,024 workers, and updates that give each of them a share."""
    share = config.games_per_update / config.shares
    return [
        Layout(workers, round(share * shares), shares, staleness, 0, bandwidth)
        for workers in MANY
        for shares in [max(config.shares, workers)]
    ]


def many_text(config: Config, costs: Costs, bandwidth: float) -> str:
    """What the model says of more machines than there are here."""
    lines = [
        f"one core each, a line of {bandwidth / 1e6:,.0f} MB/s, updates that give every worker a share",
        f"{'workers':>8}{'games an':>10}" + 2 * f"{'games/s':>10}{'model':>10}{'learner':>9}{'workers':>9}"
        + f"{'staleness':>11}{'MB/s in':>9}",
        f"{'':>8}{'update':>10}{'waiting: simulated, busy':>38}{f'{AHEAD} updates ahead: simulated, busy':>38}",
    ]  # fmt: skip
    for waits, ahead in zip(layouts(config, 0, bandwidth), layouts(config, AHEAD, bandwidth), strict=True):
        line = f"{waits.workers:>8,}{waits.games:>10,}"
        for layout in (waits, ahead):
            seen = simulated(costs, layout)
            line += f"{seen.games_per_second:>10,.0f}{games_per_second(costs, layout):>10,.0f}"
            line += f"{seen.learner_busy:>9.0%}{seen.workers_busy:>9.0%}"
        lines.append(line + f"{seen.staleness:>11.1f}{seen.games_per_second * costs.result / 1e6:>9.1f}")
    return "\n".join(lines)


def thousand_text(config: Config, costs: Costs, bandwidth: float) -> str:
    """What it takes to keep a thousand workers busy."""
    workers = 1_000
    full = saturation(costs, Layout(config.shares, config.games_per_update, config.shares, AHEAD, 0, bandwidth))
    rate = workers / costs.play
    learners = math.ceil(rate * (costs.learn + costs.receive))
    games = math.ceil(1 / costs.play)
    return (
        f"{full:,.1f} workers keep this learner busy. A thousand play {rate:,.0f} games/s, which takes:\n"
        f"  {learners:,} cores that learn: each takes in and learns from its part of an update, gradients added up\n"
        f"  {rate * costs.result / 1e6:,.0f} MB/s of results, {math.ceil(rate * costs.result / bandwidth)} such lines\n"
        f"  shares of {games:,} games for a second of work each, so updates of {workers * games / (1 + AHEAD):,.0f} "
        f"games at {AHEAD} updates ahead,\n"
        f"  {workers * costs.weights / 1e6:,.0f} MB of weights an update, passed on from worker to worker"
    )


def draw(config: Config, found: Findings, bandwidth: float, path: Path) -> None:
    """Games a second over workers: the model as lines, the simulation as dots, what was measured here as crosses."""
    from matplotlib.figure import Figure

    from experiments.pictures.figures import BLUE, ORANGE, save_figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    ax = figure.subplots()
    for staleness, colour, name in ((0, BLUE, "waiting"), (AHEAD, ORANGE, f"{AHEAD} updates ahead")):
        shown = layouts(config, staleness, bandwidth)
        ax.plot(MANY, [games_per_second(found.costs, layout) for layout in shown], color=colour, label=f"{name}: model")
        rates = [simulated(found.costs, layout).games_per_second for layout in shown]
        ax.plot(MANY, rates, "o", color=colour, markersize=4, label="simulated")
        here = {jobs: rate for (jobs, stale), rate in found.training.items() if stale == staleness}
        ax.plot(list(here), list(here.values()), "x", color=colour, label="measured here")
    ax.plot(MANY, [workers / found.costs.play for workers in MANY], color="0.6", linestyle=":", label="play alone")
    ax.set_xscale("log", base=2)
    ax.set_xticks(MANY, [f"{workers:,}" for workers in MANY])
    ax.set_yscale("log")
    ax.set_xlabel("workers")
    ax.set_ylabel("games a second")
    ax.legend(fontsize="small")
    ax.grid(alpha=0.3)
    save_figure(figure, path)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_config_arguments(parser, "whose training (default: quick)")
    parser.add_argument("--jobs", metavar="N,N,...", default="1,2,4", help="numbers of processes (default: 1,2,4)")
    parser.add_argument("--seconds", type=float, default=5.0, metavar="S", help="of play alone each (default: 5)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="of play alone, in turns (default: 5)")
    parser.add_argument("--updates", type=int, default=8, metavar="N", help="of training each (default: 8)")
    parser.add_argument("--bandwidth", type=float, default=125.0, metavar="MB", help="MB/s of the line (default: 125)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured as JSON")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw it (.png, .svg or .pdf)")


def run(args: argparse.Namespace) -> int:
    """Measure, then print what the model makes of it."""
    jobs = jobs_from(args.jobs)
    for name in ("rounds", "updates", "seconds", "bandwidth"):
        if not 0 < getattr(args, name) < math.inf:
            raise UserError(f"--{name} {getattr(args, name)}: wanted more than 0")
    check_report(args.json, args.picture)
    config = config_of(args)
    bandwidth, cores, load = args.bandwidth * 1e6, len(os.sched_getaffinity(0)), os.getloadavg()[0]
    with np.errstate(all="ignore"):
        found = measure(config, jobs, args.seconds, args.rounds, args.updates)
    busy = "" if load < 0.3 else ", so what is by the clock is too low: wait until the machine is idle"
    print(f"{costs_text(config, found.costs)}\n\n{cores} cores, load before {load:.1f}{busy}\n")
    print(f"{here_text(config, found, cores)}\n\n{many_text(config, found.costs, bandwidth)}\n")
    print(thousand_text(config, found.costs, bandwidth))
    if args.json:
        replace_file(args.json, json.dumps(as_json(config, found, cores, load), indent=1).encode())
    if args.picture:
        draw(config, found, bandwidth, args.picture)
    return EXIT_OK


def config_of(args: argparse.Namespace) -> Config:
    """The training that is measured: its games from the beginning on, without drills alone or imitation before them."""
    preset = args.preset if args.preset or args.config else "quick"
    config = load_config(preset, args.config, settings_of(args))
    check_evaluation(config)
    shares = config.shares or SHARES
    return replace(config, games=10**9, drills=0, imitation_epochs=0, shares=shares, staleness=0)


def jobs_from(text: str) -> list[int]:
    """Numbers of processes from text. Raises UserError."""
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and 1 <= int(part[:9]) <= MOST_JOBS for part in parts):
        raise UserError(f"--jobs {text}: wanted numbers from 1 to {MOST_JOBS} with commas between, such as 1,2,4")
    return list(dict.fromkeys(map(int, parts)))


def as_json(config: Config, found: Findings, cores: int, load: float) -> Mapping[str, Any]:
    """What was measured, as plain JSON values."""
    return {
        "config": config.as_dict(),
        "cores": cores,
        "load": load,
        "costs": asdict(found.costs),
        "play_alone": {str(jobs): rates for jobs, rates in found.play.items()},
        "training": [
            {"processes": jobs, "staleness": staleness, "games_per_second": rate}
            for (jobs, staleness), rate in found.training.items()
        ],
    }
