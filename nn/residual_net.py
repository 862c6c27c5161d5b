"""Deeper networks: a trunk of residual blocks, with a policy at its end, or a policy and a value beside each other.

    x (N, planes, H, W) - conv 3x3 - norm - ReLU - block - ... - block --+-- policy head -- logits (N, A)
                                                                         +-- value head --- V (N, 1)

A head sees each cell through few numbers: a 1x1 convolution mixes the trunk's filters into two planes for the policy,
one for the value, before a dense layer looks at the whole board.

Source: Silver et al., "Mastering the game of Go without human knowledge" (2017), methods.
"""

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet, whole_size
from nn.branches import Branches
from nn.init import NormalSource
from nn.layers import Dense, Flatten, Layer, ReLU, Tanh
from nn.network import Sequential
from nn.residual import conv_norm, residual_block

POLICY_PLANES, VALUE_PLANES = 2, 1


class ResidualPolicyNet(BoardNet):
    """Trunk and policy head: ``filters`` planes wide, ``blocks`` residual blocks of two convolutions each."""

    SIZES = ("height", "width", "planes", "filters", "blocks")

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        filters: int = 32,
        blocks: int = 2,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        height, width, planes = (whole_size("ResidualPolicyNet", n) for n in (height, width, planes))
        self.filters, self.blocks = whole_size("ResidualPolicyNet", filters), whole_size("ResidualPolicyNet", blocks)
        layers = trunk(planes, self.filters, self.blocks, rng=rng, dtype=dtype)
        layers += policy_head(self.filters, height * width, rng=rng, dtype=dtype)
        super().__init__(height, width, planes, dtype, layers)


class PolicyValueNet(BoardNet):
    """Trunk and both heads; out (N, A + 1) holds the logits and, as its last column, the value.

    ``filters`` and ``blocks`` as in ResidualPolicyNet; ``hidden`` features inside the value head. What one head learns
    about the board serves the other.
    """

    SIZES = ("height", "width", "planes", "filters", "blocks", "hidden")
    HAS_VALUE = True

    def __init__(
        self,
        height: int = 15,
        width: int = 15,
        *,
        planes: int = 2,
        filters: int = 32,
        blocks: int = 2,
        hidden: int = 64,
        rng: NormalSource,
        dtype: DTypeLike = np.float32,
    ) -> None:
        height, width, planes = (whole_size("PolicyValueNet", n) for n in (height, width, planes))
        self.filters, self.blocks = whole_size("PolicyValueNet", filters), whole_size("PolicyValueNet", blocks)
        self.hidden = whole_size("PolicyValueNet", hidden)
        cells = height * width
        layers = trunk(planes, self.filters, self.blocks, rng=rng, dtype=dtype)
        policy = policy_head(self.filters, cells, rng=rng, dtype=dtype)
        value = value_head(self.filters, cells, self.hidden, rng=rng, dtype=dtype)
        layers += [Branches([Sequential(policy), Sequential(value)])]
        super().__init__(height, width, planes, dtype, layers)


def trunk(planes: int, filters: int, blocks: int, *, rng: NormalSource, dtype: DTypeLike) -> list[Layer]:
    """Return the layers from (N, planes, H, W) to (N, filters, H, W)."""
    layers = [*conv_norm(planes, filters, 3, rng=rng, dtype=dtype, name="1"), ReLU()]
    for block in range(blocks):
        layers += residual_block(filters, rng=rng, dtype=dtype, name=str(2 + block))
    return layers


def policy_head(filters: int, cells: int, *, rng: NormalSource, dtype: DTypeLike) -> list[Layer]:
    """Return the layers from (N, filters, H, W) to logits (N, A)."""
    return [
        *conv_norm(filters, POLICY_PLANES, 1, rng=rng, dtype=dtype, name="_policy"),
        ReLU(),
        Flatten(),
        Dense(POLICY_PLANES * cells, cells, rng=rng, dtype=dtype, name="fc_policy"),
    ]


def value_head(filters: int, cells: int, hidden: int, *, rng: NormalSource, dtype: DTypeLike) -> list[Layer]:
    """Return the layers from (N, filters, H, W) to V (N, 1)."""
    return [
        *conv_norm(filters, VALUE_PLANES, 1, rng=rng, dtype=dtype, name="_value"),
        ReLU(),
        Flatten(),
        Dense(VALUE_PLANES * cells, hidden, rng=rng, dtype=dtype, name="fc_value1"),
        ReLU(),
        Dense(hidden, 1, rng=rng, dtype=dtype, name="fc_value2"),
        Tanh(),
    ]
