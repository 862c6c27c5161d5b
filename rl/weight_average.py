"""A running mean of a network's weights: steadier than any one of them, and as a rule stronger.

Learning from games is noisy, and the weights wander about; their mean stays in the middle.
"""

from __future__ import annotations

from nn import PolicyNet


class WeightAverage:
    """mean <- decay * mean + (1 - decay) * weights, once an update; it looks back over about 1 / (1 - decay) of them.

    Source: Polyak and Juditsky, "Acceleration of stochastic approximation by averaging" (1992), with fading.
    """

    def __init__(self, net: PolicyNet, decay: float) -> None:
        self.net, self.decay = net.copy(), decay

    def take(self, net: PolicyNet) -> None:
        """Move the mean towards the net's weights."""
        for mean, now in zip(self.net.parameters(), net.parameters(), strict=True):
            mean.value += (1 - self.decay) * (now.value - mean.value)
