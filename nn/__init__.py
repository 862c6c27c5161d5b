"""A neural network by hand: layers, each with its own backward, in plain NumPy. Arrays in, arrays out; no Gomoku.

Shapes, used in every comment: N positions, C planes in, H rows, W columns, F filters, KH x KW kernel, D features in
and M features out of a dense layer, A = H * W actions. A convolution's weight is (F, C, KH, KW), a dense layer's
(D, M); flattening goes in (C, H, W) order. float32 for training, float64 for parity and gradient checks.

Read in this order: init, layers, conv, losses, network, policy_net, optim, gradcheck; then java_random, weights, exact.
For speed, and to be skipped at first: workspace, strips, fast, incremental.
"""

from nn.conv import Conv2D
from nn.layers import Dense, Flatten, Layer, NoForwardError, NonFiniteError, Parameter, ReLU, ShapeError
from nn.losses import MaskError
from nn.network import Sequential
from nn.policy_net import PolicyNet
from nn.weights import WeightsError

__version__ = "0.1.0"

__all__ = [
    "Conv2D",
    "Dense",
    "Flatten",
    "Layer",
    "MaskError",
    "NoForwardError",
    "NonFiniteError",
    "Parameter",
    "PolicyNet",
    "ReLU",
    "Sequential",
    "ShapeError",
    "WeightsError",
]
