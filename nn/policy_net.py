"""The policy network: a board goes in, a preference for every cell comes out.

    x (N, planes, H, W) - conv1 3x3 - ReLU - conv2 3x3 - ReLU - flatten - fc1 - ReLU - fc2 - logits (N, A), A = H * W

With its default sizes on a 15 x 15 board it is the Java program's network. Its layers say what is computed; how, in
a fraction of the time, is the business of nn/fast.py, and tests hold the two equal.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import DTypeLike, NDArray

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.fast import FastPolicy
from nn.init import NormalSource
from nn.java_random import JavaRandom
from nn.layers import Dense, Flatten, FloatArray, ReLU, ShapeError


class PolicyNet(BoardNet):
    """Two convolutions and two dense layers over a board of H x W.

    ``planes`` in, ``filters`` of the two convolutions, ``hidden`` features between the dense layers. The weights
    are drawn from ``rng`` layer by layer in the order conv1, conv2, fc1, fc2; biases start at 0. Inputs are taken
    as ``dtype``, which is also that of all parameters and outputs. How it is used, copied and saved: nn/board_net.py.
    """

    SIZES = ("height", "width", "planes", "filters", "hidden")

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        filters: tuple[int, int] = (16, 32),
        hidden: int = 256,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if len(filters) != 2:
            raise ShapeError(f"PolicyNet: got filters {filters}, wanted two numbers")
        height, width, planes, hidden = (whole_size("PolicyNet", n) for n in (height, width, planes, hidden))
        first, second = (whole_size("PolicyNet", number) for number in filters)
        self.filters, self.hidden = (first, second), hidden
        cells = height * width
        self.conv1 = Conv2D(planes, first, 3, 1, rng=rng, dtype=dtype, name="conv1")
        self.conv2 = Conv2D(first, second, 3, 1, rng=rng, dtype=dtype, name="conv2")
        self.fc1 = Dense(second * cells, hidden, rng=rng, dtype=dtype, name="fc1")
        self.fc2 = Dense(hidden, cells, rng=rng, dtype=dtype, name="fc2")
        layers = [self.conv1, ReLU(), self.conv2, ReLU(), Flatten(), self.fc1, ReLU(), self.fc2]
        super().__init__(height, width, planes, dtype, layers)
        self._fast = FastPolicy(self.conv1, self.conv2, self.fc1, self.fc2, height, width)

    @classmethod
    def java(cls, layer_seeds: Sequence[int] = (1, 2, 3, 4), bias_seed: int | None = None) -> "PolicyNet":
        """Return the Java program's network in float64, weights equal bit for bit.

        Each layer draws from a java.util.Random of its own seed. With a ``bias_seed``, one more generator fills the
        biases of conv1, conv2, fc1, fc2 in that order with Gaussians times 0.1; without, they are 0.
        """
        if len(layer_seeds) != 4:
            raise ValueError(f"layer_seeds: got {len(layer_seeds)} numbers, wanted 4 (conv1, conv2, fc1, fc2)")
        net = cls(rng=_OneSeedEach(layer_seeds), dtype=np.float64)
        if bias_seed is not None:
            rng = JavaRandom(bias_seed)
            for layer in (net.conv1, net.conv2, net.fc1, net.fc2):
                layer.bias.value[...] = rng.standard_normal(layer.bias.value.shape) * 0.1
        return net

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        self._fast.add_gradients(self._checked_slope(d_out))

    def memory(self) -> int:
        """Return how many bytes of memory for intermediate results are held, enough for the largest batch so far."""
        return self._fast.memory()

    def _forward(self, x: FloatArray) -> FloatArray:
        return self._fast.forward(x)

    def _backward(self, d_out: FloatArray) -> FloatArray:
        return self._fast.backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        return self._fast.predict(x)


class _OneSeedEach:
    """Gives every layer, in the order they ask, the numbers of a JavaRandom of its own seed."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = list(seeds)

    def standard_normal(self, size: tuple[int, ...]) -> NDArray[np.float64]:
        return JavaRandom(self._seeds.pop(0)).standard_normal(size)
