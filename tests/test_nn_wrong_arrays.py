"""Arrays that no layer can use, of another shape or of something else than real numbers, are refused by name."""

import numpy as np
import pytest

from nn import (
    NETS,
    BatchNorm2D,
    Conv2D,
    Dense,
    Dropout,
    Flatten,
    NoForwardError,
    NumberError,
    ReLU,
    Residual,
    ShapeError,
    Tanh,
    make_net,
)
from nn.branches import Branches
from nn.lines import LineWindows, SumOverWays
from nn.pool import GlobalPool

RNG = np.random.default_rng(1)
LAYERS = {  # with the shape of an x
    "Dense": (lambda: Dense(6, 3, rng=RNG), (2, 6)),
    "ReLU": (ReLU, (2, 6)),
    "Tanh": (Tanh, (2, 6)),
    "Flatten": (Flatten, (2, 2, 3, 1)),
    "Conv2D": (lambda: Conv2D(2, 3, 3, rng=RNG), (2, 2, 4, 5)),
    "BatchNorm2D": (lambda: BatchNorm2D(2), (2, 2, 4, 5)),
    "Dropout": (lambda: Dropout(0.5, RNG), (2, 6)),
    "GlobalPool": (GlobalPool, (2, 2, 4, 5)),
    "LineWindows": (lambda: LineWindows(2), (2, 2, 4, 5)),
    "SumOverWays": (SumOverWays, (16, 2, 4, 5)),
    "Branches": (lambda: Branches([Dense(6, 3, rng=RNG), Dense(6, 2, rng=RNG)]), (2, 6)),
    "Residual": (lambda: Residual(Dense(6, 6, rng=RNG)), (2, 6)),
}
KINDS = [np.complex128, np.object_, "U5"]


def made(name):
    """The layer, an x, and the out of its forward."""
    make, shape = LAYERS[name]
    layer, x = make(), RNG.standard_normal(shape)
    return layer, x, layer.forward(x)


@pytest.mark.parametrize("name", LAYERS)
def test_a_slope_of_another_shape(name):
    layer, _, out = made(name)
    for shape in ((len(out) + 1, *out.shape[1:]), (*out.shape[:-1], out.shape[-1] + 1), (out.size + 1,), (), (1,)):
        with pytest.raises(ShapeError, match="got d_out"):
            layer.backward(np.zeros(shape))
    assert layer.backward(out).shape == LAYERS[name][1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LAYERS)
def test_other_things_than_real_numbers(name, kind):
    layer, x, out = made(name)
    for call in (layer.forward, layer.predict):
        with pytest.raises(NumberError, match="got x of .* wanted real numbers"):
            call(x.astype(kind))
    with pytest.raises(NumberError, match="got d_out of .* wanted real numbers"):
        layer.backward(out.astype(kind))
    layer.backward(out)  # what the last good forward kept is still there


def test_an_x_without_positions_is_not_flattened():
    for shape in ((), (3,)):
        with pytest.raises(ShapeError, match=r"Flatten: got x \(.*wanted \(N, ...\)"):
            Flatten().forward(np.zeros(shape))


@pytest.mark.parametrize("name", NETS)
def test_networks_refuse_them_too(name):
    net = make_net(name, 4, 4, rng=np.random.default_rng(1))
    x = (RNG.random((3, net.planes, 4, 4)) < 0.3).astype(np.float32)
    out, slope = net.forward(x), "d_logits" if net.outputs == 16 else "d_out"
    for kind in KINDS:
        for call in (net.forward, net.predict):
            with pytest.raises(NumberError, match=f"{type(net).__name__}: got x of .* wanted real numbers"):
                call(x.astype(kind))
        for back in (net.backward, net.add_gradients):
            with pytest.raises(NumberError, match=f"{type(net).__name__}: got {slope} of"):
                back(out.astype(kind))
    for back in (net.backward, net.add_gradients):
        for count in (2, 4):
            with pytest.raises((ShapeError, NoForwardError), match=f"slopes of {count} positions|wanted .*3"):
                back(np.zeros((count, net.outputs), np.float32))
    net.backward(out)
