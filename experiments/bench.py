"""`gomoku bench`: how fast, against PyTorch and against the readable layers, and how near to what the machine gives.

Everything runs on one thread, in turns, and is told as CPU time (see experiments/speed/race.py). Without PyTorch
installed (`pip install 'gomoku-lab[bench]'`) the table compares with the readable twins alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from experiments.config_source import load_config
from experiments.errors import EXIT_OK, UserError
from experiments.files.output_place import check_report
from experiments.speed.contests import OURS, READABLE, SIZES, TORCH, Contests, Line
from experiments.speed.loop_cost import loop_cost
from experiments.speed.loop_cost import table as table_of_parts
from experiments.speed.race import product_roof
from nn.weights import replace_file
from rl.agents import shipped

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PARTS = ("layers", "training", "selfplay", "greedy", "size")
LOOP = "loop"
LOOP_SETTINGS = ("imitation_epochs=0", f"start={shipped('policy')}", "puzzles=2000")  # what a run is like at its end


def table(lines: list[Line], roof: float) -> str:
    """The lines as text, one each."""
    text = [f"{'':<34}{'ours':>10}{'(min .. max)':>22}{'/PyTorch':>10}{'/readable':>10}{'of roof':>9}{'MB':>7}"]
    for line in lines:
        times = np.array(line.race.seconds[OURS]) * 1e6
        ratios = "".join(
            f"{line.race.ratio(OURS, other):>10.2f}" if other in line.race.seconds else f"{'':>10}"
            for other in (TORCH, READABLE)
        )
        fraction = f"{line.flop / line.race.median(OURS) / roof:>9.0%}" if line.flop else f"{'':>9}"
        memory = f"{line.peak / 1e6:>7,.1f}" if line.peak else f"{'':>7}"
        spread = f"({times.min():,.1f} .. {times.max():,.1f})"
        first = f"{line.race.what:<34}{np.median(times):>10,.1f}{spread:>22}"
        text.append(f"{first}{ratios}{fraction}{memory}  {line.note}".rstrip())
    units = "ours: median CPU microseconds a position, board or step, smallest and largest"
    held = "MB: of a pass, what the network holds afterwards; of steps and self-play, the most held at a time"
    return "\n".join([*text, "", units, held])


def draw(lines: list[Line], path: Path) -> None:
    """Ratios as bars, and positions a second over the size of the batch."""
    from matplotlib.figure import Figure

    from experiments.pictures.figures import BLUE, OTHERS, save_figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    bars, curves = figure.subplots(1, 2)
    compared = [line for line in lines if line.part != "size" and TORCH in line.race.seconds]
    if compared:
        ratios = [line.race.ratio(OURS, TORCH) for line in compared]
        bars.barh([line.race.what for line in compared], ratios, color=BLUE)
        bars.axvline(1, color="black", linewidth=0.8)
    bars.invert_yaxis()
    bars.set_xlabel("CPU time, ours / PyTorch")
    for size, colour, marker in zip(SIZES, OTHERS, "os^D", strict=True):
        found = [line for line in lines if line.race.what.startswith(f"forward {size}x{size}, batch")]
        if found:
            batches = [int(line.race.what.rpartition(" ")[2]) for line in found]
            rates = [1 / line.race.median(OURS) for line in found]
            curves.loglog(batches, rates, color=colour, marker=marker, label=f"{size}x{size}")
    curves.set_xlabel("batch")
    curves.set_ylabel("positions a CPU second")
    if curves.lines:
        curves.legend()
    save_figure(figure, path)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("part", nargs="?", default="all", choices=[*PARTS, LOOP, "all"],
                        help="what to time; loop: where the time of training goes, on the full board (default: all)")
    parser.add_argument("--rounds", type=int, default=15, metavar="N", help="turns of each contender (default: 15)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything as JSON")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="also draw it (.png, .svg or .pdf)")


def run(args: argparse.Namespace) -> int:
    """Time what was asked for and print a table; in a process of its own if this one may use several threads."""
    if args.rounds < 3:
        raise UserError(f"--rounds {args.rounds}: a median needs at least 3")
    if args.part == LOOP and (args.json or args.picture):
        raise UserError("bench loop prints a table; it writes no --json and no --picture")
    check_report(args.json, args.picture)
    if any(os.environ.get(name) != "1" for name in ONE_THREAD):
        # BLAS reads these when it is loaded, which has happened already.
        words = ["bench", args.part, "--rounds", str(args.rounds)]
        words += [f"--{name}={getattr(args, name)}" for name in ("json", "picture") if getattr(args, name)]
        return subprocess.run([sys.executable, "-m", "experiments", *words], env=os.environ | ONE_THREAD).returncode
    if args.part == LOOP:
        print(table_of_parts(loop_cost(load_config("full", None, LOOP_SETTINGS))))
        return EXIT_OK
    with_torch = find_spec("torch") is not None
    if not with_torch:
        print("PyTorch is not installed: compared with the readable twins alone (pip install 'gomoku-lab[bench]')")
    contests = Contests(args.rounds, with_torch)
    roof = 2 * 1024**3 / product_roof(args.rounds).median("product")
    print(f"one thread; a 1024^3 product in float32 gives {roof / 1e9:.1f} GFLOP/s, the roof below\n", flush=True)
    lines = [line for part in PARTS if args.part in (part, "all") for line in getattr(contests, part)()]
    print(table(lines, roof))
    if args.json:
        replace_file(args.json, json.dumps(report(lines, roof), indent=1).encode())
    if args.picture:
        draw(lines, args.picture)
    return EXIT_OK


def report(lines: list[Line], roof: float) -> Mapping[str, Any]:
    """Everything, as plain JSON values."""
    return {
        "threads": 1,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "roof_flop_per_second": roof,
        "lines": [line.as_dict(roof) for line in lines],
    }
