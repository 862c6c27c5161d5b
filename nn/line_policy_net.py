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
from nn.conv_policy_net import LARGEST
from nn.init import NormalSource
from nn.layers import Flatten, FloatArray, Layer, ReLU, ShapeError
from nn.line_tables import LineTables, holds_stones
from nn.lines import LineWindows, SumOverWays

FARTHEST = 5  # a line of more cells has too many states for a table


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
        height, width, planes, self.reach, self.hidden, self.features = (whole_size("LinePolicyNet", n) for n in sizes)
        if max(height, width) > LARGEST:
            raise ShapeError(f"LinePolicyNet: got a board of {height} x {width}, wanted at most {LARGEST} x {LARGEST}")
        if planes != 2 or self.reach > FARTHEST:
            raise ShapeError(
                f"LinePolicyNet: got {planes} planes, reach {self.reach}; wanted 2 planes, reach at most {FARTHEST}"
            )
        read = Conv2D(3 * 2 * self.reach, self.hidden, 1, 0, rng=rng, dtype=dtype, name="line1")
        tell = Conv2D(self.hidden, self.features, 1, 0, rng=rng, dtype=dtype, name="line2")
        weigh = Conv2D(self.features, self.features, 1, 0, rng=rng, dtype=dtype, name="cell")
        logit = Conv2D(self.features, 1, 1, 0, rng=rng, dtype=dtype, name="logit")
        layers: list[Layer] = [LineWindows(self.reach), read, ReLU(), tell, SumOverWays(), ReLU(), weigh, ReLU()]
        super().__init__(height, width, planes, dtype, [*layers, logit, Flatten()])
        self._fast = LineTables([read, tell, weigh, logit], self.reach, height, width)
        self._stones: FloatArray | None = None  # the x of the last forward, if the fast twin took it

    @property
    def tables(self) -> LineTables:
        """The fast twin."""
        return self._fast

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        if self._stones is None:
            super().add_gradients(d_out)
        else:
            self._fast.add_gradients(self._checked_slope(d_out))

    def memory(self) -> int:
        """Return how many bytes of memory the fast twin holds, enough for the largest batch so far."""
        return self._fast.memory()

    def _forward(self, x: FloatArray) -> FloatArray:
        self._stones = x if holds_stones(x) else None
        return super()._forward(x) if self._stones is None else self._fast.forward(x)

    def _backward(self, d_out: FloatArray) -> FloatArray:
        if self._stones is not None:  # d_x is for the layers, which have not seen x yet
            super()._forward(self._stones)
        return super()._backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        return self._fast.predict(x) if holds_stones(x) else super()._predict(x)
