"""What several experiments reached, each with several seeds, side by side: Axes in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.errors import UserError
from experiments.figures import BLUE
from experiments.metrics import Row
from experiments.plots import TACTICS
from experiments.seeds import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BELOW = 0.25  # how far below the mean its runs are drawn, in rows
Experiments = Mapping[str, Sequence[Sequence[Row]]]  # name -> the rows of its runs


def comparison_figure(figure: Figure | SubFigure, experiments: Experiments) -> list[Axes]:
    """Draw a chart of each measure that every run's last evaluation has, two in a row, and return their axes.

    Raises `UserError` if there is none.
    """
    names = [measures(last_evaluation(rows)) for runs in experiments.values() for rows in runs]
    shared = [name for name in names[0] if all(name in of for of in names)]
    if not shared:
        raise UserError("the runs were measured in different ways; there is nothing to compare")
    rows = -(-len(shared) // 2)
    axes = figure.subplots(rows, min(2, len(shared)), sharey=True, squeeze=False).ravel()
    for ax, name in zip(axes, shared, strict=False):
        comparison_chart(ax, experiments, name)
    figure.suptitle("last evaluation; a ring: one run, a dot: their mean with its 95 % interval", fontsize="medium")
    for ax in axes[len(shared) :]:
        ax.set_axis_off()
    return list(axes[: len(shared)])


def comparison_chart(ax: Axes, experiments: Experiments, measure: str) -> Axes:
    """Draw what each run reached in its last evaluation as a ring, the mean of each experiment as a dot with its 95 %
    interval if it has several runs, and return `ax`. The first experiment stands on top.
    """
    from matplotlib.ticker import PercentFormatter

    for place, runs in enumerate(experiments.values()):
        shares = np.array([measures(last_evaluation(rows))[measure] for rows in runs])  # (runs,)
        height = np.full(len(shares), place + BELOW * (len(shares) > 1))
        ax.plot(shares, height, "o", color="0.45", markersize=4.5, fillstyle="none")
        if len(shares) > 1:
            middle, low, high = mean_interval(shares)
            arms = [[middle - low], [high - middle]]
            ax.errorbar([middle], [place], xerr=arms, fmt="o", color=BLUE, capsize=3, markersize=6)
    ax.set_yticks(np.arange(len(experiments)), list(experiments), parse_math=False)
    ax.set_ylim(len(experiments) - 0.4, -0.6)
    ax.set_xlim(-0.03, 1.03)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_title(measure, fontsize="medium", parse_math=False)
    ax.grid(axis="x", alpha=0.3)
    return ax


def last_evaluation(rows: Sequence[Row]) -> Row:
    """Return what the last evaluation of a run says. Raises `UserError` if there was none."""
    found: Row | None = next((row["evaluation"] for row in reversed(rows) if "evaluation" in row), None)
    if found is None:
        raise UserError("a run has not been evaluated yet")
    return found


def measures(evaluation: Mapping[str, Any]) -> dict[str, float]:
    """Return a name a reader understands -> a share from 0 to 1, for all that an evaluation measures."""
    found = {f"wins against {name}": of["win_rate"] for name, of in evaluation.items() if "win_rate" in of}
    tactics = evaluation.get("tactics", {})
    return found | {label: tactics[name] for label, name in TACTICS.items() if name in tactics}
