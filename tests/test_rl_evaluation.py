"""What stands on a line: every kind drawn, counted once, against play cell by cell and against the patterns of five."""

import random
from itertools import product

import numpy as np
import pytest

from env import BLACK, WHITE, Rule
from env.patterns import Pattern, patterns_on
from rl.search.evaluation import Finding, Kind, line_findings

ALL = tuple(Rule)
FREESTYLE, STANDARD, RENJU = ALL

# One group of x on a line: x own · o other · * a gain · . empty; the ends of a drawing are the edge.
DRAWINGS = [
    (Kind.FIVE, ALL, 5, ".xxxxx."),
    (Kind.FIVE, (FREESTYLE,), 5, "oxxxxxxo"),
    (Kind.OPEN_FOUR, ALL, 5, "*xxxx*"),
    (Kind.OPEN_FOUR, (FREESTYLE, STANDARD), 5, "x*xxx*x"),
    (Kind.OPEN_FOUR, (FREESTYLE, STANDARD), 5, "xx*xx*xx"),
    (Kind.FOUR, (RENJU,), 5, "x*xxx*x"),
    (Kind.FOUR, ALL, 5, "oxxxx*"),
    (Kind.FOUR, ALL, 5, "xx*xx"),
    (Kind.FOUR, ALL, 5, ".xxx*xo"),
    (Kind.FOUR, ALL, 5, "o.x*xxx."),
    (Kind.FOUR, (FREESTYLE,), 5, "xxx*xxx"),
    (Kind.OPEN_THREE, ALL, 5, ".*xxx*."),
    (Kind.OPEN_THREE, ALL, 5, "o.xxx*."),
    (Kind.OPEN_THREE, ALL, 5, ".xx*x."),
    (Kind.OPEN_THREE, (FREESTYLE, STANDARD), 5, "x.x*x.x"),
    (Kind.OPEN_THREE, ALL, 5, ".*xxx*...x"),
    (Kind.CLOSED_THREE, ALL, 5, "oxxx**"),
    (Kind.CLOSED_THREE, ALL, 5, "o*xxx*o"),
    (Kind.CLOSED_THREE, ALL, 5, "x*x*x"),
    (Kind.CLOSED_THREE, ALL, 5, "ox**xxo"),
    (Kind.OPEN_TWO, ALL, 5, ".**xx**."),
    (Kind.SPLIT_TWO, ALL, 5, ".*x*x*."),
    (Kind.SPLIT_TWO, ALL, 5, ".x**x."),
    (Kind.FIVE, (FREESTYLE, STANDARD), 3, ".xxx"),
    (Kind.OPEN_FOUR, (FREESTYLE, STANDARD), 3, ".*xx*."),
    (Kind.FOUR, (FREESTYLE, STANDARD), 3, "ox*xo"),
    (Kind.OPEN_THREE, (FREESTYLE, STANDARD), 3, ".*x*."),
    (Kind.CLOSED_THREE, (FREESTYLE, STANDARD), 3, "ox**"),
    (Kind.OPEN_TWO, (FREESTYLE, STANDARD), 4, ".**x**."),
    (Kind.OPEN_THREE, (FREESTYLE, STANDARD), 6, ".*xxxx*."),
    (Kind.OPEN_FOUR, (FREESTYLE, STANDARD), 2, "*x*"),
]
NOTHING = [
    (ALL, 5, "oxxxxo"),
    (ALL, 5, "oxx..."),
    (ALL, 5, "o.xx.o"),
    (ALL, 5, "...x..."),
    ((STANDARD, RENJU), 5, ".xxxxxx."),
    ((STANDARD, RENJU), 5, "xxx.xxx"),
    ((FREESTYLE, STANDARD), 1, "...o..."),
]


def cells_of(drawing: str) -> tuple[int, ...]:
    return tuple({"x": BLACK, "o": WHITE}.get(mark, 0) for mark in drawing)


def of_black(drawing: str, win_length: int, rule: Rule) -> list[Finding]:
    return [finding for finding in line_findings(cells_of(drawing), win_length, rule) if finding.colour == BLACK]


@pytest.mark.parametrize(("kind", "rules", "win_length", "drawing"), DRAWINGS)
def test_each_kind_is_found_with_its_stones_and_its_gains(
    kind: Kind, rules: tuple[Rule, ...], win_length: int, drawing: str
) -> None:
    gains = tuple(at for at, mark in enumerate(drawing) if mark == "*")
    for rule in rules:
        found = of_black(drawing, win_length, rule)
        assert [(finding.kind, finding.gains) for finding in found] == [(kind, gains)], rule
        assert all(drawing[at] == "x" for at in found[0].positions)


@pytest.mark.parametrize(("rules", "win_length", "drawing"), NOTHING)
def test_what_no_five_can_come_of_is_nothing(rules: tuple[Rule, ...], win_length: int, drawing: str) -> None:
    for rule in rules:
        assert of_black(drawing, win_length, rule) == [], rule


def test_groups_apart_are_counted_apart_and_each_once() -> None:
    found = of_black("oxxxx...x.xx", 5, FREESTYLE)
    assert [(finding.kind, finding.positions) for finding in found] == [
        (Kind.FOUR, (1, 2, 3, 4)),
        (Kind.CLOSED_THREE, (8, 10, 11)),
    ]


def test_both_colours_are_told_each_by_its_own_law() -> None:
    found = line_findings(cells_of("xxx.xxxo.ooo.oooo."), 5, RENJU)
    assert [(f.kind, f.colour, f.gains) for f in found] == [(Kind.OPEN_FOUR, WHITE, (8, 12, 17))]  # black's makes 7


def test_turned_round_a_line_says_the_same() -> None:
    rng = random.Random(1)
    for _ in range(800):
        length, win_length = rng.randint(3, 15), rng.randint(2, 6)
        rule = rng.choice((FREESTYLE, STANDARD))
        line = tuple(rng.choice((0, 0, 0, 1, 1, -1)) for _ in range(length))

        def mirrored(places: tuple[int, ...], last: int = length - 1) -> tuple[int, ...]:
            return tuple(sorted(last - place for place in places))

        turned = line_findings(line[::-1], win_length, rule)
        back = [(f.kind, f.colour, mirrored(f.positions), mirrored(f.gains)) for f in turned]
        assert sorted(back) == sorted(map(tuple, line_findings(line, win_length, rule)))


def wins_at(line: tuple[int, ...], cell: int, win_length: int, rule: Rule, colour: int) -> bool:
    """Whether a stone of `colour` on `cell` stands in a winning run, walked cell by cell."""
    run = 1
    for step in (-1, 1):
        here = cell + step
        while 0 <= here < len(line) and line[here] == colour:
            run, here = run + 1, here + step
    return rule.wins(run, win_length, colour)


@pytest.mark.parametrize("rule", (FREESTYLE, STANDARD))
@pytest.mark.parametrize("win_length", (2, 3, 4, 5))
def test_fives_and_fours_are_those_of_play(win_length: int, rule: Rule) -> None:
    """Every line of nine cells without a stone of the other, and with one at the end of it."""
    for stones in product((0, 1), repeat=8):
        for line in ((*stones, 0), (*stones, -1)):
            found = of_black("".join(".xo"[cell] for cell in line), win_length, rule)
            fives = {at for f in found if f.kind is Kind.FIVE for at in f.positions}
            assert fives == {at for at, own in enumerate(line) if own == 1 and wins_at(line, at, win_length, rule, 1)}
            if not fives:
                gains = {at for f in found if f.kind in (Kind.FOUR, Kind.OPEN_FOUR) for at in f.gains}
                wins = {at for at, own in enumerate(line) if own == 0 and wins_at(line, at, win_length, rule, 1)}
                assert gains == wins - {at for at in wins if win_length == 1}


def test_kinds_of_five_in_a_row_are_the_patterns_of_env() -> None:
    """Each finding is the pattern of one of its stones, and a line's best finding is its best pattern."""
    same = {
        Pattern.SPLIT_TWO: Kind.OPEN_TWO,
        Pattern.OPEN_TWO: Kind.OPEN_TWO,
        Pattern.CLOSED_THREE: Kind.CLOSED_THREE,
        Pattern.SPLIT_THREE: Kind.OPEN_THREE,
        Pattern.OPEN_THREE: Kind.OPEN_THREE,
        Pattern.FOUR: Kind.FOUR,
        Pattern.OPEN_FOUR: Kind.OPEN_FOUR,
        Pattern.FIVE: Kind.FIVE,
    }
    rng = random.Random(2)
    for trial in range(2000):
        line = tuple(rng.choice((0, 0, 1, 1, -1)) for _ in range(rng.randint(5, 15)))
        rule = ALL[trial % 3]
        patterns = patterns_on(np.array([line], dtype=np.int8), BLACK, rule)[0, 0]
        double = Kind.FOUR if rule is RENJU else Kind.OPEN_FOUR
        wanted = {
            at: same.get(Pattern(pattern), double if pattern == Pattern.DOUBLE_FOUR else 0)
            for at, pattern in enumerate(patterns.tolist())
            if line[at] == BLACK
        }
        found = [f._replace(kind=max(f.kind, Kind.OPEN_TWO)) for f in line_findings(line, 5, rule) if f.colour == BLACK]
        assert max((f.kind for f in found), default=0) == max(wanted.values(), default=0)
        assert all(f.kind <= max(wanted[at] for at in f.positions) for f in found)
        stones = [at for f in found for at in f.positions]
        assert len(stones) == len(set(stones))  # each counted once
