"""Where the lessons of `gomoku pretrain` come from: a teacher on the fly, or a file of examples.
Either keeps some positions aside, which nobody learns from, to validate on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import Rule
from env.lockstep import Lockstep
from experiments.errors import UserError
from experiments.training.pretrain_plan import Plan
from rl.examples import Examples, epoch
from rl.league import batch_agent
from rl.lessons import Lessons
from rl.sampling import RandomSource
from rl.supervised import Lesson
from rl.views import Views

VALIDATION_POSITIONS = 2_048


class Source(ABC):
    """Where lessons come from."""

    validation: Lesson
    updates_in_epoch: int

    @abstractmethod
    def lessons(self) -> Iterator[Lesson]:
        """The lessons of one epoch."""

    @abstractmethod
    def answered(self, logits: NDArray[Any]) -> None:
        """The network's logits for the lesson given last."""

    @abstractmethod
    def games_in(self, epochs: int) -> int:
        """How many games were learnt from, after so many epochs."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a later epoch depends on, for a checkpoint."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `arrays()`."""


class FromTeacher(Source):
    """A teacher on the fly; validated on positions of games that it and the drivers play, which nobody learns from."""

    def __init__(self, plan: Plan, rng: RandomSource) -> None:
        teacher, drivers = batch_agent(plan.teacher), [batch_agent(name) for name in plan.drivers]

        def stream(games: int, net_share: float, rng: RandomSource) -> Lessons:
            return Lessons(
                Lockstep(games, plan.height, plan.width, plan.win_length, Rule(plan.rule)),
                teacher,
                drivers,
                net_share=net_share,
                noise=plan.noise,
                opening_plies=plan.opening_plies,
                power=plan.power,
                urgent=plan.urgent,
                temperature=0.5,
                rng=rng,
            )

        aside = stream(VALIDATION_POSITIONS, 0.0, np.random.default_rng([plan.seed, 2]))
        nothing = np.zeros((VALIDATION_POSITIONS, plan.height * plan.width), dtype=np.float32)
        for _ in range(2 * plan.height):  # until the games are at all stages
            self.validation = aside.next(VALIDATION_POSITIONS)
            aside.play(nothing)
        self.stream = stream(plan.games_at_once, plan.net_share, rng)
        self.updates_in_epoch, self._batch = plan.lessons, plan.batch

    def lessons(self) -> Iterator[Lesson]:
        """So many lessons as the plan says."""
        for _ in range(self.updates_in_epoch):
            yield self.stream.next(self._batch)

    def answered(self, logits: NDArray[Any]) -> None:
        """Move the games on."""
        self.stream.play(logits)

    def games_in(self, epochs: int) -> int:
        """The games that have come to an end."""
        return self.stream.finished

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The games that are going on."""
        return self.stream.arrays()

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Go on with these games."""
        self.stream.restore(arrays)


class FromExamples(Source):
    """A file of examples, again and again in another order; validated on some of its games."""

    def __init__(self, plan: Plan, examples: Examples, rng: RandomSource) -> None:
        self._examples, self._rng = examples, rng
        self._batch, self._power = plan.batch, plan.power
        self._learnt, aside = examples.split(plan.validation, np.random.default_rng([plan.seed, 2]))
        if not len(self._learnt) or not len(aside):
            raise UserError(
                f"{len(examples)} positions of {len(np.unique(examples.games))} games cannot be split into some to "
                f"learn from and {plan.validation:.0%} to validate on: more games are needed"
            )
        views = Views(plan.height, plan.width)
        self.validation = examples.lesson(aside, views, np.zeros(len(aside), dtype=np.int64), plan.power)
        self.updates_in_epoch = math.ceil(len(self._learnt) / plan.batch)

    def lessons(self) -> Iterator[Lesson]:
        """All that is learnt from, once."""
        return epoch(self._examples, self._learnt, self._batch, self._power, self._rng)

    def answered(self, logits: NDArray[Any]) -> None:
        """Nothing: a file does not listen."""

    def games_in(self, epochs: int) -> int:
        """The games learnt from, counted again in every epoch."""
        return epochs * len(np.unique(self._examples.games[self._learnt]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing: an epoch depends on the generator alone."""
        return {}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Nothing."""
