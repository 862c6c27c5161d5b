"""What holds of every network with a fast twin: logits and slopes are those of its readable layers.
Not tests by itself: those of each kind of network call it.
"""

import numpy as np

from nn import Sequential
from nn.board_net import BoardNet


def nudged(net: BoardNet, rng: np.random.Generator) -> BoardNet:
    """The same network with every parameter moved a little, biases too, which begin at 0."""
    for parameter in net.parameters():
        parameter.value += (0.05 * rng.standard_normal(parameter.value.shape)).astype(net.dtype)
    return net


def gradients(net: BoardNet) -> list[np.ndarray]:
    """The slopes so far, which are set back to zero."""
    grads = [parameter.grad.copy() for parameter in net.parameters()]
    for parameter in net.parameters():
        parameter.grad.fill(0)
    return grads


def distance(a: np.ndarray, b: np.ndarray, scale: float = 1e-30) -> float:
    """The largest difference, relative to the largest number or to `scale`, whichever is larger."""
    return float(np.abs(a - b).max(initial=0) / max(float(np.abs(a).max(initial=0)), scale))


def check_twins(net: BoardNet, x: np.ndarray, d_logits: np.ndarray, tolerance: float, d_x_scale: float = 1e-30) -> None:
    """Forward, predict, backward and add_gradients against the layers one after the other."""
    readable = Sequential(net.layers)
    logits = readable.forward(x)
    d_x = readable.backward(d_logits)
    grads = gradients(net)
    assert distance(logits, net.forward(x)) < tolerance
    assert distance(logits, net.predict(x)) < tolerance
    assert distance(d_x, net.backward(d_logits), d_x_scale) < tolerance
    largest = max(float(np.abs(grad).max()) for grad in grads)  # one bias alone may come out near 0 by cancellation
    for parameter, wanted, got in zip(net.parameters(), grads, gradients(net), strict=True):
        assert distance(wanted, got, largest) < tolerance, parameter.name
    net.add_gradients(d_logits)
    assert all(distance(a, b, largest) < tolerance for a, b in zip(grads, gradients(net), strict=True))
