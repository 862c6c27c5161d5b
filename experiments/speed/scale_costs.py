"""What training costs on this machine: CPU time and bytes of each part, and games a second of several processes.

CPU time is the same on a busy machine; games a second are by the clock and need as many idle cores as processes.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from tqdm import tqdm

from experiments.config import Config
from experiments.speed.scale_model import Costs
from experiments.training.casting import cast_of, cut_games
from experiments.training.learner import Learner
from rl.fleet import Done, InProcess, Processes
from rl.shares import SHARES_AHEAD, Cast, Played, Share, prepare

AHEAD = 2  # updates' games that are out besides, in training that does not wait


class Timed(InProcess[Cast, Share, Played]):
    """Plays here and notes what it costs: CPU seconds of each share, bytes, and seconds to take in and to hand out."""

    def __init__(self) -> None:
        super().__init__(prepare)
        self.play: list[float] = []
        self.receive = self.put_seconds = 0.0
        self.weights = self.result = 0

    def put(self, value: Cast) -> int:
        """See Fleet."""
        began = time.process_time()
        self.weights = len(pickle.dumps(value))
        self.put_seconds += time.process_time() - began
        return super().put(value)

    def take(self) -> Done[Played]:
        """See Fleet."""
        began = time.process_time()
        done = super().take()
        ended = time.process_time()
        self.play.append(ended - began)
        sent = pickle.dumps(done.result)
        self.result += len(sent)
        packed = time.process_time()
        pickle.loads(sent)  # our own bytes
        self.receive += time.process_time() - packed
        self.play[-1] += packed - ended  # a worker packs what it sends
        return done


@dataclass
class Findings:
    """What was measured: costs; games a second of play alone, in turns; of training that waits, and that does not."""

    costs: Costs
    play: dict[int, list[float]] = field(default_factory=dict)
    training: dict[tuple[int, int], float] = field(default_factory=dict)  # by processes and staleness


def measured_costs(config: Config, updates: int) -> Costs:
    """The costs of so many updates, after one that is not counted: a share's play, and the rest of an update."""
    learner = beginner(config)
    learner.update()
    fleet = learner.fleet = Timed()
    began = time.process_time()
    games = sum(learner.update().games for _ in range(updates))
    rest = time.process_time() - began - sum(fleet.play) - fleet.receive - fleet.put_seconds
    return Costs(
        play=sum(fleet.play) / games,
        learn=rest / games,
        receive=fleet.receive / games,
        fixed=fleet.put_seconds / updates,
        spread=float(np.std(fleet.play) / np.mean(fleet.play)),
        weights=fleet.weights,
        result=fleet.result / games,
    )


def beginner(config: Config) -> Learner:
    """A learner that has past selves to play against, as in the midst of a run."""
    learner = Learner(config)
    for _ in range(min(config.pool_size, config.pool_at_once)):
        learner.league.remember(learner.net)
    return learner


def play_alone(config: Config, costs: Costs, jobs: int, seconds: float) -> float:
    """Games a second of so many processes that play share after share for about so long, and nobody learns."""
    learner = beginner(config)
    share = math.ceil(config.games_per_update / config.shares)
    count = max(2 * jobs, round(seconds * jobs / (share * costs.play)))
    seats, opponents, _ = learner.league.draw((jobs + count) * share, learner.rng)
    shares = cut_games(config, 0, seats, jobs + count)
    with Processes(prepare, jobs, SHARES_AHEAD) as fleet:
        fleet.put(cast_of(config, learner.net, opponents))
        for index in range(jobs):  # the processes start, and make their agents
            fleet.submit(index, shares[index])
        for _ in range(jobs):
            fleet.take()
        began = time.perf_counter()
        for index in range(jobs, jobs + count):
            fleet.submit(index, shares[index])
        for _ in range(count):
            fleet.take()
        return count * share / (time.perf_counter() - began)


def training(config: Config, jobs: int, updates: int) -> float:
    """Games a second of so many updates of training with so many processes, after one that is not counted."""
    learner = beginner(config)
    with Processes(prepare, jobs, SHARES_AHEAD) as learner.fleet:
        learner.update()
        began = time.perf_counter()
        games = sum(learner.update().games for _ in range(updates))
        return games / (time.perf_counter() - began)


def measure(config: Config, jobs: Sequence[int], seconds: float, rounds: int, updates: int) -> Findings:
    """Everything, the numbers of processes in turns."""
    with tqdm(total=1 + len(jobs) * (rounds + 2), disable=None, unit="step") as bar:
        found = Findings(measured_costs(config, updates))
        bar.update()
        for _ in range(rounds):
            for count in jobs:
                found.play.setdefault(count, []).append(play_alone(config, found.costs, count, seconds))
                bar.update()
        for count in jobs:
            for staleness in (0, AHEAD):
                rate = training(replace(config, staleness=staleness), count, updates)
                found.training[count, staleness] = rate
                bar.update()
    return found
