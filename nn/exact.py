"""The Java program's arithmetic, bit for bit: every product and sum rounded in the order Java takes them.

Floating-point addition is not associative, so a matrix product, which adds in an order of its own, gives other last
bits. Here is also what Java does with the logits afterwards; its oddities belong to the comparison and nowhere else.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from nn.conv import Conv2D, Pair, output_size
from nn.java_random import JavaRandom
from nn.layers import Dense, FloatArray, ShapeError
from nn.network import Sequential

Doubles = NDArray[np.float64]
TOGETHER = 128  # rows of a dense weight multiplied at once: their products fit into the cache


def exact_convolve(x: FloatArray, weight: FloatArray, bias: FloatArray, padding: Pair) -> FloatArray:
    """Convolve as nn.conv.convolve_by_definition does, one tap of the window for all outputs at a time.

    x (N, C, H, W), weight (F, C, KH, KW), bias (F,) -> out (N, F, OH, OW). Every output still starts from its bias
    and adds its products over plane, window row, window column; taps over the edge are left out by the slices.
    """
    if x.ndim != 4 or x.shape[1] != weight.shape[1]:
        raise ShapeError(f"got x {x.shape}, wanted (N, {weight.shape[1]}, H, W)")
    positions, planes, height, width = x.shape
    filters, _, kernel_height, kernel_width = weight.shape
    out_height, out_width = output_size(height, width, (kernel_height, kernel_width), padding)
    out = np.empty((positions, filters, out_height, out_width), np.result_type(x, weight))
    out[...] = bias[:, None, None]
    for plane, i, j in product(range(planes), range(kernel_height), range(kernel_width)):
        down, right = i - padding[0], j - padding[1]  # output (r, c) sees x at (r + down, c + right)
        top, bottom = max(0, -down), min(out_height, height - down)
        left, end = max(0, -right), min(out_width, width - right)
        if top < bottom and left < end:
            seen = x[:, None, plane, top + down : bottom + down, left + right : end + right]
            out[:, :, top:bottom, left:end] += weight[:, plane, i, j, None, None] * seen
    return out


def exact_dense(x: FloatArray, weight: FloatArray, bias: FloatArray) -> FloatArray:
    """x (N, D), weight (D, M), bias (M,) -> out (N, M), each output adding its products to its bias, first input first.

    ``np.add.reduce`` over the rows of a C-ordered matrix adds row after row, in that order; with a single column it
    would pair the numbers up instead, so that case adds up by ``accumulate``. It starts from -0.0, the number that
    changes nothing it is added to (0.0 would lose a bias of -0.0). TOGETHER inputs at a time, each time going on from
    the sum so far.
    """
    if x.ndim != 2 or x.shape[1] != len(weight):
        raise ShapeError(f"got x {x.shape}, wanted (N, {len(weight)})")
    terms = np.empty((TOGETHER + 1, weight.shape[1]), np.result_type(x, weight))  # the sum so far, then products
    out = np.empty((len(x), weight.shape[1]), terms.dtype)
    out[...] = bias
    for first in range(0, len(weight), TOGETHER):
        some = weight[first : first + TOGETHER]
        these = terms[: len(some) + 1]
        for total, features in zip(out, x[:, first : first + TOGETHER], strict=True):
            these[0] = total
            np.multiply(features[:, None], some, out=these[1:])
            if len(total) > 1:
                np.add.reduce(these, axis=0, initial=-0.0, out=total)
            else:
                total[...] = np.add.accumulate(these, axis=0)[-1]
    return out


def exact_outputs(net: Sequential, x: FloatArray) -> list[FloatArray]:
    """Return the output of every layer of ``net``, in order, for x of the shape the net takes."""
    outputs = []
    for layer in net.layers:
        if isinstance(layer, Conv2D):
            x = exact_convolve(x, layer.weight.value, layer.bias.value, layer.padding)
        elif isinstance(layer, Dense):
            x = exact_dense(x, layer.weight.value, layer.bias.value)
        else:
            x = layer.predict(x)  # these add nothing up
        outputs.append(x)
    return outputs


def exact_forward(net: Sequential, x: FloatArray) -> FloatArray:
    """Return the logits (N, A) of a PolicyNet for x (N, planes, H, W), in Java's order of additions, bit for bit.

    In the dtype of the net; a net made by ``PolicyNet.java`` is in float64, as Java is.
    """
    return exact_outputs(net, np.asarray(x, net.parameters()[0].value.dtype))[-1]


def java_softmax(x: Doubles) -> Doubles:
    """x (A,) -> exp(x - m) / sum (A,), with m and the sum found by walking over x from the left.

    m starts as x[0] and changes only to something greater: a NaN in front stays, a NaN elsewhere is passed over.
    If nothing is finite, everything is NaN.
    """
    largest = x[0] if np.isnan(x[0]) else np.fmax.reduce(x)
    with np.errstate(all="ignore"):
        e = np.exp(x - largest)
        return e / np.add.accumulate(e)[-1]  # type: ignore[no-any-return]


def java_argmax(x: Doubles) -> int:
    """x (A,) -> the index of the first largest entry: start at 0, move on when strictly greater.

    A NaN in front is never beaten (0), a NaN elsewhere never wins.
    """
    return 0 if np.isnan(x[0]) else int(np.argmax(np.where(np.isnan(x), -np.inf, x)))


def java_sample_action(probs: Doubles, rng: JavaRandom) -> int:
    """probs (A,) -> the first index at which the running sum reaches one uniform draw; the last index if it never does.

    A draw of exactly 0 gives index 0 even where probs[0] is 0, and NaN gives the last index.
    """
    reached = np.flatnonzero(rng.next_double() <= np.add.accumulate(probs))
    return int(reached[0]) if len(reached) else len(probs) - 1
