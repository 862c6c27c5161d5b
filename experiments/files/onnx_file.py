"""A network as an ONNX graph: the same layers, in a file that other programs can run.

    x (N, planes, H, W) float32 --- Conv, Relu, Tanh, Flatten, Gemm --- logits (N, A), or value (N, 1)

N is free, the board is the one the network was made for. What is legal is not in the graph: whoever plays by the
logits leaves out the occupied cells. Operators: https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.errors import UserError
from nn import BoardNet, Conv2D, Dense, Flatten, Layer, ReLU, Tanh
from nn.layers import FloatArray
from nn.lines import DIRECTIONS, WAYS, LineWindows, SumOverWays
from nn.pool import GlobalPool

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET, FORMAT = 17, 8  # of the year 2022: what runs ONNX at all runs these
PLAIN: dict[type[Layer], str] = {ReLU: "Relu", Tanh: "Tanh", Flatten: "Flatten"}


def onnx_model(net: BoardNet) -> ModelProto:
    """Return the graph of a network of convolutions, dense layers, lines, pools, ReLU, tanh and flatten, checked.

    Its weights are float32 whatever the network's are; kind and sizes stand in its metadata.
    Raises UserError if the package onnx is not there, or for a layer of another kind.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise UserError("this needs the package onnx: pip install -e '.[onnx]'") from None
    out, columns = ("value", 1) if net.HAS_VALUE else ("logits", net.height * net.width)
    nodes: list[NodeProto] = []
    weights: list[TensorProto] = []
    for number, layer in enumerate(net.layers, start=1):
        before = "x" if number == 1 else f"out{number - 1}"
        after = out if number == len(net.layers) else f"out{number}"
        if isinstance(layer, GlobalPool):
            nodes += [
                helper.make_node("ReduceMean", [before], [f"{after}.means"], axes=[2, 3], keepdims=0),
                helper.make_node("ReduceMax", [before], [f"{after}.maxima"], axes=[2, 3], keepdims=0),
                helper.make_node("Concat", [f"{after}.means", f"{after}.maxima"], [after], axis=1),
            ]
        elif isinstance(layer, LineWindows | SumOverWays):
            more, constants = _of_lines(net, layer, before, after)
            nodes += more
            weights += constants
        else:
            nodes.append(_node(net, layer, before, after))
        weights += [_tensor(parameter.name, parameter.value) for parameter in layer.parameters()]
    graph = helper.make_graph(
        nodes,
        type(net).__name__,
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", net.planes, net.height, net.width])],
        [helper.make_tensor_value_info(out, TensorProto.FLOAT, ["N", columns])],
        weights,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=FORMAT, producer_name="gomoku-lab"
    )
    helper.set_model_props(model, {key: str(value) for key, value in net.meta().items() if key != "dtype"})
    checker.check_model(model, full_check=True)
    return model


def _node(net: BoardNet, layer: Layer, before: str, after: str) -> NodeProto:
    """One layer between the arrays `before` and `after`."""
    from onnx import helper

    names = [before, *(parameter.name for parameter in layer.parameters())]
    node: NodeProto
    if isinstance(layer, Conv2D):
        top, left = layer.padding
        node = helper.make_node("Conv", names, [after], kernel_shape=layer.kernel, pads=[top, left, top, left])
    elif isinstance(layer, Dense):  # Gemm: x @ weight + bias
        node = helper.make_node("Gemm", names, [after])
    elif type(layer) in PLAIN:
        node = helper.make_node(PLAIN[type(layer)], names, [after])
    else:
        kinds: tuple[type[Layer], ...] = (Conv2D, Dense, LineWindows, SumOverWays, GlobalPool, *PLAIN)
        known = ", ".join(kind.__name__ for kind in kinds)
        raise UserError(f"{type(net).__name__} holds a {type(layer).__name__}; ONNX files are written of {known}")
    return node


def _of_lines(
    net: BoardNet, layer: LineWindows | SumOverWays, before: str, after: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """The nodes of a layer of lines, and the constants they need.

    What a cell is shown is a convolution whose kernels hold a single 1, plus what tells the edge, the same for all x.
    """
    from onnx import helper, numpy_helper

    def shape(name: str, *lengths: int) -> TensorProto:
        return numpy_helper.from_array(np.array(lengths, dtype=np.int64), name)

    board = net.height, net.width
    if isinstance(layer, SumOverWays):
        told = net.layers[net.layers.index(layer) - 1]  # a convolution, whose bias has a number a feature
        features = len(told.parameters()[1].value)
        nodes = [
            helper.make_node("Reshape", [before, "ways.shape"], ["ways.apart"]),
            helper.make_node("ReduceSum", ["ways.apart", "ways.axis"], [after], keepdims=0),
        ]
        return nodes, [shape("ways.shape", -1, WAYS, features, *board), shape("ways.axis", 1)]
    reach, planes = layer.reach, net.planes
    side, shown = 2 * reach + 1, (planes + 1) * 2 * reach
    kernel = np.zeros((WAYS, planes + 1, 2 * reach, planes, side, side), np.float32)
    steps = [step for step in range(-reach, reach + 1) if step]
    for way, (down, right) in enumerate(DIRECTIONS):
        for i, step in enumerate(steps):
            for plane in range(planes):
                kernel[way, plane, i, plane, reach + step * down, reach + step * right] = 1
    edge = layer.predict(np.zeros((1, planes, *board), np.float32)).reshape(1, WAYS * shown, *board)
    nodes = [
        helper.make_node(
            "Conv", [before, "windows.kernel"], ["windows.stones"], kernel_shape=[side, side], pads=[reach] * 4
        ),
        helper.make_node("Add", ["windows.stones", "windows.edge"], ["windows.all"]),
        helper.make_node("Reshape", ["windows.all", "windows.shape"], [after]),
    ]
    constants = [
        _tensor("windows.kernel", kernel.reshape(WAYS * shown, planes, side, side)),
        _tensor("windows.edge", edge),
        shape("windows.shape", -1, shown, *board),
    ]
    return nodes, constants


def _tensor(name: str, value: FloatArray) -> TensorProto:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(value, dtype=np.float32), name)
