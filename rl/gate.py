"""The watch on a run: when it gets worse than it was, or stops trying anything, it goes back to where it was best.

What is watched is what the games tell anyway, the share won against fixed opponents and the policy's entropy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn import BoardNet
from nn.optim import Adam


class Gate:
    """Keeps the best weights and moments met so far, and puts them back when the run has fallen from them.

    After each update the faded mean of the win rate, m <- 0.8 m + 0.2 rate, is held against its best:

        m > best               the weights of now are kept as the best
        m < best - drop        back to those kept, and the learning rate is halved from now on
        entropy < least        the same

    A going back is returned, so that it can be logged; nothing happens silently.
    """

    FADE = 0.8

    def __init__(self, net: BoardNet, optimizer: Adam, drop: float, least_entropy: float) -> None:
        self.drop, self.least_entropy = drop, least_entropy
        self.mean = self.best = -1.0  # no game yet
        self.factor = 1.0  # on the learning rate
        self._kept: dict[str, NDArray[Any]] = {}
        self._keep(net, optimizer)

    def look(self, net: BoardNet, optimizer: Adam, win_rate: float, entropy: float) -> str | None:
        """Take one update's figures in; returns why the net was put back, if it was."""
        self.mean = win_rate if self.mean < 0 else self.FADE * self.mean + (1 - self.FADE) * win_rate
        if entropy < self.least_entropy:
            reason = f"entropy {entropy:.3f} < {self.least_entropy}"
        elif self.mean < self.best - self.drop:
            reason = f"win rate {self.mean:.3f} < {self.best:.3f} - {self.drop}"
        else:
            if self.mean > self.best:
                self.best = self.mean
                self._keep(net, optimizer)
            return None
        for parameter in net.parameters():
            parameter.value[...] = self._kept[f"net.{parameter.name}"]
        optimizer.load_state(
            {name.removeprefix("optimizer."): a for name, a in self._kept.items() if name.startswith("optimizer.")}
        )
        self.factor /= 2
        self.mean = self.best
        return reason

    def _keep(self, net: BoardNet, optimizer: Adam) -> None:
        self._kept = {f"net.{p.name}": p.value.copy() for p in net.parameters()}
        self._kept |= {f"optimizer.{name}": array for name, array in optimizer.state().items()}

    def state(self) -> dict[str, NDArray[Any]]:
        """The best weights and moments, and where the watch stands."""
        return {**self._kept, "watch": np.array([self.mean, self.best, self.factor])}

    def load_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from `state()`."""
        kept = dict(state)
        self.mean, self.best, self.factor = (float(number) for number in kept.pop("watch"))
        self._kept = kept
