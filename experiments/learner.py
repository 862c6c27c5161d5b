"""The learner: everything a later update depends on, in one object that can be put into a checkpoint and taken out.

One turn of it is `play`, which makes decisions, then `learn`, which judges them. The whole recipe stands in those two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import Rule
from env.lockstep import Lockstep
from experiments.config import Config
from nn import PolicyNet
from nn.optim import Adam
from rl.baseline import make_baseline
from rl.league import League, batch_agent
from rl.reinforce import UpdateStats, standardised, update
from rl.returns import lambda_returns, signed_results
from rl.sampling import IntArray, draw_uniforms
from rl.selfplay import LEARNER, Decisions, open_randomly, play
from rl.tactics import make_puzzles

BLOCKS_AMONG_PUZZLES = 0.6  # the harder half gets the larger share


def initial_net(config: Config) -> PolicyNet:
    """The network before any training, the same at every call: it depends on the configuration alone."""
    if config.java_weights:
        java = PolicyNet.java()
        return PolicyNet.from_arrays(
            {parameter.name: parameter.value for parameter in java.parameters()}, java.meta(), "java", config.dtype
        )
    return PolicyNet(
        config.height,
        config.width,
        filters=config.filters,
        hidden=config.hidden,
        rng=np.random.default_rng([config.seed, 0]),
        dtype=config.dtype,
    )


def geometric(start: float, end: float, progress: float) -> float:
    """start * (end / start) ** progress: falls by the same factor in every tenth of the run. 0 stays 0."""
    return start * (end / start) ** progress if start > 0 and end > 0 else start + (end - start) * progress


class Learner:
    """Everything a run learns with: network, optimizer, generator, league, baseline, and the count of games."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.rng = np.random.default_rng([config.seed, 1])
        self.net = initial_net(config)
        self.optimizer = Adam(self.net.parameters(), learning_rate=config.learning_rate)
        self.league = League(
            config.opponents, capacity=config.pool_size, at_once=config.pool_at_once, temperature=config.temperature
        )
        self.puzzle_kind = len(self.league.names)  # the league's kinds of games come first, puzzles are one more
        self.baseline = make_baseline(config.baseline, self.puzzle_kind + 1)
        self.puzzles = make_puzzles(self.new_games, config.puzzles, np.random.default_rng([config.seed, 3]))
        self.puzzle_opponent = batch_agent(config.puzzle_opponent)
        self.updates = self.games = self.positions = 0

    def progress(self) -> float:
        """Share of the run's games already played, 0 to 1."""
        return min(1.0, self.games / self.config.games)

    def new_games(self, count: int) -> Lockstep:
        """`count` empty games of the configured kind."""
        config = self.config
        return Lockstep(count, config.height, config.width, config.win_length, Rule(config.rule))

    def play(self) -> tuple[Decisions, IntArray]:
        """One batch of games; returns the learner's decisions and the kind of each game, (E,)."""
        config = self.config
        count = min(config.games_per_update, config.games - self.games)
        seats, opponents, kinds = self.league.draw(count, self.rng)
        games = self.new_games(count)
        is_puzzle = draw_uniforms(self.rng, count) < (1 if self.games < config.puzzle_games else config.puzzle_share)
        plies = (draw_uniforms(self.rng, count) * (config.opening_plies + 1)).astype(np.int64)
        open_randomly(games, np.where(is_puzzle, 0, plies), self.rng)
        last_ply = np.full(count, config.height * config.width)
        self._set_up_puzzles(np.flatnonzero(is_puzzle), games, seats, last_ply, opponent=len(opponents))
        kinds[is_puzzle] = self.puzzle_kind
        decisions = play(
            self.net,
            seats,
            [*opponents, self.puzzle_opponent],
            games,
            temperature=config.temperature,
            symmetric=config.symmetric,
            rng=self.rng,
            last_ply=last_ply,
        )
        self.games += count
        self.positions += len(decisions)
        return decisions, kinds

    def _set_up_puzzles(
        self, which: IntArray, games: Lockstep, seats: IntArray, last_ply: IntArray, opponent: int
    ) -> None:
        """Make puzzles of the games `which`: the learner to move, two plies to play. Changes seats and last_ply."""
        is_block = draw_uniforms(self.rng, len(which)) < BLOCKS_AMONG_PUZZLES
        for kind, some in zip(self.puzzles, (which[~is_block], which[is_block]), strict=True):
            kind.draw(len(some), self.rng).set_up(games, some)
        last_ply[which] = games.plies[which] + 2
        mover = (games.to_move[which] < 0).astype(np.int64)
        seats[which, mover], seats[which, 1 - mover] = LEARNER, opponent

    def learn(self, decisions: Decisions, game_kinds: IntArray) -> UpdateStats:
        """One pass over the decisions: returns, baseline, advantages, gradient steps."""
        kinds = game_kinds[decisions.games]
        config = self.config
        self.optimizer.learning_rate = geometric(
            config.learning_rate, config.final_learning_rate, self.progress()
        )
        values = self.baseline.predict(config.win_length, decisions, kinds)
        results = signed_results(decisions.winners, decisions.colours)
        returns = lambda_returns(results, values, decisions.following, config.discount, config.trace)
        self.baseline.learn(decisions, kinds, returns)
        self.updates += 1
        return update(
            self.net,
            self.optimizer,
            decisions,
            standardised(returns - values, decisions.colours.astype(np.int64)),
            batch=config.batch,
            temperature=config.temperature,
            entropy_weight=self.entropy_weight(),
            max_gradient_norm=config.max_gradient_norm,
            rng=self.rng,
        )

    def entropy_weight(self) -> float:
        """The entropy bonus's weight now."""
        return geometric(self.config.entropy_weight, self.config.final_entropy_weight, self.progress())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Weights, moments, past selves and baseline, for a checkpoint."""
        out = {f"net.{p.name}": p.value for p in self.net.parameters()}
        out |= {f"optimizer.{name}": array for name, array in self.optimizer.state().items()}
        out |= {f"baseline.{name}": array for name, array in self.baseline.state().items()}
        for i, snapshot in enumerate(self.league.snapshots):
            out |= {f"past{i}.{p.name}": p.value for p in snapshot.parameters()}
        return out

    def meta(self, rows: int) -> dict[str, Any]:
        """Counters and the generator's state, for a checkpoint written after `rows` rows of metrics."""
        return {
            "rows": rows,
            "games": self.games,
            "positions": self.positions,
            "snapshots": len(self.league.snapshots),
            "net": self.net.meta(),
            "generator": self.rng.bit_generator.state,
        }

    def restore(self, updates: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str) -> None:
        """Continue from a checkpoint. Raises WeightsError if it is another configuration's."""

        def part(prefix: str) -> dict[str, NDArray[Any]]:
            return {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}

        net = PolicyNet.from_arrays(part("net."), meta["net"], where)
        snapshots = [
            PolicyNet.from_arrays(part(f"past{i}."), meta["net"], where) for i in range(meta["snapshots"])
        ]
        self.optimizer = Adam(net.parameters(), learning_rate=self.config.learning_rate)
        self.optimizer.load_state(part("optimizer."))
        self.baseline.load_state(part("baseline."))
        self.net, self.league.snapshots = net, snapshots
        self.rng.bit_generator.state = meta["generator"]
        self.updates, self.games, self.positions = updates, meta["games"], meta["positions"]
