"""A pull towards a teacher beside the reward, for a policy that has far to go; it is to fade as the reward takes over.

    loss + weight * cross-entropy with what the teacher thinks of the same positions (rl/supervised)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from env import Rule
from env.observation import Positions
from rl.agents.base import BatchAgent
from rl.sampling import BoolArray, RandomSource
from rl.supervised import Targets, teach

POWER = 4.0  # of the soft targets


@dataclass(frozen=True)
class TeacherPull:
    """Whose opinion counts, and how much, in the game of this win length and rule."""

    teacher: BatchAgent
    weight: float
    win_length: int
    rule: Rule

    def targets(self, planes: NDArray[np.float32], legal: BoolArray, rng: RandomSource) -> Targets:
        """What the teacher thinks of each cell: planes (N, 2, H, W), legal (N, A) -> (N, A), rows summing to 1."""
        return teach(self.teacher, Positions(planes, legal, self.win_length, self.rule), POWER, rng)
