"""A position in a figure: Axes in, Axes out, for `gomoku show` and for notebooks.

It shows what env/svg.py shows, in the same colours: coordinates, star points, move numbers, the last move, a winning
line, forbidden points and a probability a cell.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Circle, Patch, PathPatch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, Bbox
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE, Board
from env.render import LINE, MARK, WOOD, star_points
from env.svg import INK, LAST, STONE, heat_colour, title_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INCHES = 0.42  # between two lines
FACES = {BLACK: (28, 28, 28), WHITE: (244, 244, 244)}

RGB = tuple[int, int, int]


def draw_board(
    ax: Axes, board: Board, *, numbers: bool = True, heat: NDArray[np.floating] | None = None, title: str = ""
) -> Axes:
    """Draw a board and return `ax`; crossings are at whole numbers, a1 at (0, 0).

    numbers: write the move numbers; without them the last stone has a red dot.
    heat: (A,) or (H, W), a probability a cell: the likelier, the darker; from 1 % on it is written.
    """
    right, top = board.width - 1, board.height - 1
    ax.set_facecolor(_unit(WOOD))
    ax.hlines(range(board.height), 0, right, color=_unit(LINE), linewidth=0.9, zorder=1)
    ax.vlines(range(board.width), 0, top, color=_unit(LINE), linewidth=0.9, zorder=1)
    for cell in star_points(board.height, board.width):
        _disc(ax, board, cell, 0.1, LINE)
    if heat is not None:
        _draw_heat(ax, board, np.asarray(heat, dtype=np.float64).reshape(board.height, board.width))
    for cell, kind in sorted(board.forbidden().items()):
        _disc(ax, board, cell, 0.36, WOOD)
        codes = kind.code.split("+")  # a point that is both has 44 above 33
        for i, code in enumerate(codes):
            above = 0.34 * ((len(codes) - 1) / 2 - i)
            _write(ax, board, cell, code, 0.34 if len(codes) == 1 else 0.27, MARK, above)
    _draw_stones(ax, board, numbers)
    ax.set(xlim=(-0.7, right + 0.7), ylim=(-0.7, top + 0.7), aspect="equal")
    ax.set_title("\n".join(title_lines(title, board.width)), parse_math=False)
    ax.set_xticks(range(board.width), [chr(ord("a") + col) for col in range(board.width)])
    ax.set_yticks(range(board.height), [str(row + 1) for row in range(board.height)])
    ax.tick_params(length=0, labelsize="small")
    ax.spines[:].set_visible(False)
    return ax


def board_figure(
    board: Board, *, numbers: bool = True, heat: NDArray[np.floating] | None = None, title: str = ""
) -> Figure:
    """A figure that is just one board, as large as its lines need."""
    from matplotlib.figure import Figure

    rows = board.height + 1.5 + 0.6 * len(title_lines(title, board.width))
    figure = Figure(figsize=(INCHES * (board.width + 1.4), INCHES * rows), layout="constrained")
    draw_board(figure.subplots(), board, numbers=numbers, heat=heat, title=title)
    return figure


def _draw_stones(ax: Axes, board: Board, numbers: bool) -> None:
    line = board.outcome.line if board.outcome else ()
    for ply, cell in enumerate(board.moves):
        colour, is_last = (BLACK, WHITE)[ply % 2], ply == len(board.moves) - 1
        _disc(ax, board, cell, STONE, MARK if cell in line else (17, 17, 17))
        _disc(ax, board, cell, STONE - (0.08 if cell in line else 0.02), FACES[colour])
        if numbers:
            _write(ax, board, cell, str(ply + 1), 0.32, (LAST if is_last else INK)[colour])
        elif is_last:
            _disc(ax, board, cell, 0.13, LAST[colour])


def _draw_heat(ax: Axes, board: Board, heat: NDArray[np.float64]) -> None:
    tints = np.array([[heat_colour(chance) for chance in row] for row in heat], dtype=np.uint8)  # (H, W, 3)
    ax.imshow(tints, extent=(-0.5, board.width - 0.5, -0.5, board.height - 0.5), zorder=0)
    for cell in np.flatnonzero((heat >= 0.01) & (board.cells == EMPTY)).tolist():
        row, col = divmod(cell, board.width)
        tint = heat_colour(heat[row, col])
        _disc(ax, board, cell, 0.3, tint)
        _write(ax, board, cell, f"{100 * heat[row, col]:.0f}", 0.24, INK[BLACK if sum(tint) < 400 else WHITE])


def _disc(ax: Axes, board: Board, cell: int, radius: float, colour: RGB) -> None:
    _add(ax, Circle(_point(board, cell), radius, facecolor=_unit(colour), linewidth=0, zorder=2))


def _write(ax: Axes, board: Board, cell: int, text: str, height: float, colour: RGB, above: float = 0) -> None:
    """Write text on or above a crossing as outlines, so that it grows and shrinks with the board; at most 0.66 wide."""
    path, box, (low, high) = _outline(text)
    scale = min(height / (high - low), 0.66 / box.width)
    centred = Affine2D().translate(-(box.x0 + box.x1) / 2, -(low + high) / 2).scale(scale)
    col, row = _point(board, cell)
    outline = centred.translate(col, row + above).transform_path(path)
    _add(ax, PathPatch(outline, facecolor=_unit(colour), linewidth=0, zorder=3))


@cache
def _outline(text: str) -> tuple[TextPath, Bbox, tuple[float, float]]:
    """The outlines of a text, the box round them, and where a digit has its foot and its head."""
    bold = FontProperties(weight="bold")
    path, digit = TextPath((0, 0), text, size=1, prop=bold), TextPath((0, 0), "0", size=1, prop=bold).get_extents()
    return path, path.get_extents(), (digit.y0, digit.y1)


def _add(ax: Axes, patch: Patch) -> None:
    patch.set_in_layout(False)  # the frame says how large the board is; asking hundreds of stones takes a second
    ax.add_patch(patch)


def _point(board: Board, cell: int) -> tuple[int, int]:
    row, col = divmod(cell, board.width)
    return col, board.height - 1 - row


def _unit(colour: RGB) -> tuple[float, float, float]:
    red, green, blue = colour
    return red / 255, green / 255, blue / 255
