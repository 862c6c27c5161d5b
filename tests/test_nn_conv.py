"""The convolution stands three times: by definition, as a matrix product, in Java's order. They are one operation."""

import numpy as np
import pytest

from nn import Conv2D, ShapeError
from nn.conv import col2im, convolve_by_definition, im2col
from nn.exact import exact_convolve

KERNELS = [  # x shape, filters, kernel, padding
    ((1, 1, 1, 1), 1, (1, 1), (0, 0)),
    ((2, 3, 5, 4), 2, (3, 3), (1, 1)),
    ((1, 2, 4, 6), 3, (3, 2), (1, 0)),
    ((3, 1, 2, 5), 2, (1, 4), (0, 3)),
    ((2, 2, 6, 3), 4, (5, 3), (0, 0)),
    ((1, 2, 3, 3), 2, (2, 2), (3, 2)),  # windows that see nothing but padding
    ((1, 16, 7, 7), 5, (3, 3), (1, 1)),
]


def drawn(shape, filters, kernel, padding, dtype=np.float64, whole=False):
    """A layer with random biases and its input; whole numbers, if asked, so that no sum is ever rounded."""
    rng = np.random.default_rng(1)
    layer = Conv2D(shape[1], filters, kernel, padding, rng=rng, dtype=dtype)
    layer.bias.value[...] = rng.standard_normal(filters)
    x = rng.standard_normal(shape).astype(dtype)
    if whole:
        for array in (layer.weight.value, layer.bias.value, x):
            array[...] = np.round(8 * array)
    return layer, x


@pytest.mark.parametrize("case", KERNELS)
def test_definition_and_java_order_are_equal_bit_for_bit(case) -> None:
    layer, x = drawn(*case)
    by_definition = convolve_by_definition(x, layer.weight.value, layer.bias.value, layer.padding)
    exact = exact_convolve(x, layer.weight.value, layer.bias.value, layer.padding)
    assert by_definition.tobytes() == exact.tobytes()


@pytest.mark.parametrize("case", KERNELS)
def test_matrix_product_equals_the_definition(case) -> None:
    layer, x = drawn(*case)
    by_definition = convolve_by_definition(x, layer.weight.value, layer.bias.value, layer.padding)
    for out in (layer.forward(x), layer.predict(x)):
        np.testing.assert_allclose(out, by_definition, rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", KERNELS)
def test_all_three_are_equal_bit_for_bit_on_whole_numbers(case, dtype) -> None:
    layer, x = drawn(*case, dtype=dtype, whole=True)
    by_definition = convolve_by_definition(x, layer.weight.value, layer.bias.value, layer.padding)
    exact = exact_convolve(x, layer.weight.value, layer.bias.value, layer.padding)
    for out in (exact, layer.forward(x), layer.predict(x)):
        assert out.dtype == dtype
        assert np.array_equal(out, by_definition)


def test_skipped_taps_are_skipped_not_multiplied_by_zero() -> None:
    """A product with a padded 0 would turn a sum of -0.0 into 0.0 and an infinite weight into NaN."""
    x = np.full((1, 1, 2, 2), -1.0)
    weight = np.zeros((1, 1, 3, 3))
    weight[0, 0, 0, 0] = np.inf
    bias = np.array([-0.0])
    by_definition = convolve_by_definition(x, weight, bias, (1, 1))
    exact = exact_convolve(x, weight, bias, (1, 1))
    assert by_definition.tobytes() == exact.tobytes()
    assert np.signbit(exact[0, 0, 0, 0]) and exact[0, 0, 1, 1] == -np.inf


def test_predict_a_few_at_a_time_equals_forward_bit_for_bit() -> None:
    layer, x = drawn((71, 2, 5, 6), 3, (3, 3), (1, 1), dtype=np.float32)
    assert layer.predict(x).tobytes() == layer.forward(x).tobytes()
    assert layer.predict(x[:0]).shape == (0, 3, 5, 6)


def test_im2col_rows_are_what_each_window_cell_sees() -> None:
    x = np.arange(6.0).reshape(1, 1, 2, 3)  # 0 1 2 over 3 4 5
    columns = im2col(x, (2, 2), (0, 0))
    assert columns.tolist() == [[[0, 1], [1, 2], [3, 4], [4, 5]]]


def test_col2im_adds_up_copies() -> None:
    """The transpose of a linear map: <im2col(x), c> = <x, col2im(c)>."""
    rng = np.random.default_rng(2)
    for shape, _, kernel, padding in KERNELS:
        x = rng.standard_normal(shape)
        columns = im2col(x, kernel, padding)
        c = rng.standard_normal(columns.shape)
        assert np.isclose((columns * c).sum(), (x * col2im(c, shape, kernel, padding)).sum(), rtol=1e-12)


def test_default_padding_keeps_the_board() -> None:
    for kernel in (1, 3, (5, 3)):
        layer = Conv2D(2, 3, kernel, rng=np.random.default_rng(0))
        assert layer.predict(np.zeros((1, 2, 6, 7), np.float32)).shape == (1, 3, 6, 7)


def test_wrong_shapes_are_named() -> None:
    layer = Conv2D(2, 3, 3, 0, rng=np.random.default_rng(0))
    with pytest.raises(ShapeError, match=r"got x \(1, 3, 6, 7\), wanted \(N, 2, H, W\)"):
        layer.predict(np.zeros((1, 3, 6, 7), np.float32))
    with pytest.raises(ShapeError, match="got x"):
        layer.forward(np.zeros((2, 6, 7), np.float32))
    with pytest.raises(ShapeError, match="does not fit"):
        layer.forward(np.zeros((1, 2, 2, 7), np.float32))
    layer.forward(np.zeros((2, 2, 6, 7), np.float32))
    for shape in [(1, 3, 4, 5), (2, 2, 4, 5), (2, 3, 5, 4), (2, 3, 20)]:
        with pytest.raises(ShapeError, match=r"got d_out .* wanted \(2, 3, 4, 5\)"):
            layer.backward(np.zeros(shape, np.float32))


def test_a_batch_of_none_goes_both_ways() -> None:
    layer = Conv2D(2, 3, 3, rng=np.random.default_rng(0))
    out = layer.forward(np.zeros((0, 2, 6, 7), np.float32))
    assert out.shape == (0, 3, 6, 7) and layer.backward(out).shape == (0, 2, 6, 7)
    assert not layer.weight.grad.any() and not layer.bias.grad.any()


def test_numpys_integers_are_sizes_too() -> None:
    three, one = np.int64(3), np.int64(1)
    layer = Conv2D(2, 3, three, one, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    assert layer.predict(np.zeros((1, 2, 6, 7), np.float32)).shape == (1, 3, 6, 7)
