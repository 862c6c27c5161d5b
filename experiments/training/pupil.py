"""The pupil of `gomoku pretrain`: network, optimizer and source of lessons, in one object that fits into a checkpoint.

    lessons of an epoch -> imitate -> the running mean of the weights

A lesson comes from games that a teacher watches (rl/lessons.py) or from a file of examples (rl/examples.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.checkpoint import check_counts, check_like, part
from experiments.errors import UserError
from experiments.training.beginning import fitted
from experiments.training.lesson_sources import FromExamples, FromTeacher, Source
from experiments.training.pretrain_plan import POLICIES, Plan
from nn import BoardNet
from nn.optim import Adam
from nn.registry import NETS, load_net, make_net
from nn.weights import WeightsError
from rl.examples import Examples
from rl.supervised import ImitationStats, imitate, validate
from rl.weight_average import WeightAverage

AVERAGED_EVERY = 5  # updates; at every one the mean would cost a twentieth of the time


class Pupil:
    """Everything a pretraining run learns with."""

    def __init__(self, plan: Plan, examples: Examples | None) -> None:
        self.plan = plan
        self.rng = np.random.default_rng([plan.seed, 1])
        self.net = self._first_net()
        self.optimizer = Adam(self.net.parameters(), learning_rate=plan.learning_rate)
        self.average = WeightAverage(self.net, plan.average**AVERAGED_EVERY)
        self.source: Source = (
            FromTeacher(plan, self.rng) if examples is None else FromExamples(plan, examples, self.rng)
        )
        self.epochs = self.updates = self.positions = 0

    def _first_net(self) -> BoardNet:
        plan = self.plan
        if not plan.init:
            given = {"filters": plan.filters, "hidden": plan.hidden}
            sizes: dict[str, Any] = {size: number for size, number in given.items() if number}
            net = make_net(plan.net, plan.height, plan.width, rng=np.random.default_rng([plan.seed, 0]), **sizes)
            net.use_rng(self.rng)
            return net
        net = load_net(plan.init, np.float32)
        if type(net) not in [NETS[name] for name in POLICIES]:
            raise UserError(f"{plan.init} holds a {type(net).__name__}; imitation teaches {', '.join(POLICIES)}")
        net = fitted(net, plan.init, plan.height, plan.width)
        net.use_rng(self.rng)
        return net

    def epoch(self) -> tuple[ImitationStats, float]:
        """One epoch; returns (means over its updates, the last learning rate). The mean of the weights starts anew
        after the first epoch, when the network has left its random beginning."""
        plan, count = self.plan, self.source.updates_in_epoch
        stats = []
        for lesson in self.source.lessons():
            rate = plan.rate(self.updates / (plan.epochs * count), self.epochs, self.updates)
            self.optimizer.learning_rate = rate
            step, logits = imitate(self.net, self.optimizer, lesson, plan.max_gradient_norm)
            self.source.answered(logits)
            self.updates += 1
            self.positions += len(lesson)
            if self.updates % AVERAGED_EVERY == 0:
                self.average.take(self.net)
            stats.append((step.loss, step.accuracy, step.gradient_norm))
        self.epochs += 1
        if self.epochs == 1:
            self.average = WeightAverage(self.net, self.average.decay)
        return ImitationStats(*np.mean(stats, axis=0).tolist()), rate

    @property
    def games(self) -> int:
        """Games that lessons were taken from and that are over."""
        return self.source.games_in(self.epochs)

    def best(self) -> tuple[BoardNet, float, float]:
        """(network, loss, accuracy) on validation: the running mean or the network itself, whichever has less loss."""
        found = [(net, *validate(net, self.source.validation)) for net in (self.average.net, self.net)]
        return min(found, key=lambda of: of[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights, moments, mean of the weights and games, for a checkpoint."""
        out = {f"net.{name}": array for name, array in self.net.arrays().items()}
        out |= {f"average.{name}": array for name, array in self.average.net.arrays().items()}
        out |= {f"optimizer.{name}": array for name, array in self.optimizer.state().items()}
        return out | {f"source.{name}": array for name, array in self.source.arrays().items()}

    def meta(self, rows: int) -> dict[str, Any]:
        """Counters and the generator's state, for a checkpoint written after `rows` rows of metrics."""
        return {
            "rows": rows,
            "updates": self.updates,
            "positions": self.positions,
            "net": self.net.meta(),
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, epochs: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str) -> None:
        """Continue from a checkpoint. Raises WeightsError if it is another plan's."""
        try:
            self._restore(epochs, arrays, meta, where)
        except WeightsError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise WeightsError(f"{where}: not a checkpoint of such a run: {type(error).__name__}: {error}") from None

    def _restore(self, epochs: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str) -> None:
        check_counts(where, meta, ("rows", "updates", "positions"))
        if meta["net"] != self.net.meta():
            raise WeightsError(f"{where}: the checkpoints hold {meta['net']}; config.json asks for {self.net.meta()}")
        kind = type(self.net)
        self.net = kind.from_arrays(part(arrays, "net."), meta["net"], where)
        self.net.use_rng(self.rng)
        mean = kind.from_arrays(part(arrays, "average."), meta["net"], where)
        self.average = WeightAverage(mean, self.average.decay)
        self.optimizer = Adam(self.net.parameters(), learning_rate=self.plan.learning_rate)
        self.optimizer.load_state(part(arrays, "optimizer."))
        source = part(arrays, "source.")
        check_like(f"{where}, source", source, self.source.arrays())
        self.source.restore(source)
        self.rng.bit_generator.state = meta["generator"]
        self.epochs, self.updates, self.positions = epochs, meta["updates"], meta["positions"]
