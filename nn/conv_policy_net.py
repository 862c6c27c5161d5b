"""A policy of convolutions alone: what it learns about a line in one corner it knows everywhere.

    x (N, planes, H, W) - conv 9x9 - ReLU - conv 1x1 - ReLU - conv 1x1 to one plane - logits (N, A), one a cell

PolicyNet sends the whole board through a few hundred hidden numbers, and has to learn every line of the board one by
one. Here a cell's logit depends on the nine by nine cells around it, which hold all that a five through the cell can
be made of: a filter of the first layer sees a shape, the two after it weigh the shapes that meet in the cell. Its
layers say what is computed; how, in a fraction of the time, is the business of nn/conv_fast.py.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.conv_fast import FastConvPolicy
from nn.init import NormalSource
from nn.layers import Flatten, FloatArray, Layer, ReLU, ShapeError

LARGEST = 1000
FEW = 4  # fewer positions than these are too few for the fast twin to be the faster one


class ConvPolicyNet(BoardNet):
    """A convolution for each of ``kernels``, the (odd) side of its window; each gives ``filters`` planes."""

    SIZES = ("height", "width", "planes", "kernels", "filters")
    ANY_BOARD = True

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
        layers = local_layers(
            "ConvPolicyNet", (height, width), planes, self.kernels, self.filters, rng=rng, dtype=dtype
        )
        layers += [Conv2D(self.filters, 1, 1, 0, rng=rng, dtype=dtype, name="conv_logits"), Flatten()]
        super().__init__(height, width, planes, dtype, layers)
        self._fast = FastConvPolicy([layer for layer in layers if isinstance(layer, Conv2D)], height, width)
        self._forward_was_fast = False

    @property
    def cell_by_cell(self) -> bool:
        """Whether a cell sees no other after the first layer, as with ``kernels`` (9, 1), but not with (3, 3)."""
        return all(kernel == 1 for kernel in self.kernels[1:])

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        if self._forward_was_fast:
            self._fast.add_gradients(self._checked_slope(d_out))
        else:
            super().add_gradients(d_out)

    def memory(self) -> int:
        """Return how many bytes of memory the fast twin holds, enough for the largest batch so far."""
        return self._fast.memory()

    def _forward(self, x: FloatArray) -> FloatArray:
        self._forward_was_fast = self._is_for_fast(x)
        return self._fast.forward(x) if self._forward_was_fast else super()._forward(x)

    def _backward(self, d_out: FloatArray) -> FloatArray:
        return self._fast.backward(d_out) if self._forward_was_fast else super()._backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        return self._fast.predict(x) if self._is_for_fast(x) else super()._predict(x)

    def _is_for_fast(self, x: FloatArray) -> bool:
        return self.cell_by_cell and len(x) >= FEW


def local_layers(
    who: str,
    board: tuple[int, int],
    planes: int,
    kernels: tuple[int, ...],
    filters: int,
    *,
    rng: NormalSource,
    dtype: DTypeLike,
) -> list[Layer]:
    """Return the layers from (N, planes, H, W) to (N, filters, H, W), two a kernel.

    Raises ShapeError, naming ``who``, for an even kernel or none, or a huge board.
    """
    if max(board) > LARGEST:  # the weights fit any board, so a damaged size would not show otherwise
        raise ShapeError(f"{who}: got a board of {board[0]} x {board[1]}, wanted at most {LARGEST} x {LARGEST}")
    if not kernels or any(kernel % 2 == 0 for kernel in kernels):
        raise ShapeError(f"{who}: got kernels {kernels}, wanted odd numbers, one at least")
    layers: list[Layer] = []
    for number, kernel in enumerate(kernels, start=1):
        conv = Conv2D(planes, filters, kernel, kernel // 2, rng=rng, dtype=dtype, name=f"conv{number}")
        layers += [conv, ReLU()]
        planes = filters
    return layers
