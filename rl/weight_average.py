"""A running mean of a network's weights: steadier than any one of them, and as a rule stronger.

Learning from games is noisy, and the weights wander about; their mean stays in the middle.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from nn import BoardNet

Net = TypeVar("Net", bound=BoardNet)


class WeightAverage(Generic[Net]):
    """mean <- decay * mean + (1 - decay) * weights, once an update; it looks back over about 1 / (1 - decay) of them.

    Source: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging" (1992), with fading.
    """

    def __init__(self, net: Net, decay: float) -> None:
        self.net, self.decay = net.copy(), decay

    def take(self, net: Net) -> None:
        """Move the mean towards the net's weights, and towards the statistics of its normalisations, if it has any."""
        for mean, now in zip(self.net.arrays().values(), net.arrays().values(), strict=True):
            mean += (1 - self.decay) * (now - mean)
