"""The player that goes by a list: win, block a win, make a four, block a four, make a three, stay close; else anywhere.
Within a class it chooses at random, so that it never plays the same game twice.

It is meant to be held out of training, as a player that a policy is measured against without having met it.
"""

from __future__ import annotations

import numpy as np

from rl.agents.shapes import ShapeAgent, by_shape
from rl.neighbourhood import Shape


class PriorityAgent(ShapeAgent):
    """win > block a win > own four > block a four > own three > next to a stone > any legal cell.

    A four is any line one stone short of five, a three any line one stone short of a four, open or not, split or not.
    """

    def __init__(self, noise: float = 0.0) -> None:
        own = {Shape.FIVE: 6, Shape.OPEN_FOUR: 4, Shape.FOUR: 4, Shape.OPEN_THREE: 2, Shape.THREE: 2}
        other = {Shape.FIVE: 5, Shape.OPEN_FOUR: 3, Shape.FOUR: 3}
        name = "priority" if not noise else f"priority,noise={noise:g}"
        super().__init__(name, by_shape(own), by_shape(other), np.maximum, near=1, noise=noise)
