"""A policy that reads lines: what it learns about a line it knows in all eight directions and all over the board.

    x (N, 2, H, W) - the lines of each cell, read in eight ways - conv 1x1 - ReLU - conv 1x1
                   - sum over the eight - ReLU - conv 1x1 - ReLU - conv 1x1 to one plane - logits (N, A), one a cell

A filter of PolicyNet has to learn an open three once for every place it can lie in, and a filter of ConvPolicyNet once
for every direction. Here one small network reads a line of nine cells (nn/lines.py) into a few numbers, which are added
up over the lines that cross in a cell; the layers after the sum weigh what meets there. Turning or mirroring the board
turns or mirrors the logits, exactly. A line has few states, so the network that reads it is a table in disguise: how
that makes it the fastest of all is the business of nn/line_tables.py.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.init import NormalSource
from nn.layers import Flatten, FloatArray
from nn.line_tables import LineTables, holds_stones
from nn.lines import line_layers


class LinePolicyNet(BoardNet):
    """``reach`` cells either way are read by ``hidden`` filters into ``features`` numbers a cell."""

    SIZES = ("height", "width", "planes", "reach", "hidden", "features")

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        reach: int = 4,
        hidden: int = 128,
        features: int = 32,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes = (height, width, planes, reach, hidden, features)
        layers, convs = line_layers("LinePolicyNet", sizes, rng=rng, dtype=dtype)
        height, width, planes, self.reach, self.hidden, self.features = (whole_size("LinePolicyNet", n) for n in sizes)
        self._logit = Conv2D(self.features, 1, 1, 0, rng=rng, dtype=dtype, name="logit")
        super().__init__(height, width, planes, dtype, [*layers, self._logit, Flatten()])
        self.tables = LineTables(convs, self.reach, height, width)  # the fast twin of all but the last layer
        self._stones: FloatArray | None = None  # the x of the last forward, if the fast twin took it

    def logits_of(self, features: FloatArray) -> FloatArray:
        """What the last layer makes of features (n, F): logits (n,)."""
        logits: FloatArray = features @ self._logit.weight.value[0, :, 0, 0]
        logits += self._logit.bias.value
        return logits

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        if self._stones is None:
            super().add_gradients(d_out)
            return
        d_logits = self._checked_slope(d_out).reshape(-1).astype(self.dtype, copy=False)  # (N * A,)
        weight = self._logit.weight.value[0, :, 0, 0]
        self.tables.add_gradients(lambda some: np.multiply.outer(d_logits[some], weight), len(d_logits))
        self._logit.bias.grad += d_logits.sum()
        self._logit.weight.grad[0, :, 0, 0] += self._features.T @ d_logits

    def memory(self) -> int:
        """Return how many bytes of memory the fast twin holds, enough for the largest batch so far."""
        return self.tables.memory()

    def _forward(self, x: FloatArray) -> FloatArray:
        self._stones = x if holds_stones(x) else None
        if self._stones is None:
            return super()._forward(x)
        self._features = self.tables.forward(x)
        return self.logits_of(self._features).reshape(len(x), -1)

    def _backward(self, d_out: FloatArray) -> FloatArray:
        if self._stones is not None:  # d_x is for the layers, which have not seen x yet
            super()._forward(self._stones)
        return super()._backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        if not holds_stones(x):
            return super()._predict(x)
        logits = np.empty(len(x) * self.height * self.width, self.dtype)
        for some, features in self.tables.predict(x):
            logits[some] = self.logits_of(features)
        return logits.reshape(len(x), -1)
