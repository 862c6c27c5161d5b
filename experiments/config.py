"""What a training run is told: every setting in one frozen dataclass, each with its meaning and its default.

An unknown key or a value of the wrong type is an error that names what was meant; nothing is ignored silently.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from env import Rule
from env.rules import check_settings
from experiments.errors import UserError, did_you_mean


class ConfigError(UserError):
    """A configuration that cannot be used."""


@dataclass(frozen=True)
class Config:
    """Every setting of a training run. Schedules count games, so a slower machine learns the same, later."""

    name: str = "run"
    """The run's name: part of its directory's."""
    seed: int = 1
    """Seed of every random draw of the run."""

    height: int = 6
    """Rows of the board, 3 to 25."""
    width: int = 6
    """Columns of the board, 3 to 25."""
    win_length: int = 4
    """How many in a row win."""
    rule: str = "freestyle"
    """freestyle, standard or renju."""

    net: str = "policy"
    """policy: two convolutions and two dense layers of the sizes below; conv: convolutions alone;
    line: lines read alike in all directions."""
    filters: tuple[int, int] = (16, 32)
    """Filters of the two 3x3 convolutions."""
    hidden: int = 256
    """Width of the hidden fully connected layer."""
    dtype: str = "float32"
    """float32, or float64 for bit-exact work."""
    java_weights: bool = False
    """Start from the reference Java program's weights (15x15, filters 16 32, hidden 256) instead of random ones."""
    start: str = ""
    """Start from the weights in this file, whatever network of two planes it holds, instead of random ones."""

    imitation_epochs: int = 0
    """Begin with so many epochs of imitation, as `gomoku pretrain` does them."""
    imitation_lessons: int = 500
    """Updates in such an epoch, 128 positions each."""
    imitation_teacher: str = "summed"
    """Who is imitated."""
    imitation_weight: float = 0.0
    """Weight of an imitation term beside the reward at the first game; it falls evenly to 0 at the last."""
    games: int = 200_000
    """Training games in all, drills included, imitation not."""
    games_per_update: int = 512
    """Games played in lockstep before each pass of learning."""
    shares: int = 0
    """Those games in so many shares, each with chance of its own, for a fleet to play; 0: all of them at once, here."""
    staleness: int = 0
    """Do not wait for the slowest share: learn from games of weights up to so many updates old; 0: of these alone."""
    batch: int = 128
    """Decisions in a minibatch (one optimizer step)."""
    learning_rate: float = 1e-3
    """Adam's learning rate at the start."""
    final_learning_rate: float = 1e-4
    """Adam's learning rate at the end; it falls evenly."""
    warm_up: int = 0
    """Over so many first games the learning rate rises evenly to what it would be."""
    entropy_weight: float = 0.15
    """Weight of the entropy bonus at the start."""
    final_entropy_weight: float = 0.02
    """Weight of the entropy bonus at the end; it falls evenly."""
    masked_loss: bool = True
    """Illegal cells have no part in the loss of the games, as they have none in play, in drills and in imitation."""
    max_gradient_norm: float = 1.0
    """The gradient is scaled down to this norm if it is longer."""
    temperature: float = 1.0
    """Temperature the learner plays, and learns, at."""
    discount: float = 0.9
    """Discount per own move still to come."""
    trace: float = 1.0
    """Lambda of the returns: 1 is REINFORCE with a baseline, less is an actor-critic."""
    baseline: str = "mean"
    """What results are compared with: none, mean (per opponent and colour), leave-one-out (this batch's other games),
    tactics (a table by what threatens), features (a regression on what is on the board), or value (a network)."""
    symmetric: bool = True
    """Play and learn through a random symmetry of the board."""
    watched: bool = False
    """Let networks watch their games, faster on large boards; a symmetry then lasts a whole game."""
    learnt_share: float = 1.0
    """The share of the decisions that are learnt from, mostly those that matter, weighted to stand for all."""
    average: float = 0.0
    """Decay an update of the mean of the weights, which is then what is measured and kept; 0 for none."""
    gate_drop: float = 0.0
    """Go back to the best weights when the share of games won falls so far below its best; 0 for no such watch."""
    gate_entropy: float = 0.0
    """With gate_drop: go back, too, when the entropy of the policy falls below this."""

    opponents: Mapping[str, float] = field(default_factory=lambda: {"self": 0.3, "pool": 0.4, "greedy": 0.3})
    """Shares of the games against: self, pool (past selves), or any agent."""
    pool_size: int = 15
    """How many past selves are kept."""
    pool_every: int = 5_000
    """A past self is added every so many games."""
    pool_at_once: int = 4
    """How many past selves are met in one update's games."""
    pool_temperature: float = 1.0
    """Temperature past selves play at: the sharper, the less a missing defence is forgiven."""
    pool_by_difficulty: bool = False
    """Meet those past selves most that are won against least."""
    drills: int = 0
    """So many of the games, the first, are drills: one move and its answer from a position with a win or a threat."""
    drills_per_update: int = 0
    """So many drills follow each batch of games after that."""
    drills_from_games: int = 0
    """So many more, from positions of these games in which somebody could make five at once."""
    drill_tries: int = 16
    """Moves tried in each drill."""
    drill_batch: int = 64
    """Drills in a minibatch (one optimizer step)."""
    drill_learning_rate: float = 2e-3
    """Adam's learning rate in the first drill; it falls evenly to that of the games over the first drills."""
    drill_entropy_weight: float = 0.1
    """Weight of the entropy bonus in the first drill; it falls likewise."""
    drill_opponent: str = "greedy"
    """Who answers in drills: any agent, or self, the learner's own largest preference."""
    puzzles: int = 40_000
    """How many positions of each kind, wins and threats, there are to drill."""
    opening_plies: int = 4
    """Games start from 0 to this many random stones."""

    evaluate_against: tuple[str, ...] = ("random", "greedy")
    """Agents the policy is measured against."""
    known_wins: str = ""
    """A file of positions with known forced wins on 15x15: evaluations tell how often the policy begins them."""
    evaluate_every: int = 25_000
    """An evaluation every so many games."""
    evaluation_games: int = 200
    """Games against each agent in an evaluation during training."""
    final_games: int = 1_000
    """Games against each agent before and after training."""
    evaluation_plies: int = 4
    """Random opening stones in evaluations."""
    checkpoint_every: int = 5_000
    """A checkpoint every so many games."""

    def __post_init__(self) -> None:
        """Refuse values that no run could use. Raises ConfigError naming the key."""
        plain = self.name.isprintable() and "/" not in self.name and 1 <= len(self.name) <= 100
        _check(plain, "name", repr(self.name), "1 to 100 printable letters, none of them a /")
        _check(self.rule in {rule.value for rule in Rule}, "rule", self.rule, "freestyle, standard or renju")
        _check(self.net in ("policy", "conv", "line"), "net", self.net, "policy, conv or line")
        _check(self.dtype in ("float32", "float64"), "dtype", self.dtype, "float32 or float64")
        baselines = ("none", "mean", "leave-one-out", "tactics", "features", "value")
        _check(self.baseline in baselines, "baseline", self.baseline, "one of " + ", ".join(baselines))
        for key in ("games", "games_per_update", "batch", "hidden", "pool_size", "pool_every", "pool_at_once",
                    "imitation_lessons", "puzzles", "drill_batch", "evaluate_every", "checkpoint_every"):  # fmt: skip
            _check(getattr(self, key) >= 1, key, getattr(self, key), "1 or more")
        for key in ("learning_rate", "final_learning_rate", "drill_learning_rate", "max_gradient_norm", "temperature",
                    "pool_temperature"):  # fmt: skip
            _check(0 < getattr(self, key) < math.inf, key, getattr(self, key), "a positive number")
        for key in ("temperature", "pool_temperature"):
            _check(1e-3 <= getattr(self, key) <= 1e3, key, getattr(self, key), "from 0.001 to 1000")
        for key in ("entropy_weight", "final_entropy_weight", "drill_entropy_weight", "drills_per_update", "seed",
                    "shares", "staleness", "imitation_epochs", "opening_plies", "evaluation_plies", "warm_up",
                    "gate_drop", "gate_entropy", "imitation_weight", "drills_from_games"):  # fmt: skip
            _check(0 <= getattr(self, key) < math.inf, key, getattr(self, key), "0 or more")
        _check(not self.staleness or self.shares > 0, "staleness", self.staleness, "0 unless the games are in shares")
        _check(self.drill_tries >= 2, "drill_tries", self.drill_tries, "2 or more")
        _check(0 <= self.drills <= self.games, "drills", self.drills, f"0 to games = {self.games}")
        _check(0 < self.learnt_share <= 1, "learnt_share", self.learnt_share, "more than 0, at most 1")
        _check(0 <= self.average < 1, "average", self.average, "0 or more, less than 1")
        if self.rule == Rule.RENJU.value:
            wanted = "0 under renju, where stones cannot be put in any order"
            _check(self.drills_from_games == 0, "drills_from_games", self.drills_from_games, wanted)
        for key in ("discount", "trace"):
            _check(0 <= getattr(self, key) <= 1, key, getattr(self, key), "between 0 and 1")
        for key in ("evaluation_games", "final_games"):
            games = getattr(self, key)
            _check(games >= 2 and games % 2 == 0, key, games, "an even number: games come in colour-swapped pairs")
        _check(min(self.filters) >= 1, "filters", self.filters, "two numbers, 1 or more")
        for key in ("filters", "hidden"):
            given, default = getattr(self, key), getattr(Config, key)
            wanted = f"{default} with net {self.net}, whose sizes are its own"
            _check(self.net == "policy" or given == default, key, given, wanted)
        shares = list(self.opponents.values())
        meant = 0 < sum(shares) < math.inf and min(shares) >= 0
        _check(meant, "opponents", self.opponents, "shares, none negative, not all 0")
        try:
            check_settings(self.height, self.width, self.win_length, Rule(self.rule))
        except ValueError as error:
            raise ConfigError(str(error)) from None
        for key in ("opening_plies", "evaluation_plies"):
            cells = self.height * self.width
            _check(getattr(self, key) <= cells, key, getattr(self, key), f"at most the {cells} cells of the board")
        if self.java_weights:
            sizes = (self.height, self.width, self.filters, self.hidden, self.net)
            java = sizes == (15, 15, (16, 32), 256, "policy")
            _check(java, "java_weights", True, "false unless the board is 15x15, filters [16, 32] and hidden 256")
            _check(not self.start, "start", self.start, "no file besides java_weights")

    def as_dict(self) -> dict[str, Any]:
        """Every setting as plain JSON values."""
        return dataclasses.asdict(self)


def config_from(values: Mapping[str, Any]) -> Config:
    """A Config with these values over the defaults. Raises ConfigError for an unknown key or a wrong type."""
    types = typing.get_type_hints(Config)
    for key in values:
        if key not in types:
            raise ConfigError(f"there is no setting {key!r}; {did_you_mean(key, types)}")
    return Config(**{key: typed(key, value, types[key]) for key, value in values.items()})


def typed(key: str, value: Any, wanted: Any) -> Any:
    """The value as the type of its field: a whole number may stand for a float, an array for a tuple."""
    plain = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    if wanted is float and type(value) is int and abs(value) < 2**1000:  # a float ends at 2**1024
        return float(value)
    if wanted in plain and type(value) is wanted:
        return value
    if typing.get_origin(wanted) is tuple and isinstance(value, (list, tuple)):
        kind, *rest = typing.get_args(wanted)
        if rest == [...] or len(value) == 1 + len(rest):
            return tuple(typed(key, item, kind) for item in value)
    if wanted not in plain and isinstance(value, dict) and typing.get_origin(wanted) is not tuple:
        return {str(name): typed(f"{key}.{name}", share, float) for name, share in value.items()}
    if typing.get_origin(wanted) is tuple:
        kinds = typing.get_args(wanted)
        meant = "a list" if kinds[-1] is ... else f"a list of {len(kinds)}"
    else:
        meant = plain.get(wanted) or "a table of names and shares"
    raise ConfigError(f"{key} = {value!r}: wanted {meant}")


def _check(holds: bool, key: str, value: object, wanted: str) -> None:
    if not holds:
        raise ConfigError(f"{key} = {value}: wanted {wanted}")
