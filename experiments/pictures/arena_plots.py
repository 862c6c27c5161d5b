"""Pictures of a tournament: Axes in, Axes out. Ratings with their intervals, results by colour, ratings over training.

`gomoku tournament` and a notebook draw with the same functions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from experiments.pictures.figures import BLUE, ORANGE
from experiments.strength.standings import Standings
from rl.elo import DRAW, WIN, Estimate

if TYPE_CHECKING:  # matplotlib takes a second to import and is needed only where something is drawn
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

LONGEST_NAME = 28
NUMBERED = re.compile(r"(.*?)(\d+)\.npz(.*)", re.DOTALL)  # such as policy:runs/a/update_00000120.npz


def tournament_figure(standings: Standings) -> Figure:
    """Ratings and results side by side; below them the ratings over training, if the players tell of it."""
    from matplotlib.figure import Figure

    count, points = len(standings.players), trained(standings.players)
    height = 1.8 + 0.5 * max(3, count)
    figure = Figure(figsize=(12, height + (3.5 if points else 0)), layout="constrained")
    above: Figure | SubFigure = figure
    if points:
        above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=[height, 3.5])[:, 0]
        ratings = [standings.ratings.players[i] for _, i in points]
        rating_curve(below.subplots(), [number for number, _ in points], ratings, "the number in the file's name")
    left, right = above.subplots(1, 2)
    rating_chart(left, standings)
    result_matrix(right, standings)
    return figure


def rating_chart(ax: Axes, standings: Standings) -> Axes:
    """Draw each player's rating and its 95 % interval, the strongest on top, and return `ax`."""
    order = standings.order
    ratings = [standings.ratings.players[i] for i in order]
    rows = np.arange(len(order))[::-1]
    values = np.array([rating.value for rating in ratings])
    ax.errorbar(values, rows, xerr=_arms(ratings), fmt="o", color=BLUE, capsize=3, linewidth=1.2, markersize=5)
    ax.set_yticks(rows, [_short(standings.players[i]) for i in order], parse_math=False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    ax.set_xlabel("Elo, 95 % interval")
    worth = standings.ratings.first_move
    ax.set_title(f"first move {worth.value:+.0f} Elo ({worth.low:+.0f} to {worth.high:+.0f})", fontsize="medium")
    ax.grid(axis="x", alpha=0.3)
    return ax


def result_matrix(ax: Axes, standings: Standings) -> Axes:
    """Draw black's share of the points for each black (row) against each white (column), and return `ax`."""
    order = standings.order
    results = standings.results[np.ix_(order, order)]  # (K, K, 3)
    games = results.sum(axis=2)
    points = results[:, :, WIN] + results[:, :, DRAW] / 2
    shares = np.divide(points, games, out=np.full(games.shape, np.nan), where=games > 0)
    ax.imshow(shares, cmap="PuOr_r", vmin=-0.1, vmax=1.1, aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        if games[i, j]:
            drawn = f"\n{results[i, j, DRAW] / games[i, j]:.0%} drawn" if results[i, j, DRAW] else ""
            ink = "white" if abs(share - 0.5) > 0.35 else "black"
            ax.text(j, i, f"{share:.0%}{drawn}", ha="center", va="center", fontsize="small", color=ink)
    numbers = range(len(order))
    ax.set_xticks(numbers, [f"{place + 1}" for place in numbers])
    ax.set_yticks(numbers, [f"{place + 1}" for place in numbers])
    ax.set_xlabel("white, by place")
    ax.set_ylabel("black, by place")
    ax.set_title("black's points, wins and half the draws", fontsize="medium")
    return ax


def rating_curve(ax: Axes, steps: Sequence[float], ratings: Sequence[Estimate], label: str = "training") -> Axes:
    """Draw ratings over how far training had come, with their 95 % intervals as a band, and return `ax`."""
    order = np.argsort(steps)
    x, values = np.array(steps)[order], np.array([(r.value, r.low, r.high) for r in ratings])[order]
    ax.fill_between(x, values[:, 1], values[:, 2], color=ORANGE, alpha=0.2, linewidth=0)
    ax.plot(x, values[:, 0], color=ORANGE, marker="o", markersize=3.5)
    ax.set_xlabel(label)
    ax.set_ylabel("Elo, 95 % interval")
    ax.grid(alpha=0.3)
    return ax


def trained(players: Sequence[str]) -> list[tuple[int, int]]:
    """(number, player) of those who differ in the number of their file alone, if at least three do; else nothing."""
    families: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for i, name in enumerate(players):
        if match := NUMBERED.fullmatch(name):
            families.setdefault((match[1], match[3]), []).append((int(match[2]), i))
    largest = max(families.values(), key=len, default=[])
    return sorted(largest) if len(largest) >= 3 else []


def _arms(ratings: Sequence[Estimate]) -> list[list[float]]:
    return [[rating.value - rating.low for rating in ratings], [rating.high - rating.value for rating in ratings]]


def _short(name: str) -> str:
    """A name that fits beside the axis: of a path, its end."""
    if len(name) <= LONGEST_NAME:
        return name
    kind, colon, path = name.partition(":")
    shortened = f"{kind}{colon}…/{PurePath(path).name}"
    return shortened if colon and len(shortened) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}"
