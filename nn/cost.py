"""What a network costs: its layers one by one, with the shapes between them, and what each has to compute.

    convolution    parameters F C KH KW + F    multiply-adds a position  OH OW F C KH KW
    dense          parameters D M + M          multiply-adds a position  D M
    normalisation  parameters 2 F              multiply-adds a position  F H W

A multiply-add is one product, added to a sum. ReLU, tanh, dropout, pooling and flattening multiply nothing.
Backward needs about twice as many: once for the slopes of the weights, once for those of the input.
"""

import math
from dataclasses import dataclass

from nn.board_net import BoardNet
from nn.branches import Branches
from nn.conv import Conv2D, output_size
from nn.layers import Dense, Flatten, Layer
from nn.lines import WAYS, LineWindows, SumOverWays
from nn.network import Sequential
from nn.norm import BatchNorm2D
from nn.pool import GlobalPool
from nn.residual import Residual

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Cost:
    """One layer: its name and formula in words, the shape a position has behind it, and what it costs."""

    name: str
    shape: Shape
    parameters: int
    multiply_adds: int
    formula: str


def net_costs(net: BoardNet) -> list[Cost]:
    """Return the layers of a network in the order of computation."""
    return layer_costs(net, (net.planes, net.height, net.width))


def layer_costs(layer: Layer, shape: Shape) -> list[Cost]:
    """Return the rows of one layer, or of the layers inside it; ``shape`` is that of one position before it."""
    if isinstance(layer, Sequential):
        rows: list[Cost] = []
        for inner in layer.layers:
            rows += layer_costs(inner, rows[-1].shape if rows else shape)
        return rows
    if isinstance(layer, Residual):
        return [*layer_costs(layer.inner, shape), Cost("+ x", shape, 0, 0, "residual")]
    if isinstance(layer, Branches):
        branches = [layer_costs(branch, shape) for branch in layer.branches]
        columns = sum(rows[-1].shape[0] for rows in branches)
        return [*(row for rows in branches for row in rows), Cost("side by side", (columns,), 0, 0, "branches")]
    return [_one(layer, shape)]


def _one(layer: Layer, shape: Shape) -> Cost:
    parameters = sum(parameter.value.size for parameter in layer.parameters())
    if isinstance(layer, Conv2D):
        filters, planes, height, width = layer.weight.value.shape
        *ways, _, rows, cols = shape
        out = output_size(rows, cols, layer.kernel, layer.padding)
        factors = [*ways, *out, filters, planes, height, width]
        formula = " * ".join(map(str, factors))
        return Cost(_name(layer), (*ways, filters, *out), parameters, math.prod(factors), formula)
    if isinstance(layer, Dense):
        inputs, outputs = layer.weight.value.shape
        return Cost(_name(layer), (outputs,), parameters, inputs * outputs, f"{inputs} * {outputs}")
    if isinstance(layer, BatchNorm2D):
        filters, height, width = shape
        return Cost(_name(layer), shape, parameters, filters * height * width, f"{filters} * {height} * {width}")
    if isinstance(layer, Flatten):
        return Cost("flatten", (math.prod(shape),), 0, 0, "")
    if isinstance(layer, LineWindows):
        return Cost("line windows", (WAYS, (shape[0] + 1) * 2 * layer.reach, *shape[1:]), 0, 0, "")
    if isinstance(layer, SumOverWays):
        return Cost("sum over ways", shape[1:], 0, 0, "")
    if isinstance(layer, GlobalPool):
        return Cost("mean, maximum", (2 * shape[0],), 0, 0, "")
    return Cost(type(layer).__name__.lower(), shape, 0, 0, "")


def _name(layer: Layer) -> str:
    """The name that the layer's parameters begin with."""
    return layer.parameters()[0].name.rpartition(".")[0]
