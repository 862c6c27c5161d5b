"""What a line of the board threatens, for both colours, looked up by the line's code.
Each answer is worked out once, when its code is first met, and kept.

      . x x x . o      black, five in a row: a stone on cell 0 or 4 makes a four, and the other of the two
      0 1 2 3 4 5      then completes it. So cell 0 is a four answered by 4, and cell 4 a four answered by 0.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from env import BLACK, EMPTY, WHITE, Rule
from rl.search.line_codes import lines_of

Cells = tuple[int, ...]
Fours = tuple[tuple[int, Cells], ...]

HALF = 8  # a code is split into pieces of so many digits, whose stones are looked up
MOST_KEPT = 200_000  # line codes remembered for one kind of board: some 100 MB, at most


class Threats(NamedTuple):
    """What stands on one line.

    fives  for black and for white, the empty cells that complete a winning line
    fours  for black and for white, the empty cells that make a four, each with the cells that would complete it;
           worked out only for a colour that has no five to complete on this line
    """

    black_fives: Cells
    white_fives: Cells
    black_fours: Fours
    white_fours: Fours


NOTHING = Threats((), (), (), ())


def threats_by_definition(cells: Cells, win_length: int, rule: Rule) -> Threats:
    """Return what the colours on one line threaten, as positions on it: by playing every stone and every pair."""

    def completes(stones: Cells, at: int, colour: int) -> bool:
        first = last = at
        while first > 0 and stones[first - 1] == colour:
            first -= 1
        while last + 1 < len(stones) and stones[last + 1] == colour:
            last += 1
        return rule.wins(last - first + 1, win_length, colour)

    def fives(stones: Cells, colour: int) -> Cells:
        empty = [at for at, stone in enumerate(stones) if stone == EMPTY]
        return tuple(at for at in empty if completes((*stones[:at], colour, *stones[at + 1 :]), at, colour))

    def fours(colour: int) -> Fours:
        if fives(cells, colour):
            return ()
        after = {at: fives((*cells[:at], colour, *cells[at + 1 :]), colour) for at, s in enumerate(cells) if s == EMPTY}
        return tuple((at, answers) for at, answers in after.items() if answers)

    return Threats(fives(cells, BLACK), fives(cells, WHITE), fours(BLACK), fours(WHITE))


def threes_by_definition(cells: Cells, win_length: int, rule: Rule, colour: int) -> Cells:
    """Return the positions where a stone makes a three: no four yet, but one more makes a four with two answers.

    None on a line where the colour has a five to complete, or could make such a four at once.
    """

    def fours(stones: Cells) -> Fours:
        threats = threats_by_definition(stones, win_length, rule)
        return threats.black_fours if colour == BLACK else threats.white_fours

    before = threats_by_definition(cells, win_length, rule)
    if (before.black_fives if colour == BLACK else before.white_fives) or any(len(a) > 1 for _, a in fours(cells)):
        return ()
    found = []
    for at, stone in enumerate(cells):
        if stone == EMPTY and at not in dict(fours(cells)):
            after = (*cells[:at], colour, *cells[at + 1 :])
            if any(len(answers) >= 2 for _, answers in fours(after)):
                found.append(at)
    return tuple(found)


def closed_threes_by_definition(cells: Cells, win_length: int, colour: int) -> Cells:
    """Return the empty positions of stretches of the winning length, no other stone in them, that lack three or fewer.

    A stone there leaves two or fewer to be put. Overlines are not minded.
    """
    windows = [range(start, start + win_length) for start in range(len(cells) - win_length + 1)]
    hopeful = [
        window
        for window in windows
        if all(cells[at] in (EMPTY, colour) for at in window) and sum(cells[at] == EMPTY for at in window) <= 3
    ]
    return tuple(at for at, stone in enumerate(cells) if stone == EMPTY and any(at in window for window in hopeful))


def _stones() -> tuple[tuple[int, int], ...]:
    """Return black's and white's positions, as bits, for every code of HALF digits."""
    digits = [[code // 3**at % 3 for at in range(HALF)] for code in range(3**HALF)]
    return tuple(
        (sum(1 << at for at in range(HALF) if d[at] == 1), sum(1 << at for at in range(HALF) if d[at] == 2))
        for d in digits
    )


class ThreatTables:
    """The tables of one kind of board: for each line, from its code to its Threats and to its threes, in cells.

    threats  one dictionary a line; ask it first and call `learn` where it does not know. Each is a Threats: read it by
             index, fives 0 and 1, fours 2 and 3
    threes   the same for black's and white's threes, as `learn_threes` fills it
    closed_threes  and for their closed threes, as `learn_closed_threes` fills it
    """

    def __init__(self, height: int, width: int, win_length: int, rule: Rule) -> None:
        self.lines = lines_of(height, width, win_length)
        self.threats: list[dict[int, tuple[Any, ...]]] = [{0: NOTHING} for _ in self.lines]
        self.threes: list[dict[int, tuple[Cells, Cells]]] = [{0: ((), ())} for _ in self.lines]
        self.closed_threes: list[dict[int, tuple[Cells, Cells]]] = [{0: ((), ())} for _ in self.lines]
        self._length = win_length
        self._exact = rule.exact(BLACK), rule.exact(WHITE)
        self._kept = 0
        self._pieces = _stones()

    def learn(self, line: int, code: int) -> Threats:
        """Work out the threats of a line, and keep them."""
        self._make_room()
        cells = self.lines[line]
        black, white = self._decode(code)
        fives, fours = [], []
        for own, other, exact in ((black, white, self._exact[0]), (white, black, self._exact[1])):
            ends, pairs = self._scan(own, other, len(cells), exact)
            fives.append(tuple([cells[at] for at in ends]))
            fours.append(tuple([(cells[at], tuple([cells[k] for k in answers])) for at, answers in pairs]))
        found = Threats(fives[0], fives[1], fours[0], fours[1]) if any(fives) or any(fours) else NOTHING
        self.threats[line][code] = found
        return found

    def learn_threes(self, line: int, code: int) -> tuple[Cells, Cells]:
        """Work out the threes of a line, black's and white's, and keep them."""
        self._make_room()
        cells = self.lines[line]
        black, white = self._decode(code)
        found = (
            tuple([cells[at] for at in self._threes(black, white, len(cells), self._exact[0])]),
            tuple([cells[at] for at in self._threes(white, black, len(cells), self._exact[1])]),
        )
        self.threes[line][code] = found
        return found

    def learn_closed_threes(self, line: int, code: int) -> tuple[Cells, Cells]:
        """Work out the closed threes of a line, black's and white's, and keep them."""
        self._make_room()
        cells = self.lines[line]
        black, white = self._decode(code)
        found = self.closed_threes[line][code] = (
            tuple([cells[at] for at in self._closed_threes(black, white, len(cells))]),
            tuple([cells[at] for at in self._closed_threes(white, black, len(cells))]),
        )
        return found

    def _make_room(self) -> None:
        """Forget everything when too much has been kept: it can be worked out again."""
        self._kept += 1
        if self._kept > MOST_KEPT:
            self._kept = 1
            for known in (*self.threats, *self.threes, *self.closed_threes):
                known.clear()

    def _decode(self, code: int) -> tuple[int, int]:
        """Return the positions of black and of white on a line as bits."""
        black = white = shift = 0
        while code:
            code, low = divmod(code, 3**HALF)
            piece = self._pieces[low]
            black |= piece[0] << shift
            white |= piece[1] << shift
            shift += HALF
        return black, white

    def _scan(self, own: int, other: int, length: int, exact: bool) -> tuple[list[int], list[tuple[int, list[int]]]]:
        """Return the positions that complete a win, and those that make a four with its answers.

        Looks at every stretch of the winning length: one empty position in it is a win, two empty positions are each
        a four that the other answers. Where the run must be exact, no own stone may touch the stretch.
        """
        n = self._length
        full = (1 << n) - 1
        ends: list[int] = []
        pairs: dict[int, list[int]] = {}
        if own.bit_count() < n - 2:
            return ends, []
        for start in range(length - n + 1):
            if other >> start & full:
                continue
            stretch = own >> start & full
            count = stretch.bit_count()
            if count < n - 2 or count == n or (exact and own & (1 << start + n | (1 << start) >> 1)):
                continue
            gap = full & ~stretch
            first = (gap & -gap).bit_length() - 1 + start
            if count == n - 1:
                if first not in ends:
                    ends.append(first)
                continue
            last = gap.bit_length() - 1 + start
            for at, answer in ((first, last), (last, first)):
                answers = pairs.setdefault(at, [])
                if answer not in answers:
                    answers.append(answer)
        return ends, [] if ends else list(pairs.items())

    def _threes(self, own: int, other: int, length: int, exact: bool) -> list[int]:
        """Return the positions where a stone makes a three."""
        n = self._length
        full = (1 << n) - 1
        if own.bit_count() < n - 3:
            return []
        hopes = 0  # empty positions in a stretch that lacks three stones
        for start in range(length - n + 1):
            if not other >> start & full:
                stretch = own >> start & full
                if stretch.bit_count() == n - 3:
                    hopes |= (full & ~stretch) << start
        ends, pairs = self._scan(own, other, length, exact)
        if ends or any([len(answers) > 1 for _, answers in pairs]):
            return []
        for at, _ in pairs:
            hopes &= ~(1 << at)
        found = []
        while hopes:
            stone = hopes & -hopes
            hopes ^= stone
            _, after = self._scan(own | stone, other, length, exact)
            if any([len(answers) > 1 for _, answers in after]):
                found.append(stone.bit_length() - 1)
        return found

    def _closed_threes(self, own: int, other: int, length: int) -> list[int]:
        """Return the empty positions of stretches that lack two stones at most once one is put there."""
        n = self._length
        full = (1 << n) - 1
        hopes = 0
        for start in range(length - n + 1):
            if not other >> start & full and (own >> start & full).bit_count() >= n - 3:
                hopes |= full << start
        return [at for at in range(length) if (hopes & ~own) >> at & 1]


@cache
def threat_tables(height: int, width: int, win_length: int, rule: Rule) -> ThreatTables:
    """Return the tables of a kind of board, made once and shared by every search on it."""
    return ThreatTables(height, width, win_length, rule)
