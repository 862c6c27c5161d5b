"""The network with three planes: batch normalisation after each convolution, dropout before the last layer.

    x (N, 3, H, W) - conv1 16 - norm1 - ReLU - conv2 32 - norm2 - ReLU - flatten
                   - fc1 128 - ReLU - dropout 0.3 - fc2 - logits (N, A)

Its third plane holds one number everywhere: 1 if black is to move, -1 if white is. So the net knows which colour it
plays, which renju's rules make worth knowing, and where the board ends, since beyond the edge it sees 0.
"""

from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.init import NormalSource
from nn.layers import Dense, Flatten, ReLU, ShapeError
from nn.norm import Dropout, UniformSource
from nn.residual import conv_norm

DROPOUT = 0.3


class Source(NormalSource, UniformSource, Protocol):
    """What draws the starting weights, and then what Dropout leaves out."""


class ThreePlaneNet(BoardNet):
    """Two convolutions and two dense layers, kept in range while learning; sizes as in PolicyNet.

    ``rng`` draws the weights in the order conv1, conv2, fc1, fc2, and is then what Dropout draws from.
    """

    SIZES = ("height", "width", "planes", "filters", "hidden")

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 3,
        filters: tuple[int, int] = (16, 32),
        hidden: int = 128,
        rng: Source,
        dtype: DTypeLike = np.float32,
    ) -> None:
        if len(filters) != 2:
            raise ShapeError(f"ThreePlaneNet: got filters {filters}, wanted two numbers")
        height, width, planes, hidden = (whole_size("ThreePlaneNet", n) for n in (height, width, planes, hidden))
        first, second = (whole_size("ThreePlaneNet", number) for number in filters)
        self.filters, self.hidden = (first, second), hidden
        cells = height * width
        layers = [
            *conv_norm(planes, first, 3, rng=rng, dtype=dtype, name="1"),
            ReLU(),
            *conv_norm(first, second, 3, rng=rng, dtype=dtype, name="2"),
            ReLU(),
            Flatten(),
            Dense(second * cells, hidden, rng=rng, dtype=dtype, name="fc1"),
            ReLU(),
            Dropout(DROPOUT, rng),
            Dense(hidden, cells, rng=rng, dtype=dtype, name="fc2"),
        ]
        super().__init__(height, width, planes, dtype, layers)
