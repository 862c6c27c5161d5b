"""The value of a board from what stands somewhere on it: the convolutions of ConvPolicyNet, then a look at them all.

    x (N, planes, H, W) - conv 9x9 - ReLU - conv 1x1 - ReLU - mean and maximum - fc1 - ReLU - fc2 - tanh - V (N, 1)

Which shapes each side has decides who wins, hardly where on the board they are. The convolutions have the names they
have in ConvPolicyNet, and can begin with what a policy has learnt.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv_policy_net import local_layers
from nn.init import NormalSource
from nn.layers import Dense, ReLU, Tanh
from nn.pool import GlobalPool


class ConvValueNet(BoardNet):
    """Convolutions as in ConvPolicyNet, both pools of each of ``filters`` planes, ``hidden`` features of those."""

    SIZES = ("height", "width", "planes", "kernels", "filters", "hidden")
    HAS_POLICY, HAS_VALUE = False, True
    ANY_BOARD = True

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        kernels: tuple[int, ...] = (9, 1),
        filters: int = 64,
        hidden: int = 64,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        height, width, planes = (whole_size("ConvValueNet", n) for n in (height, width, planes))
        self.kernels = tuple(whole_size("ConvValueNet", kernel) for kernel in kernels)
        self.filters, self.hidden = whole_size("ConvValueNet", filters), whole_size("ConvValueNet", hidden)
        layers = local_layers(
            "ConvValueNet", (height, width), planes, self.kernels, self.filters, rng=rng, dtype=dtype
        )
        fc1 = Dense(2 * self.filters, self.hidden, rng=rng, dtype=dtype, name="fc1")
        fc2 = Dense(self.hidden, 1, rng=rng, dtype=dtype, name="fc2")
        super().__init__(height, width, planes, dtype, [*layers, GlobalPool(), fc1, ReLU(), fc2, Tanh()])
        fc2.weight.value *= 0.1  # so that it begins near 0, where tanh is steep
