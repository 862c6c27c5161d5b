"""Line patterns: every name drawn with its gains and stops, the table against the definition, lines against regexes."""

import re
from itertools import product

import numpy as np
import pytest

from env.patterns import Law, Pattern, Shape, gains, pattern_by_definition, pattern_table, patterns_on, shapes
from env.rules import BLACK, WHITE, Rule
from env.windows import PLACES, REACH

FREESTYLE, STANDARD, RENJU = Rule.FREESTYLE, Rule.STANDARD, Rule.RENJU
ALL = (FREESTYLE, STANDARD, RENJU)

# The strongest shape of x on a board of one row: x own · o other · . and s empty · * and # a gain · s and # a stop.
# The ends of a drawing are the edge. An empty point that is marked neither way is neither.
DRAWINGS = [
    (Pattern.FIVE, ALL, ".xxxxx."),
    (Pattern.FIVE, ALL, "oxxxxxo"),
    (Pattern.FIVE, (FREESTYLE,), ".xxxxxx."),
    (Pattern.OVERLINE, (STANDARD, RENJU), ".xxxxxx."),
    (Pattern.OPEN_FOUR, ALL, "*xxxx*"),
    (Pattern.OPEN_FOUR, ALL, "o*xxxx*o"),
    (Pattern.OPEN_FOUR, (FREESTYLE,), "*xxxx*x"),
    (Pattern.FOUR, (STANDARD, RENJU), "#xxxx.x"),
    (Pattern.DOUBLE_FOUR, ALL, "x*xxx*x"),
    (Pattern.DOUBLE_FOUR, ALL, "xx*xx*xx"),
    (Pattern.DOUBLE_FOUR, ALL, "xxx*x*xxx"),
    (Pattern.FOUR, ALL, "oxxxx#"),
    (Pattern.FOUR, ALL, "xx#xx"),
    (Pattern.FOUR, ALL, ".x#xxx."),
    (Pattern.FOUR, ALL, ".xxx#xo"),
    (Pattern.FOUR, (FREESTYLE,), "xxx#xxx"),
    (Pattern.OPEN_THREE, ALL, "..#xxx#.."),
    (Pattern.OPEN_THREE, ALL, "os#xxxso"),
    (Pattern.OPEN_THREE, ALL, "s#xxxs"),
    (Pattern.SPLIT_THREE, ALL, "sxx#xs"),
    (Pattern.SPLIT_THREE, ALL, "osx#xxso"),
    (Pattern.SPLIT_THREE, (FREESTYLE, STANDARD), "xsx#xsx"),
    (Pattern.CLOSED_THREE, ALL, "oxxx##"),
    (Pattern.CLOSED_THREE, ALL, "o#xxx#o"),
    (Pattern.CLOSED_THREE, ALL, "x##xx"),
    (Pattern.CLOSED_THREE, ALL, "ox#x#xo"),
    (Pattern.OPEN_TWO, ALL, ".*#xx#*."),
    (Pattern.SPLIT_TWO, ALL, ".#x#x#."),
    (Pattern.SPLIT_TWO, ALL, "sx##xs"),
    (Pattern.CLOSED_TWO, ALL, "oxx###"),
    (Pattern.CLOSED_TWO, ALL, "x###x"),
]


def row(drawing: str) -> np.ndarray:
    """A drawing as a board of one row (1, W), x black."""
    return np.array([[{"x": BLACK, "o": WHITE}.get(mark, 0) for mark in drawing]], dtype=np.int8)


def marked(drawing: str, marks: str) -> tuple[int, ...]:
    return tuple(at for at, mark in enumerate(drawing) if mark in marks)


@pytest.mark.parametrize(
    "pattern, rule, drawing",
    [(pattern, rule, drawing) for pattern, rules, drawing in DRAWINGS for rule in rules],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_name_has_its_drawing(pattern, rule, drawing):
    strongest = shapes(row(drawing), BLACK, rule, weakest=Pattern.OVERLINE)[0]
    assert strongest.pattern is pattern
    assert strongest.gains == marked(drawing, "*#")
    assert strongest.stops == marked(drawing, "s#")


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_shapes_lists_nothing_for_stones_that_no_five_can_come_of(rule):
    for drawing in ("..x..", "oxxxxo", "o.xx.o", "xxo.xx", "...."):
        assert shapes(row(drawing), BLACK, rule, weakest=Pattern.OVERLINE) == []


def test_each_colour_has_its_law():
    assert {Law.of(FREESTYLE, BLACK), Law.of(FREESTYLE, WHITE), Law.of(RENJU, WHITE)} == {Law.FIVE_OR_MORE}
    assert {Law.of(STANDARD, BLACK), Law.of(STANDARD, WHITE)} == {Law.EXACTLY_FIVE}
    assert Law.of(RENJU, BLACK) is Law.RENJU_BLACK
    six = row(".xxxxxx.")
    assert [shape.pattern for shape in shapes(-six, WHITE, RENJU)] == [Pattern.FIVE]
    assert shapes(six, BLACK, RENJU) == []


@pytest.mark.parametrize("law", Law, ids=lambda law: law.name)
def test_the_table_is_the_definition_of_every_window(law):
    table = pattern_table(law).tolist()
    for digits in product((0, 1, 2), repeat=2 * REACH):
        code = sum(digit * place for digit, place in zip(digits, PLACES, strict=True))
        pattern, ahead = pattern_by_definition((*digits[:REACH], 1, *digits[REACH:]), law)
        assert table[code] == pattern, digits
        if pattern > Pattern.CLOSED_THREE:  # the others would take twice as long and say no more
            assert gains(code, law) == ahead, digits


def test_a_window_read_backwards_has_the_same_pattern():
    for law in Law:
        table = pattern_table(law)
        there = np.arange(3**REACH)
        back = sum(there // 3**k % 3 * 3 ** (REACH - 1 - k) for k in range(REACH))
        codes = there[:, None] * 3 ** (REACH + 1) + there
        mirrored = back[None, :] * 3 ** (REACH + 1) + back[:, None]
        assert np.array_equal(table[codes], table[mirrored])


def lines(seed: int, count: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list("x.o"), size=rng.integers(5, 26), p=(0.5, 0.4, 0.1))) for _ in range(count)]


def played(line: str, at: int, mark: str) -> str:
    return line[:at] + mark + line[at + 1 :]


def through(regex: str, line: str, at: int) -> bool:
    """Whether some match of the regex, its bounds looked at but not counted, has a stone on `at`."""
    return any(match.start(1) <= at < match.end(1) for match in re.finditer(f"(?={regex})", line))


@pytest.mark.parametrize("law", Law, ids=lambda law: law.name)
def test_whole_lines_read_with_regular_expressions_give_the_same_fives_fours_and_threes(law):
    """Nothing outside a window can matter; here lines are as long as a board and nothing is cut off."""
    exact = law is not Law.FIVE_OR_MORE
    five = "(?<!x)(x{5})(?!x)" if exact else "(x{5})"
    rule, colour = {"F": (FREESTYLE, 1), "E": (STANDARD, 1), "R": (RENJU, 1)}[law.name[0]]
    seen = set()
    for line in lines(1, 400):
        cells = row(line)
        found = patterns_on(cells, colour, rule)[0, 0]
        for at in marked(line, "x"):
            where = f"{line} at {at}"
            assert (found[at] == Pattern.FIVE) == through(five, line, at), where
            seen.add(Pattern(found[at]))
            if found[at] in (Pattern.FIVE, Pattern.OVERLINE):
                continue

            def wins(line: str, at: int = at) -> list[int]:
                return [end for end in marked(line, ".") if through(five, played(line, end, "x"), at)]

            ways = len(wins(line))
            assert (found[at] == Pattern.FOUR) == (ways == 1), where
            assert (found[at] in (Pattern.DOUBLE_FOUR, Pattern.OPEN_FOUR)) == (ways == 2), where
            if ways == 0:
                grown = [played(line, more, "x") for more in marked(line, ".")]
                straight = r"(?<!x)(xxxx)(?!x)"
                good = [
                    after
                    for after in grown
                    if len(wins(after)) == 2 and (law is not Law.RENJU_BLACK or through(straight, after, at))
                ]
                assert (found[at] in (Pattern.SPLIT_THREE, Pattern.OPEN_THREE)) == bool(good), where
    assert seen >= set(Pattern) - {Pattern.OVERLINE}


def board(drawing: str) -> np.ndarray:
    return np.concatenate([row("".join(line.split())) for line in drawing.strip().splitlines()])


def test_shapes_of_a_board_name_their_stones_gains_and_stops():
    cells = board(
        """
        . . . . . . . .
        . . x . . . . .
        . . x x . o . .
        . . x . x . . .
        . . o . x . . .
        . . . x . . . .
        . . . . . . . .
        """
    )  # 8 wide: row 3, column 4 is cell 28. The column of three has only four points and is nothing.
    assert shapes(cells, BLACK, FREESTYLE, weakest=Pattern.OPEN_TWO) == [
        Shape(Pattern.OPEN_THREE, (10, 19, 28), gains=(37,), stops=(1, 37, 46)),
        Shape(Pattern.OPEN_TWO, (19, 26), gains=(12, 33), stops=(5, 12, 33, 40)),
        Shape(Pattern.OPEN_TWO, (28, 36), gains=(12, 20, 44), stops=(12, 20, 44)),
        Shape(Pattern.OPEN_TWO, (36, 43), gains=(22, 29), stops=(15, 22, 29, 50)),
    ]
    assert shapes(cells, WHITE, FREESTYLE) == []
    assert shapes(-cells, WHITE, FREESTYLE) == shapes(cells, BLACK, FREESTYLE)


@pytest.mark.parametrize("step", [(0, 1), (1, 0), (1, 1), (1, -1)], ids=["right", "down", "down-right", "down-left"])
def test_every_drawing_reads_alike_in_every_direction(step):
    for pattern, rules, drawing in DRAWINGS:
        if pattern is Pattern.OVERLINE:
            continue
        line = f"o{drawing}o"  # white stones for the edge of the drawing
        cells = np.zeros((len(line), len(line)), dtype=np.int8)
        down, right = step
        at = [(k * down, k * right % len(line) if right >= 0 else len(line) - 1 - k) for k in range(len(line))]
        for (r, c), stone in zip(at, row(line)[0], strict=True):
            cells[r, c] = stone
        cell = [r * len(line) + c for r, c in at]
        for rule in rules:
            strongest = shapes(cells, BLACK, rule)[0]
            assert strongest.pattern is pattern, (drawing, rule)
            assert strongest.gains == tuple(cell[k] for k in marked(line, "*#")), (drawing, rule)
            assert strongest.stops == tuple(cell[k] for k in marked(line, "s#")), (drawing, rule)


def test_many_boards_at_once_are_each_by_itself():
    boards = np.random.default_rng(3).integers(-1, 2, size=(2, 3, 6, 9)).astype(np.int8)
    at_once = patterns_on(boards, WHITE, STANDARD)
    assert at_once.shape == (2, 3, 4, 6, 9)
    for game in np.ndindex(2, 3):
        assert np.array_equal(at_once[game], patterns_on(boards[game], WHITE, STANDARD))
