"""What a cell's lines hold: the eight ways to look along them, and what the eight see added up.

A five through a cell lies on one of four lines, and each line can be read from either end:

    reach = 2      . . . . . . .
                   . k . a . b .      In each of the eight directions a cell is shown two cells behind itself and
                   . . k a b . .      two ahead: looking along h (to the right) they are o o | h h, looking along o
                   . o o X h h .      (to the left) h h | o o, nearest to X in the middle. What lies on X itself is
                   . . d e f . .      not shown: only empty cells can be played.
                   . d . e . f .

A 1 x 1 convolution over these planes is a convolution along a line, and since it is the same for all eight directions,
a shape learnt in one of them is known in all, mirrored as well. With reach 4 a line holds all of any five through X.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import whole_size
from nn.conv import Conv2D
from nn.conv_policy_net import LARGEST
from nn.init import NormalSource
from nn.layers import FloatArray, Layer, ReLU, ShapeError, check_numbers, check_slope, kept_by_forward

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1), (0, -1), (-1, 0), (-1, -1), (-1, 1))  # the opposite of k is k + 4
WAYS = len(DIRECTIONS)
FARTHEST = 5  # a line of more cells has too many states for a table


class LineWindows(Layer):
    """x (N, C, H, W) -> out (N * 8, (C + 1) * 2 * reach, H, W): position n as seen along direction k is 8 n + k.

    out[8 n + k, 2 * reach * c + i] at a cell is x[n, c] so many steps along direction k: -reach .. -1 for the first
    ``reach`` planes, 1 .. reach for the others; 0 beyond the edge. The plane c = C tells the edge: 1 beyond it.
    """

    def __init__(self, reach: int) -> None:
        self.reach = reach
        self._shape: tuple[int, ...] | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N * 8, (C + 1) * 2 * reach, H, W)."""
        out = self.predict(x)
        self._shape = x.shape
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out -> d_x (N, C, H, W): a number that was shown in several places adds up the slopes of all of them."""
        count, planes, height, width = kept_by_forward(self._shape)
        wanted = (count * WAYS, (planes + 1) * 2 * self.reach, height, width)
        check_slope("LineWindows", d_out, wanted)
        seen = d_out.reshape(count, WAYS, planes + 1, 2 * self.reach, height, width)
        reach = self.reach
        d_padded = np.zeros((count, planes, height + 2 * reach, width + 2 * reach), d_out.dtype)
        for way, i, rows, cols in self._steps(height, width):
            d_padded[:, :, rows, cols] += seen[:, way, :planes, i]
        return d_padded[:, :, reach : reach + height, reach : reach + width]

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N * 8, (C + 1) * 2 * reach, H, W), keeping nothing."""
        if x.ndim != 4:
            raise ShapeError(f"LineWindows: got x {x.shape}, wanted (N, C, H, W)")
        check_numbers("LineWindows", "x", x)
        count, planes, height, width = x.shape
        reach = self.reach
        padded = np.zeros((count, planes + 1, height + 2 * reach, width + 2 * reach), x.dtype)
        padded[:, planes] = 1  # beyond the edge
        padded[:, :planes, reach : reach + height, reach : reach + width] = x
        padded[:, planes, reach : reach + height, reach : reach + width] = 0
        out = np.empty((count, WAYS, planes + 1, 2 * reach, height, width), x.dtype)
        for way, i, rows, cols in self._steps(height, width):
            out[:, way, :, i] = padded[:, :, rows, cols]
        return out.reshape(count * WAYS, (planes + 1) * 2 * reach, height, width)

    def _steps(self, height: int, width: int) -> list[tuple[int, int, slice, slice]]:
        """(direction, place in the window, rows and columns of the padded board that all cells see there)."""
        reach = self.reach
        steps = [step for step in range(-reach, reach + 1) if step]
        return [
            (way, i, slice(reach + step * down, reach + step * down + height), _from(reach + step * right, width))
            for way, (down, right) in enumerate(DIRECTIONS)
            for i, step in enumerate(steps)
        ]


class SumOverWays(Layer):
    """What the eight directions make of a cell, added up: x (N * 8, F, H, W) -> out (N, F, H, W)."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None  # of the last out

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N * 8, F, H, W) -> out (N, F, H, W)."""
        out = self.predict(x)
        self._shape = out.shape
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, F, H, W) -> d_x (N * 8, F, H, W): a sum moves as much as any of its terms."""
        check_slope("SumOverWays", d_out, kept_by_forward(self._shape))
        return d_out.repeat(WAYS, axis=0)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N * 8, F, H, W) -> out (N, F, H, W), keeping nothing."""
        if x.ndim != 4 or len(x) % WAYS:
            raise ShapeError(f"SumOverWays: got x {x.shape}, wanted (N * {WAYS}, F, H, W)")
        check_numbers("SumOverWays", "x", x)
        out: FloatArray = x.reshape(len(x) // WAYS, WAYS, *x.shape[1:]).sum(axis=1)
        return out


def _from(start: int, length: int) -> slice:
    return slice(start, start + length)


def line_layers(
    who: str, sizes: tuple[int, int, int, int, int, int], *, rng: NormalSource, dtype: DTypeLike
) -> tuple[list[Layer], list[Conv2D]]:
    """(the layers from (N, 2, H, W) to (N, F, H, W), the three convolutions among them).

    sizes: height, width, planes, reach, filters that read a line, features F. Raises ShapeError, naming ``who``, for
    sizes below 1, planes other than 2, a reach above FARTHEST, or a huge board.
    """
    height, width, planes, reach, hidden, features = (whole_size(who, n) for n in sizes)
    if max(height, width) > LARGEST:  # the weights fit any board, so a damaged size would not show otherwise
        raise ShapeError(f"{who}: got a board of {height} x {width}, wanted at most {LARGEST} x {LARGEST}")
    if planes != 2 or reach > FARTHEST:
        raise ShapeError(f"{who}: got {planes} planes, reach {reach}; wanted 2 planes, reach at most {FARTHEST}")
    read = Conv2D(3 * 2 * reach, hidden, 1, 0, rng=rng, dtype=dtype, name="line1")
    tell = Conv2D(hidden, features, 1, 0, rng=rng, dtype=dtype, name="line2")
    weigh = Conv2D(features, features, 1, 0, rng=rng, dtype=dtype, name="cell")
    layers = [LineWindows(reach), read, ReLU(), tell, SumOverWays(), ReLU(), weigh, ReLU()]
    return layers, [read, tell, weigh]
