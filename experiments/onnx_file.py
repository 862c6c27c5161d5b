"""A network as an ONNX graph: the same layers, in a file that other programs can run.

    x (N, planes, H, W) float32 --- Conv, Relu, Tanh, Flatten, Gemm --- logits (N, A), or value (N, 1)

N is free, the board is the one the network was made for. What is legal is not in the graph: whoever plays by the
logits leaves out the occupied cells. Operators: https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.errors import UserError
from nn import BoardNet, Conv2D, Dense, Flatten, Layer, Parameter, ReLU, Tanh

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET, FORMAT = 17, 8  # of the year 2022: what runs ONNX at all runs these
PLAIN: dict[type[Layer], str] = {ReLU: "Relu", Tanh: "Tanh", Flatten: "Flatten"}


def onnx_model(net: BoardNet) -> ModelProto:
    """Return the graph of a network made of convolutions, dense layers, ReLU, tanh and flatten, checked by onnx.

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
        nodes.append(_node(net, layer, before, after))
        weights += [_tensor(parameter) for parameter in layer.parameters()]
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
        known = ", ".join(["Conv2D", "Dense", *(kind.__name__ for kind in PLAIN)])
        raise UserError(f"{type(net).__name__} holds a {type(layer).__name__}; ONNX files are written of {known}")
    return node


def _tensor(parameter: Parameter) -> TensorProto:
    from onnx import numpy_helper

    return numpy_helper.from_array(np.ascontiguousarray(parameter.value, dtype=np.float32), parameter.name)
