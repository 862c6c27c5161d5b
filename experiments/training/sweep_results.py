"""What a sweep has shown: the final win rates of its finished runs, their mean and range over the seeds.

They are read from the runs' own result.json, so a sweep may be stopped and gone on with on other machines.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from experiments.errors import UserError
from experiments.metrics import read_metrics
from experiments.pictures.figures import save_figure
from experiments.plots import curves
from experiments.run_dir import RunDir, read_json
from experiments.training.sweep_plan import Plan, groups
from nn.weights import replace_file

Rates = dict[str, dict[str, list[float]]]  # label -> opponent -> the final win rate of each seed


def is_finished(path: Path) -> bool:
    """Whether a run has come to its end; its curve is the last it writes."""
    return (path / "result.json").is_file() and (path / "curve.png").is_file()


def final_rates(path: Path, plan: Plan) -> Rates:
    """The final win rates of the finished runs, by what their seeds have in common and by opponent."""
    found: Rates = {}
    for label, folders in groups(plan).items():
        for folder in folders:
            if not is_finished(path / folder):
                continue
            file = path / folder / "result.json"
            trained = read_json(file).get("trained")
            for name in plan[folder].evaluate_against:
                try:
                    rate = float(trained[name]["win_rate"])  # type: ignore[index]
                except (KeyError, TypeError, ValueError):
                    raise UserError(f"{file}: no win rate against {name}; remove it and resume") from None
                found.setdefault(label, {}).setdefault(name, []).append(rate)
    return found


def table(rates: Rates) -> str:
    """A line for each value: how many seeds, and against each opponent the mean win rate and its range."""
    names = list(dict.fromkeys(name for of in rates.values() for name in of))
    width = max(len("final win rate against"), *map(len, rates)) + 2
    lines = [f"{'final win rate against':<{width}}{'seeds':>6}" + "".join(f"{name:>26}" for name in names)]
    for label, of in rates.items():
        line = f"{label:<{width}}{max(map(len, of.values())):>6}"
        for name in names:
            cell = f"{np.mean(of[name]):.1%} ({min(of[name]):.1%}..{max(of[name]):.1%})" if name in of else ""
            line += f"{cell:>26}"
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n\nmean over the seeds, and lowest to highest"


def write_results(directory: RunDir, plan: Plan, rates: Rates) -> None:
    """Write the mean and the range over the seeds, and draw the learning curves of the finished runs."""
    results = {
        label: {
            name: {"mean": float(np.mean(of)), "lowest": min(of), "highest": max(of), "seeds": of}
            for name, of in opponents.items()
        }
        for label, opponents in rates.items()
    }
    replace_file(directory.path / "results.json", (json.dumps(results, indent=2) + "\n").encode())
    finished = [
        [directory.path / folder for folder in folders if is_finished(directory.path / folder)]
        for folders in groups(plan).values()
    ]
    finished = [paths for paths in finished if paths]
    rows = {path: read_metrics(path / "metrics.jsonl") for paths in finished for path in paths}
    save_figure(curves(finished, rows), directory.curve)
