"""Several runs of one experiment that differ in their seed: the mean of what they reached, and how sure it is.

The interval is Student's: with the standard deviation s of n runs, mean ± t s / √n, where t is such that 95 % of
Student's distribution with n - 1 degrees of freedom lies between -t and t: 12.7 for two runs, 4.3 for three, 2.8 for
five. It holds for the mean over all seeds, as long as the runs' results are spread about normally. What a run's own
evaluations vary by, being only so many games, is part of that spread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.config import Config
from experiments.metrics import Row
from experiments.run_dir import read_json

# What a run's weights, apart from chance, do not depend on.
NOT_LEARNT_WITH = ("seed", "evaluate_every", "evaluation_games", "final_games", "known_wins", "checkpoint_every")


def group_by_config(paths: Sequence[Path]) -> list[list[Path]]:
    """Return the runs grouped so that within a group they learn alike: the seed may differ, and how they are measured.

    A setting that an older run does not have was at what is its default now.
    """
    defaults = json.loads(json.dumps(Config().as_dict()))
    groups: list[tuple[Row, list[Path]]] = []
    for path in paths:
        config = defaults | read_json(path / "config.json") | dict.fromkeys(NOT_LEARNT_WITH)
        for known, group in groups:
            if known == config:
                group.append(path)
                break
        else:
            groups.append((config, [path]))
    return [group for _, group in groups]


def experiment_name(path: Path) -> str:
    """Return what the runs of an experiment have in common: `quick` of quick__s1__20261129T201500Z and of quick/s1."""
    path = path.resolve()
    name, seed, _ = path.name.partition("__s")
    return path.parent.name if not seed and name[:1] == "s" and name[1:].isdigit() else name


def evaluations(rows: Sequence[Row], opponent: str) -> NDArray[np.float64]:
    """Return (4, n): games of training, win rate, low and high end of its interval at each evaluation."""
    found = [(row["games"], row.get("evaluation", {}).get(opponent, {})) for row in rows if "games" in row]
    points = [(games, of["win_rate"], of["low"], of["high"]) for games, of in found if "win_rate" in of]
    return np.array(points).reshape(-1, 4).T


def mean_over_runs(points: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return (4, n): games, mean, both ends of its 95 % interval, where all of two or more runs have been.

    points: one (4, n_i) array of `evaluations` a run. Where the runs were evaluated after different numbers of games,
    straight lines between a run's evaluations fill in.
    """
    start, end = max(games[0] for games, *_ in points), min(games[-1] for games, *_ in points)
    games = np.unique(np.concatenate([point[0] for point in points]))
    games = games[(games >= start) & (games <= end)]
    rates = np.array([np.interp(games, point[0], point[1]) for point in points])  # (runs, n)
    return np.array([games, *mean_interval(rates)])


def mean_interval(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (3, ...): the mean of shares (runs, ...) and the ends of its 95 % interval, which stay within 0 and 1."""
    runs = len(shares)
    middle = shares.mean(axis=0)
    arm = student_t(runs - 1) * shares.std(axis=0, ddof=1) / math.sqrt(runs)
    return np.array([middle, np.maximum(middle - arm, 0), np.minimum(middle + arm, 1)])


def student_t(degrees: int, share: float = 0.95) -> float:
    """Return the t with this share of Student's distribution between -t and t. Raises ValueError for 0 degrees."""
    if degrees < 1:
        raise ValueError("one run has no spread: name two or more")
    low, high = 0.0, math.pi / 2  # the angle whose tangent is t / sqrt(degrees)
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if _share_within(middle, degrees) < share else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _share_within(angle: float, degrees: int) -> float:
    """The share of Student's distribution between -t and t, t = sqrt(degrees) tan(angle).

    Abramowitz and Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
    """
    cos, term, total = math.cos(angle), 1.0, 0.0
    if degrees % 2 == 0:  # sin (1 + 1/2 cos^2 + 1/2 3/4 cos^4 + ...), degrees / 2 terms
        for k in range(degrees // 2):
            total, term = total + term, term * cos * cos * (2 * k + 1) / (2 * k + 2)
        return math.sin(angle) * total
    term = cos
    for k in range(degrees // 2):  # 2 / pi (angle + sin (cos + 2/3 cos^3 + 2/3 4/5 cos^5 + ...))
        total, term = total + term, term * cos * cos * (2 * k + 2) / (2 * k + 3)
    return 2 / math.pi * (angle + math.sin(angle) * total)
