"""What `gomoku bench` lets race: the network's passes, training steps, self-play, greedy, and the cost of size.

Each contest is timed in turns with PyTorch, if it is there, and with the readable twin; a contender that gives other
results than ours is not timed at all.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from env import Rule
from env.lockstep import Lockstep
from env.observation import Positions
from experiments.speed.race import Race, Work, race
from nn import BoardNet, ConvPolicyNet, Parameter, PolicyNet, Sequential
from nn.cost import net_costs
from nn.losses import weighted_cross_entropy
from nn.optim import Adam, zero_grad
from rl.agents import GreedyAgent
from rl.agents.greedy import greedy_scores
from rl.sampling import choose_cells
from rl.watch import Watch, WatchingNet, kept_up_to_date

if TYPE_CHECKING:
    from experiments.speed.torch_twin import TorchTwin

OURS, TORCH, READABLE = "ours", "PyTorch", "readable"
NO_NETWORK = "no network"
GAMES = 1024
PLIES = 8  # of all games, in one round of the self-play race
UNTIL_NEW = 16  # rounds, after which most games have ended and begun anew
TORCH_BATCHES = (32, 64, 128, 256, 1024)
SIZES, BATCHES = (9, 15, 19, 25), (1, 4, 16, 64, 256, 1024, 4096)


@dataclass(frozen=True)
class Line:
    """One line of the table: a race, what a unit costs in FLOP and the most bytes held (0: no matter), what else."""

    part: str
    race: Race
    flop: float = 0.0
    note: str = ""
    peak: int = 0

    def as_dict(self, roof: float) -> dict[str, Any]:
        """Plain values for JSON; `roof` in FLOP a second."""
        out = {"part": self.part, **self.race.as_dict(), "note": self.note}
        for other in (TORCH, READABLE):
            if other in self.race.seconds:
                out[f"ours_over_{other.lower()}"] = self.race.ratio(OURS, other)
        if self.peak:
            out["peak_bytes"] = self.peak
        if self.flop:
            out["fraction_of_roof"] = self.flop / self.race.median(OURS) / roof
        return out


class Contests:
    """The parts of the benchmark; `rounds` is how often the contenders of a race take turns."""

    def __init__(self, rounds: int, with_torch: bool) -> None:
        self.rounds, self.with_torch = rounds, with_torch
        self.rng = np.random.default_rng(1)

    def layers(self) -> list[Line]:
        """Forward passes on 15x15 and one more stone, of the default network and of the one that comes along."""
        conv = ConvPolicyNet(rng=self.rng)
        return [*self.passes(PolicyNet(rng=self.rng), "forward"), *self.passes(conv, type(conv).__name__)]

    def passes(self, net: PolicyNet | ConvPolicyNet, name: str) -> list[Line]:
        """Forward passes of one network, and one more stone against a pass of one position."""
        lines, rounds = [], 4 * self.rounds
        for batch in (256, 32, 1):
            found = race(f"{name}, batch {batch}", "position", batch, self.contenders(net, batch), rounds)
            lines.append(Line("layers", found, forward_flop(net), peak=net.memory()))
        contenders = self.contenders(net, 1) | {OURS: self.one_more_stone(net)}
        found = race(f"{name}, one more stone", "position", 1, contenders, rounds)
        return [*lines, Line("layers", found)]

    def contenders(self, net: PolicyNet | ConvPolicyNet, batch: int) -> dict[str, Work]:
        """Forward passes of so many positions: ours, PyTorch's, the readable layers'."""
        x = self.positions(batch, net.height)
        contenders: dict[str, Work] = {OURS: partial(net.predict, x)}
        if self.with_torch:
            contenders[TORCH] = partial(self.twin(net, x).predict, x)
        return contenders | {READABLE: partial(Sequential(net.layers).predict, x)}

    def training(self) -> list[Line]:
        """Training steps: loss, backward and Adam."""
        lines = []
        for size, batch in ((15, 256), (6, 128)):
            net = PolicyNet(size, size, rng=self.rng)
            x = self.positions(batch, size)
            actions = self.rng.integers(size * size, size=batch)
            weights = self.rng.standard_normal(batch).astype(np.float32)
            slow = net.copy()
            readable = Sequential(slow.layers)
            what = (x, actions, weights)
            adam, plain = Adam(net.parameters()), Adam(slow.parameters())
            ours: Work = partial(training_step, net.forward, net.add_gradients, adam.step, net.parameters(), *what)
            contenders = {OURS: ours}
            if self.with_torch:
                contenders[TORCH] = partial(self.twin(net, x).step, *what)
            contenders[READABLE] = partial(
                training_step, readable.forward, readable.backward, plain.step_by_definition, slow.parameters(), *what
            )
            memory = peak_memory(ours)
            found = race(f"training step {size}x{size}, batch {batch}", "step", 1, contenders, 2 * self.rounds)
            lines.append(Line("training", found, 3 * batch * forward_flop(net), peak=memory))
        return lines

    def selfplay(self) -> list[Line]:
        """Games in lockstep on 15x15: predict, sample, move, look for wins, begin anew; whole passes and watched."""
        net = PolicyNet(rng=self.rng)
        whole, watched = self.play_on(net.predict), self.play_watched(net)
        nothing = np.zeros((GAMES, 225), dtype=np.float32)
        peaks = [peak_memory(lambda: self.play_on(net.copy().predict)()), peak_memory(lambda: self.play_watched(net)())]
        growth = [held_after(self.play_on(lambda x: nothing), UNTIL_NEW), held_after(self.play_watched(net), UNTIL_NEW)]
        contenders: dict[str, Work] = {OURS: whole, "watched": watched, NO_NETWORK: self.play_on(lambda x: nothing)}
        notes = [f"{grown / 1e6:+.1f} MB after {UNTIL_NEW * PLIES} plies" for grown in growth]
        if self.with_torch:
            x = self.positions(GAMES, 15)
            twin = self.twin(net, x)
            by: dict[str, Work] = {str(batch): partial(twin.predict_by, batch, x) for batch in TORCH_BATCHES}
            times = race("", "position", GAMES, by, 5).seconds
            best = int(min(by, key=lambda batch: min(times[batch])))  # the batch that can be fastest
            contenders[TORCH] = self.play_on(partial(twin.predict_by, best))
            notes[0] += f", PyTorch {best} at a time"
        rounds = max(3, self.rounds // 2)
        found = race(f"self-play, {GAMES} games", "position", GAMES * PLIES, contenders, rounds)
        notes[0] += f", all but the network {found.ratio(NO_NETWORK, OURS):.1%}"
        others = {name: times for name, times in found.seconds.items() if name == TORCH}
        incremental = Race("the same, watched", found.unit, {OURS: found.seconds["watched"], **others})
        whole_passes = Line("selfplay", found, forward_flop(net), notes[0], peaks[0])
        return [whole_passes, Line("selfplay", incremental, note=notes[1], peak=peaks[1])]

    def greedy(self) -> list[Line]:
        """The heuristic over many boards at once."""
        cells = self.rng.choice(np.array([0, 0, 0, 1, -1], dtype=np.int8), size=(GAMES, 15, 15))
        agent, rng = GreedyAgent(), np.random.default_rng(2)

        def ours() -> None:
            planes = np.stack([cells == 1, cells == -1], axis=1)
            legal = (cells == 0).reshape(GAMES, -1)
            agent.choose_positions(Positions(planes, legal, 5, Rule.FREESTYLE), rng)

        def definition() -> None:
            for _ in range(GAMES // 512):
                greedy_scores(cells[0], 1)
                greedy_scores(cells[0], -1)

        fast = race(f"greedy, {GAMES} int8 boards", "board", GAMES, {OURS: ours}, self.rounds)
        slow = race("", "board", GAMES // 512, {READABLE: definition}, max(3, self.rounds // 3))
        note = f"{1 / fast.median(OURS):,.0f} boards/s; the definition {1 / slow.median(READABLE):,.0f}"
        return [Line("greedy", fast, note=note)]

    def size(self) -> list[Line]:
        """Forward passes over boards and batches."""
        lines = []
        for size in SIZES:
            for batch in BATCHES:
                net = PolicyNet(size, size, rng=self.rng)
                contenders = self.contenders(net, batch)
                del contenders[READABLE]  # it would take longest, and is compared already
                rounds = max(3, self.rounds // 4)
                found = race(f"forward {size}x{size}, batch {batch}", "position", batch, contenders, rounds)
                speed = f"{1 / found.median(OURS):,.0f} positions/s"
                lines.append(Line("size", found, forward_flop(net), speed, net.memory()))
        return lines

    def positions(self, count: int, size: int) -> Any:
        """Planes (N, 2, size, size) of random stones."""
        stones = self.rng.random((count, 1, size, size))
        return np.concatenate([stones < 0.2, stones > 0.8], axis=1).astype(np.float32)

    def twin(self, net: BoardNet, x: Any) -> TorchTwin:
        """The network in PyTorch, once it has shown that it gives the same logits."""
        from experiments.speed.torch_twin import TorchTwin

        twin = TorchTwin(net)
        np.testing.assert_allclose(twin.predict(x[:64]), net.predict(x[:64]), rtol=0, atol=1e-4)
        return twin

    def play_on(self, predict: Callable[[Any], Any]) -> Work:
        """PLIES plies of GAMES games, which go on from call to call; a finished game begins anew."""
        games, rng = Lockstep(GAMES), np.random.default_rng(3)

        def work() -> None:
            for _ in range(PLIES):
                positions = games.positions()
                games.play(choose_cells(predict(positions.planes), positions.legal, 1.0, rng))
                if games.over.any():
                    games.reset(np.flatnonzero(games.over))

        return work

    def play_watched(self, net: PolicyNet) -> Work:
        """The same with the logits kept up to date stone by stone."""
        games, rng = Lockstep(GAMES), np.random.default_rng(3)
        watch, everyone = Watch(net, games), np.arange(GAMES)

        def work() -> None:
            for _ in range(PLIES):
                cells, colours = choose_cells(watch.logits(everyone), games.legal, 1.0, rng), games.to_move.copy()
                games.play(cells)
                watch.moved(cells, colours, everyone)
                if games.over.any():
                    over = np.flatnonzero(games.over)
                    games.reset(over)
                    watch.reset(over)

        return work

    def one_more_stone(self, net: WatchingNet) -> Work:
        """A stone put somewhere or taken away again, and the logits after it."""
        kept, one = kept_up_to_date(net, 1), np.arange(1)
        cells = np.repeat(self.rng.permutation(225), 2).tolist()
        turn = 0

        def work() -> None:
            nonlocal turn
            kept.put_one(0, 0, cells[turn % len(cells)], 1 - 2 * (turn % 2))
            kept.logits(one)
            turn += 1

        return work


def training_step(
    forward: Callable[[Any], Any],
    backward: Callable[[Any], Any],
    step: Callable[[], None],
    parameters: Sequence[Parameter],
    x: Any,
    actions: Any,
    weights: Any,
) -> None:
    """One step down the weighted cross-entropy of the actions (N,), every cell being legal."""
    zero_grad(parameters)
    logits = forward(x)
    backward(weighted_cross_entropy(logits, actions, weights, np.ones_like(logits, dtype=np.bool_))[1])
    step()


def forward_flop(net: BoardNet) -> float:
    """Multiplications and additions of one position's way through the network."""
    return 2.0 * sum(layer.multiply_adds for layer in net_costs(net))


def peak_memory(work: Work) -> int:
    """The most bytes that `work` holds at a time, counted from a fresh start."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def held_after(work: Work, rounds: int) -> int:
    """How many bytes more are held after so many rounds of `work` than after the first."""
    tracemalloc.start()
    work()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(rounds):
        work()
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    return grown
