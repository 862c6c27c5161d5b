"""Convolution: the same small window of weights looks at every place of the board. Here is how, and how it learns.

It stands here twice, first by its definition in loops, then fast as one matrix product; tests hold the two equal. (What
PolicyNet runs in training is a third, nn/fast.py, held equal to this layer.)

    x, one plane, padding 1         weight, 3 x 3          out

    0 0 0 0 0 0                                            out[r, c] = bias + a product for each of the nine
    0 . . . . 0                     a b c                  pairs: a window cell and the cell of x below it when
    0 . . . . 0     the window      d e f                  the window's corner lies on row r, column c of the
    0 . . . . 0     slides over x   g h i                  padded x
    0 0 0 0 0 0

The window is not turned round first, as a mathematician's convolution would: like every deep-learning library, this
is cross-correlation by its strict name. Turning it would only rename the weights.

Shapes: N positions, C planes in, F filters (planes out), H x W board, KH x KW window, PH and PW rows and columns of
zeros around the board, OH = H + 2 PH - KH + 1 and OW = W + 2 PW - KW + 1.
"""

from itertools import product

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import DTypeLike

from nn.init import NormalSource, he_normal
from nn.layers import FloatArray, Layer, Parameter, ShapeError, check_numbers, check_slope, kept_by_forward

Pair = tuple[int, int]
PREDICT_TOGETHER = 32  # positions whose columns are made at once in predict: more do not fit into the cache


def output_size(height: int, width: int, kernel: Pair, padding: Pair) -> Pair:
    """Return (OH, OW): at how many places the window fits into the padded board.

    Raises ShapeError if it fits nowhere.
    """
    out_height = height + 2 * padding[0] - kernel[0] + 1
    out_width = width + 2 * padding[1] - kernel[1] + 1
    if out_height < 1 or out_width < 1:
        raise ShapeError(f"a window of {kernel} does not fit into a board of {(height, width)} padded by {padding}")
    return out_height, out_width


# --- By definition -----------------------------------------------------------------------------------------------


def convolve_by_definition(x: FloatArray, weight: FloatArray, bias: FloatArray, padding: Pair) -> FloatArray:
    """Convolve with loops: x (N, C, H, W), weight (F, C, KH, KW), bias (F,) -> out (N, F, OH, OW).

    Each output starts from its bias and adds products over plane, window row, window column, in that order. A
    window cell that hangs over the edge is skipped: the board is surrounded by zeros, which add nothing.
    """
    positions, planes, height, width = x.shape
    filters, _, kernel_height, kernel_width = weight.shape
    out_height, out_width = output_size(height, width, (kernel_height, kernel_width), padding)
    out = np.empty((positions, filters, out_height, out_width), x.dtype)
    for n, f, r, c in product(range(positions), range(filters), range(out_height), range(out_width)):
        total = bias[f]
        for plane, i, j in product(range(planes), range(kernel_height), range(kernel_width)):
            row, col = r + i - padding[0], c + j - padding[1]
            if 0 <= row < height and 0 <= col < width:
                total = total + weight[f, plane, i, j] * x[n, plane, row, col]
        out[n, f, r, c] = total
    return out


def convolve_backward_by_definition(
    d_out: FloatArray, x: FloatArray, weight: FloatArray, padding: Pair
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the three slopes (d_x, d_weight, d_bias) for d_out (N, F, OH, OW), in the shapes of x, weight, bias.

    The loops are those of the definition. There, every innermost line did ``out += weight * x``. Nudge that weight
    by a little: out moves by x times as much, and the loss by d_out * x. Nudge that x: the loss moves by
    d_out * weight. One weight is used at many places and one x under many windows; their slopes add up.
    """
    positions, planes, height, width = x.shape
    filters, _, kernel_height, kernel_width = weight.shape
    d_x, d_weight, d_bias = np.zeros_like(x), np.zeros_like(weight), np.zeros(filters, weight.dtype)
    for n, f, r, c in product(range(positions), range(filters), *map(range, d_out.shape[2:])):
        d_bias[f] += d_out[n, f, r, c]
        for plane, i, j in product(range(planes), range(kernel_height), range(kernel_width)):
            row, col = r + i - padding[0], c + j - padding[1]
            if 0 <= row < height and 0 <= col < width:
                d_weight[f, plane, i, j] += d_out[n, f, r, c] * x[n, plane, row, col]
                d_x[n, plane, row, col] += d_out[n, f, r, c] * weight[f, plane, i, j]
    return d_x, d_weight, d_bias


# --- As a matrix product -----------------------------------------------------------------------------------------


def im2col(x: FloatArray, kernel: Pair, padding: Pair) -> FloatArray:
    """Write the window's view at every place as a column: x (N, C, H, W) -> columns (N, C*KH*KW, OH*OW).

    Row ``(plane, i, j)`` holds what window cell (i, j) sees of that plane from each of the OH * OW places. With the
    weights written as rows (F, C*KH*KW), the whole convolution is one matrix product per position.
    """
    positions, planes, height, width = x.shape
    (top, left), (kernel_height, kernel_width) = padding, kernel
    out_height, out_width = output_size(height, width, kernel, padding)
    padded = np.zeros((positions, planes, height + 2 * top, width + 2 * left), x.dtype)
    padded[:, :, top : top + height, left : left + width] = x
    windows = sliding_window_view(padded, kernel, axis=(2, 3))  # (N, C, OH, OW, KH, KW), a view
    rows = windows.transpose(0, 1, 4, 5, 2, 3)  # (N, C, KH, KW, OH, OW), still a view
    return rows.reshape(positions, planes * kernel_height * kernel_width, out_height * out_width)  # the one copy


def col2im(d_columns: FloatArray, shape: tuple[int, ...], kernel: Pair, padding: Pair) -> FloatArray:
    """The backward of im2col: d_columns (N, C*KH*KW, OH*OW) -> d_x of the given shape (N, C, H, W).

    im2col copied each x into up to KH * KW columns, so the slopes of all its copies add up. For one window cell
    (i, j) the copies form a whole OH x OW picture, shifted by (i, j): add the shifted pictures, cut off the padding.
    """
    positions, planes, height, width = shape
    (top, left), (kernel_height, kernel_width) = padding, kernel
    out_height, out_width = output_size(height, width, kernel, padding)
    pictures = d_columns.reshape(positions, planes, kernel_height, kernel_width, out_height, out_width)
    d_padded = np.zeros((positions, planes, height + 2 * top, width + 2 * left), d_columns.dtype)
    for i, j in product(range(kernel_height), range(kernel_width)):
        d_padded[:, :, i : i + out_height, j : j + out_width] += pictures[:, :, i, j]
    return d_padded[:, :, top : top + height, left : left + width]


class Conv2D(Layer):
    """Convolution with stride 1 and zero padding: x (N, C, H, W) -> out (N, F, OH, OW).

    weight (F, C, KH, KW), bias (F,). ``kernel`` and ``padding`` are one number or (rows, columns); without
    ``padding`` it is half the kernel, which keeps the board's size when the kernel is odd.
    """

    def __init__(
        self,
        in_channels: int,
        filters: int,
        kernel: int | Pair = (3, 3),
        padding: int | Pair | None = None,
        *,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
        name: str = "conv",
    ) -> None:
        self.kernel = (int(kernel), int(kernel)) if isinstance(kernel, (int, np.integer)) else kernel
        if padding is None:
            padding = (self.kernel[0] // 2, self.kernel[1] // 2)
        self.padding = (int(padding), int(padding)) if isinstance(padding, (int, np.integer)) else padding
        shape = (filters, in_channels, *self.kernel)
        fan_in = in_channels * self.kernel[0] * self.kernel[1]
        self.weight = Parameter(f"{name}.weight", he_normal(shape, fan_in, rng, dtype))  # (F, C, KH, KW)
        self.bias = Parameter(f"{name}.bias", np.zeros(filters, dtype))  # (F,)
        self._shape: tuple[int, ...] | None = None
        self._columns: FloatArray | None = None

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N, F, OH, OW)."""
        self._check(x)
        self._shape = x.shape
        self._columns = im2col(x, self.kernel, self.padding)  # (N, C*KH*KW, OH*OW)
        return self._multiply(self._columns, x.shape)

    def backward(self, d_out: FloatArray) -> FloatArray:
        """d_out (N, F, OH, OW) -> d_x (N, C, H, W).

        With K = C*KH*KW and P = OH*OW places, forward was ``out = rows @ columns + bias`` for each position:
        (F, P) = (F, K) @ (K, P). As in a dense layer the product gives two slopes, each with the other factor
        transposed: d_rows = d_out @ columns.T, added up over the positions, and d_columns = rows.T @ d_out.
        """
        columns, shape = kept_by_forward(self._columns), kept_by_forward(self._shape)
        filters = len(self.weight.value)
        self._check_slope(d_out, shape)
        rows = self.weight.value.reshape(filters, -1)  # (F, K)
        slopes = d_out.reshape(len(d_out), filters, columns.shape[2])  # (N, F, P)
        d_rows = np.matmul(slopes, columns.transpose(0, 2, 1)).sum(axis=0)  # (N, F, P) @ (N, P, K) -> (F, K)
        self.weight.grad += d_rows.reshape(self.weight.value.shape)
        self.bias.grad += slopes.sum(axis=(0, 2))  # (F,)
        d_columns = np.matmul(rows.T, slopes)  # (K, F) @ (N, F, P) -> (N, K, P)
        return col2im(d_columns, shape, self.kernel, self.padding)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> out (N, F, OH, OW), keeping nothing; a few positions at a time, for the cache's sake."""
        self._check(x)
        places = output_size(x.shape[2], x.shape[3], self.kernel, self.padding)
        out = np.empty((len(x), len(self.weight.value), *places), np.result_type(x, self.weight.value))
        for first in range(0, len(x), PREDICT_TOGETHER):
            some = x[first : first + PREDICT_TOGETHER]
            out[first : first + PREDICT_TOGETHER] = self._multiply(im2col(some, self.kernel, self.padding), x.shape)
        return out

    def parameters(self) -> list[Parameter]:
        """Return [weight (F, C, KH, KW), bias (F,)]."""
        return [self.weight, self.bias]

    def _check(self, x: FloatArray) -> None:
        if x.ndim != 4 or x.shape[1] != self.weight.value.shape[1]:
            raise ShapeError(f"{self.weight.name}: got x {x.shape}, wanted (N, {self.weight.value.shape[1]}, H, W)")
        check_numbers(self.weight.name, "x", x)

    def _check_slope(self, d_out: FloatArray, shape: tuple[int, ...]) -> None:
        wanted = (shape[0], len(self.weight.value), *output_size(shape[2], shape[3], self.kernel, self.padding))
        check_slope(self.weight.name, d_out, wanted)

    def _multiply(self, columns: FloatArray, shape: tuple[int, ...]) -> FloatArray:
        """Columns (N, K, P) -> out (N, F, OH, OW)."""
        filters = len(self.weight.value)
        out: FloatArray = np.matmul(self.weight.value.reshape(filters, -1), columns)  # (F, K) @ (N, K, P) -> (N, F, P)
        out += self.bias.value[:, None]
        return out.reshape(len(columns), filters, *output_size(shape[2], shape[3], self.kernel, self.padding))
