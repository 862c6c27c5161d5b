"""Black's forbidden points: every case of the rules drawn, 300 judged positions, and the two versions side by side."""

import json
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from env.renju import (
    ALLOWED,
    Forbidden,
    forbidden_at,
    forbidden_by_definition,
    forbidden_mask,
    forbidden_points,
)
from env.rules import BLACK, WHITE

POSITIONS = json.loads((Path(__file__).parent / "data" / "renju" / "forbidden.json").read_text())["positions"]
WAYS_TO_JUDGE = {
    "definition": forbidden_by_definition,
    "one point": forbidden_at,
    "whole board": lambda cells, cell: forbidden_points(cells).get(cell, ALLOWED),
}

# x black · o white · . empty · * the point judged. The drawing is the whole board: beyond it is the edge.
LINES = {
    "six in a row": (".xxx*xx.", "6"),
    "seven in a row": ("xxx*xxx", "6"),
    "six along the edge": ("xx*xxx", "6"),
    "exactly five": (".xx*xx.", ""),
    "five with white at both ends": ("oxx*xxo", ""),
    "straight four: five at either end is one four": (".x*xx.", ""),
    "two fours that share three stones": ("x.x*x.x", "44"),
    "two fours that share two stones": ("xx.*x.xx", "44"),
    "two fours that share the new stone": ("xxx.*.xxx", "44"),
    "both outer ends blocked: still two fours": ("ox.x*x.xo", "44"),
    "the right gap would make six: one four": ("x.x*x.xx", ""),
    "both gaps would make six: no four at all": ("xx.xx*.xxx", ""),
    "the only gap would make six: no four": ("xx.*xx", ""),
    "one end of the straight row makes six: one four": (".xx*x.x", ""),
    "both ends blocked: no four": ("oxx*xo", ""),
    "white between: no row": ("xxo*xxx", ""),
}
BOARDS = {
    "two fours that cross, each blocked at one end": (
        """
        . . . o . .
        . . . x . .
        . . . x . .
        . . . x . .
        o x x * x .
        . . . . . .
        """,
        "44",
    ),
    "a straight four and a four": (
        """
        . . . x . .
        . . . x . .
        . . . x . .
        . x x * x .
        . . . . . .
        """,
        "44",
    ),
    "two threes": (
        """
        . . . . . .
        . . . x . .
        . . . x . .
        . x x * . .
        . . . . . .
        . . . . . .
        """,
        "33",
    ),
    "two split threes": (
        """
        . . . . . .
        . . . . x .
        . . . . . .
        . . . . x .
        . x . x * .
        . . . . . .
        """,
        "33",
    ),
    "three threes": (
        """
        . . . . . . .
        . . x x . . .
        . . * . x x .
        . . x . . . .
        . . . . x . .
        . . . . . . .
        """,
        "33",
    ),
    "two threes in the corner": (
        """
        . . . . . .
        . * . . . .
        . . x . . .
        . x . x . .
        . x . . . .
        . . . . . .
        """,
        "33",
    ),
    "against the edge: no three": (
        """
        . x x * . .
        . . . x . .
        . . . x . .
        . . . . . .
        """,
        "",
    ),
    "closed by white next to it: no three": (
        """
        . . . . . .
        . . . x . .
        . . . x . .
        o x x * . .
        . . . . . .
        . . . . . .
        """,
        "",
    ),
    "five free points in the row: no straight four has both ends": (
        """
        . . . . . . .
        . . . x . . .
        . . . x . . .
        o . x * x . o
        . . . . . . .
        . . . . . . .
        """,
        "",
    ),
    "six free points in the row: one straight four": (
        """
        . . . . . . .
        . . . x . . .
        . . . x . . .
        o . x * x . .
        . . . . . . .
        . . . . . . .
        """,
        "33",
    ),
    "a stone too near on each side: every straight four would have an end that makes six": (
        """
        . . . . . . . . .
        . . . . x . . . .
        . . . . x . . . .
        x . . x * x . . x
        . . . . . . . . .
        . . . . . . . . .
        """,
        "",
    ),
    "a stone too near on one side: extending to the other is straight": (
        """
        . . . . . . . . .
        . . . . x . . . .
        . . . . x . . . .
        x . . x * x . . .
        . . . . . . . . .
        . . . . . . . . .
        """,
        "33",
    ),
    "a four and a three": (
        """
        . . . . . .
        . . . x . .
        . . . x . .
        x x x * . .
        . . . . . .
        . . . . . .
        """,
        "",
    ),
    "a four and two threes": (
        """
        . . . o . . .
        . . . x . . .
        . . . x . . .
        . . . x . . .
        . . . * x x .
        . . x . . . .
        . x . . . . .
        . . . . . . .
        """,
        "33",
    ),
    "two fours and two threes": (
        """
        . . . . . . .
        . . . x . . .
        x . x * x . x
        . . . x x . .
        . . . . . x .
        . . . . . . .
        """,
        "44+33",
    ),
    "overline and two fours: named an overline": (
        """
        . . . x . . .
        . . . x . . .
        . . . x . . .
        . x x * x x x
        . . x . . . .
        . x . . . . .
        x . . . . . .
        """,
        "6",
    ),
    "five and six together: five wins": (
        """
        . . . x . . .
        . . . x . . .
        . . . x . . .
        . . . x . . .
        . x x * x x x
        """,
        "",
    ),
    "five and two fours: five wins": (
        """
        . . . o . . .
        . . . x . . .
        . . . x . x .
        . . . x x . .
        x x x * x . .
        . . x . . . .
        """,
        "",
    ),
    "five and two threes: five wins": (
        """
        . . . . . . . .
        . . . . x . . .
        . . . . x . . .
        x x x x * . . .
        . . . x . . . .
        . . x . . . . .
        . . . . . . . .
        """,
        "",
    ),
    "false three: its straight four would be a double four": (
        """
        x . . . . .
        . x x . . .
        . . . . . .
        . . x . . .
        . . * x x .
        . . . . . .
        """,
        "",
    ),
    "false three: its straight four would be an overline": (
        """
        . . . . . .
        . x . . . .
        . . x . x .
        x x x . x x
        . . . . * .
        . . . . . .
        """,
        "",
    ),
    "false three: its straight four would make a five too": (
        """
        . . . . . .
        . * . . . .
        . x . . . .
        . . x x x x
        . x . . x .
        . . . . . .
        """,
        "",
    ),
    "false three: its straight four would be a double three": (
        """
        . . . . . . .
        . x . x . . .
        . . x . x . .
        . . . . . . .
        . . x x * . .
        . . . . . . .
        """,
        "",
    ),
    "a three with one forbidden and one legal straight four": (
        """
        . . . . . .
        . . x . . .
        . . x x . .
        . . * . . .
        . x . . . .
        . . . . . .
        """,
        "33",
    ),
    "two real threes and a false one": (
        """
        . . . . . .
        . * . x x .
        . . x . . .
        . . . . . .
        . . . . x .
        . . . . . .
        """,
        "33",
    ),
    "two levels: the double three in the way is false itself": (
        """
        . . . . . .
        . . . . x .
        . * x . x .
        . x . x . .
        . x . x . .
        . . . . . .
        . . . . . .
        """,
        "33",
    ),
    "three levels": (
        """
        . . . . . . . .
        . . . . . . . .
        . x * . . . . .
        . . x x . x . .
        . x x . . . . .
        . . . x . x . .
        . . . . . . . .
        """,
        "",
    ),
    "four levels": (
        """
        . . . . . . .
        . . . . . . .
        . . . . x . .
        . x x . . . .
        . . . x . x .
        . . * x x . .
        . . x . . . .
        . . . . . . .
        """,
        "33",
    ),
}
DRAWINGS = LINES | BOARDS


def read(drawing: str) -> tuple[np.ndarray, int]:
    """The cells (H, W) of a drawing and its point *."""
    rows = [line.split() if " " in line.strip() else list(line.strip()) for line in drawing.strip().splitlines()]
    text = np.array(rows)
    cells = np.select([text == "x", text == "o"], [BLACK, WHITE], 0).astype(np.int8)
    return cells, int(np.flatnonzero(text == "*")[0])


@pytest.mark.parametrize("judge", WAYS_TO_JUDGE.values(), ids=WAYS_TO_JUDGE)
@pytest.mark.parametrize("case", DRAWINGS)
def test_every_case_of_the_rules(case, judge):
    drawing, wanted = DRAWINGS[case]
    cells, cell = read(drawing)
    assert judge(cells, cell).code == wanted


def golden(position: dict) -> tuple[list[int], dict[int, str]]:
    """A judged position as its moves, black first, and its forbidden points with their short names."""
    cell = {f"{letter}{row + 1}": row * 15 + col for row in range(15) for col, letter in enumerate("abcdefghijklmno")}
    moves = [cell[name] for name in re.findall(r"[a-o]\d+", position["moves"])]
    return moves, {cell[name]: kind for name, kind in position["forbidden"].items()}


def board_after(moves: list[int]) -> np.ndarray:
    cells = np.zeros(225, dtype=np.int8)
    cells[moves[::2]] = BLACK
    cells[moves[1::2]] = WHITE
    return cells.reshape(15, 15)


def codes(points: dict[int, Forbidden]) -> dict[int, str]:
    return {cell: kind.code for cell, kind in points.items()}


def by_definition(cells: np.ndarray) -> dict[int, str]:
    judged = {cell: forbidden_by_definition(cells, cell) for cell in np.flatnonzero(cells == 0).tolist()}
    return codes({cell: kind for cell, kind in judged.items() if kind})


@pytest.mark.parametrize("position", POSITIONS, ids=[position["id"] for position in POSITIONS])
def test_judged_positions(position):
    moves, wanted = golden(position)
    assert codes(forbidden_points(board_after(moves))) == wanted, position.get("note")


@pytest.mark.parametrize("position", POSITIONS[:52:2] + POSITIONS[52::12], ids=lambda position: position["id"])
def test_the_definition_on_judged_positions(position):
    moves, wanted = golden(position)
    assert by_definition(board_after(moves)) == wanted, position.get("note")


def test_every_black_move_of_the_judged_positions_was_allowed():
    for position in POSITIONS:
        moves, _ = golden(position)
        for ply in range(0, len(moves), 2):
            assert forbidden_at(board_after(moves[:ply]), moves[ply]) is ALLOWED, (position["id"], ply)


def test_all_positions_at_once_are_each_by_itself():
    cells = np.stack([board_after(golden(position)[0]) for position in POSITIONS]).reshape(3, 100, 15, 15)
    wanted = np.zeros((len(POSITIONS), 225), dtype=bool)
    for mask, position in zip(wanted, POSITIONS, strict=True):
        mask[list(golden(position)[1])] = True
    assert np.array_equal(forbidden_mask(cells), wanted.reshape(cells.shape))
    assert forbidden_mask(np.zeros((0, 15, 15), dtype=np.int8)).shape == (0, 15, 15)


def test_a_turned_or_mirrored_position_has_its_points_turned_or_mirrored():
    for position in POSITIONS[::5]:
        moves, wanted = golden(position)
        names = np.full(225, "", dtype=object)
        names[list(wanted)] = list(wanted.values())
        cells, names = board_after(moves), names.reshape(15, 15)
        for turns, mirrored in product(range(4), (False, True)):
            turn = np.rot90(np.fliplr(cells) if mirrored else cells, turns)
            name = np.rot90(np.fliplr(names) if mirrored else names, turns).ravel()
            points = codes(forbidden_points(turn))
            assert points == {cell: name[cell] for cell in np.flatnonzero(name != "").tolist()}, position["id"]


def crowded(rng: np.random.Generator) -> np.ndarray:
    """A board of odd shape, mostly black, of no game: where threes, fours and overlines get in each other's way."""
    height, width = rng.integers(5, 10, size=2)
    stones = rng.random((height, width)) < rng.uniform(0.1, 0.6)
    black = rng.random((height, width)) < rng.uniform(0.6, 1.0)
    return np.where(stones, np.where(black, BLACK, WHITE), 0).astype(np.int8)


@pytest.mark.parametrize("seed", range(8))
def test_tables_agree_with_the_definition_on_crowded_boards(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        cells = crowded(rng)
        assert codes(forbidden_points(cells)) == by_definition(cells), cells


@pytest.mark.parametrize("black", [0.12, 0.15, 0.2])  # few white stones: false threes within false threes
def test_tables_agree_with_the_definition_on_the_full_board(black):
    rng = np.random.default_rng(int(100 * black))
    for _ in range(20):
        drawn = rng.random((15, 15))
        cells = np.where(drawn < black, BLACK, np.where(drawn < black + 0.02, WHITE, 0)).astype(np.int8)
        assert codes(forbidden_points(cells)) == by_definition(cells), cells


DEEP = """
    . o o x . . . . . . x . . o .
    o . . . x . . x . . x . . . .
    . . o x . . x x . . x . x . .
    . x . x . . . . x . . x . . x
    o . o x . x x . x x o x x x x
    . . . . x x . . x . o . x x .
    . x . x . . . . x x . o . . .
    . x o . x . . x . . x . . . .
    x . . x . . x . . . . x x . .
    . x . x . . . x . x . x x o x
    o . x x . x x . . . x . . x .
    . . x o x . . x . . . . x x .
    . . x . . x . o . x . . o x o
    . x . . x . o x . . x o o x .
    . . o . . . . . o . . * x x x
"""


def test_tables_agree_with_the_definition_eight_levels_deep():
    cells, _ = read(DEEP)
    assert codes(forbidden_points(cells)) == by_definition(cells)


@pytest.mark.parametrize("height, width", [(5, 5), (5, 25), (25, 5), (19, 15), (25, 25)])
def test_the_same_drawing_is_judged_alike_in_every_corner_of_every_board(height, width):
    cells = read(BOARDS["two threes in the corner"][0])[0][:5, :5]
    for down, right in product({0, height - 5}, {0, width - 5}):
        board = np.zeros((height, width), dtype=np.int8)
        board[down : down + 5, right : right + 5] = cells
        square = [(down + r) * width + right + c for r, c in product(range(5), range(5))]
        judged = {at: forbidden_by_definition(board, at) for at in square if not board.flat[at]}
        assert forbidden_points(board) == {at: kind for at, kind in judged.items() if kind}


def test_an_empty_and_a_full_board_have_no_forbidden_point():
    for colour in (0, BLACK, WHITE):
        assert forbidden_points(np.full((15, 15), colour, dtype=np.int8)) == {}


def test_short_names():
    assert Forbidden.OVERLINE.code == "6"
    assert (Forbidden.DOUBLE_FOUR | Forbidden.DOUBLE_THREE).code == "44+33"
    assert ALLOWED.code == "" and not ALLOWED
