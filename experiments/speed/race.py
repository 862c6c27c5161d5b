"""Timing that survives a busy machine: contenders take turns, and what counts is the CPU time of this process.

Every round lets each contender work once, so that whatever slows the machine down slows all of them. Times are
medians over the rounds with the smallest and the largest; a ratio is the median of the rounds' own ratios.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Work = Callable[[], object]


@dataclass(frozen=True)
class Race:
    """What a race gave: for every contender the CPU seconds of each round, per unit of work."""

    what: str
    unit: str
    seconds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        """Median seconds a unit."""
        return float(np.median(self.seconds[name]))

    def ratio(self, name: str, to: str) -> float:
        """How many times as long `name` takes as `to`."""
        return float(np.median(np.array(self.seconds[name]) / np.array(self.seconds[to])))

    def as_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        contenders = {
            name: {"median": self.median(name), "min": min(times), "max": max(times)}
            for name, times in self.seconds.items()
        }
        return {"what": self.what, "unit": self.unit, "seconds_per_unit": contenders}


def race(what: str, unit: str, units: int, contenders: Mapping[str, Work], rounds: int, seconds: float = 0.03) -> Race:
    """Let the contenders take turns for `rounds` rounds.

    One call of a contender does `units` units of work; calls are repeated to fill about `seconds`. Before the first
    round each has run, so that memory is there and caches are warm.
    """
    calls = {}
    for name, work in contenders.items():
        work()
        calls[name] = max(1, int(seconds / max(1e-9, min(cpu_time(work, 1) for _ in range(3)))))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, work in contenders.items():
            times[name].append(cpu_time(work, calls[name]) / (calls[name] * units))
    return Race(what, unit, times)


def cpu_time(work: Work, calls: int) -> float:
    """CPU seconds of this process for so many calls."""
    began = time.process_time()
    for _ in range(calls):
        work()
    return time.process_time() - began


def product_roof(rounds: int) -> Race:
    """A product of two 1024 x 1024 matrices in float32, 2.147 GFLOP: what this machine gives at the best."""
    a = np.linspace(-1, 1, 1 << 20, dtype=np.float32).reshape(1024, 1024)
    out = np.empty_like(a)
    return race("1024^3 product", "product", 1, {"product": lambda: np.matmul(a, a, out=out)}, rounds)
