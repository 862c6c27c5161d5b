"""What a line is worth, and what one more stone on it would change, looked up instead of worked out.
The values are those of rl/search/account.py, line by line; each line is looked at once and remembered.

A line that has been met is a Line. It knows what every stone on it leads to, so that play walks from Line to Line:

      . . x . .      gains: for each of the five cells, what black's account grows by if he plays there, and white's if
                     she does (her stone takes from black what his stretch is worth). One complex number a cell, black's
                     gain its real part, white's its imaginary part, so that one addition keeps both.

A gain is packed as rl/search/stretches.py says, and TAKEN is taken off where a stone stands, so that no cell is played
twice. The tally of a line is packed too: worth to black << 48, and counts of twelve bits below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE, Rule
from env.patterns import Law
from rl.search.account import BY_KIND
from rl.search.evaluation import Kind
from rl.search.line_codes import DIGITS, cells_of
from rl.search.stretches import Stretches, Worths

Gains = NDArray[np.complex128]

POINT = 100  # worths are whole hundredths of the account's points
ANSWERED = 0.25  # won 24 to 26 of 30 games against the threat player at 0.2 s; 1.0 won 21 or 22
TAKEN = 2.0**50
LEAST = -TAKEN / 2  # the gains of empty cells are more
# A tally's parts: the worth, and how many cells complete a win or make a four.
WORTH, BLACK_WINS, WHITE_WINS, BLACK_FOURS, WHITE_FOURS = 48, 36, 24, 12, 0
COUNT = 2**12 - 1
COUNTS = {  # own wins, the other side's, own fours, the other side's
    BLACK: (BLACK_WINS, WHITE_WINS, BLACK_FOURS, WHITE_FOURS),
    WHITE: (WHITE_WINS, BLACK_WINS, WHITE_FOURS, BLACK_FOURS),
}

MOST_KEPT = 60_000  # lines; with their steps some 200 MB


def line_worths(worths: Mapping[str, float]) -> Worths:
    """Return what each kind of finding counts in a search, indexed by Kind, in hundredths, from what each rule counts.

    One finding, one worth: this is the part of the account that a line decides by itself, with two differences. An open
    two always counts half of double_open_two, also when it is the only one, and no more when it shares a gain with
    another. And an open three counts ANSWERED: when the search stops to count, one has just been made or has just been
    left, and whoever is to move will stop it, or win with it, which `quiet` of rl/search/minimax.py sees.
    """
    by_kind = {kind: worths[rule] for kind, rule in BY_KIND.items()}
    by_kind[Kind.OPEN_TWO] = worths["double_open_two"] / 2
    by_kind[Kind.OPEN_THREE] *= ANSWERED
    return (0, *(round(POINT * by_kind[kind]) for kind in Kind))


# Where a stone leads, what that adds to the gains and to the tally, and the most it adds to a gain of its own colour's.
Step = tuple["Line", Gains, int, float]


class Line:
    """A line as it stands.

    gains  (n,) complex: packed gains of black and of white on every cell
    tally  worth to black, and the counts, packed: see WORTH and its neighbours above
    steps  steps[2 * i] leads to the Line with a black stone on cell i, steps[2 * i + 1] to that with a white one;
           None until somebody has gone there: see `LineValues.step`
    """

    __slots__ = ("code", "gains", "steps", "tally")

    def __init__(self, code: int, gains: Gains, tally: int) -> None:
        self.code, self.gains, self.tally = code, gains, tally
        self.steps: list[Step | None] = [None] * (2 * len(gains))

    def gains_of(self, colour: int) -> NDArray[np.float64]:
        """Return the gains of one colour."""
        return self.gains.real if colour == BLACK else self.gains.imag


class LineValues:
    """All lines that have been met, under one rule, winning length and set of worths."""

    def __init__(self, win_length: int, rule: Rule, worths: Worths) -> None:
        self._black = Stretches(win_length, Law.of(rule, BLACK), worths)
        self._white = self._black
        if Law.of(rule, WHITE) is not Law.of(rule, BLACK):
            self._white = Stretches(win_length, Law.of(rule, WHITE), worths)
        self._known: dict[tuple[int, int], Line] = {}

    def line(self, code: int, length: int) -> Line:
        """Return the line with this code."""
        key = length, code
        if key not in self._known:
            self._known[key] = self._made(code, cells_of(code, length))
        return self._known[key]

    def step(self, line: Line, number: int) -> Step:
        """Return line.steps[number], worked out the first time."""
        step = line.steps[number]
        if step is None:
            colour = WHITE if number & 1 else BLACK
            after = self.line(line.code + DIGITS[colour] * 3 ** (number >> 1), len(line.gains))
            gains = after.gains - line.gains
            own = gains.real if colour == BLACK else gains.imag
            step = line.steps[number] = after, gains, after.tally - line.tally, float(own.max())
        return step

    def tidy(self) -> None:
        """Forget all lines if they have become too many; whoever walks on them meanwhile keeps its own."""
        if len(self._known) > MOST_KEPT:
            self._known = {}

    def _made(self, code: int, cells: tuple[int, ...]) -> Line:
        gains = np.zeros(len(cells), dtype=np.complex128)
        black, white = gains.real, gains.imag
        tally = 0
        for colour, mine, theirs, table, wins, fours in (
            (BLACK, black, white, self._black, BLACK_WINS, BLACK_FOURS),
            (WHITE, white, black, self._white, WHITE_WINS, WHITE_FOURS),
        ):
            for start, end, stones in _stretches(cells, colour):
                stretch = table(end - start, stones)
                tally += (colour * stretch.worth << WORTH) + (stretch.wins << wins) + (stretch.fours << fours)
                mine[start:end] += stretch.own
                theirs[start:end] -= stretch.cut
        gains[np.array(cells) != EMPTY] = complex(-TAKEN, -TAKEN)
        return Line(code, gains, tally)


def _stretches(cells: tuple[int, ...], colour: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and own stones, as bits, of every stretch of a line without an opposing stone."""
    start = stones = 0
    for here, cell in enumerate((*cells, -colour)):
        if cell == -colour:
            if here > start:
                yield start, here, stones
            start, stones = here + 1, 0
        elif cell == colour:
            stones |= 1 << here - start


@lru_cache(maxsize=8)
def lines_met(win_length: int, rule: Rule, worths: Worths) -> LineValues:
    """Return the lines met so far under these settings, which every search adds to."""
    return LineValues(win_length, rule, worths)
