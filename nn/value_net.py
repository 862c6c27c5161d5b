"""The value network: a board goes in, and how well the side to move stands comes out, from -1 (lost) to 1 (won).

    x (N, planes, H, W) - conv1 3x3 - ReLU - conv2 3x3 - ReLU - flatten - fc1 - ReLU - fc2 - tanh - V (N, 1)

It is the policy network with one answer instead of one a cell, and so it has the same fast twin. Learnt with
``squared_error`` from how games ended, V is the expected result.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.fast import FastPolicy
from nn.init import NormalSource
from nn.layers import Dense, Flatten, FloatArray, ReLU, ShapeError, Tanh


class ValueNet(BoardNet):
    """Two convolutions, two dense layers and a tanh over a board of H x W; sizes and weights as in PolicyNet."""

    SIZES = ("height", "width", "planes", "filters", "hidden")
    HAS_POLICY, HAS_VALUE = False, True

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        filters: tuple[int, int] = (16, 32),
        hidden: int = 64,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if len(filters) != 2:
            raise ShapeError(f"ValueNet: got filters {filters}, wanted two numbers")
        height, width, planes, hidden = (whole_size("ValueNet", n) for n in (height, width, planes, hidden))
        first, second = (whole_size("ValueNet", number) for number in filters)
        self.filters, self.hidden = (first, second), hidden
        self.conv1 = Conv2D(planes, first, 3, 1, rng=rng, dtype=dtype, name="conv1")
        self.conv2 = Conv2D(first, second, 3, 1, rng=rng, dtype=dtype, name="conv2")
        self.fc1 = Dense(second * height * width, hidden, rng=rng, dtype=dtype, name="fc1")
        self.fc2 = Dense(hidden, 1, rng=rng, dtype=dtype, name="fc2")
        self.tanh = Tanh()
        layers = [self.conv1, ReLU(), self.conv2, ReLU(), Flatten(), self.fc1, ReLU(), self.fc2, self.tanh]
        super().__init__(height, width, planes, dtype, layers)
        self._fast = FastPolicy(self.conv1, self.conv2, self.fc1, self.fc2, height, width)

    def add_gradients(self, d_out: FloatArray) -> None:
        """d_out (N, 1): do what backward does without d_x, which in training nobody asks for."""
        self._fast.add_gradients(self.tanh.backward(self._checked_slope(d_out)))

    def _forward(self, x: FloatArray) -> FloatArray:
        return self.tanh.forward(self._fast.forward(x))

    def _backward(self, d_out: FloatArray) -> FloatArray:
        return self._fast.backward(self.tanh.backward(d_out))

    def _predict(self, x: FloatArray) -> FloatArray:
        return self.tanh.predict(self._fast.predict(x))
