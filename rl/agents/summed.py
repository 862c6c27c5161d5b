"""The strongest heuristic without search: the values of all four lines through a cell, for both sides, added up.
A cell where two lines meet is worth both, which is what a double threat is made of.

If it is the teacher of an imitation (`gomoku pretrain`), a policy has *seen* it: name it then, and measure generality
against players that were held out, such as `priority`.
"""

from __future__ import annotations

import numpy as np

from rl.agents.shapes import ShapeAgent, Worth, by_shape
from rl.neighbourhood import Shape

VALUES: Worth = {
    Shape.FIVE: 100_000,
    Shape.OPEN_FOUR: 10_000,
    Shape.FOUR: 1_000,
    Shape.OPEN_THREE: 1_000,
    Shape.THREE: 100,
    Shape.OPEN_TWO: 100,
    Shape.TWO: 10,
    Shape.OPEN_ONE: 10,
    Shape.ONE: 1,
}
WIN = 10_000_000  # above any sum of the rest


class SummedAgent(ShapeAgent):
    """Plays a cell with the largest sum over four lines of own * (what I would make) + other * (what they would).

    A win is taken before anything else; ties are broken at random.
    """

    def __init__(self, own: float = 2.0, other: float = 1.0, noise: float = 0.0) -> None:
        if not (0 <= own <= 20 and 0 <= other <= 20):
            raise ValueError(f"weights own={own:g}, other={other:g}; they go from 0 to 20")
        mine, theirs = (np.rint(weight * by_shape(VALUES)).astype(np.int32) for weight in (own, other))
        mine[Shape.FIVE] = WIN
        plain = (own, other, noise) == (2.0, 1.0, 0.0)
        name = "summed" if plain else f"summed,own={own:g},other={other:g},noise={noise:g}"
        super().__init__(name, mine, theirs, noise=noise)
