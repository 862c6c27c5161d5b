"""From preferences to a move: a masked softmax at a temperature, then one uniform draw.

The draw inverts the cumulative distribution, so every move costs exactly one number of the generator,
whichever generator it is: a run with NumPy's and a run with Java's consume their streams alike.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn.java_random import JavaRandom
from nn.losses import masked_logits

RandomSource = np.random.Generator | JavaRandom
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
MANY = 192  # rows: from so many on, they are drawn from side by side


def inverse_cdf(weights: NDArray[Any], uniforms: NDArray[np.float64]) -> IntArray:
    """Index drawn in proportion to `weights`, one a row.

    The row's running sum cuts [0, total) into stretches as long as the weights; the draw u falls into one:

        weights   0.2   0.0   0.5   0.3
        [---------|---------------|---------)      u * total in the second stretch -> index 2
        0        0.2             0.7        1.0

    weights (N, A) >= 0 with a positive sum in every row; uniforms (N,) in [0, 1). Returns (N,) int64.
    An index of weight 0 is never returned.
    """
    if len(weights) >= MANY:
        return _block_by_block(weights, uniforms)
    until = np.cumsum(weights, axis=1, dtype=np.float64).T  # (A, N)
    return _index(until, uniforms * until[-1])


def _block_by_block(weights: NDArray[Any], uniforms: NDArray[np.float64]) -> IntArray:
    """The same for many rows, side by side: first the block of about sqrt(A) weights, then the index in it.

    weights   0.2   0.0   0.5   0.3     in two blocks: 0.2 and 0.8
    [---------|-------------------)     u * total in the second block ...
              [-----------|-------)     ... and there in the first stretch -> index 2
    """
    count, area = weights.shape
    side = math.isqrt(area - 1) + 1
    rows = np.arange(count)
    of_block = np.arange(area)[:, None] // side == np.arange(side)  # (A, side)
    until = np.zeros((side + 1, count))
    until[1:] = (weights @ of_block.astype(np.result_type(weights, np.float32))).T
    running_sums(until)
    threshold = uniforms * until[-1]
    block = _index(until[1:], threshold)
    inside = block[:, None] * side + np.arange(side)  # (N, side) the cells of the block, of the last perhaps too many
    own = np.where(inside < area, weights[rows[:, None], np.minimum(inside, area - 1)], 0)
    within = running_sums(own.T.astype(np.float64, order="C"))
    return block * side + _index(within, threshold - until[block, rows])


def _index(until: NDArray[np.float64], threshold: NDArray[np.float64]) -> IntArray:
    """Which stretch each threshold (N,) lies in: until (K, N), where the stretches end. Beyond the last is in it."""
    # A product or a difference may round up to the total itself, which lies in no stretch.
    below = (until <= np.minimum(threshold, np.nextafter(until[-1], 0.0))).view(np.uint8)
    index: IntArray = below.sum(axis=0, dtype=np.min_scalar_type(len(until))).astype(np.int64)
    return index


def running_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Add to every row the rows above it, in place; long rows, which accumulate would walk along the wrong way."""
    for above, row in pairwise(rows):
        np.add(above, row, out=row)
    return rows


def draw_uniforms(rng: RandomSource, count: int) -> NDArray[np.float64]:
    """`count` uniform numbers in [0, 1), one a move. Returns (count,)."""
    return np.asarray(rng.random(count), dtype=np.float64)


def draw_numbers(rng: RandomSource, count: int, below: int) -> IntArray:
    """`count` whole numbers from 0 to below - 1, all alike, one uniform draw each. Returns (count,) int64."""
    return (draw_uniforms(rng, count) * below).astype(np.int64)


def choose_cells(logits: NDArray[Any], legal: BoolArray, temperature: float, rng: RandomSource) -> IntArray:
    """One legal cell a row, drawn from softmax(logits / T) over the legal cells.

    logits (N, A), legal (N, A) with at least one True a row. Temperature 0 means the largest legal logit
    (the first of equals) and draws nothing. Returns (N,) int64. Raises MaskError, NonFiniteError.
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(f"the temperature is {temperature}; it must be 0 (argmax) or positive")
    if temperature == 0:
        best: IntArray = np.argmax(masked_logits(logits, legal), axis=1)
        return best
    weights = np.exp(masked_logits(logits / temperature, legal))  # in proportion to the probabilities
    return inverse_cdf(weights, draw_uniforms(rng, len(logits)))
