"""What several experiments reached, each with several seeds, side by side: Axes in, Axes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.errors import UserError
from experiments.metrics import Row
from experiments.pictures.figures import BLUE, TACTICS
from experiments.strength.seeds import mean_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BELOW = 0.25  # how far below the mean its runs are drawn, in rows
COLUMNS = 3
AROUND = 0.15  # how far beyond the rings the axis goes, in parts of what they span
Experiments = Mapping[str, Sequence[Row]]  # name -> how each of its runs was measured last


def comparison_figure(figure: Figure | SubFigure, experiments: Experiments) -> list[Axes]:
    """Draw a chart of each measure that all runs have, three in a row, and return their axes.

    Raises `UserError` if there is none.
    """
    names = [measures(run) for runs in experiments.values() for run in runs]
    shared = [name for name in names[0] if all(name in of for of in names)]
    if not shared:
        raise UserError("the runs were measured in different ways; there is nothing to compare")
    rows = -(-len(shared) // COLUMNS)
    axes = figure.subplots(rows, min(COLUMNS, len(shared)), sharey=True, squeeze=False).ravel()
    for ax, name in zip(axes, shared, strict=False):
        comparison_chart(ax, experiments, name)
    figure.suptitle("at the end; a ring: one run, a dot: their mean with its 95 % interval", fontsize="medium")
    for ax in axes[len(shared) :]:
        ax.set_axis_off()
    return list(axes[: len(shared)])


def comparison_chart(ax: Axes, experiments: Experiments, measure: str) -> Axes:
    """Draw what each run reached as a ring, the mean of each experiment as a dot with its 95 % interval if it has
    several runs, and return `ax`. The first experiment stands on top; the axis is cut around the rings, not the arms.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    everything = [measures(run)[measure] for runs in experiments.values() for run in runs]
    around = max(0.05, AROUND * (max(everything) - min(everything)))
    for place, runs in enumerate(experiments.values()):
        shares = np.array([measures(run)[measure] for run in runs])  # (runs,)
        height = np.full(len(shares), place + BELOW * (len(shares) > 1))
        ax.plot(shares, height, "o", color="0.45", markersize=4.5, fillstyle="none")
        if len(shares) > 1:
            middle, low, high = mean_interval(shares)
            arms = [[middle - low], [high - middle]]
            ax.errorbar([middle], [place], xerr=arms, fmt="o", color=BLUE, capsize=3, markersize=6)
    ax.set_yticks(np.arange(len(experiments)), list(experiments), parse_math=False)
    ax.set_ylim(len(experiments) - 0.4, -0.6)
    ax.set_xlim(max(-0.01, min(everything) - around), min(1.01, max(everything) + around))
    ax.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_title(measure, fontsize="medium", parse_math=False)
    ax.grid(axis="x", alpha=0.3)
    return ax


def measures(evaluation: Mapping[str, Any]) -> dict[str, float]:
    """Return a name a reader understands -> a share from 0 to 1, for all that an evaluation measures."""
    found = {f"wins against {name}": of["win_rate"] for name, of in evaluation.items() if "win_rate" in of}
    tactics = evaluation.get("tactics", {})
    return found | {label: tactics[name] for label, name in TACTICS.items() if name in tactics}
