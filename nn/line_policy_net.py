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

from nn.conv import Conv2D
from nn.init import NormalSource
from nn.layers import Flatten, FloatArray
from nn.line_net import LineNet
from nn.lines import line_layers


class LinePolicyNet(LineNet):
    """Lines read into ``features`` numbers a cell, and one convolution that makes a logit of them."""

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
        lines = line_layers("LinePolicyNet", sizes, rng=rng, dtype=dtype)
        self._logit = Conv2D(features, 1, 1, 0, rng=rng, dtype=dtype, name="logit")
        super().__init__(sizes, lines, [self._logit, Flatten()], dtype)

    def logits_of(self, features: FloatArray) -> FloatArray:
        """What the last layer makes of features (n, F): logits (n,)."""
        logits: FloatArray = features @ self._logit.weight.value[0, :, 0, 0]
        logits += self._logit.bias.value
        return logits

    def _top_forward(self, features: FloatArray) -> FloatArray:
        self._features = features
        return self.logits_of(features).reshape(-1, self.outputs)

    def _back_through_top(self, d_out: FloatArray) -> None:
        d_logits = d_out.reshape(-1).astype(self.dtype, copy=False)  # (N * A,)
        weight = self._logit.weight.value[0, :, 0, 0]
        self.tables.add_gradients(lambda some: np.multiply.outer(d_logits[some], weight), len(d_logits))
        self._logit.bias.grad += d_logits.sum()
        self._logit.weight.grad[0, :, 0, 0] += self._features.T @ d_logits

    def _predict_stones(self, x: FloatArray) -> FloatArray:
        logits = np.empty(len(x) * self.outputs, self.dtype)
        for some, features in self.tables.predict(x):
            logits[some] = self.logits_of(features)
        return logits.reshape(-1, self.outputs)
