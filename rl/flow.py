"""Shares of games on their way: the learner goes on with those that are back, whichever these are.

Waiting for the last share of an update leaves every other worker idle. Here the shares of some updates more are always
out, so there is work at any time; what comes back was played with weights that are up to some updates old. How old is
told, what is too old is played again, and the importance weights of rl/reinforce.py make good the difference between
the policy that played and the one that learns, as in IMPALA (Espeholt et al. 2018).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from rl.agents.base import BatchAgent
from rl.fleet import Fleet
from rl.sampling import IntArray
from rl.selfplay import Decisions
from rl.shares import Cast, Played, Share, ShareError


@dataclass(frozen=True)
class Staleness:
    """How old the weights were that played what an update learnt from, in updates, and how many results were too old.

    mean (over the games), most; dropped counts results.
    """

    mean: float
    most: int
    dropped: int


@dataclass(frozen=True)
class Taken:
    """A share that is back: its games' decisions, the kinds of opponent (E,), who they were, how old the weights."""

    decisions: Decisions
    kinds: IntArray
    opponents: Sequence[BatchAgent]
    staleness: int


class Flow:
    """The shares that are out. `bound` is how many updates old the weights of a result may be.

    A share that comes back too old is handed out again under its index and seed. Its seats name opponents by number,
    and it may be played with those of a later update, so what they did is told of whoever then sat there.
    """

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self._out: dict[int, tuple[Share, IntArray]] = {}
        self._opponents: dict[int, Sequence[BatchAgent]] = {}  # by the version they were put with
        self._next = 0

    @property
    def games(self) -> int:
        """How many games are out."""
        return sum(len(share.seats) for share, _ in self._out.values())

    def hand_out(
        self,
        fleet: Fleet[Cast, Share, Played],
        cast: Callable[[Sequence[BatchAgent]], Cast],
        opponents: Sequence[BatchAgent],
        shares: Sequence[Share],
        kinds: IntArray,
    ) -> None:
        """Hand out more shares, of kinds (E,) in all, and a cast of these opponents for all that waits from now on."""
        start = 0
        for share in shares:
            end = start + len(share.seats)
            self._out[self._next] = share, kinds[start:end]
            self._next, start = self._next + 1, end
        seats = 1 + max((int(share.seats.max()) for share, _ in self._out.values()), default=0)
        others = islice(cycle(reversed(opponents)), max(0, seats - len(opponents)))  # fewer past selves than there were
        everybody = [*opponents, *others]
        version = fleet.put(cast(everybody))
        self._opponents = {v: who for v, who in self._opponents.items() if version - v <= self.bound}
        self._opponents[version] = everybody
        for index in range(self._next - len(shares), self._next):
            fleet.submit(index, self._out[index][0])

    def take(self, fleet: Fleet[Cast, Share, Played], games: int) -> tuple[list[Taken], Staleness]:
        """Wait until shares of so many games or more are back. Raises ShareError for games of another seed."""
        newest = max(self._opponents)
        taken: list[Taken] = []
        dropped = 0
        while sum(len(part.kinds) for part in taken) < games:
            done = fleet.take()
            if done.index not in self._out:  # told twice
                continue
            share, kinds = self._out[done.index]
            if done.result.seed != share.seed:
                raise ShareError(f"share {done.index} has seed {share.seed}; its games are of {done.result.seed}")
            if newest - done.version > self.bound:
                dropped += 1
                fleet.submit(done.index, share)
                continue
            del self._out[done.index]
            age = newest - done.version
            taken.append(Taken(done.result.decisions, kinds, self._opponents[done.version], age))
        return taken, _staleness(taken, dropped)


def _staleness(taken: Sequence[Taken], dropped: int) -> Staleness:
    ages: NDArray[np.int64] = np.repeat([part.staleness for part in taken], [len(part.kinds) for part in taken])
    return Staleness(mean=float(ages.mean()), most=int(ages.max()), dropped=dropped)
