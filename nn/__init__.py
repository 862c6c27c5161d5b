"""A neural network by hand: layers, each with its own backward, in plain NumPy. Arrays in, arrays out; no Gomoku.

Shapes, used in every comment: N positions, C planes in, H rows, W columns, F filters, KH x KW kernel, D features in
and M features out of a dense layer, A = H * W actions. A convolution's weight is (F, C, KH, KW), a dense layer's
(D, M); flattening goes in (C, H, W) order. float32 for training, float64 for parity and gradient checks.

Read in this order: init, layers, conv, losses, network, board_net, policy_net, optim, gradcheck; then java_random,
weights, exact. More to build with: norm, residual, branches, pool; other networks: value_net, conv_policy_net,
conv_value_net, lines, line_net, line_policy_net, line_value_net, three_plane_net, residual_net, their table registry,
and cost. For speed, and to be skipped at first: workspace, rows, whole_boards, fast, conv_fast, line_tables,
incremental, conv_incremental, line_incremental.
"""

from nn.board_net import AnswerError, BoardNet
from nn.conv import Conv2D
from nn.conv_policy_net import ConvPolicyNet
from nn.conv_value_net import ConvValueNet
from nn.layers import (
    Dense,
    Flatten,
    Layer,
    NoForwardError,
    NonFiniteError,
    NumberError,
    Parameter,
    ReLU,
    ShapeError,
    Tanh,
)
from nn.line_policy_net import LinePolicyNet
from nn.line_value_net import LineValueNet
from nn.losses import MaskError
from nn.network import Sequential
from nn.norm import BatchNorm2D, Dropout
from nn.policy_net import PolicyNet
from nn.registry import NETS, load_net, make_net
from nn.residual import Residual
from nn.residual_net import PolicyValueNet, ResidualPolicyNet
from nn.three_plane_net import ThreePlaneNet
from nn.value_net import ValueNet
from nn.weights import WeightsError

__version__ = "0.1.0"

__all__ = [
    "NETS",
    "AnswerError",
    "BatchNorm2D",
    "BoardNet",
    "Conv2D",
    "ConvPolicyNet",
    "ConvValueNet",
    "Dense",
    "Dropout",
    "Flatten",
    "Layer",
    "LinePolicyNet",
    "LineValueNet",
    "MaskError",
    "NoForwardError",
    "NonFiniteError",
    "NumberError",
    "Parameter",
    "PolicyNet",
    "PolicyValueNet",
    "ReLU",
    "Residual",
    "ResidualPolicyNet",
    "Sequential",
    "ShapeError",
    "Tanh",
    "ThreePlaneNet",
    "ValueNet",
    "WeightsError",
    "load_net",
    "make_net",
]
