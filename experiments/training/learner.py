"""The learner: everything a later update depends on, in one object; learner_state.py puts it into a checkpoint.

One turn of it is `update`: play, judge, step. The whole recipe stands there and in the functions below it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from env import Rule
from env.lockstep import Lockstep
from experiments.config import Config
from experiments.training.beginning import imitation_plan, initial_baseline, initial_net
from experiments.training.casting import cast_of, cut_games
from experiments.training.pupil import Pupil
from nn import BoardNet
from nn.optim import Adam
from nn.workspace import Workspace
from rl.agents import BatchAgent, PolicyAgent
from rl.drill import DrillStats, at_stake, drill, set_up
from rl.fleet import Fleet, InProcess
from rl.flow import Flow, Staleness
from rl.gate import Gate
from rl.league import POOL, SELF, League, batch_agent
from rl.reinforce import UpdateStats, standardised, update
from rl.returns import explained_variance, lambda_returns, signed_results
from rl.sampling import IntArray, draw_uniforms
from rl.selfplay import LEARNER, Decisions
from rl.shares import Cast, Played, Share, joined, play_shares, prepare
from rl.supervised import ImitationStats
from rl.tactics import make_puzzles
from rl.teacher_pull import TeacherPull
from rl.watched_play import play_whole_games
from rl.weight_average import WeightAverage

BLOCKS_AMONG_PUZZLES = 0.6  # the harder kind gets the larger share
DRILLS_AT_ONCE = 1024


def between(start: float, end: float, progress: float) -> float:
    """The value at `progress` (0 to 1) on the straight way from start to end."""
    return start + (end - start) * progress


@dataclass(frozen=True)
class Report:
    """What one update did: how many games, and what came of them, of the drills, of both, or of imitation."""

    games: int
    learning_rate: float
    entropy_weight: float
    stats: UpdateStats | None
    decisions: Decisions | None
    drilled: DrillStats | None
    redone: DrillStats | None = None  # the drills on positions of these very games
    won: Mapping[str, float] = field(default_factory=dict)  # the share of wins against each kind of opponent
    explained: float | None = None  # the share of the returns' variance that the baseline foresaw
    rolled_back: str | None = None  # why the gate put the best weights back, if it did
    imitated: ImitationStats | None = None
    staleness: Staleness | None = None  # of the weights that played these games, if it may be any


class Learner:
    """Everything a run learns with: network, optimizer, generator, league, baseline, and the count of games."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.rng = np.random.default_rng([config.seed, 1])
        self.league = League(
            config.opponents,
            capacity=config.pool_size,
            at_once=config.pool_at_once,
            temperature=config.pool_temperature,
            difficulty=config.pool_by_difficulty,
        )
        self.baseline = initial_baseline(config, len(self.league.names))
        self.start_from(initial_net(config))
        self._memory: list[list[Workspace]] = []
        self.fleet: Fleet[Cast, Share, Played] = InProcess(prepare)  # where games in shares are played
        self.flow = Flow(config.staleness) if config.staleness else None
        self.staleness: Staleness | None = None
        self.puzzles = (
            make_puzzles(self.new_games, config.puzzles, np.random.default_rng([config.seed, 3]))
            if config.drills or config.drills_per_update
            else ()
        )
        self.drill_opponent = None if config.drill_opponent == SELF else batch_agent(config.drill_opponent)
        self.updates = self.games = self.positions = 0
        self.imitated = 0  # games that were imitated, which `games` leaves out
        self.pupil = Pupil(imitation_plan(config), None) if config.imitation_epochs else None

    def new_games(self, count: int) -> Lockstep:
        """`count` empty games of the configured kind."""
        config = self.config
        return Lockstep(count, config.height, config.width, config.win_length, Rule(config.rule))

    def rates(self) -> tuple[float, float]:
        """(learning rate, entropy weight) now: one straight way down over the first drills, another over the games."""
        config, done = self.config, self.games
        if done < config.drills:
            progress = done / config.drills
            return (
                between(config.drill_learning_rate, config.learning_rate, progress),
                between(config.drill_entropy_weight, config.entropy_weight, progress),
            )
        progress = min(1.0, (done - config.drills) / max(1, config.games - config.drills))
        warmth = min(1.0, (done - config.drills + config.games_per_update) / max(1, config.warm_up))
        caution = self.gate.factor if self.gate is not None else 1.0
        return (
            between(config.learning_rate, config.final_learning_rate, progress) * warmth * caution,
            between(config.entropy_weight, config.final_entropy_weight, progress),
        )

    def update(self) -> Report:
        """One turn: first imitation, then drills alone; after those a batch of games, what they teach, a few drills."""
        if self.pupil is not None:
            return self._imitate(self.pupil)
        config = self.config
        learning_rate, entropy_weight = self.rates()
        self.optimizer.learning_rate = learning_rate
        self.updates += 1
        if self.games < config.drills:
            count = min(DRILLS_AT_ONCE, config.drills - self.games)
            self.games += count
            alone = self._drill(count, entropy_weight)
            return Report(count, learning_rate, entropy_weight, None, None, alone)
        decisions, kinds = self._play()
        stats, explained = self._learn(decisions, kinds[decisions.games], entropy_weight)
        drilled = self._drill(config.drills_per_update, entropy_weight) if config.drills_per_update else None
        redone = self._redo(decisions, entropy_weight) if config.drills_from_games else None
        won = self._won(decisions, kinds)
        rolled_back = self._look(won, stats.entropy)
        if self.average is not None:
            self.average.take(self.net)
        return Report(
            len(kinds), learning_rate, entropy_weight, stats, decisions, drilled, redone, won, explained, rolled_back,
            staleness=self.staleness,
        )  # fmt: skip

    def best_net(self) -> BoardNet:
        """The network to be measured and kept: the mean of the weights, if there is one."""
        if self.pupil is not None:
            return self.pupil.best()[0]
        return self.net if self.average is None else self.average.net

    def _imitate(self, pupil: Pupil) -> Report:
        """One epoch of imitation; after the last, the best network that came of it is where REINFORCE begins."""
        before = pupil.games, pupil.positions
        imitated, learning_rate = pupil.epoch()
        self.updates += 1
        self.imitated = pupil.games
        self.positions += pupil.positions - before[1]
        if pupil.epochs == self.config.imitation_epochs:
            self.start_from(pupil.best()[0].copy())
            self.pupil = None
        return Report(self.imitated - before[0], learning_rate, 0.0, None, None, None, imitated=imitated)

    def start_from(self, net: BoardNet) -> None:
        """Go on from this network, with no past."""
        config = self.config
        self.net = net
        self.optimizer = Adam(net.parameters(), learning_rate=config.learning_rate)
        self.average = WeightAverage(net, config.average) if config.average else None
        self.gate = Gate(net, self.optimizer, config.gate_drop, config.gate_entropy) if config.gate_drop else None
        self.league.forget()

    def _play(self) -> tuple[Decisions, IntArray]:
        """One batch of whole games; returns the learner's decisions and the kind of opponent of each game, (E,)."""
        if self.flow is not None:
            return self._play_ahead(self.flow)
        config = self.config
        count = min(config.games_per_update, config.games - self.games)
        seats, opponents, kinds = self.league.draw(count, self.rng)
        decisions = (self._play_in_shares if config.shares else self._play_here)(seats, opponents)
        self.league.learn(seats, opponents, decisions.game_winners)
        self.games += count
        self.positions += len(decisions)
        return decisions, kinds

    def _play_here(self, seats: IntArray, opponents: Sequence[BatchAgent]) -> Decisions:
        """All games at once, from random openings to their end."""
        games = self.new_games(len(seats))
        return play_whole_games(self.net, seats, opponents, games, self.config, self.rng, self._memory)

    def _play_in_shares(self, seats: IntArray, opponents: Sequence[BatchAgent]) -> Decisions:
        """The same on the fleet: each share draws from the update's and its own number, whoever plays it."""
        config, cast = self.config, cast_of(self.config, self.net, opponents)
        shares = cut_games(config, self.updates, seats, config.shares)
        return play_shares(self.fleet, cast, self.updates * config.shares, shares)

    def _play_ahead(self, flow: Flow) -> tuple[Decisions, IntArray]:
        """On the fleet without waiting for all: the first games that are back, while others are out for later."""
        config, left = self.config, self.config.games - self.games
        more = max(0, min((1 + flow.bound) * config.games_per_update, left) - flow.games)
        seats, opponents, kinds = self.league.draw(more, self.rng)
        shares = cut_games(config, self.updates, seats, math.ceil(more * config.shares / config.games_per_update))
        flow.hand_out(self.fleet, lambda who: cast_of(config, self.net, who), opponents, shares, kinds)
        taken, self.staleness = flow.take(self.fleet, min(config.games_per_update, left))
        for part in taken:
            self.league.learn(part.decisions.seats, part.opponents, part.decisions.game_winners)
        decisions = joined([part.decisions for part in taken])
        self.games += len(decisions.lengths)
        self.positions += len(decisions)
        return decisions, np.concatenate([part.kinds for part in taken])

    def _learn(self, decisions: Decisions, kinds: IntArray, entropy_weight: float) -> tuple[UpdateStats, float]:
        """One pass over the decisions: returns, baseline, advantages, gradient steps. Also what V had foreseen."""
        config = self.config
        values = self.baseline.predict(config.win_length, decisions, kinds)
        results = signed_results(decisions.winners, decisions.colours)
        returns = lambda_returns(results, values, decisions.following, config.discount, config.trace)
        self.baseline.learn(decisions, kinds, returns, self.rng)
        stats = update(
            self.net,
            self.optimizer,
            decisions,
            standardised(returns - values, decisions.colours.astype(np.int64)),
            batch=config.batch,
            temperature=config.temperature,
            entropy_weight=entropy_weight,
            max_gradient_norm=config.max_gradient_norm,
            rng=self.rng,
            share=config.learnt_share,
            masked=config.masked_loss,
            pull=self._pull(),
        )
        full = lambda_returns(results, values, decisions.following, config.discount, 1.0)
        return stats, explained_variance(full, values)

    def _pull(self) -> TeacherPull | None:
        """The imitation term beside the reward, as heavy as it is now."""
        config = self.config
        weight = config.imitation_weight * (1 - self.games / config.games)
        if weight <= 0:
            return None
        return TeacherPull(batch_agent(config.imitation_teacher), weight, config.win_length, Rule(config.rule))

    def _won(self, decisions: Decisions, kinds: IntArray) -> dict[str, float]:
        """The learner's share of wins against each kind of opponent but itself."""
        colours = np.where(decisions.seats[:, 0] == LEARNER, 1, -1)
        wins = decisions.game_winners == colours
        met = {name: kinds == kind for kind, name in enumerate(self.league.names) if name != SELF}
        return {name: float(wins[games].mean()) for name, games in met.items() if games.any()}

    def _look(self, won: Mapping[str, float], entropy: float) -> str | None:
        """Let the gate see how often the agents that do not change were beaten; why it put the net back, if so."""
        fixed = [rate for name, rate in won.items() if name != POOL]
        if self.gate is None or not fixed:
            return None
        return self.gate.look(self.net, self.optimizer, float(np.mean(fixed)), entropy)

    def _drill(self, count: int, entropy_weight: float) -> DrillStats:
        """`count` drills, each from a puzzle of its own."""
        games = self.new_games(count)
        is_block = draw_uniforms(self.rng, count) < BLOCKS_AMONG_PUZZLES
        for puzzles, which in zip(self.puzzles, (np.flatnonzero(~is_block), np.flatnonzero(is_block)), strict=True):
            puzzles.draw(len(which), self.rng).set_up(games, which)
        return self._drill_on(games, entropy_weight)

    def _redo(self, decisions: Decisions, entropy_weight: float) -> DrillStats | None:
        """Drills on positions of the games just played in which somebody could make five, the unsure moves first."""
        config = self.config
        index = at_stake(decisions, config.win_length, Rule(config.rule), config.drills_from_games, self.rng)
        if not len(index):
            return None
        games = self.new_games(len(index))
        set_up(games, decisions.planes[index], decisions.colours[index])
        return self._drill_on(games, entropy_weight)

    def _drill_on(self, games: Lockstep, entropy_weight: float) -> DrillStats:
        """A drill on each of these positions."""
        config = self.config
        self.positions += games.games
        return drill(
            self.net,
            self.optimizer,
            games,
            self.drill_opponent or PolicyAgent(self.net),
            tries=config.drill_tries,
            batch=config.drill_batch,
            temperature=config.temperature,
            symmetric=config.symmetric,
            entropy_weight=entropy_weight,
            max_gradient_norm=config.max_gradient_norm,
            rng=self.rng,
        )
