"""Java's arithmetic: additions in order, and its way with a softmax, a maximum and a draw."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from nn import PolicyNet, ShapeError
from nn.exact import exact_dense, exact_forward, exact_outputs, java_argmax, java_sample_action, java_softmax
from nn.java_random import JavaRandom

PARITY = Path(__file__).parent / "data" / "parity"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 7, 8, 9, 16, 33, 225, 256])
def test_dense_adds_first_input_first_starting_from_the_bias(m: int, dtype: type) -> None:
    rng = np.random.default_rng(m)
    for n, d in [(1, 1), (2, 127), (1, 128), (1, 129), (2, 1000)]:
        x, weight, bias = (rng.standard_normal(shape).astype(dtype) for shape in [(n, d), (d, m), (m,)])
        expected = np.empty((n, m), dtype)
        for row in range(n):
            total = bias.copy()
            for i in range(d):
                total = total + x[row, i] * weight[i]
            expected[row] = total
        assert exact_dense(x, weight, bias).tobytes() == expected.tobytes()


def test_negative_zero_survives() -> None:
    bias = np.array([-0.0, -0.0, 0.0])
    out = exact_dense(np.array([[1.0]]), np.array([[-0.0, 0.0, -0.0]]), bias)
    assert np.signbit(out).tolist() == [[True, False, False]]


def test_matrix_product_agrees_with_java_order_up_to_rounding() -> None:
    net = PolicyNet.java((5, 6, 7, 8), 9)
    rng = np.random.default_rng(0)
    x = (rng.random((3, 2, 15, 15)) < 0.2).astype(np.float64)
    np.testing.assert_allclose(net.predict(x), exact_forward(net, x), rtol=0, atol=1e-12)
    one_by_one = np.concatenate([exact_forward(net, x[i : i + 1]) for i in range(3)])
    assert exact_forward(net, x).tobytes() == one_by_one.tobytes()


def test_a_golden_position_bit_for_bit() -> None:
    golden = json.loads((PARITY / "forward.json").read_text())
    net = PolicyNet.java(**golden["nets"][1])
    entry = next(p for p in golden["positions"] if p["net"] == 1 and len(p["moves"]) > 9)
    x = np.zeros((1, 2, 15, 15))
    for ply, (row, col) in enumerate(entry["moves"]):
        x[0, (ply + len(entry["moves"])) % 2, row, col] = 1
    outputs = exact_outputs(net, x)
    for name, i in {"conv1": 1, "conv2": 3, "fc1": 5, "fc1_relu": 6, "logits": 7}.items():
        assert hashlib.sha256(outputs[i].astype(">f8").tobytes()).hexdigest() == entry["sha256"][name]


def java_softmax_by_definition(x: np.ndarray) -> np.ndarray:
    largest = x[0]
    for v in x:
        if v > largest:
            largest = v
    with np.errstate(all="ignore"):
        e = np.exp(x - largest)
        total = 0.0
        for v in e:
            total = total + v
        return e / total


def special_rows() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    inf, nan = np.inf, np.nan
    rows = [
        [nan, 1, 2],
        [1, nan, 2],
        [-inf] * 4,
        [-inf, 3, -inf],
        [inf, 1],
        [1, inf, inf],
        [-0.0, 0.0],
        [0.0, -0.0],
        [5],
    ]
    rows += [[800, -800, 1], [nan, nan], [-inf, nan], [1, 1, 1]]
    return [np.array(row, dtype=np.float64) for row in rows] + [rng.standard_normal(225) for _ in range(5)]


@pytest.mark.parametrize("x", special_rows(), ids=str)
def test_softmax_and_argmax_by_definition(x: np.ndarray) -> None:
    assert np.array_equal(java_softmax(x), java_softmax_by_definition(x), equal_nan=True)
    best = 0
    for i, v in enumerate(x):
        if v > x[best]:
            best = i
    assert java_argmax(x) == best


def test_sampling_by_definition() -> None:
    rng = np.random.default_rng(5)
    rows = [np.zeros(5), np.full(5, np.nan), np.array([0, 0.25, 0, 0, 0.75]), np.full(3, 0.4), np.full(5, 0.05)]
    rows += [rng.dirichlet(np.ones(225)) for _ in range(3)]
    for probs in rows:
        fast, slow = JavaRandom(1), JavaRandom(1)
        for _ in range(50):
            p, total, wanted = slow.next_double(), 0.0, None
            for i, v in enumerate(probs):
                total = total + v
                if p <= total and wanted is None:
                    wanted = i
            assert java_sample_action(probs, fast) == (len(probs) - 1 if wanted is None else wanted)


class Zero(JavaRandom):
    def next_double(self) -> float:
        return 0.0


def test_a_draw_of_zero_gives_the_first_index_even_at_probability_zero() -> None:
    assert java_sample_action(np.array([0.0, 1.0]), Zero(0)) == 0


def test_wrong_shapes() -> None:
    net = PolicyNet(3, 4, filters=(1, 1), hidden=1, rng=np.random.default_rng(0))
    for shape in [(2, 3, 4), (1, 3, 3, 4), (1, 1, 3, 4), (1, 2, 4, 4)]:
        with pytest.raises(ShapeError, match="wanted"):
            exact_forward(net, np.zeros(shape))
