"""The policy network: shapes, Java's weights, predict beside forward, copies, and what it refuses."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nn import NoForwardError, NonFiniteError, PolicyNet, Sequential, ShapeError
from nn.java_random import JavaRandom
from nn.layers import Dense, Flatten, ReLU


def small_net(dtype: type = np.float32) -> PolicyNet:
    return PolicyNet(3, 4, planes=3, filters=(2, 3), hidden=5, rng=np.random.default_rng(0), dtype=dtype)


def some(n: int = 2) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((n, 3, 3, 4)).astype(np.float32)


def test_names_and_shapes() -> None:
    net = PolicyNet(rng=np.random.default_rng(0))
    assert {p.name: p.value.shape for p in net.parameters()} == {
        "conv1.weight": (16, 2, 3, 3), "conv1.bias": (16,), "conv2.weight": (32, 16, 3, 3), "conv2.bias": (32,),
        "fc1.weight": (7200, 256), "fc1.bias": (256,), "fc2.weight": (256, 225), "fc2.bias": (225,),
    }  # fmt: skip
    assert all(p.value.dtype == p.grad.dtype == np.float32 for p in net.parameters())
    assert (net.height, net.width, net.planes, net.filters, net.hidden) == (15, 15, 2, (16, 32), 256)


def test_starting_weights_are_normal_with_he_scale() -> None:
    net = PolicyNet(rng=np.random.default_rng(0))
    for parameter, fan_in in zip(net.parameters()[::2], (18, 144, 7200, 256), strict=True):
        assert parameter.value.std() == pytest.approx(np.sqrt(2 / fan_in), rel=0.15)
    assert all((p.value == 0).all() for p in net.parameters()[1::2])


def test_java_weights() -> None:
    net = PolicyNet.java((7, -8, 9, 10), 11)
    assert net.dtype == np.float64
    rng = JavaRandom(9)
    assert net.fc1.weight.value.ravel()[:5].tolist() == [rng.next_gaussian() * np.sqrt(2 / 7200) for _ in range(5)]
    rng = JavaRandom(11)
    biases = np.concatenate([p.value for p in net.parameters()[1::2]])
    assert biases.tolist() == [rng.next_gaussian() * 0.1 for _ in range(16 + 32 + 256 + 225)]
    assert all((p.value == 0).all() for p in PolicyNet.java().parameters()[1::2])
    with pytest.raises(ValueError, match="wanted 4"):
        PolicyNet.java((1, 2, 3))


def test_predict_equals_forward_and_disturbs_nothing() -> None:
    for dtype in (np.float32, np.float64):
        net = small_net(dtype)
        x, d_logits = some(), np.random.default_rng(2).standard_normal((2, 12)).astype(dtype)
        assert net.forward(x).tobytes() == net.predict(x).tobytes()
        d_x = net.backward(d_logits)
        grads = [p.grad.copy() for p in net.parameters()]
        for p in net.parameters():
            p.grad.fill(0)
        net.forward(x)
        net.predict(some(7) * 3)
        assert net.backward(d_logits).tobytes() == d_x.tobytes()
        assert all(p.grad.tobytes() == g.tobytes() for p, g in zip(net.parameters(), grads, strict=True))
        assert d_x.shape == x.shape and d_x.dtype == dtype


def test_inputs_and_slopes_are_left_unchanged() -> None:
    net = small_net()
    x, d_logits = some(), np.ones((2, 12), np.float32)
    x.flags.writeable = d_logits.flags.writeable = False
    net.forward(x)
    net.backward(d_logits)
    net.predict(x)


def test_gradients_add_up() -> None:
    net = small_net(np.float64)
    net.forward(some())
    net.backward(np.ones((2, 12)))
    once = [p.grad.copy() for p in net.parameters()]
    net.backward(np.ones((2, 12)))
    assert all(np.allclose(p.grad, 2 * g) for p, g in zip(net.parameters(), once, strict=True))


def test_copy_is_its_own() -> None:
    net = small_net()
    twin = net.copy()
    before = net.predict(some())
    assert twin.predict(some()).tobytes() == before.tobytes() and twin.meta() == net.meta()
    twin.fc2.bias.value += 1
    assert net.predict(some()).tobytes() == before.tobytes()


def test_a_batch_of_none() -> None:
    assert small_net().predict(some(0)).shape == (0, 12)


@pytest.mark.parametrize("shape", [(3, 3, 4), (1, 2, 3, 4), (1, 3, 4, 3), (1, 36), (1, 1, 3, 3, 4)])
def test_wrong_shapes(shape: tuple[int, ...]) -> None:
    for call in (small_net().predict, small_net().forward):
        with pytest.raises(ShapeError, match=r"wanted \(N, 3, 3, 4\)"):
            call(np.zeros(shape, np.float32))


@pytest.mark.parametrize("shape", [(2, 13), (2, 1), (12,), (2, 12, 1), (2, 3, 4)])
def test_wrong_shapes_of_slopes(shape: tuple[int, ...]) -> None:
    net = small_net()
    net.forward(some(2))
    for call in (net.backward, net.add_gradients):
        with pytest.raises(ShapeError, match=r"d_logits .* wanted \(N, 12\)"):
            call(np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    "wrong", [{"height": 0}, {"width": -1}, {"planes": 0}, {"hidden": 0}, {"filters": (0, 1)}, {"filters": (1, 2, 3)}]
)
def test_wrong_sizes(wrong: dict[str, Any]) -> None:
    with pytest.raises(ShapeError, match="PolicyNet: got"):
        PolicyNet(**{"height": 3, "width": 3, "rng": np.random.default_rng(0), **wrong})


def test_only_two_dtypes(tmp_path: Path) -> None:
    small_net().save(tmp_path / "net.npz")
    for dtype in ("int32", np.float16, complex):
        with pytest.raises(ValueError, match="wanted float32 or float64"):
            PolicyNet(3, 3, rng=np.random.default_rng(0), dtype=dtype)
        with pytest.raises(ValueError, match="wanted float32 or float64"):
            PolicyNet.load(tmp_path / "net.npz", dtype=dtype)


def test_sizes_may_be_numpys_integers(tmp_path: Path) -> None:
    three, two = np.int64(3), np.int8(2)
    PolicyNet(three, three, filters=(two, two), hidden=two, rng=np.random.default_rng(0)).save(tmp_path / "net.npz")
    assert PolicyNet.load(tmp_path / "net.npz").predict(np.zeros((1, 2, 3, 3))).shape == (1, 9)


def test_damaged_weights_and_inputs_are_told() -> None:
    for i in range(8):
        for bad in (np.nan, np.inf, -np.inf):
            if bad == -np.inf and i < 6:
                continue  # a ReLU makes 0 of it: every logit is finite
            net = small_net()
            net.parameters()[i].value[...] = bad
            for call in (net.predict, net.forward):
                with pytest.raises(NonFiniteError, match=r"logits\[0, 0\] is .*damaged"):
                    call(some())
    for bad in (np.nan, np.inf):
        with pytest.raises(NonFiniteError):
            small_net().predict(some() * bad)


def test_backward_before_forward() -> None:
    for layer in (ReLU(), Flatten(), Dense(2, 3, rng=np.random.default_rng(0)), small_net().conv1):
        with pytest.raises(NoForwardError):
            layer.backward(np.zeros((1, 3), np.float32))
    with pytest.raises(ShapeError, match=r"wanted \(N, 2\)"):
        Dense(2, 3, rng=np.random.default_rng(0)).predict(np.zeros((1, 3)))


def test_sequential_is_a_layer() -> None:
    rng = np.random.default_rng(0)
    inner = Sequential([Dense(3, 4, rng=rng, name="a"), ReLU()])
    net = Sequential([inner, Dense(4, 2, rng=rng, name="b")])
    assert [p.name for p in net.parameters()] == ["a.weight", "a.bias", "b.weight", "b.bias"]
    assert net.forward(np.ones((5, 3), np.float32)).shape == (5, 2)
    assert net.backward(np.ones((5, 2), np.float32)).shape == (5, 3)
