"""The networks by name, and a file of weights opened whatever network it holds.

    policy        PolicyNet          logits   two convolutions, two dense layers: the main one
    three_plane   ThreePlaneNet      logits   batch normalisation, dropout, and a plane for the colour to move
    conv          ConvPolicyNet      logits   convolutions alone: a line learnt anywhere is known everywhere
    line          LinePolicyNet      logits   a line is read alike in all eight directions, and anywhere
    residual      ResidualPolicyNet  logits   residual blocks
    value         ValueNet           value    the policy network's layers with one answer
    conv_value    ConvValueNet       value    the convolutions of conv, and what there is somewhere on the board
    line_value    LineValueNet       value    the lines of line, and what there is somewhere on the board
    policy_value  PolicyValueNet     both     residual blocks with two heads
"""

import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from nn.board_net import BoardNet
from nn.conv_policy_net import ConvPolicyNet
from nn.conv_value_net import ConvValueNet
from nn.line_policy_net import LinePolicyNet
from nn.line_value_net import LineValueNet
from nn.policy_net import PolicyNet
from nn.residual_net import PolicyValueNet, ResidualPolicyNet
from nn.three_plane_net import Source, ThreePlaneNet
from nn.value_net import ValueNet
from nn.weights import WeightsError, load_arrays

NETS: dict[str, type[BoardNet]] = {
    "policy": PolicyNet,
    "conv": ConvPolicyNet,
    "line": LinePolicyNet,
    "three_plane": ThreePlaneNet,
    "residual": ResidualPolicyNet,
    "value": ValueNet,
    "conv_value": ConvValueNet,
    "line_value": LineValueNet,
    "policy_value": PolicyValueNet,
}


def make_net(
    name: str, height: int = 15, width: int = 15, *, rng: Source, dtype: DTypeLike = np.float32, **sizes: Any
) -> BoardNet:
    """Return a new network by its name in NETS; ``sizes`` are further keywords of its class, such as ``filters``.

    Raises KeyError for a name that is not there, ShapeError for sizes that make no network.
    """
    build: Any = NETS[name]
    net: BoardNet = build(height, width, rng=rng, dtype=dtype, **sizes)
    return net


def load_net(path: str | os.PathLike[str], dtype: DTypeLike | None = None) -> BoardNet:
    """Return the net that ``save`` wrote to ``path``, of whatever kind, in its own dtype or in the one given.

    Raises WeightsError if the file is missing, damaged or holds no network of NETS.
    """
    arrays, meta = load_arrays(path)
    for kind in NETS.values():
        if meta.get("net") == kind.__name__:
            return kind.from_arrays(arrays, meta, path, dtype)
    known = ", ".join(kind.__name__ for kind in NETS.values())
    raise WeightsError(f"{path}: holds no network: got net {meta.get('net')!r}, wanted one of {known}")
