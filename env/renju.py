"""The points that renju forbids to black: overline, double four and double three.
White may play anywhere, and a black move that makes exactly five in a row wins whatever else it makes.

      . . . . . .      A three is three stones that one more makes a straight four: four in a row, and at both ends
      . . . x . .      an empty point that completes exactly five. At * black makes two threes: a double three.
      . . . x . .
      . x x * . .      The one more must itself be legal and make no five, so whether a three is real may hang on
      . . . . . .      whether another point is forbidden a stone later, and so on to any depth.

Source: Renju International Federation, The International Rules of Renju, 3 (terms) and 9 (forbidden moves).
`forbidden_by_definition` takes them literally; `forbidden_points` says the same from tables, fast enough to ask
before every move.
"""

from collections.abc import Iterator
from enum import Flag, auto
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.patterns import Law, Pattern, gains, pattern_table
from env.rules import BLACK, EMPTY
from env.windows import CODES, OWN, REACH, ground

Point = tuple[int, int]  # row and column, or a direction as a step in both
Stones = dict[Point, int]
DIRECTIONS: tuple[Point, ...] = ((0, 1), (1, 0), (1, 1), (1, -1))


class Forbidden(Flag):
    """Why black may not play a point. The two doubles may hold together; an overline is named alone."""

    OVERLINE = auto()
    DOUBLE_FOUR = auto()
    DOUBLE_THREE = auto()

    @property
    def code(self) -> str:
        """The short name in renju notation: "6", "44", "33", "44+33", and "" for a point that is not forbidden."""
        names = {Forbidden.OVERLINE: "6", Forbidden.DOUBLE_FOUR: "44", Forbidden.DOUBLE_THREE: "33"}
        return "+".join(names[kind] for kind in self)


ALLOWED = Forbidden(0)


def forbidden_by_definition(cells: NDArray[Any], cell: int) -> Forbidden:
    """Return why black may not play the empty `cell` of a board (H, W), ALLOWED if he may: the rules, literally."""
    board = {point: int(colour) for point, colour in np.ndenumerate(cells)}
    kind, _ = _judge(board, divmod(cell, cells.shape[1]))
    return kind


def _judge(board: Stones, point: Point) -> tuple[Forbidden, bool]:
    """Return why black may not play `point`, and whether he makes five there."""
    board = {**board, point: BLACK}
    runs = [len(_run(board, point, way)) for way in DIRECTIONS]
    if 5 in runs:
        return ALLOWED, True
    if max(runs) > 5:
        return Forbidden.OVERLINE, False
    kind = ALLOWED
    if len(_fours(board, point)) >= 2:
        kind |= Forbidden.DOUBLE_FOUR
    if sum(_is_three(board, point, way) for way in DIRECTIONS) >= 2:
        kind |= Forbidden.DOUBLE_THREE
    return kind, False


def _along(point: Point, way: Point, k: int) -> Point:
    return point[0] + k * way[0], point[1] + k * way[1]


def _run(board: Stones, point: Point, way: Point) -> frozenset[Point]:
    """Return the unbroken row of black stones through the one on `point`."""
    run = {point}
    for sign in (1, -1):
        k = sign
        while board.get(_along(point, way, k)) == BLACK:
            run.add(_along(point, way, k))
            k += sign
    return frozenset(run)


def _grown(board: Stones, point: Point, way: Point) -> Iterator[tuple[Point, Stones, frozenset[Point]]]:
    """Yield each empty point that one more stone can join to `point` along `way`, the board then, and their row."""
    for k in range(-4, 5):
        more = _along(point, way, k)
        if board.get(more) == EMPTY:
            after = {**board, more: BLACK}
            run = _run(after, point, way)
            if more in run:
                yield more, after, run


def _fours(board: Stones, point: Point) -> set[frozenset[Point]]:
    """Return the fours of the stone on `point`, each as its stones: four that one more makes exactly five in a row.

    The straight four .xxxx. is one four that two points complete; x.xxx.x is two fours on one line.
    """
    return {run - {more} for way in DIRECTIONS for more, _, run in _grown(board, point, way) if len(run) == 5}


def _is_three(board: Stones, point: Point, way: Point) -> bool:
    """Whether the stone on `point` has a three along `way`: a legal move without a five makes it a straight four."""
    return any(
        len(run) == 4 and _is_straight(after, run, way) and _judge(board, more) == (ALLOWED, False)
        for more, after, run in _grown(board, point, way)
    )


def _is_straight(board: Stones, four: frozenset[Point], way: Point) -> bool:
    """Whether each end of four in a row is empty and completes exactly five; the right end of .xxxx.x does not."""
    ends = _along(min(four), way, -1), _along(max(four), way, 1)
    return all(board.get(end) == EMPTY and len(_run({**board, end: BLACK}, end, way)) == 5 for end in ends)


# From here on the same by tables. A point's tally says what a stone there makes of its four lines, as one decimal
# number: 0102 is one overline and two possible threes. No digit overflows, since a line has at most two fours.
THREE, FOUR, OVERLINE, FIVE = 1, 10, 100, 1000


@cache
def _tallies() -> tuple[NDArray[np.int16], list[int]]:
    """Return what each window adds to a tally, (3**11,) indexed by code: as an array for boards, a list for points."""
    worth = {
        Pattern.SPLIT_THREE: THREE,
        Pattern.OPEN_THREE: THREE,
        Pattern.FOUR: FOUR,
        Pattern.OPEN_FOUR: FOUR,
        Pattern.DOUBLE_FOUR: 2 * FOUR,
        Pattern.OVERLINE: OVERLINE,
        Pattern.FIVE: FIVE,
    }
    patterns = pattern_table(Law.RENJU_BLACK)
    tallies = np.zeros(CODES, dtype=np.int16)
    for pattern, tally in worth.items():
        tallies[patterns == pattern] = tally
    return tallies, tallies.tolist()


@cache
def _straight_fours(code: int) -> tuple[int, ...]:
    """Return the offsets where one more stone makes a straight four, none if the window holds no three."""
    return gains(code, Law.RENJU_BLACK) if _tallies()[1][code] == THREE else ()


class _Court:
    """A board on which black's points are judged, laid out so that a slice read as a number is a window's code."""

    def __init__(self, digits: NDArray[np.uint8], steps: tuple[int, ...]) -> None:
        self._squares = bytearray(digits + ord("0"))
        self._steps = steps

    def judge(self, place: int) -> Forbidden:
        """Return why black may not play the empty `place`."""
        codes, tally = self._look(place)
        if tally >= FIVE:
            return ALLOWED
        if tally >= OVERLINE:
            return Forbidden.OVERLINE
        kind = Forbidden.DOUBLE_FOUR if tally >= 2 * FOUR else ALLOWED
        return kind | Forbidden.DOUBLE_THREE if self._has_two_threes(place, codes, tally) else kind

    def _look(self, place: int) -> tuple[list[int], int]:
        """Return the codes of a place's windows and its tally."""
        squares, table = self._squares, _tallies()[1]
        codes = [int(squares[place - REACH * step : place + REACH * step + 1 : step], 3) for step in self._steps]
        return codes, sum([table[code] for code in codes])

    def _has_two_threes(self, place: int, codes: list[int], tally: int) -> bool:
        """Whether at least two of the threes that the tally counts are real."""
        if tally % FOUR < 2 * THREE:
            return False
        self._squares[place] = ord("0") + OWN
        threes = 0
        for code, step in zip(codes, self._steps, strict=True):
            threes += any(self._is_quiet(place + k * step) for k in _straight_fours(code))
            if threes == 2:
                break
        self._squares[place] = ord("0") + EMPTY
        return threes == 2

    def _is_quiet(self, place: int) -> bool:
        """Whether black, who makes one four at `place`, may play there and makes no five."""
        codes, tally = self._look(place)
        return tally < 2 * FOUR and not self._has_two_threes(place, codes, tally)


def _verdicts(cells: NDArray[Any]) -> Iterator[tuple[int, int, Forbidden]]:
    """Yield game, cell and kind of every forbidden point of boards (N, H, W)."""
    games, height, width = cells.shape
    here = ground(height, width)
    digits = here.lay(cells, BLACK)  # (N, size)
    tally = _tallies()[0][here.codes(digits)].reshape(games, 4, height * width).sum(axis=1)  # (N, A)
    empty = cells.reshape(games, height * width) == EMPTY
    suspect = empty & ((tally >= 2 * FOUR) | (tally % FOUR >= 2 * THREE))
    for game in np.flatnonzero(suspect.any(axis=1)).tolist():
        court = _Court(digits[game], here.steps)
        for cell in np.flatnonzero(suspect[game]).tolist():
            if kind := court.judge(int(here.places[cell])):
                yield game, cell, kind


def forbidden_at(cells: NDArray[Any], cell: int) -> Forbidden:
    """Return why black may not play the empty `cell` of a board (H, W), ALLOWED if he may."""
    here = ground(*cells.shape)
    return _Court(here.lay(cells, BLACK), here.steps).judge(int(here.places[cell]))


def forbidden_points(cells: NDArray[Any]) -> dict[int, Forbidden]:
    """Return every point of a board (H, W) that black may not play, by cell, with the reason."""
    return {cell: kind for _, cell, kind in _verdicts(cells[None])}


def forbidden_mask(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where black may not play on boards (..., H, W): bool of the same shape."""
    *games, height, width = cells.shape
    mask = np.zeros((prod(games), height * width), dtype=np.bool_)
    for game, cell, _ in _verdicts(cells.reshape(len(mask), height, width)):
        mask[game, cell] = True
    return mask.reshape(cells.shape)
