"""A position as text for a terminal and as a picture made of plain arrays.

Both show coordinates or star points, mark the last move, and need neither a display nor a drawing library.
"""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from env.board import Board
from env.coords import cell_at, cell_name
from env.rules import BLACK, WHITE, Outcome

STONE_LETTERS = {BLACK: "X", WHITE: "O", 0: "."}
COLOUR_NAMES = {BLACK: "black", WHITE: "white"}

WOOD = (222, 178, 112)
LINE = (88, 62, 32)
MARK = (200, 40, 40)


def star_points(height: int, width: int) -> list[int]:
    """The cells marked with a dot: nine on 15x15, at most three a side, none on boards too small for them.

    They stand on the fourth line from the edge (the third on boards below 13) and, where there is one, the middle.
    """

    def along(size: int) -> list[int]:
        margin = 3 if size >= 13 else 2
        middle = [size // 2] if size % 2 else []
        return sorted({margin, size - 1 - margin, *middle}) if size >= 7 else middle

    return [cell_at(row, col, width) for row in along(height) for col in along(width)]


def position_text(cells: NDArray[np.int8], last: int | None = None, marks: Mapping[int, str] | None = None) -> str:
    """The board as lines of text: X black, O white, the last move in brackets, coordinates left and below.

          3  .  .  .
          2  . (X) .
          1  .  .  .
             a  b  c

    cells: (H, W). marks: cell -> one character written there if the cell is empty, such as a forbidden point.
    """
    height, width = cells.shape
    letters = [STONE_LETTERS[int(stone)] for stone in cells.flat]
    for cell, mark in (marks or {}).items():
        if not cells.flat[cell]:
            letters[cell] = mark
    rows = []
    for row in range(height):
        shown = [
            f"({letters[cell]})" if cell == last else f" {letters[cell]} "
            for cell in range(row * width, (row + 1) * width)
        ]
        rows.append(f"{height - row:2d} {''.join(shown)}".rstrip())
    names = "".join(f" {chr(ord('a') + col)} " for col in range(width)).rstrip()
    return "\n".join([*rows, f"   {names}"])


def status_text(to_move: int, outcome: Outcome | None) -> str:
    """Whose turn it is, or how the game ended."""
    if outcome is None:
        return f"{COLOUR_NAMES[to_move]} ({STONE_LETTERS[to_move]}) to move"
    if outcome.winner == 0:
        return "a draw"
    return f"{COLOUR_NAMES[outcome.winner]} ({STONE_LETTERS[outcome.winner]}) has won"


def board_text(board: Board, marks: Mapping[int, str] | None = None) -> str:
    """The board of `position_text`, and under it the number of moves, the last one, and whose turn it is."""
    last = board.moves[-1] if board.moves else None
    played = f"move {len(board.moves)}"
    if last is not None:
        played += f", last {cell_name(last, board.height, board.width)}"
    return f"{position_text(board.cells, last, marks)}\n{played}: {status_text(board.to_move, board.outcome)}"


def board_pixels(board: Board, cell: int = 32) -> NDArray[np.uint8]:
    """The board as a picture, the last move marked and a winning line ringed: (H * cell, W * cell, 3) uint8."""
    last = board.moves[-1] if board.moves else None
    return position_pixels(board.cells, last, board.outcome.line if board.outcome else (), cell)


def position_pixels(
    cells: NDArray[np.int8], last: int | None = None, line: Iterable[int] = (), cell: int = 32
) -> NDArray[np.uint8]:
    """A wooden board with its grid, star points and stones: (H * cell, W * cell, 3) uint8, `cell` pixels a square.

    cells: (H, W). last: the cell that gets a red dot. line: cells that get a red ring.
    """
    height, width = cells.shape
    picture = _wood(height * cell, width * cell)
    _rule_grid(picture, height, width, cell)
    centre = (cell - 1) / 2
    rows, cols = np.ogrid[:cell, :cell]
    distance = np.hypot(rows - centre, cols - centre)  # (cell, cell) from the crossing, in pixels
    radius = 0.46 * cell

    def paint(at: int, cover: NDArray[np.float64], colour: NDArray[np.float64]) -> None:
        """Lay `colour` over the square of one cell, as thick as `cover` (cell, cell) in 0..1 says."""
        row, col = divmod(at, width)
        square = picture[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell]
        square += cover[..., None] * (colour - square)

    for at in star_points(height, width):
        paint(at, _inside(distance, max(2.0, cell / 10)), np.array(LINE, dtype=np.float64))
    # A soft light from the upper left makes discs look like stones.
    light = np.clip(1 - np.hypot(rows - 0.3 * cell, cols - 0.3 * cell) / (0.75 * cell), 0, 1)[..., None]
    faces = {BLACK: 20 + 90 * light**2, WHITE: 205 + 50 * light**0.5}
    for at in np.flatnonzero(cells).tolist():
        paint(at, 0.35 * _inside(np.hypot(rows - centre - 1, cols - centre - 1), radius), np.zeros(3))
        paint(at, _inside(distance, radius), faces[int(cells.flat[at])])
    mark = np.array(MARK, dtype=np.float64)
    for at in line:
        paint(at, _inside(distance, radius) - _inside(distance, radius - max(1.5, cell / 14)), mark)
    if last is not None:
        paint(last, _inside(distance, max(1.5, cell / 8)), mark)
    return np.rint(picture).astype(np.uint8)


def _inside(distance: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """How much of each pixel a disc covers, 0..1: whole inside, nothing outside, a slope one pixel wide between."""
    cover: NDArray[np.float64] = np.clip(radius + 0.5 - distance, 0, 1)
    return cover


def _wood(height: int, width: int) -> NDArray[np.float64]:
    """A plank (height, width, 3): wood colour with a grain of slow waves along the columns."""
    rows, cols = np.ogrid[:height, :width]
    grain = np.sin(cols / 5 + 2 * np.sin(rows / 90)) + 0.6 * np.sin(cols / 2.3 + 3 * np.sin(rows / 150))
    plank: NDArray[np.float64] = np.array(WOOD) + 4 * grain[..., None]
    return plank


def _rule_grid(picture: NDArray[np.float64], height: int, width: int, cell: int) -> None:
    """Draw the lines through the middles of the squares, from the first crossing to the last."""
    middle = cell // 2
    thickness = max(1, cell // 24)
    down, across = (height - 1) * cell + middle, (width - 1) * cell + middle
    for row in range(height):
        top = row * cell + middle
        picture[top : top + thickness, middle : across + thickness] = LINE
    for col in range(width):
        left = col * cell + middle
        picture[middle : down + thickness, left : left + thickness] = LINE
