"""Heuristics made of a table: what each cell would make for me, what for the other side, and what either is worth.
They look at all four lines through a cell, judge both ends of each, and look no move ahead.

`shapes:NAME` are players to train against, differently minded on purpose: attackers that leave threats standing,
defenders that would rather block than win. Two more of this kind, `summed` and `priority`, have files of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from env.observation import Positions
from rl.agents.base import BatchAgent
from rl.agents.greedy_bits import nth_set
from rl.neighbourhood import Shape, next_to_stone, over_lines, seen_by_other, shape_table
from rl.sampling import IntArray, RandomSource, draw_uniforms, inverse_cdf

Values = NDArray[np.int32]
Worth = dict[Shape, int]


def by_shape(worth: Worth) -> Values:
    """{shape: value} -> (10,) int32 indexed by shape, 0 for shapes not named."""
    return np.array([worth.get(shape, 0) for shape in Shape], dtype=np.int32)


def every_power(base: int, highest: Shape = Shape.FIVE) -> Worth:
    """Steps of equal size: each rung up to `highest` is worth `base` times the one below."""
    rungs = [shape for shape in Shape if Shape.NONE < shape <= highest]
    return {shape: base**i for i, shape in enumerate(rungs)}


class ShapeAgent(BatchAgent):
    """Plays a legal cell of the largest value, ties at random.

    own, other (10,): what a cell is worth where a stone of mine, or of the other side, would make each shape. `near` is
    added once a direction if a neighbour along it is occupied. The four directions are put together by `combine`:
    np.add, or np.maximum, which turns the values into classes. With chance `noise` a move is uniformly random instead.
    """

    def __init__(
        self, name: str, own: Values, other: Values, combine: np.ufunc = np.add, *, near: int = 0, noise: float = 0.0
    ) -> None:
        if not 0 <= noise <= 1:
            raise ValueError(f"the noise is {noise}; it is a chance, from 0 to 1")
        self.name, self.combine, self.noise = name, combine, noise
        self._own, self._other, self._near = own, other, near
        self._tables: dict[int, Values] = {}

    def table(self, win_length: int) -> Values:
        """What a line is worth, by code: own and other added for np.add, the larger of them for np.maximum."""
        if win_length not in self._tables:
            shapes = shape_table(win_length)
            near = next_to_stone(win_length) * np.int32(self._near)
            table = self.combine(self._own[shapes], self._other[seen_by_other(shapes)])
            self._tables[win_length] = self.combine(table, near)
        return self._tables[win_length]

    def values(self, positions: Positions) -> Values:
        """The value of every cell, -1 where it is not legal: (A, N)."""
        values = over_lines(positions.planes, positions.win_length, self.table(positions.win_length), self.combine)
        values[~positions.legal.T] = -1
        return values

    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. Returns (N,) int64. One uniform draw a move, two more if there is noise."""
        cells = best_cells(self.values(positions), draw_uniforms(rng, len(positions)))
        if self.noise:
            at_random = inverse_cdf(positions.legal, draw_uniforms(rng, len(positions)))
            cells = np.where(draw_uniforms(rng, len(positions)) < self.noise, at_random, cells)
        return cells


def best_cells(values: NDArray[Any], uniforms: NDArray[np.float64]) -> IntArray:
    """The cell of the largest value in each column of (A, N); among k equals the floor(u * k)-th. Returns (N,)."""
    return nth_set((values == values.max(axis=0)).view(np.uint8), uniforms)


class Mind(NamedTuple):
    """One of the training opponents: values as `ShapeAgent` takes them."""

    own: Worth
    other: Worth
    combine: np.ufunc
    near: int = 0


def _classes(*order: tuple[str, Shape]) -> tuple[Worth, Worth]:
    """Classes named from the first to the last, ("own" or "other", shape) each -> what they are worth to a maximum."""
    worth: tuple[Worth, Worth] = ({}, {})
    for rank, (whose, shape) in enumerate(reversed(order), start=2):  # 1 is left to `near`
        worth[whose == "other"][shape] = rank
    return worth


def _scaled(worth: Worth, factor: int) -> Worth:
    return {shape: value * factor for shape, value in worth.items()}


S = Shape
_BLUNT: Worth = {S.FIVE: 100_000, S.OPEN_FOUR: 10_000, S.FOUR: 900, S.OPEN_THREE: 1_000, S.THREE: 90, S.OPEN_TWO: 100}
_FAR: Worth = _BLUNT | {S.TWO: 9, S.OPEN_ONE: 5, S.ONE: 1}
_FORCING: Worth = _FAR | {S.FOUR: 4_000, S.OPEN_THREE: 3_000}

# Attack: own lines count for more, and the other's threes are mostly left standing. Defence: the other way round.
MINDS: dict[str, Mind] = {
    # Own lines count six times as much: it blocks fives and open fours, else builds.
    "attack": Mind(_scaled(_FAR, 6), _FAR, np.add),
    # Plays any four it has, then any three, and blocks only fives; every threat must be answered.
    "forcing": Mind(_scaled(_FORCING, 8) | {S.FIVE: 9_000_000}, {S.FIVE: 600_000, S.OPEN_FOUR: 9_000}, np.add),
    # Classes, own fours and threes before a block of the other's four: a race, random within a class.
    "race": Mind(
        *_classes(
            ("own", S.FIVE), ("other", S.FIVE), ("own", S.OPEN_FOUR), ("own", S.FOUR), ("own", S.OPEN_THREE),
            ("other", S.OPEN_FOUR), ("own", S.THREE), ("own", S.OPEN_TWO), ("own", S.TWO),
        ),
        np.maximum,
        near=1,
    ),
    # Its own longest line, whatever happens: it sees no threat but a five.
    "lines": Mind(_scaled(every_power(4), 4), {S.FIVE: 200_000}, np.maximum),
    # The other's lines count four times as much; it wins when it can.
    "defence": Mind(_FAR | {S.FIVE: 9_000_000}, _scaled(_FAR, 4), np.add),
    # Classes again, every block before any attack but the win.
    "wall": Mind(
        *_classes(
            ("own", S.FIVE), ("other", S.FIVE), ("other", S.OPEN_FOUR), ("own", S.OPEN_FOUR), ("other", S.OPEN_THREE),
            ("other", S.FOUR), ("own", S.FOUR), ("other", S.THREE), ("own", S.OPEN_THREE), ("other", S.OPEN_TWO),
        ),
        np.maximum,
        near=1,
    ),
    # Both sides alike, the largest line only: what greedy is, with both ends judged.
    "balanced": Mind(_FAR | {S.FIVE: 200_000}, _FAR, np.maximum),
}  # fmt: skip


def mind(name: str, noise: float = 0.0) -> ShapeAgent:
    """The agent `shapes:NAME`."""
    own, other, combine, near = MINDS[name]
    spec = f"shapes:{name}" + (f",noise={noise:g}" if noise else "")
    return ShapeAgent(spec, by_shape(own), by_shape(other), combine, near=near, noise=noise)
