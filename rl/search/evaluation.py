"""What stands on one line, group by group: the findings that every score of a position is made of.
A finding is defined by what more stones can make of it, so that it means the same for any winning length and rule.

Below, for five in a row: x own · o other (an opposing stone or the edge) · . empty · * a gain

      FIVE           xxxxx                                wins; with six or more only where the rule says so
      OPEN_FOUR      *xxxx*   x*xxx*x   xx*xx*xx          two or more cells win, one stone cannot stop both
      FOUR           oxxxx*   xx*xx   *xxx.xo ...         one stone short of a win, on one cell
      OPEN_THREE     .*xxx*.  o.xxx*.   .xx*x.            one stone short of an open four, split or not
      CLOSED_THREE   oxxx**   o*xxx*o   x*x*x             one stone short of a four
      OPEN_TWO       .**xx**.                             one stone short of an open three, side by side
      SPLIT_TWO      .*x*x*.  .x**x.                      the same with a gap between the stones

Names are those of five in a row: where three win, "four" is two stones and "three" is one. Black in renju may not play
a double four, so for him only the straight *xxxx* is an open four.

A group of stones is counted once, by its best kind: from FIVE downwards, whatever shares a stone with a better finding
is left out, and findings of one kind that share a stone are one. So

      oxxxx*..x.xx   a four and a closed three: no stone of the three is part of the four
      .*xxx*...x     one open three: x...x, xx..x and so on share a stone with it
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from env import BLACK, WHITE, Rule
from env.patterns import Law

Group = tuple[int, int]  # the stones and the gains of a group, as sets of bits: bit i is the i-th cell
MOST_KEPT = 2**16  # groups and findings remembered, those met last: some 60 MB


class Kind(IntEnum):
    """What a group of stones on one line is; the larger, the nearer to winning."""

    SPLIT_TWO = 1
    OPEN_TWO = 2
    CLOSED_THREE = 3
    OPEN_THREE = 4
    FOUR = 5
    OPEN_FOUR = 6
    FIVE = 7


class Finding(NamedTuple):
    """One group on a line: `positions` of its stones, and `gains`, where one more stone takes it a step up.

    Both are positions on the line (0 for its first cell), in rising order. A FIVE has no gains.
    """

    kind: Kind
    colour: int
    positions: tuple[int, ...]
    gains: tuple[int, ...]


def line_findings(cells: Sequence[int], win_length: int, rule: Rule) -> list[Finding]:
    """Return what stands on one line, black's findings first, each colour's best first and then from the left.

    cells are the colours of the line's cells (BLACK, WHITE or EMPTY) from edge to edge. Nothing of one colour reaches
    past a stone of the other, so each stretch between them is looked up by itself.
    """
    found = []
    for colour in (BLACK, WHITE):
        law = Law.of(rule, colour)
        own: list[Finding] = []
        for start, length, stones in _stretches(cells, colour):
            for kind, group, gains in stretch_findings(length, stones, win_length, law):
                own.append(Finding(kind, colour, places(group, start), places(gains, start)))
        found += sorted(own, key=lambda finding: (-finding.kind, finding.positions))
    return found


def _stretches(cells: Sequence[int], colour: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, length and stones of each stretch without an opposing stone that holds a stone of `colour`."""
    start = stones = 0
    for here, cell in enumerate((*cells, -colour)):
        if cell == -colour:
            if stones:
                yield start, here - start, stones
            start, stones = here + 1, 0
        elif cell == colour:
            stones |= 1 << here - start


def places(bits: int, start: int = 0) -> tuple[int, ...]:
    """Return the numbers of the bits that are set, lowest first, counted from `start`."""
    return tuple(start + i for i in range(bits.bit_length()) if bits >> i & 1)


@lru_cache(MOST_KEPT)
def stretch_findings(length: int, stones: int, win_length: int, law: Law) -> tuple[tuple[Kind, int, int], ...]:
    """Return kind, stones and gains of what stands on a stretch between two stops, the best first.

    stones are the own stones among its `length` cells as bits; the rest is empty.
    """
    found: list[tuple[Kind, int, int]] = []
    used = 0
    for kind in reversed(Kind):
        groups: list[Group] = []
        for group, gains in _groups(kind, length, stones, win_length, law):
            if group & used:
                continue
            apart = []
            for other, others in groups:
                if other & group:
                    group, gains = group | other, gains | others
                else:
                    apart.append((other, others))
            groups = [*apart, (group, gains)]
        for group, gains in groups:
            used |= group
            found.append((kind, group, gains))
    return tuple(found)


def kind_of_stone(cell: int, length: int, stones: int, win_length: int, law: Law) -> int:
    """Return the best kind of a group that the stone on `cell` of a stretch is part of, 0 if it is part of none."""
    for kind in reversed(Kind):
        if any(group >> cell & 1 for group, _ in _groups(kind, length, stones, win_length, law)):
            return kind
    return 0


@lru_cache(MOST_KEPT)
def _groups(kind: Kind, length: int, stones: int, win_length: int, law: Law) -> tuple[Group, ...]:
    """Return every group that is of a kind by itself, before any is merged with or left out for another."""
    args = (length, stones, win_length, law)
    if kind is Kind.FIVE:
        return tuple((run, 0) for run in _winning_runs(*args))
    if kind is Kind.OPEN_FOUR:
        fours = _groups(Kind.FOUR, *args)
        return tuple(
            (one | two, gain | other)
            for i, (one, gain) in enumerate(fours)
            for two, other in fours[:i]
            if (one == two if law is Law.RENJU_BLACK else one & two)
        )
    if kind in (Kind.OPEN_TWO, Kind.SPLIT_TWO):
        twos = _one_short_of(Kind.OPEN_THREE, *args)
        return tuple((two, gain) for two, gain in twos if _is_unbroken(two) is (kind is Kind.OPEN_TWO))
    next_kind = {Kind.FOUR: Kind.FIVE, Kind.OPEN_THREE: Kind.OPEN_FOUR, Kind.CLOSED_THREE: Kind.FOUR}[kind]
    return _one_short_of(next_kind, *args)


def _winning_runs(length: int, stones: int, win_length: int, law: Law) -> Iterator[int]:
    """Yield the unbroken runs of stones that win, each as bits."""
    start = 0
    for here in range(length + 1):
        if not stones >> here & 1:
            run = here - start
            if run == win_length or (run > win_length and law is Law.FIVE_OR_MORE):
                yield (1 << here) - (1 << start)
            start = here + 1


def _one_short_of(kind: Kind, length: int, stones: int, win_length: int, law: Law) -> tuple[Group, ...]:
    """Return the stones that one more, the gain, makes a group of `kind`."""
    short = []
    for here in range(length):
        gain = 1 << here
        if not stones & gain:
            for group, _ in _groups(kind, length, stones | gain, win_length, law):
                if group & gain and group != gain:
                    short.append((group ^ gain, gain))
    return tuple(short)


def _is_unbroken(stones: int) -> bool:
    lowest = stones & -stones
    return not stones + lowest & stones
