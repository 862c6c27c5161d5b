"""The SVG picture: well-formed, every thing on its crossing, every mark where the rules put it."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from env import BLACK, WHITE, Board, Rule
from env.coords import parse_cell
from env.render import MARK, star_points
from env.svg import LAST, UNIT, board_svg, heat_colour

Point = tuple[float, float]

BOTH = "e8 a1 f8 c1 g8 e1 h5 g1 h6 a3 h7 c3 i9 o1 j10 o3 i7 o5 j6 o7"  # h8 makes two fours and two threes


def played(moves: str, height: int = 15, width: int = 15, rule: Rule = Rule.FREESTYLE, win_length: int = 5) -> Board:
    cells = [parse_cell(name, height, width) for name in moves.split()]
    return Board.from_moves(cells, height, width, win_length, rule)


def drawn(board: Board, **options: object) -> list[ElementTree.Element]:
    """What is drawn, in order, without its namespace; positions as the file has them."""
    root = ElementTree.fromstring(board_svg(board, **options))
    for each in root.iter():
        each.tag = each.tag.removeprefix("{http://www.w3.org/2000/svg}")
    return list(root.iter())


def colour(rgb: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*rgb)


def at(board: Board, name: str) -> Point:
    """Where a crossing lies inside the picture's group: right of a, below the top row."""
    row, col = divmod(parse_cell(name, board.height, board.width), board.width)
    return float(UNIT * col), float(UNIT * row)


def texts(elements: list[ElementTree.Element]) -> dict[str, list[Point]]:
    found: dict[str, list[Point]] = {}
    for each in elements:
        if each.tag == "text":
            found.setdefault(each.text or "", []).append((float(each.attrib["x"]), float(each.attrib["y"])))
    return found


def circles(elements: list[ElementTree.Element], **wanted: str) -> list[Point]:
    return [
        (float(each.attrib["cx"]), float(each.attrib["cy"]))
        for each in elements
        if each.tag == "circle"
        and all(each.attrib.get(key.replace("_", "-")) == value for key, value in wanted.items())
    ]


def test_coordinates_run_from_a1_at_the_bottom_left() -> None:
    board = Board(7, 9)
    written = texts(drawn(board))
    assert list(written) == ["7", "6", "5", "4", "3", "2", "1", *"abcdefghi"]
    for letter, ((x, y),) in list(written.items())[7:]:
        assert x == at(board, f"{letter}1")[0]
        assert y > at(board, "a1")[1]
    for number, ((x, y),) in list(written.items())[:7]:
        assert y == at(board, f"a{number}")[1]
        assert x < 0


@pytest.mark.parametrize(("size", "points"), [(15, 9), (19, 9), (9, 9), (6, 0)])
def test_star_points(size: int, points: int) -> None:
    board = Board(size, size)
    stars = circles(drawn(board))
    assert len(stars) == points == len(star_points(size, size))
    if size == 15:
        assert sorted(stars) == sorted(at(board, f"{letter}{number}") for letter in "dhl" for number in (4, 8, 12))


def test_stones_carry_their_numbers_and_the_last_is_red() -> None:
    board = played("h8 a1 o15")
    elements = drawn(board)
    assert circles(elements, fill="url(#black)") == [at(board, "h8"), at(board, "o15")]
    assert circles(elements, fill="url(#white)") == [at(board, "a1")]
    ids = {each.attrib["id"] for each in elements if "id" in each.attrib}
    assert ids == {"black", "white"}  # the colours named above exist
    numbers = [each for each in elements if each.tag == "text"][-3:]
    assert [each.text for each in numbers] == ["1", "2", "3"]
    assert [(float(each.attrib["x"]), float(each.attrib["y"])) for each in numbers] == [
        at(board, "h8"),
        at(board, "a1"),
        at(board, "o15"),
    ]
    assert [each.attrib["fill"] for each in numbers] == ["#f5f5f5", "#141414", colour(LAST[BLACK])]


def test_without_numbers_the_last_stone_has_a_dot() -> None:
    board = played("h8 a1")
    elements = drawn(board, numbers=False)
    assert set(texts(elements)) == {*map(str, range(1, 16)), *"abcdefghijklmno"}
    assert circles(elements, fill=colour(LAST[WHITE])) == [at(board, "a1")]


def test_a_winning_line_is_ringed() -> None:
    board = played("a1 a5 b2 b5 c3 c5 e5 d1 d4", 5, 5)
    assert board.outcome is not None
    ringed = circles(drawn(board), stroke=colour(MARK))
    assert sorted(ringed) == sorted(at(board, name) for name in ("a1", "b2", "c3", "d4", "e5"))


def test_forbidden_points_are_written_with_their_kind() -> None:
    moves = "h7 a1 h6 c1 i8 e1 j8 g1"
    board = played(moves, rule=Rule.RENJU)
    assert texts(drawn(board))["33"] == [at(board, "h8")]
    assert "33" not in texts(drawn(played(moves)))  # freestyle forbids nothing
    assert "33" not in texts(drawn(played(moves + " o1", rule=Rule.RENJU)))  # white to move


def test_a_double_four_and_double_three_is_written_on_two_lines() -> None:
    board = played(BOTH, rule=Rule.RENJU)
    written = texts(drawn(board))
    (x, y), (fours, threes) = at(board, "h8"), (written["44"][0], written["33"][0])
    assert fours[0] == threes[0] == x
    assert fours[1] < y < threes[1] < fours[1] + UNIT / 2
    assert "44+33" not in written


def test_a_heat_map() -> None:
    board = played("b2", 5, 5)
    heat = np.zeros(25)
    heat[parse_cell("a5", 5, 5)], heat[parse_cell("e1", 5, 5)], heat[parse_cell("c3", 5, 5)] = 0.75, 0.24, 0.004
    for shape in ((25,), (5, 5)):
        elements = drawn(board, heat=heat.reshape(shape))
        tints = {
            (float(each.attrib["x"]) + UNIT / 2, float(each.attrib["y"]) + UNIT / 2): each.attrib["fill"]
            for each in elements
            if each.tag == "rect" and "x" in each.attrib
        }
        assert tints == {
            at(board, "a5"): colour(heat_colour(0.75)),
            at(board, "e1"): colour(heat_colour(0.24)),
            at(board, "c3"): colour(heat_colour(0.004)),
        }
        assert texts(elements)["75"] == [at(board, "a5")]
        assert texts(elements)["24"] == [at(board, "e1")]
        assert "0" not in texts(elements)
    with pytest.raises(ValueError, match="reshape"):
        board_svg(board, heat=np.zeros(24))


def test_a_title_is_text_and_nothing_else() -> None:
    title = 'A & B <script>alert("1")</script> \x1b[2J\nsecond line'
    written = texts(drawn(Board(), title=title))
    assert 'A & B <script>alert("1")</script> \ufffd[2J' in written
    assert "second line" in written
    assert len(texts(drawn(Board(3, 3, 3), title="a long title over a narrow board"))) > 6 + 1


def test_everything_lies_inside_the_picture() -> None:
    board = played("a1 y1 a25 y25", 25, 25)
    text = board_svg(board, title="a title")
    found = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)".*translate\(([0-9.]+) ([0-9.]+)\)', text, re.DOTALL)
    assert found is not None
    width, height, left, top = map(float, found.groups())
    assert left - 0.46 * UNIT > 0
    assert top - 0.46 * UNIT > 0.75 * UNIT  # below the title
    assert left + 24.46 * UNIT < width
    assert top + 24.46 * UNIT < height
