"""The value of a board from the lines on it: the layers of LinePolicyNet that read lines, then a look at all cells.

    x (N, 2, H, W) - lines read, added up and weighed - mean and maximum - fc1 - ReLU - fc2 - tanh - V (N, 1)

What stands somewhere on the board decides who wins, hardly where. The layers that read lines have the names they have
in LinePolicyNet, and can begin with what a policy has learnt.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.init import NormalSource
from nn.layers import Dense, FloatArray, ReLU, Tanh
from nn.line_tables import LineTables, holds_stones
from nn.lines import line_layers
from nn.network import Sequential
from nn.pool import GlobalPool


class LineValueNet(BoardNet):
    """Lines read as in LinePolicyNet, both pools of each of the ``features``, ``dense`` features of those."""

    SIZES = ("height", "width", "planes", "reach", "hidden", "features", "dense")
    HAS_POLICY, HAS_VALUE = False, True

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        reach: int = 4,
        hidden: int = 128,
        features: int = 32,
        dense: int = 64,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        sizes = (height, width, planes, reach, hidden, features)
        layers, convs = line_layers("LineValueNet", sizes, rng=rng, dtype=dtype)
        height, width, planes, self.reach, self.hidden, self.features = (whole_size("LineValueNet", n) for n in sizes)
        self.dense = whole_size("LineValueNet", dense)
        fc1 = Dense(2 * self.features, self.dense, rng=rng, dtype=dtype, name="fc1")
        fc2 = Dense(self.dense, 1, rng=rng, dtype=dtype, name="fc2")
        fc2.weight.value *= 0.1  # so that it begins near 0, where tanh is steep
        self._above = Sequential([GlobalPool(), fc1, ReLU(), fc2, Tanh()])
        super().__init__(height, width, planes, dtype, [*layers, *self._above.layers])
        self._tables = LineTables(convs, self.reach, height, width)  # the fast twin of the layers below the pools
        self._stones: FloatArray | None = None  # the x of the last forward, if the fast twin took it

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        if self._stones is None:
            super().add_gradients(d_out)
            return
        d_maps = self._above.backward(self._checked_slope(d_out))  # (N, F, H, W)
        d_features = d_maps.transpose(0, 2, 3, 1).reshape(-1, self.features)
        self._tables.add_gradients(lambda some: d_features[some], len(d_features))

    def memory(self) -> int:
        """Return how many bytes of memory the fast twin holds, enough for the largest batch so far."""
        return self._tables.memory()

    def _forward(self, x: FloatArray) -> FloatArray:
        self._stones = x if holds_stones(x) else None
        if self._stones is None:
            return super()._forward(x)
        return self._above.forward(self._maps(self._tables.forward(x)))

    def _backward(self, d_out: FloatArray) -> FloatArray:
        if self._stones is not None:  # d_x is for the layers, which have not seen x yet
            super()._forward(self._stones)
        return super()._backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        if not holds_stones(x):
            return super()._predict(x)
        features = np.empty((len(x) * self.height * self.width, self.features), self.dtype)
        for some, of_cells in self._tables.predict(x):
            features[some] = of_cells
        return self._above.predict(self._maps(features))

    def _maps(self, features: FloatArray) -> FloatArray:
        """(N * A, F) -> (N, F, H, W)."""
        return features.reshape(-1, self.height, self.width, self.features).transpose(0, 3, 1, 2)
