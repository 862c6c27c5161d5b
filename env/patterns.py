"""The pattern that a stone makes of the line it stands on, from a closed two up to five in a row.
A pattern is defined by what more stones can make of it, so that no shape has to be listed by hand.

Patterns are about five in a row and see one line at a time: that a move is forbidden because of two lines together is
the business of env/renju.py.
"""

from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from env.rules import EMPTY, Rule
from env.windows import CODES, OFFSETS, OTHER, OWN, PLACES, REACH, SIDE, window_codes


class Pattern(IntEnum):
    """What a stone has together with its own stones on one line; the larger, the nearer to winning.

    x own · o other: an opposing stone or the edge · . empty · * a gain: one more own stone there takes the next step.
    """

    OVERLINE = -1  # xxxxxx                    six or more where only exactly five win: worth nothing
    NONE = 0  # ..x..  oxx..o                  a lone stone, or stones that no five can come of
    CLOSED_TWO = 1  # oxx***.  x***x           one stone short of a closed three
    SPLIT_TWO = 2  # .*x*x*.  .x**x.           one stone short of a three, with a gap inside
    OPEN_TWO = 3  # .**xx**.                   one stone short of a three, without a gap
    CLOSED_THREE = 4  # oxxx**  x*x*x          one stone short of a four
    SPLIT_THREE = 5  # .xx*x.                  one stone short of an open four, with a gap inside
    OPEN_THREE = 6  # .*xxx*.  o.xxx*.         one stone short of an open four, without a gap
    FOUR = 7  # oxxxx*  xx*xx  x*xxx           one stone short of five, in one way
    DOUBLE_FOUR = 8  # x*xxx*x  xx*xx*xx       two fours on one line: five in either of two ways
    OPEN_FOUR = 9  # *xxxx*                    the straight four: five at either end
    FIVE = 10  # xxxxx                         won


class Rung(NamedTuple):
    """One step of the ladder: a stone that has `ways` or more cells on which one more stone makes one of `aims`.

    Its pattern is `whole` if the stone stands in an unbroken run of `run` own stones, else `broken`.
    """

    aims: tuple[Pattern, ...]
    ways: int
    run: int
    whole: Pattern
    broken: Pattern


def _ladder(winning_fours: tuple[Pattern, ...]) -> tuple[Rung, ...]:
    p = Pattern
    return (
        Rung((p.FIVE,), 2, 4, p.OPEN_FOUR, p.DOUBLE_FOUR),
        Rung((p.FIVE,), 1, 4, p.FOUR, p.FOUR),
        Rung(winning_fours, 1, 3, p.OPEN_THREE, p.SPLIT_THREE),
        Rung((p.FOUR, p.DOUBLE_FOUR), 1, 3, p.CLOSED_THREE, p.CLOSED_THREE),
        Rung((p.OPEN_THREE, p.SPLIT_THREE), 1, 2, p.OPEN_TWO, p.SPLIT_TWO),
        Rung((p.CLOSED_THREE,), 1, 2, p.CLOSED_TWO, p.CLOSED_TWO),
    )


class Law(Enum):
    """What a colour may win with under a rule; `ladder` defines the patterns under it, the strongest first.

    A three is one stone short of a four with two ways to five. Black in renju may not play a double four, so there
    only the open four counts, and x.x.x.x, one stone short of x.xxx.x, is no three.
    """

    FIVE_OR_MORE = "freestyle, and white in renju"
    EXACTLY_FIVE = "standard"
    RENJU_BLACK = "black in renju"

    @classmethod
    def of(cls, rule: Rule, colour: int) -> "Law":
        """Return the law that `colour` plays by under `rule`."""
        if not rule.exact(colour):
            return cls.FIVE_OR_MORE
        return cls.RENJU_BLACK if rule is Rule.RENJU else cls.EXACTLY_FIVE

    @property
    def ladder(self) -> tuple[Rung, ...]:
        """The rungs from the open four down to the closed two."""
        return _LADDERS[self]


_LADDERS = {
    Law.FIVE_OR_MORE: _ladder((Pattern.OPEN_FOUR, Pattern.DOUBLE_FOUR)),
    Law.EXACTLY_FIVE: _ladder((Pattern.OPEN_FOUR, Pattern.DOUBLE_FOUR)),
    Law.RENJU_BLACK: _ladder((Pattern.OPEN_FOUR,)),
}


@cache
def pattern_by_definition(window: tuple[int, ...], law: Law) -> tuple[Pattern, tuple[int, ...]]:
    """Return the pattern of an own stone in the middle of a window, and its gains as offsets from the middle.

    This is the definition: it plays every further stone until five. `pattern_table` holds the same for all windows.
    """
    run = 1
    for step in (-1, 1):
        here = REACH + step
        while 0 <= here < SIDE and window[here] == OWN:
            run, here = run + 1, here + step
    if run >= 5:
        return (Pattern.FIVE if run == 5 or law is Law.FIVE_OR_MORE else Pattern.OVERLINE), ()

    after = {}  # offset of one more own stone -> the pattern it makes
    for k in OFFSETS:
        here = REACH + k
        if window[here] == EMPTY:
            after[k], _ = pattern_by_definition((*window[:here], OWN, *window[here + 1 :]), law)
    for rung in law.ladder:
        ways = tuple(k for k, pattern in after.items() if pattern in rung.aims)
        if len(ways) >= rung.ways:
            return (rung.whole if run == rung.run else rung.broken), ways
    return Pattern.NONE, ()


@cache
def pattern_table(law: Law) -> NDArray[np.int8]:
    """Return the pattern of an own stone in the middle of every window: (3**11,) indexed by the window's code.

    All windows come down the ladder together. "One more own stone at offset k" is the window whose code is larger
    by 3**(5 - k), so that every rung is one look-up into the rungs above it.
    """
    places = np.array(PLACES)
    half = np.arange(3**REACH)
    codes = (half[:, None] * 3 ** (REACH + 1) + half).ravel()  # (3**10,), the middle 0
    digits = codes[:, None] // places % 3  # (3**10, 10)
    run = np.ones_like(codes)
    for side in (digits[:, REACH - 1 :: -1], digits[:, REACH:]):  # from the middle outwards
        run += np.cumprod(side == OWN, axis=1).sum(axis=1)
    empty = digits == EMPTY
    grown = codes[:, None] + places * empty  # (3**10, 10)

    long = Pattern.FIVE if law is Law.FIVE_OR_MORE else Pattern.OVERLINE
    table = np.full(CODES, Pattern.NONE, dtype=np.int8)
    table[codes] = np.select([run == 5, run > 5], [Pattern.FIVE, long], Pattern.NONE)
    for rung in law.ladder:
        ways = (empty & np.isin(table[grown], rung.aims)).sum(axis=1)
        new = (table[codes] == Pattern.NONE) & (ways >= rung.ways)
        table[codes[new]] = np.where(run == rung.run, rung.whole, rung.broken)[new]
    table.flags.writeable = False
    return table


def patterns_on(cells: NDArray[Any], colour: int, rule: Rule) -> NDArray[np.int8]:
    """Return the pattern that a stone of `colour` has, or would have, on every cell of boards (..., H, W), in each
    direction: (..., 4, H, W). Meaningless on cells of the other colour.
    """
    return pattern_table(Law.of(rule, colour))[window_codes(cells, colour)]


def _aims(pattern: int, law: Law) -> tuple[Pattern, ...]:
    """Return what one more stone makes of a pattern, () where nothing is left to make."""
    return next((rung.aims for rung in law.ladder if pattern in (rung.whole, rung.broken)), ())


@cache
def gains(code: int, law: Law) -> tuple[int, ...]:
    """Return the offsets from the middle of a window where one more own stone takes its pattern one step up."""
    table = pattern_table(law)
    aims = _aims(table[code], law)
    return tuple(
        k
        for k, place in zip(OFFSETS, PLACES, strict=True)
        if code // place % 3 == EMPTY and table[code + OWN * place] in aims
    )


@cache
def stops(code: int, law: Law) -> tuple[int, ...]:
    """Return the offsets where an opposing stone takes the step away: it leaves no gain of the same kind.

    A four is stopped on its one gain, a double or open four nowhere.
    """
    table = pattern_table(law)
    aims = _aims(table[code], law)
    return tuple(
        k
        for k, place in zip(OFFSETS, PLACES, strict=True)
        if code // place % 3 == EMPTY and _aims(table[code + OTHER * place], law) != aims
    )


Cells = tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """A pattern standing on a board: stones of one line that share it, and the cells where it is decided.

    All are cells in increasing order: `stones` the stones, `gains` and `stops` as in the functions of that name.
    """

    pattern: Pattern
    stones: Cells
    gains: Cells
    stops: Cells


def shapes(cells: NDArray[Any], colour: int, rule: Rule, weakest: Pattern = Pattern.CLOSED_TWO) -> list[Shape]:
    """Return the shapes of `colour` on a board (H, W) that are `weakest` or stronger, the strongest first.

    A stone that has a pattern in two directions is in two shapes; where it has NONE it is in no shape.
    """
    law = Law.of(rule, colour)
    width = cells.shape[1]
    codes = window_codes(cells, colour)  # (4, H, W)
    patterns = pattern_table(law)[codes]
    steps = (1, width, width + 1, width - 1)
    together: defaultdict[tuple[int, int, Pattern, Cells, Cells], list[int]] = defaultdict(list)
    named = (patterns >= weakest) & (patterns != Pattern.NONE) & (cells == colour)
    for way, row, col in np.argwhere(named).tolist():
        cell, code = row * width + col, int(codes[way, row, col])
        ahead, against = (tuple(cell + k * steps[way] for k in where(code, law)) for where in (gains, stops))
        line = (row, col, row - col, row + col)[way]
        together[way, line, Pattern(patterns[way, row, col]), ahead, against].append(cell)
    found = [Shape(key[2], tuple(stones), key[3], key[4]) for key, stones in together.items()]
    return sorted(found, key=lambda shape: (-shape.pattern, shape.stones))
