"""A position and the moves tried after it: one level a ply, each with all that a search asks of it at once.
Nothing is taken back: a move writes the next level from this one, and the search that returns looks at this one again.

At every level the gain of every cell is known for both colours, so that the children of a position are scored, all of
them, before any is played: a child is worth tally + gain.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE, Board, Rule
from env.renju import forbidden_at
from rl.search.account import centre_factor
from rl.search.line_codes import LineCodes
from rl.search.line_values import COUNT, COUNTS, LEAST, POINT, TAKEN, WORTH, Gains, Line, LineValues, Step
from rl.search.minimax import SMALL
from rl.search.places import apart, surroundings
from rl.search.stretches import FIVE, FOURS, NEAR_FOURS, THREES, UNIT

EVERYWHERE = np.True_
NEAR_THE_END = 20  # empty cells; with fewer, renju's black may run out of legal ones


add, either = np.add, np.bitwise_or


class Level:
    """One position of the stack.

    gains   (A,) complex, black and white its two real views: packed gains of a stone on each cell
    tally   of all lines, packed: see rl/search/line_values.py; the centre's worth is added to the lines'
    near    (A,) bool, cells within reach of a stone
    key     the position itself as a number: bit c for a black stone on cell c, bit A + c for a white one
    """

    __slots__ = ("black", "cell", "gains", "key", "lines", "near", "tally", "views", "white")

    def __init__(self, slices: list[slice], cells: int) -> None:
        self.gains: Gains = np.zeros(cells, dtype=np.complex128)
        self.black, self.white = self.gains.real, self.gains.imag
        self.views = [self.gains[cells] for cells in slices]
        self.lines: list[Line] = []
        self.tally = self.key = 0
        self.near: NDArray[np.bool_] = np.zeros(cells, dtype=np.bool_)
        self.cell = -1


class Lookahead:
    """The stack: level 0 is the position on the board, level k + 1 what was last tried from level k."""

    def __init__(
        self, board: Board, values: LineValues, centre: float, region: NDArray[np.bool_] | None = None
    ) -> None:
        """Stand at `board`, which is left as it was.

        centre is what the centre rule counts; region, (A,) bool, confines the candidates.
        """
        codes = LineCodes.from_board(board)
        self.values = values
        self.cells = board.height * board.width
        self.lines = codes.lines
        self.slices = [slice(x[0], x[-1] + 1, x[1] - x[0] if len(x) > 1 else 1) for x in codes.lines]
        self.in_lines = np.concatenate(codes.lines)
        self.starts = np.cumsum([0, *(len(line) for line in codes.lines[:-1])])
        self._through = [[(line, 2 * codes.lines[line].index(cell)) for line, _ in pairs]
                         for cell, pairs in enumerate(codes.through)]  # fmt: skip
        self.apart = apart(board.height, board.width, board.win_length)
        self.met = ~self.apart
        self._around = list(surroundings(board.height, board.width))
        self._stones = board.cells.copy()
        self.renju = board.rule is Rule.RENJU
        self._to_move = board.to_move
        self.empty = self.cells - len(board.moves)
        self._verdicts: dict[tuple[int, int], bool] = {}
        moves = len(board.moves)
        worth = [round(POINT * centre * centre_factor(c, board.height, board.width, moves)) for c in range(self.cells)]
        self._centre = {colour: [colour * each << WORTH for each in worth] for colour in (BLACK, WHITE)}
        self._bits = {BLACK: [1 << c for c in range(self.cells)]}
        self._bits[WHITE] = [bit << self.cells for bit in self._bits[BLACK]]
        self.levels = [Level(self.slices, self.cells)]
        self._lay_out(codes, np.array(worth) * UNIT, region)

    def _lay_out(self, codes: LineCodes, centre: NDArray[np.int64], region: NDArray[np.bool_] | None) -> None:
        """Work the first level out from nothing."""
        root = self.levels[0]
        root.lines = [self.values.line(code, length) for code, length in zip(codes.codes, codes.lengths, strict=True)]
        root.gains += centre * (1 + 1j)
        for view, line in zip(root.views, root.lines, strict=True):
            view += line.gains
        root.tally = sum(line.tally for line in root.lines)
        for cell, colour in enumerate(self._stones.ravel().tolist()):
            if colour != EMPTY:
                root.tally += self._centre[colour][cell]
                root.key |= self._bits[colour][cell]
                root.near |= self._around[cell]
        if self.cells <= SMALL:
            root.near[:] = True
        if region is not None and (root.near & region).any():
            root.near &= region
            self._around = [near & region for near in self._around]

    def play(self, k: int, cell: int, colour: int) -> None:
        """Write level k + 1: level k with a stone of `colour` on an empty cell."""
        levels = self.levels
        if k + 1 == len(levels):
            levels.append(Level(self.slices, self.cells))
        here, there = levels[k], levels[k + 1]
        there.gains[...] = here.gains
        lines = there.lines = here.lines.copy()
        views = there.views
        tally = here.tally + self._centre[colour][cell]
        odd = 0 if colour == BLACK else 1
        for number, slot in self._through[cell]:
            line = lines[number]
            lines[number], gains, tallied, _ = line.steps[slot + odd] or self.values.step(line, slot + odd)
            view = views[number]
            add(view, gains, view)
            tally += tallied
        there.tally = tally
        there.cell = cell
        there.key = here.key | self._bits[colour][cell]
        either(here.near, self._around[cell], there.near)

    def winning(self, k: int, colour: int) -> list[int]:
        """Return the cells where a stone of `colour` completes a win."""
        gains = self.levels[k].black if colour == BLACK else self.levels[k].white
        cells: list[int] = (gains >= FIVE / 2).nonzero()[0].tolist()
        return cells

    def fours(self, k: int, colour: int, promising: bool = False) -> list[int]:
        """Return the legal cells where a stone of `colour` makes a four, the largest gain first.

        promising: only those that make more than one simple four, as `quiet` of rl/search/minimax.py asks.
        """
        gains = self.levels[k].black if colour == BLACK else self.levels[k].white
        flags = gains.astype(np.int64) & UNIT - 1
        right = flags & THREES - 1 > 0
        if promising:
            right &= flags >= 2 * NEAR_FOURS
        cells = (right & (gains > LEAST)).nonzero()[0]
        if len(cells) > 1:
            cells = cells[(-gains[cells]).argsort(kind="stable")]
        return self.legal(k, colour, cells.tolist())

    def doublers(self, k: int, colour: int) -> list[int]:
        """Return the cells where a stone of `colour` leaves two cells to complete; none of renju's black."""
        if self.renju and colour == BLACK:
            return []
        gains = self.levels[k].black if colour == BLACK else self.levels[k].white
        cells: list[int] = (gains.astype(np.int64) & THREES - 1 >= 2 * FOURS).nonzero()[0].tolist()
        return cells

    def answers(self, k: int, colour: int, moves: list[int]) -> list[int]:
        """Return those of `moves` after which the other side may not complete a line three moves later.

        Where it has doublers, every move that makes no four, nor takes the cell or one of the two to complete from each
        of them, loses so soon, and none loses sooner: the others are at least as good. If there are no others, one move
        of all.
        """
        doublers = self.doublers(k, -colour)
        if not doublers:
            return moves
        matter = set(moves)
        for cell in doublers:
            completing = self.completing(k, cell, -colour)
            matter.intersection_update((cell, *completing) if len(completing) == 2 else (cell,))
        matter.update(self.fours(k, colour))
        return [cell for cell in moves if cell in matter] or moves[:1]

    def completing(self, k: int, cell: int, colour: int) -> list[int]:
        """Return the cells that complete a win once `colour` has a stone on `cell`, where none does now."""
        wins, _, _, _ = COUNTS[colour]
        found: list[int] = []
        for number, _, (after, _, _, _) in self.steps(k, cell, colour):
            if after.tally >> wins & COUNT:
                cells = self.lines[number]
                found += [cells[place] for place in (after.gains_of(colour) >= FIVE / 2).nonzero()[0].tolist()]
        return found

    def steps(self, k: int, cell: int, colour: int) -> Iterator[tuple[int, Line, Step]]:
        """Yield the lines through an empty cell: number, Line, and where a stone of `colour` leads."""
        lines, odd, step = self.levels[k].lines, 0 if colour == BLACK else 1, self.values.step
        for number, slot in self._through[cell]:
            line = lines[number]
            yield number, line, line.steps[slot + odd] or step(line, slot + odd)

    def candidates(self, k: int, colour: int) -> list[int]:
        """Return the legal cells near the stones, the most promising first; all legal cells if there is none near.

        A cell counts what `colour` gains there and half of what its opponent would.
        """
        level = self.levels[k]
        mine, theirs = (level.black, level.white) if colour == BLACK else (level.white, level.black)
        cells = self._near(k, colour)
        ordered: list[int] = cells[(-0.5 * theirs.take(cells) - mine.take(cells)).argsort(kind="stable")].tolist()
        return ordered

    def near_count(self, k: int) -> int:
        """Return how many empty cells are near the stones."""
        level = self.levels[k]
        return int(np.count_nonzero(level.near & (level.black > LEAST)))

    def gain(self, k: int, colour: int, cell: int) -> int:
        """Return the packed gain of a stone of `colour`."""
        level = self.levels[k]
        return int((level.black if colour == BLACK else level.white).item(cell))

    def by_gain(self, k: int, colour: int) -> list[tuple[int, int]]:
        """Return the candidates with their gains in hundredths, the largest first."""
        level = self.levels[k]
        mine = level.black if colour == BLACK else level.white
        cells = self._near(k, colour)
        gains = mine.take(cells)
        order = gains.argsort()[::-1]
        return list(zip(cells[order].tolist(), (gains[order] // UNIT).astype(np.int64).tolist(), strict=True))

    def best_gain(self, k: int, colour: int) -> tuple[int, int]:
        """Return the first of `by_gain`, or (-1, 0) if it is not near: found without sorting."""
        level = self.levels[k]
        gains = level.black if colour == BLACK else level.white
        cell = int(gains.argmax())
        judged = self.renju and colour == BLACK
        if not level.near[cell] or (judged and self.forbidden(k, cell)):
            gains = np.where(level.near, gains, -TAKEN)
            cell = int(gains.argmax())
            while judged and gains[cell] > LEAST and self.forbidden(k, cell):
                gains[cell] = -TAKEN
                cell = int(gains.argmax())
        gain = gains.item(cell)
        return (cell, int(gain) // UNIT) if gain > LEAST else (-1, 0)

    def legal(self, k: int, colour: int, cells: list[int]) -> list[int]:
        """Return those of some empty cells that `colour` may play."""
        if not self.renju or colour != BLACK:
            return cells
        return [cell for cell in cells if not self.forbidden(k, cell)]

    def _near(self, k: int, colour: int) -> NDArray[np.intp]:
        """Return the candidates in rising order."""
        level = self.levels[k]
        mine = level.black if colour == BLACK else level.white
        for near in (level.near, EVERYWHERE):
            cells = (near & (mine > LEAST)).nonzero()[0]
            if self.renju and colour == BLACK:
                flags = mine.take(cells).astype(np.int64) % NEAR_FOURS
                suspect = cells[(flags % THREES >= 2 * FOURS) | (flags >= 2 * THREES)].tolist()
                wrong = [cell for cell in suspect if self.forbidden(k, cell)]
                if wrong:
                    cells = cells[~np.isin(cells, wrong)]
            if len(cells):
                break
        return cells

    def forbidden(self, k: int, cell: int) -> bool:
        """Whether renju forbids an empty cell to black. Most cells are let go by what a stone there makes."""
        gain = self.levels[k].black.item(cell)
        if gain >= FIVE / 2:
            return False
        flags = int(gain) % NEAR_FOURS
        if flags % THREES < 2 * FOURS and flags < 2 * THREES:  # nor, with so few, an overline
            return False
        key = self.levels[k].key, cell
        if key not in self._verdicts:
            stones = self._stones.copy()
            colour = self._to_move
            for level in self.levels[1 : k + 1]:
                stones.flat[level.cell] = colour
                colour = -colour
            self._verdicts[key] = bool(forbidden_at(stones, cell))
        return self._verdicts[key]

    def near_the_end(self, k: int) -> bool:
        """Whether two more moves may end the game in a draw."""
        return self.empty - k <= (NEAR_THE_END if self.renju else 2)

    def no_legal_move(self, k: int, colour: int) -> bool:
        """Whether `colour` has no legal cell at all: the board is full, or all that is left is forbidden to black."""
        if self.empty <= k:
            return True
        if not (self.renju and colour == BLACK) or self.empty - k > NEAR_THE_END:
            return False
        empty = (self.levels[k].black > LEAST).nonzero()[0].tolist()
        return all(self.forbidden(k, cell) for cell in empty)
