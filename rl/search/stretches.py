"""What a stretch of a line is worth to one colour: the cells between two stops, an opposing stone or the edge.
The fast twin of rl/search/evaluation.py for a search; each stretch is looked at once and remembered.

A gain, what one more own stone changes, is packed into one whole number: its worth * UNIT, and below UNIT what else
the stone makes:

      bits 0-3    fours: cells that would then complete a win, 3 a line at most; renju's black: fours as his rules count
      bits 4-7    threes that may be real ones, and bits 8-10 overlines: only for renju's black, to whom they may forbid
                  the cell
      bits 11-14  lines on which it comes near a four, a win_length of cells lacking two stones or fewer; an open four,
                  which leaves two cells to complete, counts twice
      FIVE        added if the stone completes a win
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from env.patterns import Law, Pattern, pattern_table
from env.windows import OFFSETS, OTHER, OWN, PLACES
from rl.search.evaluation import Group, Kind

UNIT = 2**15
FIVE = 2.0**47
FOURS, THREES, OVERLINES, NEAR_FOURS = 1, 16, 256, 2048  # one of each, in a packed gain
RENJU_FLAGS = {
    Pattern.SPLIT_THREE: THREES,
    Pattern.OPEN_THREE: THREES,
    Pattern.FOUR: FOURS,
    Pattern.OPEN_FOUR: FOURS,
    Pattern.DOUBLE_FOUR: 2 * FOURS,
    Pattern.OVERLINE: OVERLINES,
}
LONGEST = 25
TWO = 0  # not a kind: open and split twos together
MISSING = {  # how many stones a win needs beside those of a group
    Kind.FIVE: 0,
    Kind.OPEN_FOUR: 1,
    Kind.FOUR: 1,
    Kind.OPEN_THREE: 2,
    Kind.CLOSED_THREE: 2,
    Kind.OPEN_TWO: 3,
    Kind.SPLIT_TWO: 3,
    TWO: 3,
}
ONE_MORE = {Kind.OPEN_THREE: Kind.OPEN_FOUR, Kind.CLOSED_THREE: Kind.FOUR, TWO: Kind.OPEN_THREE}
KINDS = tuple(reversed(Kind))

Worths = tuple[int, ...]  # indexed by Kind


class Stretch(NamedTuple):
    """A stretch as it stands.

    worth  sum over what stands on it
    wins   how many empty cells complete a win
    fours  how many make a four
    own    (n,) packed gain of one more own stone; 0 on stones
    cut    (n,) change of worth * UNIT if an opposing stone falls there and makes two stretches of it; 0 on stones
    """

    worth: int
    wins: int
    fours: int
    own: NDArray[np.float64]
    cut: NDArray[np.float64]


class Stretches:
    """All stretches that have been met under one law; call it with a length and the own stones as bits."""

    def __init__(self, win_length: int, law: Law, worths: Worths) -> None:
        self._win_length, self._law, self._worths = win_length, law, worths
        self._apart = max(5, win_length)
        reach = win_length - 1
        self._within = [(2 << cell + reach) - 1 & -1 << max(0, cell - reach) for cell in range(LONGEST)]  # as bits
        self._groups_of: dict[tuple[int, int], tuple[Group, ...]] = {}  # by kind and key, as the two below by key
        self._worth: dict[int, int] = {}
        self._known: dict[int, Stretch] = {}

    def __call__(self, length: int, stones: int) -> Stretch:
        """Return the stretch."""
        key = 1 << length | stones
        if key not in self._known:
            made = self._known[key] = self._made(length, stones)
            mirrored = made._replace(own=made.own[::-1].copy(), cut=made.cut[::-1].copy())
            self._known[1 << length | _mirrored(length, stones)] = mirrored
        return self._known[key]

    def worth(self, length: int, stones: int) -> int:
        """Return the sum over what stands on the stretch.

        No finding lacks more than four stones to two wins. So stones with more empty cells between them than that have
        nothing to do with each other, and are looked up apart, each with as many empty cells around it as matter.
        """
        if not stones or length < self._win_length:
            return 0
        total = 0
        before = (stones & -stones).bit_length() - 1
        stones >>= before
        left = length - before  # cells from the first stone on
        while stones:
            gaps = ~stones
            for _ in range(self._apart - 1):
                gaps &= gaps >> 1
            span = (gaps & -gaps).bit_length() - 1  # up to where so many empty cells begin
            part, stones = stones & (1 << span) - 1, stones >> span
            left -= span
            after = (stones & -stones).bit_length() - 1 if stones else left
            total += self._worth_of(part, span, min(before, self._apart), min(after, self._apart))
            before, stones, left = after, stones >> after, left - after
        return total

    def _worth_of(self, part: int, span: int, before: int, after: int) -> int:
        """Return the worth of `span` cells from a first to a last stone with so many empty ones before and after."""
        length, stones = before + span + after, part << before
        key = 1 << length | stones
        worth = self._worth.get(key)
        if worth is None:
            worth = self._worth[key] = sum(self._worths[kind] for kind in self.kinds(length, stones))
            self._worth[1 << length | _mirrored(length, stones)] = worth
        return worth

    def kinds(self, length: int, stones: int) -> list[Kind]:
        """Return the kind of each finding: `stretch_findings` of rl/search/evaluation.py without the cells."""
        kinds = []
        used = 0
        for kind in KINDS:
            apart: list[int] = []
            for group, _ in self._groups(kind, length, stones):
                if not group & used:
                    for other in [other for other in apart if other & group]:
                        apart.remove(other)
                        group |= other
                    apart.append(group)
            for group in apart:
                used |= group
                kinds.append(kind)
        return kinds

    def wins(self, length: int, stones: int) -> int:
        """Return the empty cells that complete a win, as bits."""
        found = 0
        for cell in range(length):
            if not stones >> cell & 1 and self._wins(self._run(stones, cell).bit_count()):
                found |= 1 << cell
        return found

    def _groups(self, kind: int, length: int, stones: int) -> tuple[Group, ...]:
        """Return the groups of a kind, their stones and gains, before any is merged with or left out for another.

        A gain is looked for only where enough stones lie within its reach.
        """
        needed = self._win_length - MISSING[kind]
        if stones.bit_count() < needed:
            return ()
        key = kind, 1 << length | stones
        groups = self._groups_of.get(key)
        if groups is None:
            groups = self._groups_of[key] = tuple(self._found(kind, length, stones, needed))
        return groups

    def _found(self, kind: int, length: int, stones: int, needed: int) -> list[Group]:
        if kind is Kind.FIVE:
            runs = {self._run(stones, cell) for cell in range(length) if stones >> cell & 1}
            return [(run, 0) for run in runs if self._wins(run.bit_count())]
        if kind is Kind.OPEN_FOUR:
            fours = self._groups(Kind.FOUR, length, stones)
            return [
                (one | two, gain | other)
                for number, (one, gain) in enumerate(fours)
                for two, other in fours[:number]
                if (one == two if self._law is Law.RENJU_BLACK else one & two)
            ]
        if kind in (Kind.OPEN_TWO, Kind.SPLIT_TWO):
            twos = self._groups(TWO, length, stones)
            return [two for two in twos if _is_unbroken(two[0]) is (kind is Kind.OPEN_TWO)]
        short: list[Group] = []
        for cell in range(length):
            gain = 1 << cell
            if stones & gain or (stones & self._within[cell]).bit_count() < needed:
                continue
            if kind is Kind.FOUR:
                run = self._run(stones, cell)
                if run != gain and self._wins(run.bit_count()):
                    short.append((run ^ gain, gain))
            else:
                for group, _ in self._groups(ONE_MORE[kind], length, stones | gain):
                    if group & gain and group != gain:
                        short.append((group ^ gain, gain))
        return short

    def _wins(self, run: int) -> bool:
        return run == self._win_length or (run > self._win_length and self._law is Law.FIVE_OR_MORE)

    @staticmethod
    def _run(stones: int, cell: int) -> int:
        """Return the row of stones through `cell`, itself included, as bits."""
        above = stones >> cell + 1
        up = (~above & above + 1).bit_length()  # stones in a row above, and one
        below = ~stones & (1 << cell) - 1  # the empty cells under it
        return (1 << cell + up) - (1 << below.bit_length())

    def _made(self, length: int, stones: int) -> Stretch:
        own, cut = np.zeros(length), np.zeros(length)
        here = self.worth(length, stones)
        winning = self.wins(length, stones)
        fours = 0
        for cell in range(length):
            bit = 1 << cell
            if stones & bit:
                continue
            flags = self._flags(length, stones, cell, winning)
            fours += flags % THREES > 0
            own[cell] = (self.worth(length, stones | bit) - here) * UNIT + flags + FIVE * (winning >> cell & 1)
            left = self.worth(cell, stones & bit - 1)
            cut[cell] = (left + self.worth(length - cell - 1, stones >> cell + 1) - here) * UNIT
        return Stretch(here, winning.bit_count(), fours, own, cut)

    def _flags(self, length: int, stones: int, cell: int, winning: int) -> int:
        """Return what an own stone on an empty cell makes, beside a win: fours, threes, overlines."""
        if length < self._win_length or not self._is_near(length, stones, cell):
            return 0
        if stones.bit_count() < self._win_length - 2 and self._law is not Law.RENJU_BLACK:
            return NEAR_FOURS
        new = (self.wins(length, stones | 1 << cell) & ~winning).bit_count()
        near = (1 + (new >= 2)) * NEAR_FOURS
        if self._law is not Law.RENJU_BLACK:
            return min(new, 3) * FOURS + near
        code = 0
        for offset, place in zip(OFFSETS, PLACES, strict=True):
            there = cell + offset
            code += place * (OWN * (stones >> there & 1) if 0 <= there < length else OTHER)
        return RENJU_FLAGS.get(Pattern(_renju_patterns()[code]), 0) + near

    def _is_near(self, length: int, stones: int, cell: int) -> bool:
        """Whether with a stone on `cell` some win_length cells in a row lack two stones or fewer."""
        window = (1 << self._win_length) - 1
        return any(
            (stones & window << start).bit_count() >= self._win_length - 3
            for start in range(max(0, cell - self._win_length + 1), min(cell, length - self._win_length) + 1)
        )


def _mirrored(length: int, stones: int) -> int:
    """Return the stones as they stand read from the other end."""
    return int(f"{stones:0{length}b}"[::-1], 2)


def _is_unbroken(stones: int) -> bool:
    lowest = stones & -stones
    return not stones + lowest & stones


@cache
def _renju_patterns() -> list[int]:
    patterns: list[int] = pattern_table(Law.RENJU_BLACK).tolist()
    return patterns
