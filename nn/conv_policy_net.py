"""A policy of convolutions alone: what it learns about a line in one corner it knows everywhere.

    x (N, planes, H, W) - conv 9x9 - ReLU - conv 1x1 - ReLU - conv 1x1 to one plane - logits (N, A), one a cell

PolicyNet sends the whole board through a few hundred hidden numbers, and has to learn every line of the board one by
one. Here a cell's logit depends on the nine by nine cells around it, which hold all that a five through the cell can
be made of: a filter of the first layer sees a shape, the two after it weigh the shapes that meet in the cell.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.init import NormalSource
from nn.layers import Flatten, Layer, ReLU, ShapeError

LARGEST = 1000


class ConvPolicyNet(BoardNet):
    """A convolution for each of ``kernels``, the (odd) side of its window; each gives ``filters`` planes."""

    SIZES = ("height", "width", "planes", "kernels", "filters")

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        kernels: tuple[int, ...] = (9, 1),
        filters: int = 64,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        height, width, planes = (whole_size("ConvPolicyNet", n) for n in (height, width, planes))
        self.kernels = tuple(whole_size("ConvPolicyNet", kernel) for kernel in kernels)
        self.filters = whole_size("ConvPolicyNet", filters)
        if max(height, width) > LARGEST:  # its weights fit any board, so a damaged size would not show otherwise
            raise ShapeError(f"ConvPolicyNet: got a board of {height} x {width}, wanted at most {LARGEST} x {LARGEST}")
        if not self.kernels or any(kernel % 2 == 0 for kernel in self.kernels):
            raise ShapeError(f"ConvPolicyNet: got kernels {self.kernels}, wanted odd numbers, one at least")
        layers: list[Layer] = []
        channels = planes
        for number, kernel in enumerate(self.kernels, start=1):
            name = f"conv{number}"
            layers += [Conv2D(channels, self.filters, kernel, kernel // 2, rng=rng, dtype=dtype, name=name), ReLU()]
            channels = self.filters
        layers += [Conv2D(channels, 1, 1, 0, rng=rng, dtype=dtype, name="conv_logits"), Flatten()]
        super().__init__(height, width, planes, dtype, layers)
