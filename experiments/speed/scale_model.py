"""How fast a learner with many workers is: closed formulas, and a simulation that plays the same rules share by share.

The learner hands out (1 + staleness) updates' shares, takes results one after the other, learns when an update's games
are back, puts the new weights and hands out as many shares again (rl/shares.py, rl/flow.py). A worker plays one share
after the other. The formulas say which of them is the narrow place; the simulation also knows waiting and chance.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Costs:
    """What one game costs, in seconds of one core and in bytes.

    play: of a worker; spread: standard deviation of a share's time over its mean. receive and learn: of the learner, to
    take in a game and to learn from it; fixed: of the learner, an update, however many games. weights: bytes of what
    goes to each worker an update; result: bytes that come back a game.
    """

    play: float
    learn: float
    receive: float = 0.0
    fixed: float = 0.0
    spread: float = 0.0
    weights: float = 0.0
    result: float = 0.0


@dataclass(frozen=True)
class Layout:
    """Who works: so many workers, an update of so many games in so many shares, results up to so many updates old.

    cores: that all processes share, learner included; 0: each has one of its own. bandwidth: of the learner's line, in
    bytes a second.
    """

    workers: int
    games: int
    shares: int
    staleness: int = 0
    cores: int = 0
    bandwidth: float = math.inf

    @property
    def share(self) -> float:
        """Games in a share."""
        return self.games / self.shares


@dataclass(frozen=True)
class Simulated:
    """What came of a simulation: games a second, how busy learner and workers were (0 to 1), staleness in updates."""

    games_per_second: float
    learner_busy: float
    workers_busy: float
    staleness: float
    most: int
    dropped: int


def taking(costs: Costs, layout: Layout) -> float:
    """Seconds from the first byte of a game's result to its being taken in."""
    return costs.receive + costs.result / layout.bandwidth


def learner_seconds(costs: Costs, layout: Layout) -> float:
    """Seconds of the learner an update, if it never waits: take in, learn, put."""
    return layout.games * (taking(costs, layout) + costs.learn) + costs.fixed


def sending(costs: Costs, layout: Layout) -> float:
    """Seconds until the weights are with all workers, who pass them on: the number that has them doubles each time.

    A learner that goes on meanwhile (staleness 1 or more) does not wait for it.
    """
    if layout.staleness:
        return 0.0
    return math.ceil(math.log2(layout.workers + 1)) * costs.weights / layout.bandwidth


def saturation(costs: Costs, layout: Layout) -> float:
    """The number of workers that keep the learner busy all the time; with more, they wait for it."""
    return costs.play * layout.games / learner_seconds(costs, layout)


def games_per_second(costs: Costs, layout: Layout) -> float:
    """The formulas: exact for a learner that waits (staleness 0) and even shares, else an upper bound."""
    return (_waiting if layout.staleness == 0 else _flowing)(costs, layout)


def _waiting(costs: Costs, layout: Layout) -> float:
    """A learner that waits for all shares: they are played in rounds, the last of which may not occupy every worker.

    Results are taken in one by one. Whoever is last, the last share of the first round, of the last full one, or of the
    rest, has all the later ones behind it.
    """
    workers, cores = min(layout.workers, layout.shares), layout.cores or math.inf
    rounds, rest = divmod(layout.shares, workers)
    one = layout.share * costs.play * max(1.0, workers / cores)  # a round's time
    take = layout.share * taking(costs, layout)
    full = rounds * one
    ends = [one + layout.shares * take, full + (workers + rest) * take]
    if rest:
        ends.append(full + layout.share * costs.play * max(1.0, rest / cores) + rest * take)
    seconds = max(ends) + layout.games * costs.learn + costs.fixed + sending(costs, layout)
    return layout.games / seconds


def _flowing(costs: Costs, layout: Layout) -> float:
    """A learner that does not wait: the least of what workers, learner, shares that are out and cores allow."""
    learner = learner_seconds(costs, layout)
    out = (1 + layout.staleness) * layout.games
    bounds = [
        layout.workers / costs.play,
        layout.games / learner,
        out / (layout.share * costs.play + learner),  # each share is played once and waits for the update it is part of
    ]
    if layout.cores:
        bounds.append(layout.cores / (costs.play + learner / layout.games))
    return min(bounds)


def simulate(costs: Costs, layout: Layout, updates: int, rng: np.random.Generator) -> Simulated:
    """Play so many updates share by share; the first quarter of them, when all begin at once, is not counted.

    A share takes its mean time times a number of a gamma distribution with the spread asked for. Where processes share
    cores, each goes on at cores / processes of its speed.
    """
    take = layout.share * taking(costs, layout)
    learn = layout.games * costs.learn + costs.fixed + sending(costs, layout)
    idle = list(range(layout.workers))
    waiting = (1 + layout.staleness) * layout.shares
    left = np.full(layout.workers + 1, np.inf)  # seconds of work left; the last is the learner
    begun = np.zeros(layout.workers, dtype=np.int64)  # the version each worker plays with
    back: deque[int] = deque()  # versions of the results that wait for the learner
    learner, version, taken = layout.workers, 0, 0
    taking_in = -1  # version of the result being taken in; -1: it waits or learns
    now = learner_work = worker_work = 0.0
    ages: list[int] = []
    dropped, done, mark = 0, 0, (0.0, 0.0, 0.0)
    while done < updates:
        while waiting and idle:
            worker = idle.pop()
            left[worker], begun[worker] = layout.share * costs.play * _chance(costs.spread, rng), version
            waiting -= 1
        if left[learner] == np.inf and back:
            taking_in, left[learner] = back.popleft(), take
        active = np.isfinite(left)
        speed = min(1.0, layout.cores / active.sum()) if layout.cores else 1.0
        step = left.min()
        now += step / speed
        learner_work += step * active[learner]
        worker_work += step * active[:-1].sum()
        left -= step
        for who in np.flatnonzero(left <= 1e-12):
            left[who] = np.inf
            if who < learner:
                idle.append(int(who))
                back.append(int(begun[who]))
            elif taking_in >= 0:
                age, taking_in = version - taking_in, -1
                if age > layout.staleness:
                    dropped, waiting = dropped + 1, waiting + 1
                    continue
                taken += 1
                ages.append(age)
                if taken == layout.shares:
                    left[learner] = learn
            else:
                version, taken, done, waiting = version + 1, 0, done + 1, waiting + layout.shares
                if done == updates // 4:
                    mark, ages, dropped = (now, learner_work, worker_work), [], 0
    time, learner_work, worker_work = now - mark[0], learner_work - mark[1], worker_work - mark[2]
    return Simulated(
        games_per_second=(updates - updates // 4) * layout.games / time,
        learner_busy=learner_work / time,
        workers_busy=worker_work / time / layout.workers,
        staleness=float(np.mean(ages)),
        most=max(ages),
        dropped=dropped,
    )


def _chance(spread: float, rng: np.random.Generator) -> float:
    """A number with mean 1 and this standard deviation."""
    return float(rng.gamma(1 / spread**2, spread**2)) if spread else 1.0
