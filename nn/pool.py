"""What a whole board has of each feature: how much of it on average, and how much where there is most.

    x (N, C, H, W) - mean and maximum over the H x W cells - out (N, 2 C)

Where the feature stands does not matter any more. "Somewhere there is an open three" is a maximum.
"""

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray, Layer, ShapeError, check_numbers, check_slope, kept_by_forward


class GlobalPool(Layer):
    """The C means, then the C maxima."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None
        self._best: NDArray[np.intp] | None = None  # (N, C), the cell of each maximum

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N, 2 C)."""
        out = self.predict(x)
        self._shape, self._best = x.shape, x.reshape(*x.shape[:2], x.shape[2] * x.shape[3]).argmax(axis=2)
        return out

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, 2 C) -> d_x (N, C, H, W).

        Each cell has an equal share in the mean, 1 / (H * W). The maximum moves with the cell it was found in and with
        no other; of equal ones, with the first.
        """
        shape, best = kept_by_forward(self._shape), kept_by_forward(self._best)
        positions, planes, height, width = shape
        check_slope("GlobalPool", d_out, (positions, 2 * planes))
        d_means, d_maxima = d_out[:, :planes], d_out[:, planes:]
        d_cells = np.empty((positions, planes, height * width), d_out.dtype)
        d_cells[...] = d_means[:, :, None] / (height * width)
        n, c = np.ogrid[:positions, :planes]
        d_cells[n, c, best] += d_maxima
        return d_cells.reshape(shape)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N, 2 C), keeping nothing."""
        if x.ndim != 4:
            raise ShapeError(f"GlobalPool: got x {x.shape}, wanted (N, C, H, W)")
        check_numbers("GlobalPool", "x", x)
        cells = x.reshape(*x.shape[:2], x.shape[2] * x.shape[3])  # (N, C, P)
        return np.concatenate([cells.mean(axis=2), cells.max(axis=2)], axis=1)
