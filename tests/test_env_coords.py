import pytest

from env.coords import CoordinateError, cell_at, cell_name, parse_cell


@pytest.mark.parametrize(
    ("name", "cell", "height", "width"),
    [
        ("h8", 112, 15, 15),
        ("a15", 0, 15, 15),
        ("o1", 224, 15, 15),
        ("i9", 6 * 15 + 8, 15, 15),
        ("a1", 6, 3, 3),
        ("y25", 24, 25, 25),
        ("e1", 14, 3, 5),
        ("c5", 2, 5, 3),
    ],
)
def test_names_and_cells(name, cell, height, width):
    assert cell_name(cell, height, width) == name
    assert parse_cell(name, height, width) == cell
    assert parse_cell(name.upper(), height, width) == cell


@pytest.mark.parametrize(("height", "width"), [(3, 3), (3, 25), (25, 3), (15, 15), (25, 25)])
def test_every_cell_has_one_name_that_reads_back(height, width):
    names = [cell_name(cell, height, width) for cell in range(height * width)]
    assert len(set(names)) == height * width
    assert [parse_cell(name, height, width) for name in names] == list(range(height * width))
    assert cell_at(height - 1, width - 1, width) == height * width - 1


@pytest.mark.parametrize("text", ["", "h", "8", "88", "h0", "h16", "p1", "z1", "h-1", "h 8", "hh8", "h８", "é8", "h8x"])
def test_what_is_no_crossing_is_refused_with_what_would_be_right(text):
    with pytest.raises(CoordinateError, match="a1 to o15") as caught:
        parse_cell(text, 15, 15)
    assert repr(text) in str(caught.value)


def test_a_number_of_thousands_of_digits_is_a_refusal_like_any_other():
    with pytest.raises(CoordinateError, match="a1 to o15"):
        parse_cell("h" + "9" * 5000, 15, 15)


@pytest.mark.parametrize("cell", [-1, 225])
def test_a_cell_off_the_board_has_no_name(cell):
    with pytest.raises(CoordinateError, match=f"cell {cell} is off the 15x15 board: use 0 to 224"):
        cell_name(cell, 15, 15)
