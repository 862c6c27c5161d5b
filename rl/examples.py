"""Positions with the moves that were played in them, many games' worth, in a compact form to learn from repeatedly.
A position is held as its side to move sees it: 1 an own stone, -1 the other's, 0 empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from env.record import GameRecord
from env.rules import BLACK
from rl.demonstrations import Demonstration, Shares
from rl.sampling import IntArray, RandomSource, draw_uniforms
from rl.supervised import Lesson, hard_targets, soft_targets
from rl.views import Views


@dataclass(frozen=True)
class Examples:
    """N positions of one size of board, from one or more games.

    states (N, H, W) int8; actions (N,) int64, the cell played; games (N,) int64, the number of the game it is from;
    shares (N, A) uint8, each cell's value over the best one's, times 255, or None where only the move is known.
    """

    states: NDArray[np.int8]
    actions: IntArray
    games: IntArray
    shares: Shares | None = None

    def __len__(self) -> int:
        return len(self.actions)

    def lesson(self, index: IntArray, views: Views, seen: IntArray, power: float) -> Lesson:
        """The positions `index`, each through its view of `seen` (both (n,)), with soft targets if power > 0.

        Legal is whatever is empty.
        """
        states = self.states[index].reshape(len(index), -1)
        if self.shares is None or power == 0:
            targets = hard_targets(self.actions[index], states.shape[1])
        else:
            targets = soft_targets(np.where(states == 0, self.shares[index].astype(np.float32), -1), power)
        shown = views.show(states, seen)
        planes = np.stack([shown == 1, shown == -1], axis=1).astype(np.float32)  # (n, 2, A)
        planes = planes.reshape(len(index), 2, *self.states.shape[1:])
        return Lesson(planes, shown == 0, views.show(targets, seen))

    def split(self, share: float, rng: RandomSource) -> tuple[IntArray, IntArray]:
        """(to learn from, to validate on): indices, whole games on one side or the other, one draw a game.

        A game's positions look alike; split among both sides, they would make the validation flatter.
        """
        numbers, which = np.unique(self.games, return_inverse=True)
        aside = (draw_uniforms(rng, len(numbers)) < share)[which]
        return np.flatnonzero(~aside), np.flatnonzero(aside)


def epoch(examples: Examples, index: IntArray, batch: int, power: float, rng: RandomSource) -> Iterator[Lesson]:
    """The examples `index` once, in random order, in lessons of `batch`, each position through a random view."""
    views = Views(*examples.states.shape[1:])
    order = index[np.argsort(draw_uniforms(rng, len(index)))]
    for first in range(0, len(order), batch):
        some = order[first : first + batch]
        yield examples.lesson(some, views, views.draw(len(some), True, rng), power)


def from_demonstrations(games: Sequence[Demonstration]) -> Examples:
    """The teacher's choices in these games, all on boards of one size. Raises ValueError if there is no position."""
    states, actions, numbers, shares = [], [], [], []
    for number, game in enumerate(games):
        seen = _states(tuple(game.board.moves), game.board.height, game.board.width)
        states.append(seen[game.plies])
        actions += game.choices
        numbers += [number] * len(game.plies)
        shares += game.shares
    return Examples(
        np.concatenate(states), np.array(actions), np.array(numbers), np.stack(shares) if shares else None
    )


def from_records(records: Sequence[GameRecord]) -> Examples:
    """Every move of these games after their openings, all on boards of one size. Raises ValueError if there is none."""
    states, actions, numbers = [], [], []
    for number, record in enumerate(records):
        states.append(_states(record.moves, record.height, record.width)[record.opening :])
        actions.append(np.array(record.moves[record.opening :], dtype=np.int64))
        numbers.append(np.full(len(actions[-1]), number))
    return Examples(np.concatenate(states), np.concatenate(actions), np.concatenate(numbers))


def _states(moves: Sequence[int], height: int, width: int) -> NDArray[np.int8]:
    """The position before each move, as its side to move sees it: (T, H, W)."""
    boards = np.zeros((len(moves) + 1, height * width), dtype=np.int8)
    colour = BLACK
    for ply, cell in enumerate(moves):
        boards[ply + 1 :, cell] = colour
        colour = -colour
    boards[1::2] *= -1
    return boards[: len(moves)].reshape(-1, height, width)


def as_states(planes: NDArray[np.float32]) -> NDArray[np.int8]:
    """planes (N, 2, H, W) or more, own stones and the other's first -> states (N, H, W)."""
    return (planes[:, 0] > 0).astype(np.int8) - (planes[:, 1] > 0).astype(np.int8)


