"""The local policy's logits kept up to date stone by stone equal those of a whole pass, after any moves and undos."""

import numpy as np
import pytest
from stones_come_and_go import (
    check_logits_are_ones_own,
    check_moves_and_undos_do_not_wander_off,
    check_stones_that_come_and_go,
)
from twins_agree import nudged

from nn import ConvPolicyNet, ShapeError
from nn.conv_incremental import TOGETHER, ConvIncremental


def net_of(rng: np.random.Generator, height: int, width: int, dtype: type, kernels=(9, 1)) -> ConvPolicyNet:
    return nudged(ConvPolicyNet(height, width, rng=rng, dtype=dtype, kernels=kernels, filters=8), rng)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("count", [1, TOGETHER + 6])
@pytest.mark.parametrize(
    ("height", "width", "kernels"),
    [(15, 15, (9, 1)), (6, 7, (9, 1)), (1, 5, (5,)), (4, 1, (3, 1, 1)), (9, 25, (5, 1)), (3, 4, (1, 1))],
)
def test_any_stones_and_their_undoing(height, width, kernels, count, dtype, tolerance) -> None:
    rng = np.random.default_rng(height * width + count)
    net = net_of(rng, height, width, dtype, kernels)
    check_stones_that_come_and_go(ConvIncremental(net, count), net, count, 36, tolerance)


def test_hundreds_of_moves_and_undos_do_not_wander_off() -> None:
    net = net_of(np.random.default_rng(5), 15, 15, np.float32)
    check_moves_and_undos_do_not_wander_off(ConvIncremental(net, 1), net)


def test_what_logits_returns_is_ones_own() -> None:
    check_logits_are_ones_own(ConvIncremental(net_of(np.random.default_rng(6), 5, 5, np.float32), 1))


def test_a_net_of_several_large_windows_is_refused() -> None:
    with pytest.raises(ShapeError, match=r"only the first window .* \(3, 3\)"):
        ConvIncremental(net_of(np.random.default_rng(7), 5, 5, np.float32, (3, 3)), 1)
