"""Curves of training: Axes in, Axes out, from the rows of `metrics.jsonl`.

`gomoku plot`, the training loop and a notebook draw with the same functions, so they show the same curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from experiments.files.run_rows import flatten
from experiments.metrics import Row
from experiments.pictures.figures import BLUE, GREEN, ORANGE, OTHERS, PINK, SKY, TACTICS, VERMILION
from experiments.strength.seeds import evaluations, experiment_name, mean_over_runs

if TYPE_CHECKING:  # matplotlib takes a second to import and is needed only where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

COLOURS = {
    "greedy": BLUE,
    "random": ORANGE,
    "win in one taken": GREEN,
    "threat blocked": VERMILION,
    "open three stopped": SKY,
    "own four first": PINK,
    "double threat made": ORANGE,
    "in games": BLUE,
    "in drills": ORANGE,
    "black": "0",
    "white": "0.65",
}


def curves(groups: Sequence[Sequence[Path]], rows: Mapping[Path, Sequence[Row]]) -> Figure:
    """Return a figure with one learning curve a group of runs, side by side under one scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2 + 6 * len(groups), 4.5), layout="constrained")
    axes = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for ax, group in zip(axes, groups, strict=True):
        learning_curve(ax, *(rows[path] for path in group))
        if len(groups) > 1:
            ax.set_title(experiment_name(group[0]), parse_math=False)
            ax.label_outer()
    return figure


def learning_curve(ax: Axes, *runs: Sequence[Row]) -> Axes:
    """Draw the win rate against each opponent over the games of training, and return `ax`.

    One run: its evaluations and their 95 % Wilson intervals as a band. Several runs, seeds of one experiment: the
    mean over the runs, its 95 % interval (Student's, see experiments/strength/seeds.py) as a band, each run as a thin
    line.
    """
    opponents = dict.fromkeys(
        name for rows in runs for row in rows for name, of in row.get("evaluation", {}).items() if "win_rate" in of
    )
    seen = [rows for rows in runs if any("evaluation" in row for row in rows)]
    for name, colour in _coloured(list(opponents)):
        points = [found for rows in seen if (found := evaluations(rows, name)).shape[1]]
        games, middle, low, high = points[0] if len(points) == 1 else mean_over_runs(points)
        for run in points if len(points) > 1 else ():
            ax.plot(run[0], run[1], color=colour, alpha=0.4, linewidth=0.7)
        ax.fill_between(games, low, high, color=colour, alpha=0.2, linewidth=0)
        ax.plot(games, middle, color=colour, marker="o", markersize=3.5, label=f"against {name}")
    band = f"95 % interval of the mean of {len(seen)} runs" if len(seen) > 1 else "95 % interval"
    ax.axhline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    _mark_first_game(ax, seen)
    _share_axis(ax, "win rate")
    _games_axis(ax)
    _legend(ax, title=f"band: {band}")
    return ax


def training_panel(figure: Figure | SubFigure, rows: Sequence[Row]) -> NDArray[Any]:
    """Draw six views of one run into a figure, and return their axes (2, 3)."""
    axes: NDArray[Any] = figure.subplots(2, 3, sharex=True)
    views: tuple[Callable[[Axes, Sequence[Row]], Axes], ...] = (
        learning_curve,
        tactics_curve,
        colour_curve,
        entropy_curve,
        gradient_curve,
        length_curve,
    )
    for ax, view in zip(axes.ravel(), views, strict=True):
        view(ax, rows)
    for ax in axes[0]:
        ax.set_xlabel("")
    return axes


def tactics_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw the share of positions with one right answer that were answered so, by kind, and return `ax`."""
    asked = {name for row in rows for name in row.get("evaluation", {}).get("tactics", {})}
    names = {label: f"evaluation.tactics.{name}" for label, name in TACTICS.items() if name in asked}
    _lines(ax, rows, names, marker="o")
    _share_axis(ax, "share of positions")
    return _over_games(ax, rows)


def colour_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw the share of training games won with each colour, and return `ax`."""
    _lines(ax, rows, {"black": "win_rate.black", "white": "win_rate.white"})
    _share_axis(ax, "training games won")
    return _over_games(ax, rows)


def entropy_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw how undecided the policy is: the mean entropy of its moves, and return `ax`."""
    _lines(ax, rows, {"in games": "entropy", "in drills": "drill.entropy"})
    ax.set_ylabel("entropy of a move (nats)")
    return _over_games(ax, rows)


def gradient_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw the mean norm of a minibatch's gradient, and return `ax`."""
    _lines(ax, rows, {"in games": "gradient_norm", "in drills": "drill.gradient_norm"})
    ax.set_ylabel("gradient norm before clipping")
    ax.set_ylim(bottom=0)
    return _over_games(ax, rows)


def change_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw how far each update moved the weights, over how large they are: |new - old| / |old|, and return `ax`."""
    from matplotlib.ticker import PercentFormatter

    _lines(ax, rows, {"change": "parameter_change"})
    ax.set_ylabel("update / weights")
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return _over_games(ax, rows)


def length_curve(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw the mean length of the training games, and return `ax`."""
    _lines(ax, rows, {"game length": "game_length"})
    ax.set_ylabel("game length (plies)")
    return _over_games(ax, rows)


def opponent_chart(ax: Axes, rows: Sequence[Row]) -> Axes:
    """Draw the last win rate against each opponent, in all games and by colour, with 95 % intervals; return `ax`."""
    from matplotlib.ticker import PercentFormatter

    last = next(row for row in reversed(rows) if "evaluation" in row)
    against = {name: of for name, of in last["evaluation"].items() if "win_rate" in of}
    looks = (("all games", BLUE, "o", 0.0), ("as black", "0", "s", 0.2), ("as white", "0.55", "D", 0.4))
    for label, colour, marker, below in looks:
        key = label.replace(" ", "_")
        rates = [(i + below, of if label == "all games" else of.get(key)) for i, of in enumerate(against.values())]
        rates = [(at, of) for at, of in rates if of and of.get("games")]
        middle = np.array([of["win_rate"] for _, of in rates])
        arms = np.array([(of["win_rate"] - of["low"], of["high"] - of["win_rate"]) for _, of in rates]).reshape(-1, 2)
        ax.errorbar(
            middle,
            [at for at, _ in rates],
            xerr=np.maximum(arms.T, 0),  # at 100 % the interval's end may be a rounding below
            fmt=marker,
            color=colour,
            capsize=3,
            markersize=5,
            label=label,
        )
    ax.set_yticks(np.arange(len(against)) + 0.2, [f"against {name}" for name in against], parse_math=False)
    ax.set_ylim(len(against) - 0.3, -0.3)
    ax.set_xlim(-0.02, 1.02)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("win rate, 95 % interval")
    ax.grid(axis="x", alpha=0.3)
    ax.axvline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_title(f"after {last['games']:,} training games", fontsize="medium")
    _legend(ax)
    return ax


def _over_games(ax: Axes, rows: Sequence[Row]) -> Axes:
    """What all views of one run have in common."""
    _mark_first_game(ax, [rows])
    _games_axis(ax)
    if len(ax.get_legend_handles_labels()[0]) > 1:
        _legend(ax)
    return ax


def _mark_first_game(ax: Axes, runs: Sequence[Sequence[Row]]) -> None:
    """Draw a line where drills end and whole games begin, if the runs agree on where that is and have both."""
    last_drills = {max((r["games"] for r in rows if "drill" in r and "loss" not in r), default=0) for rows in runs}
    if len(last_drills) == 1 and (games := last_drills.pop()) > 0:
        ax.axvline(games, color="0.4", linewidth=0.8, linestyle="--")
        ax.annotate(
            "drills  ", (games, 0.02), xycoords=("data", "axes fraction"), ha="right", fontsize=8, color="0.4"
        )


def _lines(ax: Axes, rows: Sequence[Row], names: Mapping[str, str], marker: str = "") -> None:
    """Draw one line a name: label -> dotted name in the row; rows without it are passed over."""
    flat = [dict(flatten(row)) for row in rows]
    for label, name in names.items():
        points = np.array([(row["games"], row[name]) for row in flat if name in row]).reshape(-1, 2)
        colour = COLOURS.get(label, BLUE)
        ax.plot(points[:, 0], points[:, 1], color=colour, linewidth=1.2, marker=marker, markersize=3.5, label=label)
    ax.grid(alpha=0.3)


def _coloured(names: Sequence[str]) -> list[tuple[str, str]]:
    """Return each name with its colour: fixed for the usual opponents, in turn for others."""
    unusual = [name for name in names if name not in COLOURS]
    return [(name, COLOURS.get(name) or OTHERS[unusual.index(name) % len(OTHERS)]) for name in names]


def _share_axis(ax: Axes, label: str) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.set_ylim(-0.02, 1.02)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_ylabel(label)
    ax.grid(alpha=0.3)


def _games_axis(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.set_xlabel("training games")
    ax.xaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda games, _: f"{games:,.0f}"))


def _legend(ax: Axes, title: str | None = None) -> None:
    entries = len(ax.get_legend_handles_labels()[0])
    if entries:  # many of them, small, or else they cover what they explain
        size = "small" if entries < 4 else "x-small"
        ax.legend(title=title, loc="best", fontsize=size, title_fontsize=size, framealpha=0.8)
