"""Logits kept up to date stone by stone equal those of a whole pass, after any number of moves and undos."""

import numpy as np
import pytest
from stones_come_and_go import check_stones_that_come_and_go

from nn import PolicyNet
from nn.incremental import SINGLY, Incremental


def net_of(rng: np.random.Generator, height: int, width: int, dtype: type) -> PolicyNet:
    net = PolicyNet(height, width, rng=rng, dtype=dtype, filters=(5, 6), hidden=32)
    for parameter in net.parameters():
        parameter.value += (0.05 * rng.standard_normal(parameter.value.shape)).astype(dtype)
    return net


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("count", [1, SINGLY + 6])
@pytest.mark.parametrize(("height", "width"), [(15, 15), (6, 7), (1, 5), (4, 1), (9, 25)])
def test_any_stones_and_their_undoing(height, width, count, dtype, tolerance) -> None:
    rng = np.random.default_rng(height * width + count)
    net = net_of(rng, height, width, dtype)
    check_stones_that_come_and_go(Incremental(net, count), net, count, 70, tolerance)


def test_hundreds_of_moves_and_undos_do_not_wander_off() -> None:
    rng = np.random.default_rng(5)
    net = net_of(rng, 15, 15, np.float32)
    kept, cells = Incremental(net, 1), rng.integers(225, size=400)
    for cell in cells.tolist():
        kept.put_one(0, 0, cell)
        kept.put_one(0, 0, cell, -1)
    wanted = net.predict(np.zeros((1, 2, 15, 15), np.float32))
    assert np.abs(kept.logits(np.array([0])) - wanted).max() <= 1e-5 * np.abs(wanted).max()


def test_what_logits_returns_is_ones_own() -> None:
    net = net_of(np.random.default_rng(6), 5, 5, np.float32)
    kept, one = Incremental(net, 1), np.array([0])
    before = kept.logits(one)
    copy = before.copy()
    kept.put(one, one, np.array([12]))
    kept.logits(one)[...] = 7
    assert before.tobytes() == copy.tobytes()
    kept.reset(one)
    assert kept.logits(one).tobytes() == copy.tobytes()
