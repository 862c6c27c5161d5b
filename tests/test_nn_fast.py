"""The fast twin against the readable layers: the same logits, the same slopes, the same learning curve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twins_agree import check_twins, gradients, nudged

from nn import NoForwardError, PolicyNet, Sequential
from nn.fast import FEW, few
from nn.losses import weighted_cross_entropy
from nn.optim import Adam
from nn.rows import COLUMNS


def net_of(rng: np.random.Generator, height: int, width: int, dtype: type, **sizes) -> PolicyNet:
    return nudged(PolicyNet(height, width, rng=rng, dtype=dtype, **sizes), rng)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.integers(1, 5), st.integers(1, 9),
    st.integers(1, 40), st.sampled_from([np.float32, np.float64]), st.integers(0, 10**6),
)  # fmt: skip
def test_random_shapes(height, width, planes, first, second, hidden, count, dtype, seed) -> None:
    rng = np.random.default_rng(seed)
    net = net_of(rng, height, width, dtype, planes=planes, filters=(first, second), hidden=hidden)
    x = rng.standard_normal((count, planes, height, width)).astype(dtype)
    d_logits = rng.standard_normal((count, height * width)).astype(dtype)
    check_twins(net, x, d_logits, 1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("size", "count"), [(15, 1), (15, 37), (6, 300), (25, 3), (6, 513)])
def test_sizes_that_take_several_groups_and_batches_and_whole_boards(size, count, dtype) -> None:
    rng = np.random.default_rng(size * count)
    net = net_of(rng, size, size, dtype, hidden=32)
    x = (rng.random((count, 2, size, size)) < 0.2).astype(dtype)
    d_logits = rng.standard_normal((count, size * size)).astype(dtype)
    check_twins(net, x, d_logits, 1e-5 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("height", range(1, 8))
def test_row_by_row_over_as_many_rows_as_may_be(height) -> None:
    rng = np.random.default_rng(height)
    net = net_of(rng, height, 12, np.float64, planes=3, filters=(2, 3), hidden=5)
    x = rng.standard_normal((2 * COLUMNS // 12 + 1, 3, height, 12))  # three groups, the last one smaller
    assert len(few(len(x), 12)) == 3 and len(x) * 12 > FEW
    check_twins(net, x, rng.standard_normal((len(x), height * 12)), 1e-12)


def test_one_net_meets_batches_of_every_size_in_any_order() -> None:
    rng = np.random.default_rng(3)
    net = net_of(rng, 6, 5, np.float64, filters=(3, 4), hidden=7)
    for count in (5, 300, 1, 64, 2, 299, 17):
        x = rng.standard_normal((count, 2, 6, 5))
        check_twins(net, x, rng.standard_normal((count, 30)), 1e-12)


def test_forward_and_predict_give_the_same_bits_and_arrays_of_their_own() -> None:
    rng = np.random.default_rng(4)
    net = net_of(rng, 6, 6, np.float32)
    x = rng.standard_normal((600, 2, 6, 6)).astype(np.float32)
    logits = net.forward(x)
    kept = logits.copy()
    assert net.predict(x).tobytes() == kept.tobytes()
    d_x = net.backward(np.ones_like(logits))
    d_x_kept = d_x.copy()
    net.predict(2 * x[:70])
    net.forward(3 * x)
    net.backward(np.full_like(logits, 5))
    assert logits.tobytes() == kept.tobytes() and d_x.tobytes() == d_x_kept.tobytes()


def test_a_predict_of_any_size_between_forward_and_backward_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    net = net_of(rng, 6, 6, np.float32)
    x = rng.standard_normal((300, 2, 6, 6)).astype(np.float32)
    d_logits = rng.standard_normal((300, 36)).astype(np.float32)
    net.forward(x)
    d_x, grads = net.backward(d_logits), gradients(net)
    net.forward(x)
    for count in (1, 700, 300):
        net.predict(rng.standard_normal((count, 2, 6, 6)).astype(np.float32))
    assert net.backward(d_logits).tobytes() == d_x.tobytes()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(grads, gradients(net), strict=True))


def test_backward_needs_a_forward_of_as_many_positions() -> None:
    net = net_of(np.random.default_rng(6), 3, 3, np.float32)
    for call in (net.backward, net.add_gradients):
        with pytest.raises(NoForwardError):
            call(np.zeros((2, 9), np.float32))
    net.forward(np.zeros((3, 2, 3, 3), np.float32))
    with pytest.raises(NoForwardError):
        net.backward(np.zeros((2, 9), np.float32))


def test_fifty_updates_give_the_same_curve() -> None:
    curves = []
    for fast in (True, False):
        rng = np.random.default_rng(7)
        net = net_of(rng, 6, 6, np.float64, hidden=32)
        layers = Sequential(net.layers)
        optimizer = Adam(net.parameters(), learning_rate=3e-3)
        x = (rng.random((96, 2, 6, 6)) < 0.3).astype(np.float64)
        actions, weights, mask = rng.integers(36, size=96), np.ones(96), np.ones((96, 36), bool)
        losses = []
        for _ in range(50):
            optimizer.zero_grad()
            loss, d_logits = weighted_cross_entropy((net if fast else layers).forward(x), actions, weights, mask)
            net.add_gradients(d_logits) if fast else layers.backward(d_logits)
            optimizer.step()
            losses.append(loss)
        curves.append(losses)
    assert curves[0][-1] < 0.5 * curves[0][0]
    assert np.allclose(curves[0], curves[1], rtol=1e-8, atol=0)


def test_memory_is_that_of_the_largest_batch_and_a_copy_takes_none() -> None:
    rng = np.random.default_rng(8)
    net = net_of(rng, 6, 6, np.float32)
    x = rng.standard_normal((500, 2, 6, 6)).astype(np.float32)
    net.add_gradients(net.forward(x))
    largest = net.memory()
    for count in (1, 499, 77, 500):
        net.add_gradients(net.forward(x[:count]))
        net.predict(x[:count])
    assert 0 < net.memory() <= 1.5 * largest
    assert net.copy().memory() == 0
