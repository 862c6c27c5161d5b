"""The fast twin of the local policy against its readable layers: the same logits, slopes, and bits, twice over."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins_agree import check_twins, gradients, nudged

from nn import ConvPolicyNet, NoForwardError
from nn.conv_policy_net import FEW
from nn.gradcheck import check_layer


def net_of(rng: np.random.Generator, height: int, width: int, dtype: type, **sizes) -> ConvPolicyNet:
    return nudged(ConvPolicyNet(height, width, rng=rng, dtype=dtype, **sizes), rng)


def compare(net: ConvPolicyNet, x: np.ndarray, d_logits: np.ndarray, tolerance: float) -> None:
    check_twins(net, x, d_logits, tolerance, d_x_scale=1e-3)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 3), st.sampled_from([1, 3, 5, 9]), st.integers(0, 2),
    st.integers(1, 6), st.integers(1, 12), st.sampled_from([np.float32, np.float64]), st.integers(0, 10**6),
)  # fmt: skip
def test_random_shapes(height, width, planes, side, inner, filters, count, dtype, seed) -> None:
    rng = np.random.default_rng(seed)
    net = net_of(rng, height, width, dtype, planes=planes, kernels=(side,) + (1,) * inner, filters=filters)
    x = rng.standard_normal((count, planes, height, width)).astype(dtype)
    d_logits = rng.standard_normal((count, height * width)).astype(dtype)
    compare(net, x, d_logits, 1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "count"), [(15, 40), (6, 170)])
def test_one_net_meets_batches_of_every_size(size, count, dtype) -> None:
    rng = np.random.default_rng(size)
    net = net_of(rng, size, size, dtype, filters=8)
    for some in (count, 1, count - 3):
        x = (rng.random((some, 2, size, size)) < 0.2).astype(dtype)
        compare(net, x, rng.standard_normal((some, size * size)).astype(dtype), 1e-5 if dtype is np.float32 else 1e-12)


def test_gradients_are_those_of_finite_differences() -> None:
    rng = np.random.default_rng(2)
    net = net_of(rng, 3, 4, np.float64, kernels=(5, 1), filters=2)
    slope = rng.standard_normal((FEW, 12))
    check_layer(net, rng.standard_normal((FEW, 2, 3, 4)), lambda out: (float((out * slope).sum()), slope), step=1e-5)


def test_a_predict_between_forward_and_backward_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    net = net_of(rng, 6, 6, np.float32, filters=8)
    x = rng.standard_normal((170, 2, 6, 6)).astype(np.float32)
    d_logits = rng.standard_normal((170, 36)).astype(np.float32)
    logits = net.forward(x)
    d_x, grads = net.backward(d_logits), gradients(net)
    kept = logits.copy(), d_x.copy()
    assert net.forward(x).tobytes() == logits.tobytes()
    for count in (1, 300, 170):
        net.predict(rng.standard_normal((count, 2, 6, 6)).astype(np.float32))
    assert net.backward(d_logits).tobytes() == d_x.tobytes()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(grads, gradients(net), strict=True))
    assert logits.tobytes() == kept[0].tobytes() and d_x.tobytes() == kept[1].tobytes()


def test_backward_needs_a_forward_of_as_many_positions() -> None:
    net = net_of(np.random.default_rng(6), 3, 3, np.float32, filters=2)
    for call in (net.backward, net.add_gradients):
        with pytest.raises(NoForwardError):
            call(np.zeros((7, 9), np.float32))
    net.forward(np.zeros((8, 2, 3, 3), np.float32))
    with pytest.raises(NoForwardError):
        net.backward(np.zeros((7, 9), np.float32))


def test_several_large_windows_go_through_the_readable_layers() -> None:
    rng = np.random.default_rng(7)
    net = net_of(rng, 5, 4, np.float64, kernels=(3, 3), filters=3)
    compare(net, rng.standard_normal((7, 2, 5, 4)), rng.standard_normal((7, 20)), 1e-12)
    assert not net.cell_by_cell and net.memory() == 0


def test_memory_is_that_of_the_largest_batch_and_a_copy_takes_none() -> None:
    rng = np.random.default_rng(8)
    net = net_of(rng, 6, 6, np.float32, filters=8)
    x = rng.standard_normal((200, 2, 6, 6)).astype(np.float32)
    net.add_gradients(net.forward(x))
    largest = net.memory()
    for count in (1, 199, 77, 200):
        net.add_gradients(net.forward(x[:count]))
        net.predict(x[:count])
    assert 0 < net.memory() <= 1.5 * largest
    assert net.copy().memory() == 0
