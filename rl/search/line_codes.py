"""A board as one number for each of its lines, so that anything about a line can be looked up in a table.
A stone changes only the lines through its cell, four at most.

A line is a row, a column or a diagonal that is long enough to win on. Its code reads its cells in base 3: digit i is
the line's i-th cell, empty 0, black 1, white 2.

      . x o . x      0 * 1 + 1 * 3 + 2 * 9 + 0 * 27 + 1 * 81 = 102
      0 1 2 3 4      a black stone on cell i adds 3**i, a white one 2 * 3**i, whatever else is on the line
"""

from __future__ import annotations

from functools import cache
from operator import index

from env import BLACK, EMPTY, WHITE, Board

Line = tuple[int, ...]
DIGITS = {EMPTY: 0, BLACK: 1, WHITE: 2}
COLOURS = (EMPTY, BLACK, WHITE)  # of the digits 0, 1, 2


@cache
def lines_of(height: int, width: int, win_length: int) -> tuple[Line, ...]:
    """Return the lines of a board, each as its cells in order: rows, columns, falling and rising diagonals.

    Every line of at least `win_length` cells; a shorter one can hold no win. Rows are read from the left, all others
    from the top.
    """
    starts = [(0, col) for col in range(width)] + [(row, 0) for row in range(1, height)]
    from_the_right = [(0, col) for col in range(width)] + [(row, width - 1) for row in range(1, height)]
    walks = [((row, 0), (0, 1)) for row in range(height)]
    walks += [((0, col), (1, 0)) for col in range(width)]
    walks += [(start, (1, 1)) for start in starts]
    walks += [(start, (1, -1)) for start in from_the_right]
    lines = []
    for (row, col), (down, across) in walks:
        line = []
        while 0 <= row < height and 0 <= col < width:
            line.append(row * width + col)
            row, col = row + down, col + across
        if len(line) >= win_length:
            lines.append(tuple(line))
    return tuple(lines)


@cache
def lines_through(height: int, width: int, win_length: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return, for each cell, its lines as (index into `lines_of`, 3**position of the cell on the line)."""
    through: list[list[tuple[int, int]]] = [[] for _ in range(height * width)]
    for number, line in enumerate(lines_of(height, width, win_length)):
        for position, cell in enumerate(line):
            through[cell].append((number, 3**position))
    return tuple(tuple(pairs) for pairs in through)


def code_of(cells: tuple[int, ...]) -> int:
    """Return the code of one line, given the colours (BLACK, WHITE or EMPTY) of its cells in order."""
    return sum(DIGITS[colour] * 3**position for position, colour in enumerate(cells))


def cells_of(code: int, length: int) -> tuple[int, ...]:
    """Return the colours of the cells of a line `length` long: `code_of` undone."""
    return tuple(COLOURS[code // 3**position % 3] for position in range(length))


class LineCodes:
    """The codes of all lines of one position, kept up to date as stones come and go.

    lines    the cells of each line, as `lines_of`
    lengths  how many cells each has
    codes    the code of each
    through  for each cell, its (line, 3**position) pairs; a colour's stone adds its digit times the power

    Nothing is checked: whoever places stones keeps count of them.
    """

    __slots__ = ("codes", "lengths", "lines", "through")

    def __init__(self, height: int, width: int, win_length: int) -> None:
        height, width, win_length = index(height), index(width), index(win_length)
        self.lines = lines_of(height, width, win_length)
        self.lengths = [len(line) for line in self.lines]
        self.codes = [0] * len(self.lines)
        self.through = lines_through(height, width, win_length)

    @classmethod
    def from_board(cls, board: Board) -> LineCodes:
        """Return the codes of the position on `board`, which is left as it was."""
        codes = cls(board.height, board.width, board.win_length)
        for cell, colour in enumerate(board.cells.ravel().tolist()):
            if colour != EMPTY:
                codes.place(cell, colour)
        return codes

    def place(self, cell: int, colour: int) -> None:
        """Put a stone of `colour` on an empty cell."""
        digit = DIGITS[colour]
        for line, power in self.through[cell]:
            self.codes[line] += digit * power

    def remove(self, cell: int, colour: int) -> None:
        """Take the stone of `colour` off a cell."""
        digit = DIGITS[colour]
        for line, power in self.through[cell]:
            self.codes[line] -= digit * power
