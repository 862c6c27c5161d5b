"""An endless stream of positions to learn from, each labelled by the teacher, out of games that are still going on.

Some seats are played by the network that learns: it meets the positions its own mistakes lead to, and the teacher says
what to do there (Ross, Gordon and Bagnell, "A reduction of imitation learning to no-regret online learning", 2011).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.lockstep import Lockstep
from env.observation import Positions
from env.rules import EMPTY
from rl.agents.base import BatchAgent
from rl.middle import middle_cells
from rl.sampling import BoolArray, IntArray, RandomSource, choose_cells, draw_numbers, draw_uniforms, inverse_cdf
from rl.supervised import Lesson, is_urgent, teach
from rl.views import Views

NET = -1


class Lessons:
    """Games in lockstep that take turns: each call of `next` shows some of them, each call of `play` moves those on.

    Every seat of a new game is drawn: the network with chance `net_share`, else one of `drivers`. A game opens with
    0 to `opening_plies` random stones in the middle of the board, and later moves are random with chance `noise`.
    The network's moves are drawn at `temperature`. A game longer than half the board is broken off.
    `power` is that of `soft_targets`, `urgent` the weight of positions that are (see `is_urgent`); others weigh 1.
    """

    def __init__(
        self,
        games: Lockstep,
        teacher: BatchAgent,
        drivers: Sequence[BatchAgent],
        *,
        net_share: float,
        noise: float,
        opening_plies: int,
        power: float,
        urgent: float,
        temperature: float,
        rng: RandomSource,
    ) -> None:
        self.games, self.teacher, self.drivers = games, teacher, list(drivers)
        self.net_share, self.noise, self.opening_plies = net_share, noise, opening_plies
        self.power, self.urgent, self.temperature, self.rng = power, urgent, temperature, rng
        self.finished = 0
        self._views = Views(games.height, games.width)
        self._middle = middle_cells(games.height, games.width)
        self._most_plies = max(1, games.height * games.width // 2)
        self._seats = np.empty((games.games, 2), dtype=np.int64)
        self._opening = np.empty(games.games, dtype=np.int64)
        self._next = 0
        self._shown: tuple[IntArray, IntArray, Positions] | None = None
        self._begin(np.arange(games.games))

    def _begin(self, which: IntArray) -> None:
        """Seat these games and empty their boards."""
        self.games.reset(which)
        for seat in range(2):
            driver = draw_numbers(self.rng, len(which), len(self.drivers))
            net = draw_uniforms(self.rng, len(which)) < self.net_share
            self._seats[which, seat] = np.where(net, NET, driver)
        self._opening[which] = draw_numbers(self.rng, len(which), self.opening_plies + 1)

    def next(self, count: int) -> Lesson:
        """The positions of the next `count` games, each through a random view."""
        which = (self._next + np.arange(min(count, self.games.games))) % self.games.games
        self._next = int(which[-1]) + 1
        positions = self.games.positions(which)
        views = self._views.draw(len(which), True, self.rng)
        planes, legal = self._views.see(positions, views)
        self._shown = which, views, positions
        targets = teach(self.teacher, positions, self.power, self.rng)
        weights = np.where(is_urgent(positions), self.urgent, 1).astype(np.float32)
        return Lesson(planes, legal, self._views.show(targets, views), weights)

    def play(self, logits: NDArray[Any]) -> None:
        """Make a move in the games shown last; logits (N, A) are the network's answers to that lesson."""
        if self._shown is None:
            raise ValueError("no lesson was shown since the last moves")
        which, views, positions = self._shown
        self._shown = None
        cells = np.empty(len(which), dtype=np.int64)
        movers = self._seats[which, (self.games.to_move[which] < 0).astype(np.int64)]
        for mover in np.unique(movers):
            its = np.flatnonzero(movers == mover)
            if mover == NET:
                legal = self._views.show(positions.legal[its], views[its])
                chosen = choose_cells(logits[its], legal, self.temperature, self.rng)
                cells[its] = self._views.cells(chosen, views[its])
            else:
                cells[its] = self.drivers[mover].choose_positions(_some(positions, its), self.rng)
        opening = self.games.plies[which] < self._opening[which]
        anywhere = (draw_uniforms(self.rng, len(which)) < self.noise) & ~opening
        for its, allowed in ((np.flatnonzero(opening), self._middle), (np.flatnonzero(anywhere), True)):
            if len(its):
                cells[its] = self._random(positions.legal[its], allowed)
        self.games.play(cells, which)
        over = which[self.games.over[which] | (self.games.plies[which] >= self._most_plies)]
        self.finished += len(over)
        if len(over):
            self._begin(over)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Everything a later lesson depends on but the generator and the network, for a checkpoint."""
        return {
            "cells": self.games.cells.copy(),
            "seats": self._seats.copy(),
            "opening": self._opening.copy(),
            "next": np.array(self._next),
            "finished": np.array(self.finished),
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `arrays()`; between `next` and `play` nothing is kept.

        Raises ValueError for seats of drivers that are not there, IllegalMoveError for stones of no game.
        """
        seats = arrays["seats"]
        if seats.min() < NET or seats.max() >= len(self.drivers):
            raise ValueError(f"seats from {seats.min()} to {seats.max()}; there are {len(self.drivers)} drivers")
        self.games.reset()
        stones = arrays["cells"].reshape(self.games.games, -1)
        counts = (stones != EMPTY).sum(axis=1)
        for ply in range(int(counts.max(initial=0))):  # in any order: no game that goes on has five stones in a row
            which = np.flatnonzero(counts > ply)
            colour = self.games.to_move[which]
            left = (stones[which] == colour[:, None]) & (self.games.cells[which].reshape(len(which), -1) == EMPTY)
            self.games.play(left.argmax(axis=1), which)
        self._seats[...], self._opening[...] = seats, arrays["opening"]
        self._next, self.finished = int(arrays["next"]), int(arrays["finished"])

    def _random(self, legal: BoolArray, allowed: BoolArray | bool) -> IntArray:
        """A random legal cell, an allowed one if there is any, one draw each."""
        choices = legal & allowed
        choices = np.where(choices.any(axis=1, keepdims=True), choices, legal)
        return inverse_cdf(choices, draw_uniforms(self.rng, len(legal)))


def _some(positions: Positions, index: IntArray) -> Positions:
    return Positions(positions.planes[index], positions.legal[index], positions.win_length, positions.rule)
