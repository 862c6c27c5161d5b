"""What the networks that read lines have in common: the layers of nn/lines.py, some on top, and the fast twin below.

    x (N, 2, H, W) --- line_layers ---> features of each cell (N, F, H, W) --- the network's own layers on top ---> out

On boards with stones the fast twin (nn/line_tables.py) takes the place of the layers below; it lays the features out
as (N * A, F), a row a cell. For any other x, and for d_x, the layers do the work.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.conv import Conv2D
from nn.layers import FloatArray, Layer
from nn.line_tables import LineTables, holds_stones


class LineNet(BoardNet):
    """A network over lines: ``reach`` cells either way, read by ``hidden`` filters into ``features`` numbers a cell."""

    SIZES: ClassVar[tuple[str, ...]] = ("height", "width", "planes", "reach", "hidden", "features")
    ANY_BOARD = True

    def __init__(
        self, sizes: Sequence[int], lines: tuple[list[Layer], list[Conv2D]], top: Sequence[Layer], dtype: DTypeLike
    ) -> None:
        """``sizes``: those of SIZES; ``lines``: what ``line_layers`` made of them; ``top``: the layers above."""
        layers, convs = lines
        height, width, planes, self.reach, self.hidden, self.features = (
            whole_size(type(self).__name__, size) for size in sizes
        )
        super().__init__(height, width, planes, dtype, [*layers, *top])
        self.tables = LineTables(convs, self.reach, height, width)
        self._stones: FloatArray | None = None  # the x of the last forward, if the fast twin took it

    def add_gradients(self, d_out: FloatArray) -> None:
        """Do what backward does without d_x, which in training nobody asks for."""
        if self._stones is None:
            super().add_gradients(d_out)
        else:
            self._back_through_top(self._checked_slope(d_out))

    def memory(self) -> int:
        """Return how many bytes of memory the fast twin holds, enough for the largest batch so far."""
        return self.tables.memory()

    @abstractmethod
    def _top_forward(self, features: FloatArray) -> FloatArray:
        """features (N * A, F) -> out, keeping what ``_back_through_top`` needs."""

    @abstractmethod
    def _back_through_top(self, d_out: FloatArray) -> None:
        """Add to the slopes of the layers on top, and hand those of the features to ``tables.add_gradients``."""

    @abstractmethod
    def _predict_stones(self, x: FloatArray) -> FloatArray:
        """x, stones -> out by the fast twin, keeping nothing."""

    def _forward(self, x: FloatArray) -> FloatArray:
        self._stones = x if holds_stones(x) else None
        return super()._forward(x) if self._stones is None else self._top_forward(self.tables.forward(x))

    def _backward(self, d_out: FloatArray) -> FloatArray:
        if self._stones is not None:  # d_x is for the layers, which have not seen x yet
            super()._forward(self._stones)
        return super()._backward(d_out)

    def _predict(self, x: FloatArray) -> FloatArray:
        return self._predict_stones(x) if holds_stones(x) else super()._predict(x)
