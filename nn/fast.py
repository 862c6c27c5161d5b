"""The fast twin of PolicyNet's layers: the same numbers to rounding, in memory that is asked for once.

Skip this file on a first reading: `Sequential(net.layers)` is the definition, here is only how to get there sooner.

1. Positions lie innermost and convolutions are done in strips, as nn/strips.py draws and explains.
2. The slope of a convolution's input is a convolution too, with the window turned by half a turn, over the slopes of
   its output; and the columns made for it give the slope of the weight.
3. The dense layers take their features as (D, N), positions innermost as well, so nothing is ever turned round.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from nn.conv import Conv2D
from nn.layers import Dense, FloatArray, NoForwardError
from nn.strips import Columns, Slots, from_lines, lines_of
from nn.workspace import Workspace

TOGETHER = 256  # positions that go through the net at once
DENSE_ROWS = 512  # about so many rows of a dense layer's weight get their slopes at once


class Activations:
    """What up to TOGETHER positions leave behind on their way through the net, for the way back.

    seen (C, slots, N), inner (F1, slots, N), features (D, N), hidden (M, N), and the columns of the first two.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory = [Workspace(dtype) for _ in range(6)]
        self.positions = 0

    def prepare(self, positions: int, slots: Slots, planes: int, filters: int, features: int, hidden: int) -> None:
        """Make room for ``positions`` of them; nothing is to be done if it is as many as last time."""
        if positions == self.positions:
            return
        self.positions = positions
        self.seen: FloatArray = self._memory[0].shaped(planes, slots.count, positions)
        self.inner: FloatArray = self._memory[1].shaped(filters, slots.count, positions)
        self.features: FloatArray = self._memory[2].shaped(features, positions)
        self.hidden: FloatArray = self._memory[3].shaped(hidden, positions)
        slots.clear_edges(self.seen)
        slots.clear_edges(self.inner)
        self.columns_of_seen = Columns(slots, self.seen, self._memory[4])
        self.columns_of_inner = Columns(slots, self.inner, self._memory[5])

    def memory(self) -> int:
        """Bytes held."""
        return sum(workspace.memory() for workspace in self._memory)


class Slopes:
    """The slopes of what the convolutions gave: inner (F1, slots, N), outer (F2, slots, N) and the columns of outer."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._memory = [Workspace(dtype) for _ in range(3)]
        self.positions = 0

    def prepare(self, positions: int, slots: Slots, filters: tuple[int, int]) -> None:
        """Make room for ``positions`` of them; nothing is to be done if it is as many as last time."""
        if positions == self.positions:
            return
        self.positions = positions
        self.inner: FloatArray = self._memory[0].shaped(filters[0], slots.count, positions)
        self.outer: FloatArray = self._memory[1].shaped(filters[1], slots.count, positions)
        slots.clear_edges(self.inner)
        slots.clear_edges(self.outer)
        self.columns_of_outer = Columns(slots, self.outer, self._memory[2])

    def memory(self) -> int:
        """Bytes held."""
        return sum(workspace.memory() for workspace in self._memory)


class FastPolicy:
    """forward, backward and predict of two 3x3 convolutions and two dense layers, each but the last with a ReLU.

    It reads the layers' Parameters and adds to their slopes. Its workspaces have the size of the largest batch that
    forward has met; what it returns is a fresh array each time.
    """

    def __init__(self, conv1: Conv2D, conv2: Conv2D, fc1: Dense, fc2: Dense, height: int, width: int) -> None:
        self.conv1, self.conv2, self.fc1, self.fc2 = conv1, conv2, fc1, fc2
        self.slots = Slots(height, width)
        self.dtype = conv1.weight.value.dtype
        self._kept: list[Activations] = []
        self._passing = Activations(self.dtype)
        self._forward_count = 0
        self._strip = Workspace(self.dtype)
        self._slopes = Slopes(self.dtype)
        self._zeros: FloatArray = np.zeros(1, self.dtype)

    def predict(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping nothing."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        for some in together(len(x)):
            self._forward(x[some], self._passing, logits[some])
        return logits

    def forward(self, x: FloatArray) -> FloatArray:
        """x (N, C, H, W) -> logits (N, A), keeping what backward needs."""
        logits = np.empty((len(x), len(self.fc2.bias.value)), self.dtype)
        self._forward_count = len(x)
        for i, some in enumerate(together(len(x))):
            if i == len(self._kept):
                self._kept.append(Activations(self.dtype))
            self._forward(x[some], self._kept[i], logits[some])
        return logits

    def backward(self, d_logits: FloatArray) -> FloatArray:
        """d_logits (N, A) -> d_x (N, C, H, W); adds to the slopes of all eight parameters."""
        planes = self.conv1.weight.value.shape[1]
        d_x = np.empty((len(d_logits), planes, self.slots.height, self.slots.width), self.dtype)
        self._backward(d_logits, d_x)
        return d_x

    def add_gradients(self, d_logits: FloatArray) -> None:
        """Do what backward does, without the slope of x, which only a layer below would ask for."""
        self._backward(d_logits, None)

    def memory(self) -> int:
        """Bytes held by all workspaces."""
        activations = sum(held.memory() for held in [*self._kept, self._passing])
        return activations + self._slopes.memory() + self._strip.memory()

    # --- Forward ---------------------------------------------------------------------------------------------------

    def _forward(self, x: FloatArray, to: Activations, logits: FloatArray) -> None:
        """x (N, C, H, W), N <= TOGETHER -> logits (N, A), written in place."""
        slots, positions = self.slots, len(x)
        weight1, weight2 = (lines_of(conv.weight.value, conv.bias.value) for conv in (self.conv1, self.conv2))
        to.prepare(positions, slots, x.shape[1], len(weight1), *self.fc1.weight.value.shape)
        slots.cells(to.seen)[...] = x.transpose(1, 2, 3, 0)
        for strip, columns in to.columns_of_seen:
            out = to.inner[:, strip.slots].reshape(len(weight1), -1)
            np.matmul(weight1, columns, out=out)
            np.maximum(out, self._zeros_of(out.shape[1]), out=out)
        slots.clear_gaps(to.inner)
        maps = to.features.reshape(-1, slots.height, slots.width, positions)
        for strip, columns in to.columns_of_inner:
            here = maps[:, strip.rows, strip.cols]  # (F, rows, cols, N)
            pitch = slots.stride if here.shape[1] > 1 else here.shape[2]
            out = self._strip.shaped(len(maps), here.shape[1], pitch, positions)
            np.matmul(weight2, columns, out=out.reshape(len(maps), -1)[:, : columns.shape[1]])
            zeros = self._zeros_of(here[0, 0].size).reshape(here.shape[2:])
            np.maximum(out[:, :, : here.shape[2]], zeros, out=here)
        np.matmul(self.fc1.weight.value.T, to.features, out=to.hidden)
        to.hidden += self.fc1.bias.value[:, None]
        np.maximum(to.hidden, self._zeros_of(positions), out=to.hidden)
        np.matmul(to.hidden.T, self.fc2.weight.value, out=logits)
        logits += self.fc2.bias.value

    def _zeros_of(self, length: int) -> FloatArray:
        """Zeros (length,): a ReLU against an array is several times as fast as against the number 0."""
        if length > len(self._zeros):
            self._zeros = np.zeros(length, self.dtype)
        return self._zeros[:length]

    # --- Backward --------------------------------------------------------------------------------------------------

    def _backward(self, d_logits: FloatArray, d_x: FloatArray | None) -> None:
        if len(d_logits) != self._forward_count:
            raise NoForwardError(
                f"backward got slopes of {len(d_logits)} positions, but the last forward saw {self._forward_count}"
            )
        for kept, some in zip(self._kept, together(len(d_logits)), strict=False):
            self._slopes.prepare(kept.positions, self.slots, (len(kept.inner), len(self.conv2.bias.value)))
            self._through_dense(kept, d_logits[some].astype(self.dtype, copy=False), self._slopes)
            self._through_convolutions(kept, self._slopes, None if d_x is None else d_x[some])

    def _through_dense(self, kept: Activations, d_logits: FloatArray, slopes: Slopes) -> None:
        """d_logits (N, A), N <= TOGETHER -> slopes.outer, the slope of what the second convolution gave."""
        features, hidden = kept.features, kept.hidden
        self.fc2.weight.grad.T[...] += d_logits.T @ hidden.T  # (A, N) @ (N, M)
        self.fc2.bias.grad += d_logits.sum(axis=0)
        d_hidden = self.fc2.weight.value @ d_logits.T  # (M, A) @ (A, N)
        d_hidden *= hidden > 0
        self.fc1.bias.grad += d_hidden.sum(axis=1)
        d_maps = self.slots.cells(slopes.outer)
        area = self.slots.height * self.slots.width
        step = max(1, DENSE_ROWS // area)
        for first in range(0, len(d_maps), step):
            rows = slice(first * area, (first + step) * area)
            positive = features[rows] > 0
            self.fc1.weight.grad.T[:, rows] += d_hidden @ features[rows].T  # (M, N) @ (N, D)
            d_features = self.fc1.weight.value[rows] @ d_hidden  # (D, M) @ (M, N)
            here = d_maps[first : first + step]
            np.multiply(d_features.reshape(here.shape), positive.reshape(here.shape), out=here)

    def _through_convolutions(self, kept: Activations, slopes: Slopes, d_x: FloatArray | None) -> None:
        """From slopes.outer to the slopes of both convolutions and, if it is asked for, d_x (N, C, H, W)."""
        slots, inner, d_inner = self.slots, kept.inner, slopes.inner
        turned = half_turn(self.conv2.weight.value)
        weight = lines_of(turned, np.zeros(len(turned), self.dtype))  # (F1, 3 * (3 * F2 + 1))
        d_weight1 = np.zeros((len(inner), 3 * (3 * len(kept.seen) + 1)), self.dtype)
        d_weight2 = np.zeros(weight.shape[::-1], self.dtype)
        for (strip, columns), (_, seen) in zip(slopes.columns_of_outer, kept.columns_of_seen, strict=True):
            inner_run = inner[:, strip.slots].reshape(len(inner), -1)
            d_inner_run = d_inner[:, strip.slots].reshape(len(inner), -1)
            d_weight2 += columns @ inner_run.T  # this way round BLAS needs a fifth less time
            np.matmul(weight, columns, out=d_inner_run)
            d_inner_run *= inner_run > 0  # between two rows too it becomes 0
            d_weight1 += d_inner_run @ seen.T
        self.conv1.weight.grad += from_lines(d_weight1)
        self.conv1.bias.grad += d_weight1.reshape(len(inner), 3, -1)[:, 0, -1]  # its sum over a row of ones
        self.conv2.weight.grad += half_turn(from_lines(d_weight2.T))
        self.conv2.bias.grad += slopes.outer.sum(axis=(1, 2))
        if d_x is not None:
            d_seen = np.empty_like(kept.seen)
            turned = half_turn(self.conv1.weight.value)
            weight = lines_of(turned, np.zeros(len(turned), self.dtype))
            for strip, columns in Columns(slots, d_inner, Workspace(self.dtype)):
                np.matmul(weight, columns, out=d_seen[:, strip.slots].reshape(len(d_seen), -1))
            d_x[...] = slots.cells(d_seen).transpose(3, 0, 1, 2)


def together(count: int) -> Iterator[slice]:
    """Cut ``count`` positions into slices of at most TOGETHER."""
    return (slice(first, first + TOGETHER) for first in range(0, count, TOGETHER))


def half_turn(weight: FloatArray) -> FloatArray:
    """weight (F, C, 3, 3) -> (C, F, 3, 3): the window turned by half a turn, from the filters to the planes."""
    return weight[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
