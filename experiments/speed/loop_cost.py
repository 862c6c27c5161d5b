"""Where the time of training goes: a few updates of a run under the profiler, added up by what was being done.

    games      network in play | opponents | board         update   forward | backward | step | expected returns
                                                            rest     whatever else

A part is the CPU time inside the functions named below, with all they call; none of them calls another.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from pathlib import Path
from typing import NamedTuple

from experiments.config import Config
from experiments.training.learner import Learner

NETWORK, OPPONENTS = "network in play", "opponents"
# (end of the file's name, function): the part it belongs to
PARTS = {
    ("nn/board_net.py", "forward"): "forward",
    ("nn/board_net.py", "predict"): NETWORK,
    ("rl/watch.py", "moved"): NETWORK,
    ("rl/watch.py", "logits"): NETWORK,
    ("rl/agents/shapes.py", "choose_positions"): OPPONENTS,
    ("rl/agents/greedy.py", "choose_positions"): OPPONENTS,
    ("rl/agents/random.py", "choose_positions"): OPPONENTS,
    ("env/lockstep.py", "play"): "board",
    ("env/lockstep.py", "positions"): "board",
    ("nn/optim.py", "step"): "step",
    ("nn/optim.py", "clip_gradients"): "step",
    ("rl/baseline.py", "predict"): "expected returns",
    ("rl/value_regression.py", "predict"): "expected returns",
    ("rl/value_regression.py", "learn"): "expected returns",
    ("rl/value_net_baseline.py", "predict"): "expected returns",
    ("rl/value_net_baseline.py", "learn"): "expected returns",
}
BACKWARD = "add_gradients"


class LoopCost(NamedTuple):
    """What some updates took: CPU seconds by part (the rest included), games played, positions the learner decided."""

    seconds: dict[str, float]
    games: int
    positions: int

    @property
    def total(self) -> float:
        """CPU seconds in all."""
        return sum(self.seconds.values())


def loop_cost(config: Config, updates: int = 3) -> LoopCost:
    """Run so many updates of a run, after one that is not counted, in which memory is asked for."""
    learner = Learner(config)
    while learner.pupil is not None or learner.games < config.drills or learner.updates == 0:
        learner.update()
    games, positions = learner.games, learner.positions
    profile = cProfile.Profile(time.process_time)
    profile.runcall(lambda: [learner.update() for _ in range(updates)])
    return LoopCost(by_part(pstats.Stats(profile)), learner.games - games, learner.positions - positions)


def by_part(stats: pstats.Stats) -> dict[str, float]:
    """Seconds by part, largest first; what belongs to none is "rest"."""
    found: dict[str, float] = {}
    backward: dict[str, float] = {}
    total = 0.0
    for (file, _, function), (_, _, own, inside, _) in stats.stats.items():  # type: ignore[attr-defined]
        total += own
        name = "/".join(Path(file).parts[-3:])
        if function == BACKWARD and "/nn/" in f"/{name}":
            backward[name] = inside
        for (end, its), part in PARTS.items():
            if function == its and name.endswith(end):
                found[part] = found.get(part, 0.0) + inside
    found["backward"] = max(backward.values(), default=0.0)  # the network's; that of its fast twin lies inside
    found["rest"] = total - sum(found.values())
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def table(cost: LoopCost) -> str:
    """The parts as text, a line each, and what that is in games and positions a second."""
    lines = [f"{part:<18}{seconds:>9.2f} s{seconds / cost.total:>8.1%}" for part, seconds in cost.seconds.items()]
    speed = f"{cost.games / cost.total:,.0f} games and {cost.positions / cost.total:,.0f} decisions a CPU second"
    return "\n".join([*lines, f"{'in all':<18}{cost.total:>9.2f} s   {speed}"])
