"""The value of a board from the lines on it: the layers of LinePolicyNet that read lines, then a look at all cells.

    x (N, 2, H, W) - lines read, added up and weighed - mean and maximum - fc1 - ReLU - fc2 - tanh - V (N, 1)

What stands somewhere on the board decides who wins, hardly where. The layers that read lines have the names they have
in LinePolicyNet, and can begin with what a policy has learnt.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import whole_size
from nn.init import NormalSource
from nn.layers import Dense, FloatArray, ReLU, Tanh
from nn.line_net import LineNet
from nn.lines import line_layers
from nn.network import Sequential
from nn.pool import GlobalPool


class LineValueNet(LineNet):
    """Lines read as in LinePolicyNet, both pools of each of the ``features``, ``dense`` features of those."""

    SIZES = (*LineNet.SIZES, "dense")
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
        lines = line_layers("LineValueNet", sizes, rng=rng, dtype=dtype)
        self.dense = whole_size("LineValueNet", dense)
        fc1 = Dense(2 * features, self.dense, rng=rng, dtype=dtype, name="fc1")
        fc2 = Dense(self.dense, 1, rng=rng, dtype=dtype, name="fc2")
        self._top = Sequential([GlobalPool(), fc1, ReLU(), fc2, Tanh()])
        super().__init__(sizes, lines, self._top.layers, dtype)
        fc2.weight.value *= 0.1  # so that it begins near 0, where tanh is steep

    def _top_forward(self, features: FloatArray) -> FloatArray:
        return self._top.forward(self._maps(features))

    def _back_through_top(self, d_out: FloatArray) -> None:
        d_maps = self._top.backward(d_out)  # (N, F, H, W)
        d_features = d_maps.transpose(0, 2, 3, 1).reshape(-1, self.features)
        self.tables.add_gradients(lambda some: d_features[some], len(d_features))

    def _predict_stones(self, x: FloatArray) -> FloatArray:
        features = np.empty((len(x) * self.height * self.width, self.features), self.dtype)
        for some, of_cells in self.tables.predict(x):
            features[some] = of_cells
        return self._top.predict(self._maps(features))

    def _maps(self, features: FloatArray) -> FloatArray:
        """(N * A, F) -> (N, F, H, W)."""
        return features.reshape(-1, self.height, self.width, self.features).transpose(0, 3, 1, 2)
