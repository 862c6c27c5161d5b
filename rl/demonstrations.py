"""Whole games of a teacher against itself, with what it would play, and how it values the cells, at every move.
Any agent can be the teacher: it is asked on boards, for all games at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from env import Board
from env.observation import positions_of
from rl.agents.base import Agent
from rl.agents.shapes import ShapeAgent
from rl.sampling import IntArray, RandomSource, draw_uniforms, inverse_cdf

Shares = NDArray[np.uint8]
MOST_SHARE = 255


@dataclass
class Demonstration:
    """One game. For each move of the teacher: the ply it was made at, its choice, and (A,) shares of the best value.

    A share is value / best * 255, rounded down, 0 on illegal cells; there are none if the teacher values no cells. The
    move on the board may be another than the choice, where noise took its place.
    """

    board: Board
    opening: int
    plies: list[int] = field(default_factory=list)
    choices: list[int] = field(default_factory=list)
    shares: list[Shares] = field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Somebody won; a game that was broken off or filled the board shows mostly how not to win."""
        return self.board.outcome is not None and self.board.outcome.winner != 0


def demonstrate(
    teacher: Agent,
    openings: Sequence[Board],
    *,
    noise: float,
    most_plies: int,
    rng: RandomSource,
    finished: Callable[[int], None] | None = None,
) -> list[Demonstration]:
    """Play on from each opening, the teacher on both sides, to the end or to `most_plies` stones.

    With chance `noise` a random legal cell is played instead of the choice. `openings` are left as they were.
    `finished(n)` is called as n more games end.
    """
    games = [Demonstration(board.copy(), len(board.moves)) for board in openings]
    running = [game for game in games if game.board.outcome is None]
    while running:
        boards = [game.board for game in running]
        choices = teacher.choose_many(boards, rng)
        positions = positions_of(boards)
        shares: Sequence[Shares | None] = [None] * len(running)
        if isinstance(teacher, ShapeAgent):
            shares = list(shares_of(teacher.values(positions).T))
        played = _with_noise(np.array(choices), positions.legal, noise, rng)
        for game, choice, cell, share in zip(running, choices, played, shares, strict=True):
            game.plies.append(len(game.board.moves))
            game.choices.append(choice)
            if share is not None:
                game.shares.append(share)
            game.board.play(int(cell))
        still = [game for game in running if game.board.outcome is None and len(game.board.moves) < most_plies]
        if finished is not None and len(still) < len(running):
            finished(len(running) - len(still))
        running = still
    return games


def shares_of(values: NDArray[np.int32]) -> Shares:
    """values (N, A), -1 on illegal cells -> floor(255 * value / best of the row), (N, A) uint8."""
    best = np.maximum(values.max(axis=1, keepdims=True), 1).astype(np.int64)
    shares: Shares = (np.maximum(values, 0).astype(np.int64) * MOST_SHARE // best).astype(np.uint8)
    return shares


def _with_noise(cells: IntArray, legal: NDArray[np.bool_], noise: float, rng: RandomSource) -> IntArray:
    if noise == 0:
        return cells
    at_random = inverse_cdf(legal, draw_uniforms(rng, len(cells)))
    return np.where(draw_uniforms(rng, len(cells)) < noise, at_random, cells)
