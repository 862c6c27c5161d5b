"""How long a search may think: so many seconds, so many nodes, or until somebody says stop.
This is the one file of rl that knows a clock.

A search calls `spend` at every node and lets BudgetSpent fly up to where an unfinished answer can be thrown away:
whatever was finished before stands.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter


class BudgetSpent(Exception):
    """There is no time, or no node, left."""


def _never() -> bool:
    return False


class Budget:
    """What is left to think with, counted from the moment it is made.

    seconds  of wall time; math.inf for no limit
    nodes    how many calls of `spend` go through; math.inf for no limit
    stopped  asked whenever the clock is read; once true, the budget is spent
    used     nodes so far
    """

    __slots__ = ("_deadline", "_started", "_stopped", "_timed", "limit", "used")

    def __init__(
        self, seconds: float = math.inf, nodes: float = math.inf, stopped: Callable[[], bool] | None = None
    ) -> None:
        self._started = perf_counter()
        self._deadline = self._started + seconds
        self._timed = seconds < math.inf or stopped is not None
        self._stopped = stopped or _never
        self.limit = nodes
        self.used = 0

    def spend(self, nodes: int = 1) -> None:
        """Count nodes. Raises BudgetSpent if they are more than were left, or the time is up."""
        self.used += nodes
        if self.used > self.limit or (self._timed and (perf_counter() >= self._deadline or self._stopped())):
            raise BudgetSpent

    @property
    def spent(self) -> bool:
        """Whether the next `spend` would fail."""
        return self.used >= self.limit or (self._timed and (perf_counter() >= self._deadline or self._stopped()))

    @property
    def elapsed(self) -> float:
        """Seconds since it was made."""
        return perf_counter() - self._started

    @property
    def remaining(self) -> float:
        """Seconds left; not below 0."""
        return max(0.0, self._deadline - perf_counter())

    def share(self, fraction: float) -> Budget:
        """Return a budget of its own with this fraction of what is left, for one part of the work.

        What it uses is not taken off this one until `settle`; its time is, time being what it is.
        """
        part = Budget(self.remaining * fraction, (self.limit - self.used) * fraction, self._stopped)
        part._timed = self._timed
        return part

    def settle(self, part: Budget) -> None:
        """Take off what a share has used."""
        self.used += part.used


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep Python from looking for cycles of garbage meanwhile.

    A search leaves none, and among its hundred thousands of positions a look takes up to 0.3 s, in which nobody reads
    the clock and no other thread runs. Nor does such a look come at once afterwards, between the search and its answer:
    what is new is looked through here, which takes some milliseconds, so that nothing is due until more is made.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.collect(0)
            gc.enable()
