"""Logits kept up to date stone by stone equal those of a whole pass, after any number of moves and undos."""

import numpy as np
import pytest
from stones_come_and_go import (
    check_logits_are_ones_own,
    check_moves_and_undos_do_not_wander_off,
    check_stones_that_come_and_go,
)
from twins_agree import nudged

from nn import PolicyNet
from nn.incremental import SINGLY, Incremental


def net_of(rng: np.random.Generator, height: int, width: int, dtype: type) -> PolicyNet:
    return nudged(PolicyNet(height, width, rng=rng, dtype=dtype, filters=(5, 6), hidden=32), rng)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("count", [1, SINGLY + 6])
@pytest.mark.parametrize(("height", "width"), [(15, 15), (6, 7), (1, 5), (4, 1), (9, 25)])
def test_any_stones_and_their_undoing(height, width, count, dtype, tolerance) -> None:
    rng = np.random.default_rng(height * width + count)
    net = net_of(rng, height, width, dtype)
    check_stones_that_come_and_go(Incremental(net, count), net, count, 70, tolerance)


def test_hundreds_of_moves_and_undos_do_not_wander_off() -> None:
    net = net_of(np.random.default_rng(5), 15, 15, np.float32)
    check_moves_and_undos_do_not_wander_off(Incremental(net, 1), net)


def test_what_logits_returns_is_ones_own() -> None:
    check_logits_are_ones_own(Incremental(net_of(np.random.default_rng(6), 5, 5, np.float32), 1))
