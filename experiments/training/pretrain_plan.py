"""What a pretraining run is told: one frozen dataclass, which config.json keeps.
Schedules count updates and epochs, so that a slower machine learns the same, later.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from env import Rule
from env.rules import check_settings
from experiments.config import typed
from experiments.errors import UserError

POLICIES = ("policy", "conv", "line", "three_plane", "residual")  # networks that answer with logits and nothing else
COSINE, STEPS = "cosine", "steps"


@dataclass(frozen=True)
class Plan:
    """Every setting of a pretraining run, as config.json keeps it."""

    name: str = "pretrain"
    seed: int = 1
    source: tuple[str, ...] = ()
    """Files and folders of examples; none: a teacher on the fly."""
    teacher: str = "summed"
    """Who labels the positions on the fly."""
    drivers: tuple[str, ...] = (
        "summed", "greedy", "summed,noise=0.2", "shapes:attack", "shapes:forcing", "shapes:race",
        "shapes:lines,noise=0.1", "shapes:race,noise=0.1",
    )  # fmt: skip
    """Who plays the games on the fly where the network does not."""
    net_share: float = 0.45
    """Chance of a seat to be the network's own."""
    noise: float = 0.06
    """Chance of a random move in those games."""
    opening_plies: int = 6
    """Those games open with up to this many random stones."""
    games_at_once: int = 1_024
    """Games that take turns in giving a position."""
    height: int = 15
    width: int = 15
    win_length: int = 5
    rule: str = "freestyle"
    net: str = "policy"
    """The network's name: policy, conv, line, three_plane or residual."""
    filters: tuple[int, ...] = ()
    """Of the two convolutions; none: what the network's kind has by itself. Likewise `hidden` 0."""
    hidden: int = 0
    init: str = ""
    """Weights to start from, of whatever network; none: random ones."""
    epochs: int = 28
    lessons: int = 500
    """Updates in an epoch on the fly; an epoch of a file is the whole file."""
    batch: int = 128
    power: float = 4.0
    """Soft targets (value / best) ** power; 0 asks for the one move."""
    urgent: float = 4.0
    """Weight of positions on the fly in which somebody could make a five with the next stone; of the others it is 1."""
    learning_rate: float = 1e-3
    final_learning_rate: float = 2e-5
    """Where a cosine falls to."""
    schedule: str = COSINE
    """cosine, or steps: times step_factor after every step_epochs epochs."""
    step_epochs: int = 10
    step_factor: float = 0.8
    warm_up: int = 200
    """Updates over which the learning rate rises at first."""
    average: float = 0.999
    """Of the running mean of the weights, an update."""
    validation: float = 0.1
    """Share of a file's games that is not learnt from."""
    max_gradient_norm: float = 1.0
    evaluate_against: tuple[str, ...] = ("greedy:java", "greedy", "summed", "priority")
    evaluate_every: int = 4
    """Epochs between evaluations."""
    evaluation_games: int = 200
    final_games: int = 1_000
    evaluation_plies: int = 4

    def __post_init__(self) -> None:
        """Refuse values that no run could use. Raises UserError naming the setting."""
        plain = self.name.isprintable() and "/" not in self.name and 1 <= len(self.name) <= 100
        _check(plain, "name", self.name, "1 to 100 printable letters, none of them a /")
        for key in ("games_at_once", "epochs", "lessons", "batch", "step_epochs", "evaluate_every"):
            _check(getattr(self, key) >= 1, key, getattr(self, key), "1 or more")
        for key in ("net_share", "noise", "average", "validation"):
            _check(0 <= getattr(self, key) <= 1, key, getattr(self, key), "a share from 0 to 1")
        for key in ("learning_rate", "final_learning_rate", "step_factor", "max_gradient_norm", "urgent"):
            _check(0 < getattr(self, key) < math.inf, key, getattr(self, key), "a positive number")
        for key in ("seed", "hidden", "opening_plies", "power", "warm_up", "evaluation_plies"):
            _check(0 <= getattr(self, key) < math.inf, key, getattr(self, key), "0 or more")
        _check(self.validation < 1, "validation", self.validation, "less than 1: something must be learnt from")
        _check(self.net in POLICIES, "net", self.net, " or ".join(POLICIES))
        _check(len(self.filters) in (0, 2) and min(self.filters, default=1) > 0, "filters", self.filters, "two numbers")
        sized = (self.filters or self.hidden) and (self.net in ("conv", "line", "residual") or self.init)
        wanted = "none for a conv, line or residual network or for weights that have theirs"
        _check(not sized, "filters or hidden", "given", wanted)
        _check(self.schedule in (COSINE, STEPS), "schedule", self.schedule, "cosine or steps")
        for key in ("evaluation_games", "final_games"):
            games = getattr(self, key)
            _check(games >= 2 and games % 2 == 0, key, games, "an even number: games come in colour-swapped pairs")
        try:
            check_settings(self.height, self.width, self.win_length, Rule(self.rule))
        except ValueError as error:
            raise UserError(str(error)) from None

    def rate(self, progress: float, epochs: int, updates: int) -> float:
        """The learning rate when so much (0 to 1), so many epochs, so many updates are done."""
        warm = min(1.0, (updates + 1) / self.warm_up) if self.warm_up else 1.0
        if self.schedule == STEPS:
            return warm * self.learning_rate * float(self.step_factor ** (epochs // self.step_epochs))
        low = min(self.learning_rate, self.final_learning_rate)
        return warm * (low + (self.learning_rate - low) * 0.5 * (1 + math.cos(math.pi * progress)))


def _check(holds: bool, key: str, value: object, wanted: str) -> None:
    if not holds:
        raise UserError(f"{key.replace('_', '-')} {value}: wanted {wanted}")


def plan_from(values: Mapping[str, Any]) -> Plan:
    """The plan that config.json holds. Raises UserError if it is another command's."""
    known = {field.name for field in dataclasses.fields(Plan)}
    if set(values) != known:
        odd = ", ".join(sorted(set(values) ^ known)[:3])
        raise UserError(f"not the configuration of a pretraining run: its settings differ in {odd}")
    types = typing.get_type_hints(Plan)
    return Plan(**{key: typed(key, value, types[key]) for key, value in values.items()})
