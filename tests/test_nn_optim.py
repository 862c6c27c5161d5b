"""Steps: the formulas written out, learning on a small problem, and stop-and-continue bit for bit."""

import numpy as np
import pytest

from nn import Dense, NonFiniteError, Parameter, ReLU, Sequential, ShapeError, WeightsError
from nn.optim import PIECE, SGD, Adam, LearningRateError, StepLR, clip_gradients


def parameters(dtype: type = np.float64) -> list[Parameter]:
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (5,), (2, 3, 1, 2), (PIECE // 100 + 7, 250)]
    values = [rng.standard_normal(shape).astype(dtype) for shape in shapes]
    return [Parameter("same", value) for value in [*values, np.asfortranarray(values[-1] + 1)]]


def draw_gradients(params: list[Parameter], rng: np.random.Generator) -> None:
    for p in params:
        p.grad[...] = rng.standard_normal(p.value.shape)


def test_sgd_by_definition() -> None:
    for momentum in (0.0, 0.9):
        mine, rng = parameters(), np.random.default_rng(1)
        values, velocities = [p.value.copy() for p in mine], [np.zeros_like(p.value) for p in mine]
        optimizer = SGD(mine, 0.1, momentum)
        for _ in range(4):
            draw_gradients(mine, rng)
            for i, p in enumerate(mine):
                velocities[i] = momentum * velocities[i] + p.grad
                values[i] = values[i] - 0.1 * velocities[i]
            optimizer.step()
        assert all(np.allclose(p.value, v, rtol=1e-13, atol=0) for p, v in zip(mine, values, strict=True))


def test_adam_by_definition_and_fast_both_follow_the_formulas() -> None:
    for lr, b1, b2, eps in [(1e-3, 0.9, 0.999, 1e-8), (0.1, 0.5, 0.9, 1e-2)]:
        for take in (Adam.step_by_definition, Adam.step):
            mine, rng = parameters(), np.random.default_rng(2)
            values = [p.value.copy() for p in mine]
            m, v = ([np.zeros_like(p.value) for p in mine] for _ in range(2))
            optimizer = Adam(mine, lr, (b1, b2), eps)
            for t in range(1, 6):
                draw_gradients(mine, rng)
                for i, p in enumerate(mine):
                    m[i] = b1 * m[i] + (1 - b1) * p.grad
                    v[i] = b2 * v[i] + (1 - b2) * p.grad**2
                    values[i] = values[i] - lr * (m[i] / (1 - b1**t)) / (np.sqrt(v[i] / (1 - b2**t)) + eps)
                take(optimizer)
            assert all(np.allclose(p.value, v, rtol=1e-11, atol=1e-13) for p, v in zip(mine, values, strict=True))


def test_adams_first_step_is_the_learning_rate_against_the_sign() -> None:
    p = Parameter("p", np.zeros(3))
    p.grad[...] = [5.0, -1e-3, 0.0]
    Adam([p]).step()
    np.testing.assert_allclose(p.value, [-1e-3, 1e-3, 0], rtol=1e-4)


def test_adam_refuses_a_gradient_that_lies_otherwise_in_memory() -> None:
    for value in (np.ones((3, 4)), np.asfortranarray(np.ones((3, 4)))):
        parameter = Parameter("turned", value)
        optimizer = Adam([parameter])
        parameter.grad = np.ones((4, 3)).T if value.flags.c_contiguous else np.ones((3, 4))
        with pytest.raises(ShapeError, match="lie in memory differently"):
            optimizer.step()
        assert (parameter.value == 1).all()


def test_steps_keep_arrays_and_dtypes() -> None:
    for make in (lambda ps: SGD(ps, 0.1, 0.9), lambda ps: Adam(ps)):
        mine = parameters(np.float32)
        arrays = [p.value for p in mine]
        optimizer = make(mine)
        draw_gradients(mine, np.random.default_rng(3))
        grads = [p.grad.copy() for p in mine]
        optimizer.step()
        assert all(p.value is a and a.dtype == np.float32 for p, a in zip(mine, arrays, strict=True))
        assert all((p.grad == g).all() for p, g in zip(mine, grads, strict=True))
        optimizer.zero_grad()
        assert all((p.grad == 0).all() for p in mine)


def test_state_continues_bit_for_bit() -> None:
    for make in (lambda ps: SGD(ps, 0.1, 0.9), lambda ps: Adam(ps, 0.05)):
        straight, stopped = parameters(np.float32), parameters(np.float32)
        a, b = make(straight), make(stopped)
        schedules = StepLR(a, 2, 0.5), StepLR(b, 2, 0.5)
        rng = np.random.default_rng(4)
        for step in range(6):
            if step == 3:
                state = {name: array.copy() for name, array in b.state().items()}
                calls = schedules[1].state()
                b = make(stopped)
                b.load_state(state)
                schedules = schedules[0], StepLR(b, 2, 0.5)
                schedules[1].load_state(calls)
            draw_gradients(straight, rng)
            for mine, its in zip(straight, stopped, strict=True):
                its.grad[...] = mine.grad
            for part in (a, b, *schedules):
                part.step()
        assert all(p.value.tobytes() == q.value.tobytes() for p, q in zip(straight, stopped, strict=True))
        assert a.learning_rate == b.learning_rate == pytest.approx((0.1 if isinstance(a, SGD) else 0.05) / 8)


def test_state_is_a_copy_and_a_wrong_one_changes_nothing() -> None:
    mine = parameters()
    adam = Adam(mine)
    draw_gradients(mine, np.random.default_rng(5))
    adam.step()
    state = adam.state()
    before = {name: array.copy() for name, array in state.items()}
    adam.step()
    assert all(np.array_equal(state[name], array) for name, array in before.items())
    now = adam.state()
    key = "mean.0.same"
    for bad in (
        {name: array for name, array in state.items() if name != key},
        {**state, "more": np.zeros(1)},
        {**state, key: np.zeros((4, 3))},
        {**state, key: np.zeros((3, 4), np.float32)},
        {**state, key: np.full((3, 4), np.nan)},
        SGD(mine, 0.1).state(),
    ):
        with pytest.raises(WeightsError, match="state of Adam"):
            adam.load_state(bad)
        assert all(np.array_equal(adam.state()[name], array) for name, array in now.items())


def test_step_lr() -> None:
    sgd = SGD([], 1.0)
    schedule = StepLR(sgd, 3, 0.1)
    rates = []
    for _ in range(7):
        schedule.step()
        rates.append(sgd.learning_rate)
    assert rates == pytest.approx([1, 1, 0.1, 0.1, 0.1, 0.01, 0.01])


def test_clip_gradients() -> None:
    a, b = Parameter("a", np.zeros((2, 2))), Parameter("b", np.zeros(1))
    a.grad[...], b.grad[...] = [[1, 2], [2, 4]], 12.0
    assert clip_gradients([a, b], 20) == pytest.approx(13)
    assert a.grad.tolist() == [[1, 2], [2, 4]]
    assert clip_gradients([a, b], 6.5) == pytest.approx(13)
    assert np.allclose(a.grad, [[0.5, 1], [1, 2]]) and np.allclose(b.grad, 6)
    for bad in (np.nan, np.inf):
        b.grad[...] = bad
        with pytest.raises(NonFiniteError, match="gradient of b is"):
            clip_gradients([a, b], 1)
    assert np.allclose(a.grad, [[0.5, 1], [1, 2]])


def test_both_learn_xor() -> None:
    x = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    wanted = np.array([[0], [1], [1], [0]], np.float32)
    for make in (lambda ps: SGD(ps, 0.1, 0.9), lambda ps: Adam(ps, 0.02)):
        rng = np.random.default_rng(6)
        net = Sequential([Dense(2, 16, rng=rng), ReLU(), Dense(16, 1, rng=rng)])
        optimizer = make(net.parameters())
        for _ in range(300):
            optimizer.zero_grad()
            net.backward((net.forward(x) - wanted) / 4)
            optimizer.step()
        assert np.abs(net.predict(x) - wanted).max() < 0.1


@pytest.mark.parametrize("make", [SGD, Adam])
@pytest.mark.parametrize("rate", [float("nan"), float("inf"), -0.1])
def test_a_learning_rate_that_is_no_step_is_refused(make, rate):
    with pytest.raises(LearningRateError, match="finite"):
        make([], rate)
