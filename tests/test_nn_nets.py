"""The other layers and networks: gradients, learning beside use, files of every kind, and what a network costs."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sign_reversal import every_reversed_sign_is_noticed

from nn import Conv2D, NoForwardError, PolicyNet, ReLU, Sequential, ShapeError, WeightsError, losses
from nn.board_net import AnswerError, BoardNet, RandomnessError
from nn.branches import Branches
from nn.conv_value_net import ConvValueNet
from nn.cost import net_costs
from nn.gradcheck import GradientError, check_layer, check_loss, random_slope
from nn.java_random import JavaRandom
from nn.layers import Dense, Flatten, FloatArray, NonFiniteError, Tanh
from nn.losses import squared_error, weighted_cross_entropy
from nn.norm import BatchNorm2D, Dropout
from nn.optim import Adam
from nn.pool import GlobalPool
from nn.registry import NETS, load_net, make_net
from nn.residual import Residual, residual_block
from nn.residual_net import PolicyValueNet
from nn.value_net import ValueNet
from nn.weights import save_arrays


class SameAgain:
    """Draws the same numbers every time, so that a forward with Dropout can be repeated."""

    def random(self, size: tuple[int, ...]) -> np.ndarray:
        return np.random.default_rng(5).random(size)

    def standard_normal(self, size: tuple[int, ...]) -> np.ndarray:
        return np.random.default_rng(6).standard_normal(size)


def stirred(net, rng):
    """Give every weight and bias a value of its own, so that nothing is 0 or 1 by chance."""
    for parameter in net.parameters():
        if parameter.value.ndim == 1:
            parameter.value[...] = rng.uniform(0.5, 1.5, parameter.value.shape) * rng.choice([-1.0, 1.0])
    return net


class ButBiasesBeforeNorm(Sequential):
    """The same layers, not asked about the convolutions' biases: normalisation takes off whatever they add.

    Their slope is 0, which differences of rounded numbers cannot confirm to seven digits; see `useless`.
    """

    def parameters(self):
        return [p for p in super().parameters() if not (p.name.startswith("conv") and p.name.endswith("bias"))]

    def useless(self) -> float:
        """The largest slope of those biases."""
        asked = {parameter.name for parameter in self.parameters()}
        return max(float(np.abs(p.grad).max()) for p in super().parameters() if p.name not in asked)


def check_tanh() -> float:
    rng = np.random.default_rng(1)
    shapes = [(1, 1), (3, 4), (1, 2, 3, 4)]
    return max(check_layer(Tanh(), rng.standard_normal(shape), random_slope(rng, shape)) for shape in shapes)


def check_batch_norm() -> float:
    rng = np.random.default_rng(2)
    worst = 0.0
    for shape in [(1, 1, 1, 3), (1, 2, 3, 4), (3, 3, 2, 1), (2, 2, 4, 3)]:
        norm = stirred(BatchNorm2D(shape[1], dtype=np.float64), rng)
        x = 3 + 2 * rng.standard_normal(shape)
        worst = max(worst, check_layer(norm, x, random_slope(rng, shape), step=1e-4, as_learning=True))
    return worst


def check_dropout() -> float:
    rng = np.random.default_rng(3)
    shapes = [(2, 3), (1, 2, 3, 4)]
    return max(
        check_layer(Dropout(0.4, SameAgain()), rng.standard_normal(s), random_slope(rng, s), as_learning=True)
        for s in shapes
    )


def check_residual() -> float:
    rng = np.random.default_rng(4)
    worst = 0.0
    for shape in [(1, 1, 2, 3), (2, 3, 4, 3)]:
        inner = Conv2D(shape[1], shape[1], 3, rng=rng, dtype=np.float64)
        worst = max(worst, check_layer(Residual(inner), rng.standard_normal(shape), random_slope(rng, shape)))
    block = stirred(ButBiasesBeforeNorm(residual_block(2, rng=rng, dtype=np.float64, name="1")), rng)
    x = rng.standard_normal((2, 2, 3, 4))
    worst = max(worst, check_layer(block, x, random_slope(rng, x.shape), step=1e-4, as_learning=True))
    assert block.useless() < 1e-13
    return worst


def check_branches() -> float:
    rng = np.random.default_rng(5)
    branches = Branches([Dense(3, width, rng=rng, dtype=np.float64, name=f"b{width}") for width in (1, 4, 2)])
    return check_layer(branches, rng.standard_normal((2, 3)), random_slope(rng, (2, 7)))


def check_squared_error() -> float:
    rng = np.random.default_rng(6)
    worst = 0.0
    for shape in [(1,), (5,), (4, 1)]:
        targets = rng.standard_normal(shape)
        values = rng.standard_normal(shape)
        worst = max(worst, check_loss("squared error", lambda v, t=targets: losses.squared_error(v, t), values))
        worst = max(worst, abs(losses.squared_error(values, targets)[0] - ((values - targets) ** 2).mean()))
    return worst


def check_value_net() -> float:
    rng = np.random.default_rng(7)
    worst = 0.0
    for n, height, width in [(1, 3, 4), (3, 4, 3)]:
        net = stirred(ValueNet(height, width, filters=(2, 3), hidden=5, rng=rng, dtype=np.float64), rng)
        net.fc2.weight.value *= 0.1  # away from the flat ends of tanh
        x = rng.standard_normal((n, 2, height, width))
        targets = rng.standard_normal((n, 1))
        worst = max(worst, check_layer(net, x, lambda out, t=targets: squared_error(out, t), step=1e-4))
    return worst


def check_pool() -> float:
    rng = np.random.default_rng(9)
    shapes = [(1, 1, 1, 3), (2, 3, 4, 3)]
    return max(
        check_layer(GlobalPool(), rng.standard_normal(s), random_slope(rng, (s[0], 2 * s[1]))) for s in shapes
    )


def check_conv_value_net() -> float:
    rng = np.random.default_rng(10)
    worst = 0.0
    for n, height, width in [(1, 3, 4), (3, 4, 3)]:
        net = ConvValueNet(height, width, kernels=(3, 1), filters=3, hidden=4, rng=rng, dtype=np.float64)
        net = stirred(net, rng)
        net.parameters()[-1].value[...] = 0.1
        x = rng.standard_normal((n, 2, height, width))
        targets = rng.standard_normal((n, 1))
        worst = max(worst, check_layer(net, x, lambda out, t=targets: squared_error(out, t), step=1e-4))
    return worst


def check_nets_that_differ_while_learning() -> float:
    return max(check_net(name, seed=8) for name in ("three_plane", "residual", "policy_value"))


def check_net(name: str, seed: int) -> float:
    """A net under REINFORCE's loss with masked moves, and a squared error beside it if it has a value."""
    rng = np.random.default_rng(seed)
    sizes = {"filters": (2, 2)} if name == "three_plane" else {"filters": 2, "blocks": 1}
    sizes |= {} if name == "residual" else {"hidden": 3}
    net = stirred(make_net(name, 3, 3, rng=SameAgain(), dtype=np.float64, **sizes), rng)
    for parameter in net.parameters():
        if "value2" in parameter.name:
            parameter.value *= 0.1  # away from the flat ends of tanh
    x = rng.standard_normal((2, net.planes, 3, 3))
    mask = rng.random((2, 9)) < 0.7
    mask[:, 5] = True
    advantages, targets = rng.standard_normal(2), rng.standard_normal(2)

    def loss(out: FloatArray) -> tuple[float, FloatArray]:
        value, d_logits = weighted_cross_entropy(out[:, :9], np.full(2, 5), advantages, mask)
        if out.shape[1] == 9:
            return value, d_logits
        error, d_value = squared_error(out[:, 9], targets)
        return value + error, np.concatenate([d_logits, d_value[:, None]], axis=1)

    layers = ButBiasesBeforeNorm(net.layers)
    error = check_layer(layers, x, loss, step=1e-4, as_learning=True)
    assert layers.useless() < 1e-13
    return error


CHECKS = [
    check_tanh,
    check_batch_norm,
    check_dropout,
    check_residual,
    check_branches,
    check_squared_error,
    check_value_net,
    check_pool,
    check_conv_value_net,
    check_nets_that_differ_while_learning,
]


@pytest.mark.parametrize("check", CHECKS)
def test_gradients_agree_with_differences(check: Callable[[], float]) -> None:
    assert check() <= 1e-7


@pytest.mark.parametrize(
    ("owner", "name", "check", "least"),
    [
        (Tanh, "backward", check_tanh, 2),
        (BatchNorm2D, "backward", check_batch_norm, 5),
        (Dropout, "backward", check_dropout, 1),
        (Residual, "backward", check_residual, 2),
        (Branches, "backward", check_branches, 2),
        (losses, "squared_error", check_squared_error, 3),
        (ValueNet, "_backward", check_value_net, 1),
        (GlobalPool, "backward", check_pool, 2),
    ],
)
def test_one_reversed_sign_is_noticed(
    owner: object, name: str, check: Callable[[], float], least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    every_reversed_sign_is_noticed(owner, name, check, least, monkeypatch)


def test_a_layer_whose_predict_differs_is_not_passed_as_one_whose_predict_agrees() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(GradientError, match="predict differs"):
        x = rng.standard_normal((2, 2, 3, 3))
        check_layer(BatchNorm2D(2, dtype=np.float64), x, random_slope(rng, x.shape))


def test_pooling_by_its_definition() -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, 2, 4)).astype(np.float32)
    out = GlobalPool().predict(x)
    assert out.dtype == np.float32 and out.shape == (2, 6)
    for n, c in np.ndindex(2, 3):
        assert out[n, c] == pytest.approx(x[n, c].mean(), abs=1e-6) and out[n, 3 + c] == x[n, c].max()
    with pytest.raises(ShapeError, match="wanted"):
        GlobalPool().predict(x[0])
    pool = GlobalPool()
    with pytest.raises(NoForwardError):
        pool.backward(out)
    assert np.array_equal(pool.forward(x), out)
    with pytest.raises(ShapeError, match="d_out"):
        pool.backward(out[:, :3])


# --- Learning beside use ----------------------------------------------------------------------------------------------


def test_batch_norm_by_its_definition() -> None:
    rng = np.random.default_rng(0)
    norm = BatchNorm2D(3, dtype=np.float64, name="n")
    norm.weight.value[...], norm.bias.value[...] = [1, -2, 0.5], [0, 3, 1]
    x = rng.standard_normal((4, 3, 5, 2)) * 3 + 7
    out = norm.forward(x)
    for f in range(3):
        mean, variance = x[:, f].mean(), x[:, f].var()
        wanted = norm.weight.value[f] * (x[:, f] - mean) / np.sqrt(variance + 1e-5) + norm.bias.value[f]
        assert np.allclose(out[:, f], wanted, rtol=0, atol=1e-12)
        assert norm.running_mean[f] == pytest.approx(0.1 * mean)
        assert norm.running_variance[f] == pytest.approx(0.9 + 0.1 * x[:, f].var(ddof=1))
    assert list(norm.statistics()) == ["n.running_mean", "n.running_variance"]
    before = {name: array.copy() for name, array in norm.statistics().items()}
    used = norm.predict(x)
    assert all(np.array_equal(before[name], array) for name, array in norm.statistics().items())
    scale = norm.weight.value / np.sqrt(norm.running_variance + 1e-5)
    wanted = (x - norm.running_mean[:, None, None]) * scale[:, None, None] + norm.bias.value[:, None, None]
    assert np.allclose(used, wanted, rtol=0, atol=1e-12)
    assert np.array_equal(norm.predict(x[:1]), used[:1]), "one position at a time gives the same"


def test_running_statistics_come_to_those_of_the_data() -> None:
    rng = np.random.default_rng(1)
    norm = BatchNorm2D(2, dtype=np.float64)
    for _ in range(400):
        norm.forward(rng.standard_normal((64, 2, 3, 3)) * [[[2]], [[5]]] + [[[1]], [[-4]]])
    assert norm.running_mean == pytest.approx([1, -4], abs=0.2)
    assert norm.running_variance == pytest.approx([4, 25], rel=0.1)


def test_batch_norm_refuses_what_has_no_variance() -> None:
    norm = BatchNorm2D(2)
    with pytest.raises(ShapeError, match="needs two numbers or more"):
        norm.forward(np.zeros((1, 2, 1, 1), np.float32))
    for call in (norm.forward, norm.predict):
        with pytest.raises(ShapeError, match=r"wanted \(N, 2, H, W\)"):
            call(np.zeros((1, 3, 2, 2), np.float32))
    with pytest.raises(NoForwardError):
        norm.backward(np.zeros((1, 2, 1, 1), np.float32))
    norm.forward(np.zeros((1, 2, 2, 2), np.float32))
    with pytest.raises(ShapeError, match="d_out"):
        norm.backward(np.zeros((1, 2, 2, 1), np.float32))


def test_dropout_keeps_the_mean_and_leaves_out_its_share() -> None:
    for rng in (np.random.default_rng(0), JavaRandom(0)):
        x = np.full((200, 50), 3.0, np.float32)
        dropout = Dropout(0.3, rng)
        out = dropout.forward(x)
        assert out.dtype == np.float32
        assert (out == 0).mean() == pytest.approx(0.3, abs=0.02)
        assert np.unique(out).tolist() == pytest.approx([0, 3 / 0.7])
        assert np.array_equal(dropout.backward(x) == 0, out == 0), "the same entries on the way back"
        assert dropout.predict(x) is x
        assert not np.array_equal(dropout.forward(x), out), "others the next time"
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="wanted 0 <= share < 1"):
            Dropout(share, rng)
    with pytest.raises(ShapeError, match="d_out"):
        dropout.backward(x[:1])


def test_a_residual_of_nothing_is_the_thing_itself() -> None:
    inner = Conv2D(2, 2, 3, rng=np.random.default_rng(0))
    inner.weight.value[...] = 0
    x = np.random.default_rng(1).standard_normal((2, 2, 3, 3)).astype(np.float32)
    assert np.array_equal(Residual(inner).forward(x), x)
    with pytest.raises(ShapeError, match="wanted the same shape"):
        Residual(Flatten()).predict(x)


# --- Networks ---------------------------------------------------------------------------------------------------------


def small(name: str, dtype: type = np.float32) -> BoardNet:
    sizes = {"filters": 3, "blocks": 1} if "residual" in name or name == "policy_value" else {"filters": (2, 3)}
    if name in ("conv", "conv_value"):
        sizes = {"filters": 3, "kernels": (3, 1)}
    if name.startswith("line"):
        sizes = {"reach": 2, "hidden": 4, "features": 3}
    net = make_net(name, 3, 4, rng=np.random.default_rng(0), dtype=dtype, **sizes)
    net.forward(some(net, 5, dtype))  # so that running statistics are some that were gathered
    return net


def some(net: BoardNet, n: int = 2, dtype: type = np.float32) -> FloatArray:
    return np.random.default_rng(n).standard_normal((n, net.planes, 3, 4)).astype(dtype)


@pytest.mark.parametrize("name", NETS)
def test_a_file_gives_back_the_net_it_was_saved_from(name: str, tmp_path: Path) -> None:
    net, path = small(name), tmp_path / "net.npz"
    net.save(path)
    for loaded in (load_net(path), type(net).load(path), net.copy()):
        assert type(loaded) is type(net) and loaded.meta() == net.meta()
        assert loaded.predict(some(net)).tobytes() == net.predict(some(net)).tobytes()
        both = zip(net.arrays().values(), loaded.arrays().values(), strict=True)
        assert not any(np.shares_memory(mine, its) for mine, its in both)
    wide = load_net(path, np.float64)
    assert wide.dtype == np.float64 and wide.predict(some(net)).dtype == np.float64
    assert np.allclose(wide.predict(some(net)), net.predict(some(net)), atol=1e-5)
    for other in NETS.values():
        if other is not type(net):
            with pytest.raises(WeightsError, match=f"holds no {other.__name__}"):
                other.load(path)


@pytest.mark.parametrize("name", NETS)
def test_damaged_files_of_every_kind(name: str, tmp_path: Path) -> None:
    net, path = small(name), tmp_path / "net.npz"
    arrays, meta = net.arrays(), net.meta()

    def refusal(arrays: dict[str, FloatArray], meta: dict[str, object]) -> str:
        with pytest.raises(WeightsError, match=r"^net\.npz: ") as caught:
            NETS[name].from_arrays(arrays, meta, "net.npz")
        return str(caught.value)

    for key in meta:
        for value in (None, 0, 2.0, True, "x", [1, 2, 3], 10**9):
            refusal(arrays, {**meta, key: value})
        refusal(arrays, {k: v for k, v in meta.items() if k != key})
    for key in arrays:
        assert refusal({k: a for k, a in arrays.items() if k != key}, meta)
        longer = np.concatenate([arrays[key], arrays[key][:1]])
        assert f"{key} has shape" in refusal(arrays | {key: longer}, meta)
        assert f"{key} has dtype" in refusal(arrays | {key: arrays[key].astype(np.float64)}, meta)
    assert "unknown arrays ['more']" in refusal({**arrays, "more": np.zeros(2)}, meta)
    save_arrays(path, arrays, {**meta, "net": "Sequential"})
    with pytest.raises(WeightsError, match="holds no network: got net 'Sequential'"):
        load_net(path)


@pytest.mark.parametrize("name", NETS)
def test_a_net_fits_the_boards_it_can_be_moved_to(name: str) -> None:
    net = small(name)
    other = (net.height + 1, net.width + 2)
    assert net.fits(net.height, net.width)
    if net.fits(*other):
        moved = net.on_board(*other)
        assert (moved.height, moved.width) == other
        assert all((moved.arrays()[key] == array).all() for key, array in net.arrays().items())
    else:
        with pytest.raises(ShapeError, match="does not fit a board of"):
            net.on_board(*other)


@pytest.mark.parametrize("name", NETS)
def test_what_a_net_answers(name: str) -> None:
    net = small(name)
    x = some(net)
    assert net.predict(x).shape == (2, net.outputs)
    if net.HAS_POLICY:
        assert np.array_equal(net.logits(x), net.predict(x)[:, :12])
    else:
        with pytest.raises(AnswerError, match="not which move"):
            net.logits(x)
    if net.HAS_VALUE:
        assert np.array_equal(net.values(x), net.predict(x)[:, -1])
        assert np.abs(net.values(100 * x)).max() <= 1
    else:
        with pytest.raises(AnswerError, match="not how well"):
            net.values(x)
    with pytest.raises(ShapeError, match=rf"{type(net).__name__}: got x .* wanted \(N, {net.planes}, 3, 4\)"):
        net.predict(x[:, :, :2])
    with pytest.raises(ShapeError, match=rf"wanted \(N, {net.outputs}\)"):
        net.backward(np.zeros((2, net.outputs + 1), np.float32))
    net.parameters()[-1].value[...] = np.nan
    with pytest.raises(NonFiniteError, match="is nan"):
        net.predict(x)


@pytest.mark.parametrize("name", NETS)
def test_add_gradients_is_backward_without_d_x(name: str) -> None:
    net = small(name)
    slope = np.random.default_rng(1).standard_normal((2, net.outputs)).astype(np.float32)
    net.forward(some(net))
    for parameter in net.parameters():
        parameter.grad.fill(0)
    assert net.backward(slope).shape == (2, net.planes, 3, 4)
    grads = [parameter.grad.copy() for parameter in net.parameters()]
    net.add_gradients(slope)
    assert all(np.allclose(p.grad, 2 * g) for p, g in zip(net.parameters(), grads, strict=True))


def test_value_nets_fast_twin_equals_its_layers() -> None:
    rng = np.random.default_rng(0)
    net = ValueNet(5, 4, filters=(3, 2), hidden=6, rng=rng, dtype=np.float64)
    readable = Sequential(net.copy().layers)
    x, slope = rng.standard_normal((7, 2, 5, 4)), rng.standard_normal((7, 1))
    assert np.allclose(net.forward(x), readable.forward(x), rtol=0, atol=1e-13)
    assert np.allclose(net.predict(x), readable.predict(x), rtol=0, atol=1e-13)
    assert np.allclose(net.backward(slope), readable.backward(slope), rtol=0, atol=1e-13)
    for mine, its in zip(net.parameters(), readable.parameters(), strict=True):
        assert np.allclose(mine.grad, its.grad, rtol=0, atol=1e-12), mine.name


@pytest.mark.parametrize("name", NETS)
def test_every_net_learns_some_positions_by_heart(name: str) -> None:
    sizes = {"filters": 8, "blocks": 1} if name in ("residual", "policy_value") else {}
    net = make_net(name, 4, 4, rng=np.random.default_rng(0), **sizes)
    rng = np.random.default_rng(1)
    x = (rng.random((24, net.planes, 4, 4)) < 0.3).astype(np.float32)
    moves, results = np.arange(24) % 16, np.arange(24) % 2 * 1.6 - 0.8
    adam = Adam(net.parameters(), 3e-3)
    for _ in range(120):
        adam.zero_grad()
        out = net.forward(x)
        slope = np.zeros_like(out)
        if net.HAS_POLICY:
            mask = np.ones((24, 16), bool)
            slope[:, :16] = weighted_cross_entropy(out[:, :16], moves, np.ones(24, np.float32), mask)[1]
        if net.HAS_VALUE:
            slope[:, -1] = squared_error(out[:, -1], results)[1]
        net.add_gradients(slope)
        adam.step()
    if net.HAS_POLICY:
        assert (net.logits(x).argmax(axis=1) == moves).all()
    if net.HAS_VALUE:
        assert np.abs(net.values(x) - results).max() < 0.3


def test_a_loaded_net_with_dropout_learns_once_it_is_told_what_to_draw_from(tmp_path: Path) -> None:
    net = small("three_plane")
    net.save(tmp_path / "net.npz")
    for other in (load_net(tmp_path / "net.npz"), net.copy()):
        with pytest.raises(RandomnessError, match=r"use_rng\(rng\)"):
            other.forward(some(net))
        other.use_rng(np.random.default_rng(3))
        net.use_rng(np.random.default_rng(3))
        assert other.forward(some(net)).tobytes() == net.forward(some(net)).tobytes()


def test_the_two_heads_share_what_lies_below() -> None:
    net = PolicyValueNet(3, 4, filters=3, blocks=1, rng=np.random.default_rng(0), dtype=np.float64)
    for column in (0, 12):
        net.forward(some(net, 2, np.float64))
        for parameter in net.parameters():
            parameter.grad.fill(0)
        slope = np.zeros((2, 13))
        slope[:, column] = 1
        net.backward(slope)
        moved = {parameter.name for parameter in net.parameters() if np.abs(parameter.grad).max() > 1e-12}
        assert {"conv1.weight", "conv2a.weight", "conv2b.weight"} <= moved
        assert ("fc_policy.weight" in moved) == (column == 0)
        assert ("fc_value1.weight" in moved) == (column == 12)


def test_squared_error() -> None:
    loss, slope = squared_error(np.array([1.0, -2.0]), np.array([0.0, 1.0]))
    assert loss == 5.0 and slope.tolist() == [1.0, -3.0]
    for values, targets in [(np.zeros(2), np.zeros((2, 1))), (np.zeros(0), np.zeros(0))]:
        with pytest.raises(ShapeError, match="one shape"):
            squared_error(values, targets)
    with pytest.raises(NonFiniteError, match=r"targets\[1\]"):
        squared_error(np.zeros(2), np.array([0, np.nan]))


# --- What a network costs ---------------------------------------------------------------------------------------------


def test_costs_of_the_java_programs_network_by_hand() -> None:
    rows = net_costs(PolicyNet(rng=np.random.default_rng(0)))
    assert [(row.name, row.shape, row.parameters, row.multiply_adds) for row in rows] == [
        ("conv1", (16, 15, 15), 16 * 2 * 9 + 16, 225 * 16 * 2 * 9),
        ("relu", (16, 15, 15), 0, 0),
        ("conv2", (32, 15, 15), 32 * 16 * 9 + 32, 225 * 32 * 16 * 9),
        ("relu", (32, 15, 15), 0, 0),
        ("flatten", (7200,), 0, 0),
        ("fc1", (256,), 7200 * 256 + 256, 7200 * 256),
        ("relu", (256,), 0, 0),
        ("fc2", (225,), 256 * 225 + 225, 256 * 225),
    ]


@pytest.mark.parametrize("name", NETS)
def test_costs_add_up_to_the_parameters_and_end_in_the_outputs(name: str) -> None:
    net = small(name)
    rows = net_costs(net)
    assert sum(row.parameters for row in rows) == sum(parameter.value.size for parameter in net.parameters())
    assert rows[-1].shape == (net.outputs,)
    for row in rows:
        assert (eval(row.formula) if row.multiply_adds else 0) == row.multiply_adds, row


def test_every_multiply_add_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count them while they happen: the sizes of all matrix products of one position's predict."""
    net = small("policy_value")
    counted = 0
    matmul = np.matmul

    def counting(a, b, **named):
        nonlocal counted
        counted += a.shape[-2] * a.shape[-1] * b.shape[-1]
        return matmul(a, b, **named)

    monkeypatch.setattr(np, "matmul", counting)
    net.predict(some(net, 1))
    conv = [row.multiply_adds for row in net_costs(net) if row.name.startswith("conv")]
    assert counted == sum(conv)
    assert isinstance(net.layers[2], ReLU)
