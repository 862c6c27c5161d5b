"""Which crossing a pointer means: the nearest, by the definition, on a window's board and in an SVG picture."""

import math
import re

import numpy as np
import pytest

from env import Board
from env.svg import board_svg
from experiments.faces.board_grid import Grid, svg_grid, window_grid

GRIDS = [Grid(15, 15, 40, 40, 40), Grid(6, 9, 17, 30, 5), Grid(3, 4, 12.5, -3, 8.25)]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_nearest_crossing_by_definition(grid: Grid) -> None:
    rng = np.random.default_rng(1)
    width, height = grid.unit * (grid.width + 2), grid.unit * (grid.height + 2)
    found = off = 0
    for x, y in rng.uniform((grid.left - width, grid.top - height), (grid.left + width, grid.top + height), (1000, 2)):
        distances = [math.dist((x, y), grid.point(cell)) for cell in range(grid.height * grid.width)]
        dx = max(grid.left - x, x - grid.left - grid.unit * (grid.width - 1), 0)
        dy = max(grid.top - y, y - grid.top - grid.unit * (grid.height - 1), 0)
        inside = max(dx, dy) < grid.unit / 2
        assert grid.nearest(x, y) == (int(np.argmin(distances)) if inside else None)
        found, off = found + inside, off + (not inside)
    assert min(found, off) > 50


@pytest.mark.parametrize("grid", GRIDS)
def test_every_crossing_is_its_own_nearest(grid: Grid) -> None:
    for cell in range(grid.height * grid.width):
        assert grid.nearest(*grid.point(cell)) == cell


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_no_place_is_no_cell(x: float) -> None:
    assert GRIDS[0].nearest(x, 50) is None and GRIDS[0].nearest(50, x) is None


@pytest.mark.parametrize(("height", "width"), [(15, 15), (9, 6), (3, 25)])
def test_the_svg_draws_its_stones_where_the_grid_says(height: int, width: int) -> None:
    cell = 2 * width - 1
    board = Board.from_moves([cell], height, width, 3)
    text = board_svg(board, numbers=False)
    left, top = map(float, re.search(r'translate\(([\d.]+) ([\d.]+)\)', text).groups())  # type: ignore[union-attr]
    x, y = map(float, re.search(r'cx="([\d.]+)" cy="([\d.]+)" r="[\d.]+" fill="url', text).groups())  # type: ignore[union-attr]
    assert svg_grid(board).point(cell) == pytest.approx((left + x, top + y))


@pytest.mark.parametrize("room", [(640, 640), (900, 500), (300, 1000), (101, 333)])
@pytest.mark.parametrize(("height", "width"), [(15, 15), (5, 9), (25, 3)])
def test_a_windows_board_fits_its_room(height: int, width: int, room: tuple[int, int]) -> None:
    grid = window_grid(height, width, *room)
    ends = [grid.point(0), grid.point(height * width - 1)]
    assert grid.unit == int(grid.unit)
    if grid.unit > 8:
        for (x, y), side in zip(ends, (-1, 1), strict=True):
            assert 0 <= x + side * grid.unit <= room[0] and 0 <= y + side * grid.unit <= room[1]
        larger = grid.unit + 1
        assert larger * (width + 1) > room[0] or larger * (height + 1) > room[1]
