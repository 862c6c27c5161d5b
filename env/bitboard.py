"""The search twin of Board: a position as two whole numbers, one bit a cell, on which rules are a few shifts.

A search makes many moves and asks little of each position, so everything here is arithmetic on Python's long ints.

Bit row * (W + 1) + col is the cell (row, col). The bit after each row is a wall that is never set, so that no line
runs on round the edge: a shift by 1 looks along a row, by W + 1 along a column, by W + 2 and W along the diagonals.

      bits of a 3x3 board     0  1  2  #      stones & stones >> 1 & stones >> 2 has bit b set exactly
                              4  5  6  #      when b, b + 1 and b + 2 are all stones: three in a row
                              8  9 10  #      that starts at b.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from env.board import Board, ForbiddenMoveError
from env.coords import cell_name
from env.lines import steps, stride
from env.renju import forbidden_at, forbidden_points
from env.rules import BLACK, WHITE, IllegalMoveError, Rule, check_settings


class Bitboard:
    """A game as Board plays it, under the same settings and rules.

    black, white  the stones as bits
    to_move       BLACK or WHITE, changes after every move
    winner        None while the game goes on, else BLACK, WHITE, or 0 for a draw
    moves         the cells played, oldest first

    Sets of cells are bits too; `cells_of` lists them.
    """

    __slots__ = (
        "_all",
        "_steps",
        "black",
        "height",
        "moves",
        "rule",
        "to_move",
        "white",
        "width",
        "win_length",
        "winner",
    )

    def __init__(self, height: int = 15, width: int = 15, win_length: int = 5, rule: Rule = Rule.FREESTYLE) -> None:
        check_settings(height, width, win_length, rule)
        self.height, self.width, self.win_length, self.rule = height, width, win_length, rule
        self.black = self.white = 0
        self.to_move = BLACK
        self.winner: int | None = None
        self.moves: list[int] = []
        self._steps = steps(width)
        self._all = _whole_board(height, width)

    @classmethod
    def from_board(cls, board: Board) -> "Bitboard":
        """The same game as a Bitboard."""
        twin = cls(board.height, board.width, board.win_length, board.rule)
        for ply, cell in enumerate(board.moves):
            if ply % 2 == 0:
                twin.black |= twin.bit(cell)
            else:
                twin.white |= twin.bit(cell)
        twin.moves = board.moves[:]
        twin.to_move = board.to_move
        twin.winner = board.outcome.winner if board.outcome is not None else None
        return twin

    def bit(self, cell: int) -> int:
        """The set that holds only `cell`."""
        return 1 << cell + cell // self.width

    def cells_of(self, bits: int) -> list[int]:
        """The cells of a set, in rising order."""
        return [place - place // stride(self.width) for place in _places(bits)]

    @property
    def empty(self) -> int:
        """The empty cells."""
        return self._all & ~(self.black | self.white)

    @property
    def key(self) -> tuple[int, int, int]:
        """What tells positions of one game apart, whatever the order of moves: a key for tables."""
        return self.black, self.white, self.to_move

    def play(self, cell: int) -> None:
        """Put a stone of the side to move on `cell`.

        Raises IllegalMoveError, and changes nothing, where Board would.
        """
        if self.winner is not None or not 0 <= cell < self.height * self.width:
            raise IllegalMoveError(f"cell {cell} may not be played: the game is over or it is off the board")
        bit = self.bit(cell)
        if not bit & self.empty:
            raise IllegalMoveError(f"{cell_name(cell, self.height, self.width)} (cell {cell}) is occupied")
        if self.to_move == BLACK:
            self._refuse_forbidden(cell, bit)
            self.black |= bit
            own = self.black
        else:
            self.white |= bit
            own = self.white
        self.moves.append(cell)
        if self._has_a_winning_line(own, self.to_move):
            self.winner = self.to_move
        self.to_move = -self.to_move
        if self.winner is None and not self._has_a_legal_move():
            self.winner = 0

    def undo(self) -> int:
        """Take the last move back and return its cell. Raises IllegalMoveError when no move has been played."""
        if not self.moves:
            raise IllegalMoveError("nothing to undo: no move has been played")
        cell = self.moves.pop()
        self.to_move = -self.to_move
        if self.to_move == BLACK:
            self.black ^= self.bit(cell)
        else:
            self.white ^= self.bit(cell)
        self.winner = None
        return cell

    def legal(self) -> int:
        """The cells that the side to move may play; none once the game is over."""
        if self.winner is not None:
            return 0
        legal = self.empty
        if self.rule is Rule.RENJU and self.to_move == BLACK:
            for cell in forbidden_points(self.as_cells()):
                legal &= ~self.bit(cell)
        return legal

    def winning(self, colour: int) -> int:
        """The empty cells where one stone of `colour` completes a winning line, whoever is to move.

        In renju none of them is forbidden to black: exactly five beats every prohibition. The cells that block the
        other colour's threats are winning(-colour), as far as they are legal.
        """
        own = self.black if colour == BLACK else self.white
        length, exact = self.win_length, self.rule.exact(colour)
        found = 0
        for step in self._steps:
            runs = [self._all]  # runs[n]: where n own stones in a row start
            for n in range(length - 1):
                runs.append(runs[-1] & own >> n * step)
            runs[0] = -1  # no stone needed: also beside the edge
            for before in range(length):  # own stones before the cell; the others come after it
                after = length - 1 - before
                line = runs[before] << before * step & runs[after] >> step
                if exact:
                    line &= ~(own << (before + 1) * step) & ~(own >> (after + 1) * step)
                found |= line
        return found & self.empty

    def near(self, distance: int) -> int:
        """The empty cells at most `distance` steps of a chess king from a stone: where play is worth a thought."""
        near = self.black | self.white
        across = stride(self.width)
        for _ in range(distance):
            near = (near | near << 1 | near >> 1) & self._all
            near = (near | near << across | near >> across) & self._all
        return near & self.empty

    def as_cells(self) -> NDArray[np.int8]:
        """The board as Board has it: (H, W) int8."""
        return self._unpacked(self.black) - self._unpacked(self.white)

    def _unpacked(self, bits: int) -> NDArray[np.int8]:
        across = stride(self.width)
        count = self.height * across
        packed = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
        unpacked = np.unpackbits(packed, count=count, bitorder="little").reshape(self.height, across)
        return unpacked[:, : self.width].astype(np.int8)

    def _has_a_winning_line(self, own: int, colour: int) -> bool:
        """Whether these stones hold a line that wins for `colour`."""
        length, exact = self.win_length, self.rule.exact(colour)
        for step in self._steps:
            line, n = own, 1
            while n < length:  # line: where n in a row start; two such runs, n or fewer apart, make a longer one
                more = min(n, length - n)
                line &= line >> more * step
                n += more
            if line and exact:
                line &= ~(own << step) & ~(own >> length * step)
            if line:
                return True
        return False

    def _refuse_forbidden(self, cell: int, bit: int) -> None:
        """Raise ForbiddenMoveError if renju forbids this cell to black."""
        if self.rule is Rule.RENJU and bit & self._in_line_with_black():
            kind = forbidden_at(self.as_cells(), cell)
            if kind:
                raise ForbiddenMoveError(f"{cell_name(cell, self.height, self.width)} (cell {cell})", kind)

    def _has_a_legal_move(self) -> bool:
        """Whether the side to move can move; in renju black may have only forbidden points left."""
        empty = self.empty
        if self.rule is not Rule.RENJU or self.to_move == WHITE or not empty:
            return bool(empty)
        return bool(empty & ~self._in_line_with_black()) or bool(self.legal())

    def _in_line_with_black(self) -> int:
        """The cells with a black stone at most four steps away in one of the eight directions.

        No other cell can be forbidden. Looks over the edge add a few cells, which does no harm.
        """
        reach = 0
        for step in self._steps:
            for distance in range(1, 5):
                reach |= self.black << distance * step | self.black >> distance * step
        return reach


@cache
def _whole_board(height: int, width: int) -> int:
    """All cells, no walls."""
    row = (1 << width) - 1
    return sum(row << r * stride(width) for r in range(height))


def _places(bits: int) -> Iterator[int]:
    """The numbers of the bits that are set, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
