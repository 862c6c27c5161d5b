"""Lines: what a cell is shown equals the definition cell by cell, and LinePolicyNet's twins equal its layers."""

import numpy as np
import pytest
from stones_come_and_go import check_logits_are_ones_own, check_stones_that_come_and_go

from env.symmetry import apply
from nn import LinePolicyNet, LineValueNet, NoForwardError, Sequential, ShapeError
from nn.gradcheck import check_layer, random_slope
from nn.line_incremental import TOGETHER, LineIncremental
from nn.line_tables import CELLS, holds_stones, line_numbers
from nn.lines import DIRECTIONS, WAYS, LineWindows, SumOverWays

BOARDS = [(15, 15), (7, 9), (1, 5), (4, 1), (2, 3)]


def stones(rng, count, height, width, dtype=np.float64, share=0.3):
    digits = rng.choice(3, size=(count, height, width), p=[1 - share, share / 2, share / 2])
    return np.stack([digits == 1, digits == 2], axis=1).astype(dtype)


def line_net(rng, height=15, width=15, dtype=np.float64, **sizes):
    net = LinePolicyNet(height, width, rng=rng, dtype=dtype, **({"hidden": 12, "features": 6} | sizes))
    for parameter in net.parameters():
        parameter.value += (0.1 * rng.standard_normal(parameter.value.shape)).astype(dtype)
    return net


def windows_by_definition(x, reach):
    count, planes, height, width = x.shape
    out = np.zeros((count, WAYS, planes + 1, 2 * reach, height, width))
    for n, way, row, col in np.ndindex(count, WAYS, height, width):
        down, right = DIRECTIONS[way]
        for place, step in enumerate([*range(-reach, 0), *range(1, reach + 1)]):
            there, across = row + step * down, col + step * right
            if 0 <= there < height and 0 <= across < width:
                out[n, way, :planes, place, row, col] = x[n, :, there, across]
            else:
                out[n, way, planes, place, row, col] = 1
    return out.reshape(count * WAYS, -1, height, width)


@pytest.mark.parametrize(("height", "width", "reach"), [(5, 7, 2), (3, 2, 4), (1, 6, 3), (9, 9, 4)])
def test_a_cell_is_shown_what_the_definition_says(height, width, reach):
    rng = np.random.default_rng(height)
    x = rng.standard_normal((2, 3, height, width))
    layer = LineWindows(reach)
    wanted = windows_by_definition(x, reach)
    assert np.array_equal(layer.predict(x), wanted) and np.array_equal(layer.forward(x), wanted)


@pytest.mark.parametrize(("layer", "shape"), [(LineWindows(2), (2, 2, 3, 4)), (SumOverWays(), (16, 2, 2, 3))])
def test_the_slopes_of_both_layers_are_those_of_differences(layer, shape):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(shape)
    check_layer(layer, x, random_slope(rng, layer.predict(x).shape))


def test_layers_name_the_shapes_they_want():
    for layer, x in ((LineWindows(2), np.zeros((2, 3, 4))), (SumOverWays(), np.zeros((9, 2, 3, 3)))):
        with pytest.raises(ShapeError, match="wanted"):
            layer.predict(x)
        with pytest.raises(NoForwardError):
            layer.backward(x)
    layer = LineWindows(2)
    layer.forward(np.zeros((1, 2, 3, 3)))
    with pytest.raises(ShapeError, match=r"wanted \(8, 12, 3, 3\)"):
        layer.backward(np.zeros((8, 12, 3, 4)))


@pytest.mark.parametrize(("height", "width"), [(3, 4), (1, 5)])
@pytest.mark.parametrize("as_stones", [True, False])
def test_the_slopes_of_the_net_are_those_of_differences(height, width, as_stones):
    """Stones go through the tables, other numbers through the layers; a nudged stone is such another number."""
    rng = np.random.default_rng(3)
    net = line_net(rng, height, width, reach=2, hidden=5, features=3)
    x = stones(rng, 2, height, width) if as_stones else rng.standard_normal((2, 2, height, width))
    check_layer(net, x, random_slope(rng, (2, height * width)), step=1e-4)


@pytest.mark.parametrize(("dtype", "logits", "slopes"), [(np.float32, 1e-5, 1e-5), (np.float64, 1e-12, 1e-12)])
@pytest.mark.parametrize(("height", "width"), BOARDS)
@pytest.mark.parametrize("reach", [1, 4])
def test_the_tables_equal_the_layers(height, width, reach, dtype, logits, slopes):
    rng = np.random.default_rng(10 * height + reach)
    for count in (1, 3, CELLS // (height * width) + 2 if height * width > 200 else 5):
        net = line_net(rng, height, width, dtype, reach=reach)
        x = stones(rng, count, height, width, dtype, share=float(rng.choice([0.0, 0.1, 0.6])))
        d_logits = rng.standard_normal((count, height * width)).astype(dtype)
        layers = Sequential(net.layers)
        wanted = layers.forward(x)
        layers.backward(d_logits)
        by_layers = [parameter.grad.copy() for parameter in net.parameters()]
        size = np.abs(wanted).max()
        assert np.abs(net.predict(x) - wanted).max() <= logits * size
        for parameter in net.parameters():
            parameter.grad[...] = 0
        assert np.abs(net.forward(x) - wanted).max() <= logits * size
        net.predict(x[::-1])  # keeps nothing
        net.add_gradients(d_logits)
        for parameter, theirs in zip(net.parameters(), by_layers, strict=True):
            assert np.abs(parameter.grad - theirs).max() <= slopes * np.abs(theirs).max() + 1e-30, parameter


def test_d_x_is_that_of_the_layers_after_a_forward_of_stones():
    rng = np.random.default_rng(6)
    net = line_net(rng, 5, 6)
    x, d_logits = stones(rng, 3, 5, 6), rng.standard_normal((3, 30))
    layers = Sequential(net.copy().layers)
    layers.forward(x)
    net.forward(x)
    assert np.array_equal(net.backward(d_logits), layers.backward(d_logits))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-12)])
def test_the_value_net_by_tables_equals_its_layers(dtype, tolerance):
    """float32: sums over some thousand cells are added in another order, and terms of either sign cancel."""
    rng = np.random.default_rng(12)
    net = LineValueNet(15, 15, hidden=12, features=6, dense=5, rng=rng, dtype=dtype)
    for count in (1, CELLS // 225 + 2):
        x, d_values = stones(rng, count, 15, 15, dtype), rng.standard_normal((count, 1)).astype(dtype)
        layers = net.copy()
        readable = Sequential(layers.layers)
        wanted = readable.forward(x)
        readable.backward(d_values)
        assert np.abs(net.predict(x) - wanted).max() <= tolerance
        for parameter in net.parameters():
            parameter.grad[...] = 0
        assert np.abs(net.forward(x) - wanted).max() <= tolerance
        net.predict(x[::-1])
        net.add_gradients(d_values)
        for mine, its in zip(net.parameters(), layers.parameters(), strict=True):
            assert np.abs(mine.grad - its.grad).max() <= tolerance * np.abs(its.grad).max(), mine


def test_the_slopes_of_the_value_net_are_those_of_differences():
    rng = np.random.default_rng(13)
    net = LineValueNet(3, 4, reach=2, hidden=5, features=3, dense=4, rng=rng, dtype=np.float64)
    check_layer(net, stones(rng, 2, 3, 4), random_slope(rng, (2, 1)), step=1e-5, tolerance=1e-6)


def test_only_stones_go_by_table():
    rng = np.random.default_rng(7)
    x = stones(rng, 4, 5, 5)
    assert holds_stones(x) and holds_stones(x[:0])
    for wrong in (0.5, -1, 2, np.nan):
        other = x.copy()
        other[1, 0, 2, 2] = wrong
        assert not holds_stones(other)
    both = x.copy()
    both[2, :, 3, 3] = 1
    assert not holds_stones(both)
    net = line_net(rng, 5, 5)
    assert np.allclose(net.predict(both), Sequential(net.layers).predict(both), rtol=1e-12)


@pytest.mark.parametrize("kind", [LinePolicyNet, LineValueNet])
def test_no_positions_have_no_answers(kind):
    net = kind(5, 6, rng=np.random.default_rng(1))
    nothing = np.zeros((0, 2, 5, 6), np.float32)
    assert net.predict(nothing).shape == net.forward(nothing).shape == (0, net.outputs)
    net.add_gradients(np.zeros((0, net.outputs), np.float32))
    assert not any(parameter.grad.any() for parameter in net.parameters())


def test_turning_the_board_turns_the_logits():
    rng = np.random.default_rng(8)
    net = line_net(rng, 9, 9)
    x = stones(rng, 2, 9, 9)
    logits = net.predict(x).reshape(2, 9, 9)
    for k in range(8):
        turned = net.predict(np.ascontiguousarray(apply(k, x))).reshape(2, 9, 9)
        assert np.abs(turned - apply(k, logits)).max() <= 1e-12 * np.abs(logits).max()


def test_a_shape_is_worth_the_same_wherever_it_lies_and_in_every_direction():
    net = line_net(np.random.default_rng(9), 15, 15)
    seen = []
    places = [(7, 7), (6, 8), (8, 6), (7, 9), (8, 8), (9, 7), (7, 6), (6, 6)]
    for (down, right), (row, col) in zip(DIRECTIONS, places, strict=True):
        x = np.zeros((1, 2, 15, 15))
        for step, plane in ((1, 0), (2, 0), (-1, 1)):
            x[0, plane, row + step * down, col + step * right] = 1
        seen.append(net.predict(x)[0, row * 15 + col])
    assert np.ptp(seen) <= 1e-12 * max(map(abs, seen))


def test_every_line_has_a_number_of_its_own_in_either_direction():
    numbers = line_numbers(4)
    assert numbers.halves == 121 and len(numbers.windows) == 7_381
    assert len(np.unique(numbers.windows[:, 0], axis=0)) == 7_381
    behind_first = numbers.windows.reshape(-1, 2, 3, 8)
    assert np.array_equal(behind_first[:, 0, :, ::-1], behind_first[:, 1])
    assert np.array_equal(numbers.pairs, numbers.pairs.T)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize("count", [1, TOGETHER + 6])
@pytest.mark.parametrize(("height", "width", "reach"), [(15, 15, 4), (6, 7, 4), (1, 5, 2), (4, 1, 3)])
def test_logits_kept_up_to_date_equal_a_whole_pass(height, width, reach, count, dtype, tolerance):
    rng = np.random.default_rng(height * width + count)
    net = line_net(rng, height, width, dtype, reach=reach)
    check_stones_that_come_and_go(LineIncremental(net, count), net, count, 24, tolerance)


def test_what_logits_returns_is_ones_own():
    check_logits_are_ones_own(LineIncremental(line_net(np.random.default_rng(6), 5, 5, np.float32), 1))


def test_stones_that_come_and_go_leave_no_trace():
    rng = np.random.default_rng(5)
    kept = LineIncremental(line_net(rng, dtype=np.float32), 1)
    before = kept.logits(np.array([0]))
    for cell in rng.integers(225, size=300).tolist():
        kept.put_one(0, cell % 2, cell)
        kept.put_one(0, cell % 2, cell, -1)
    assert np.array_equal(kept.logits(np.array([0])), before)


def test_sizes_that_make_no_net_are_told():
    rng = np.random.default_rng(1)
    for sizes in ({"planes": 3}, {"reach": 6}, {"reach": 0}, {"features": 0}):
        with pytest.raises(ShapeError, match="LinePolicyNet"):
            LinePolicyNet(9, 9, rng=rng, **sizes)
    with pytest.raises(ShapeError, match="at most"):
        LinePolicyNet(5_000, 9, rng=rng)
    net = line_net(rng, 5, 5)
    with pytest.raises(NoForwardError):
        net.tables.add_gradients(lambda some: np.zeros((25, 6)), 25)
