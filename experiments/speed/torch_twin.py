"""A network once more, in PyTorch: the contender of `gomoku bench`, and a check from outside.

It is made from the same weights and must give the same logits; nothing else in the program knows PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from nn import BoardNet, Conv2D, Dense, ReLU
from nn.layers import Flatten, Layer

Array = NDArray[np.float32]


class TorchTwin:
    """A network's layers (convolutions, dense layers, ReLU), loss and fused Adam in PyTorch, on one thread."""

    def __init__(self, net: BoardNet, learning_rate: float = 1e-3) -> None:
        torch.set_num_threads(1)
        self.dtype = net.dtype
        self.layers = torch.nn.Sequential(*[twin_of(layer) for layer in net.layers])
        with torch.no_grad():
            for theirs, ours in zip(self.layers.parameters(), net.parameters(), strict=True):
                value = ours.value.T if ours.value.ndim == 2 else ours.value  # a Linear's weight is (outputs, inputs)
                theirs.copy_(torch.from_numpy(np.ascontiguousarray(value)))
        self.optimizer = torch.optim.Adam(self.layers.parameters(), lr=learning_rate, fused=True)

    def predict(self, x: Array) -> Array:
        """x (N, C, H, W) -> logits (N, A)."""
        with torch.inference_mode():
            logits: Array = self.layers(torch.from_numpy(x)).numpy()
        return logits

    def predict_by(self, batch: int, x: Array) -> Array:
        """The same, so many positions at a time."""
        return np.concatenate([self.predict(x[first : first + batch]) for first in range(0, len(x), batch)])

    def step(self, x: Array, actions: NDArray[np.int64], weights: Array) -> float:
        """One Adam step down the weighted cross-entropy of the actions (N,); returns the loss."""
        self.optimizer.zero_grad()
        log_p = torch.log_softmax(self.layers(torch.from_numpy(x)), dim=1)
        chosen = log_p[torch.arange(len(x)), torch.from_numpy(actions)]
        loss: Any = -(torch.from_numpy(weights) * chosen).mean()
        loss.backward()
        self.optimizer.step()
        return float(loss.detach())


def twin_of(layer: Layer) -> torch.nn.Module:
    """The layer's counterpart, with weights of its own. Raises TypeError if there is none."""
    if isinstance(layer, Conv2D):
        filters, planes = layer.weight.value.shape[:2]
        return torch.nn.Conv2d(planes, filters, layer.kernel, padding=layer.padding)
    if isinstance(layer, Dense):
        return torch.nn.Linear(*layer.weight.value.shape)
    if isinstance(layer, ReLU | Flatten):
        return torch.nn.ReLU() if isinstance(layer, ReLU) else torch.nn.Flatten()
    raise TypeError(f"no twin of {type(layer).__name__} in PyTorch")
