"""A position as an SVG picture: text that browsers, notebooks and editors draw, made without any library.

It shows coordinates, star points, the stones with their move numbers, the last number in red, a red ring round the
stones of a winning line, black's forbidden points in renju, a probability a cell as a blue tint, and a hint.
"""

import textwrap
from collections.abc import Iterator
from html import escape

import numpy as np
from numpy.typing import NDArray

from env.board import Board
from env.record_text import printable
from env.render import LINE, MARK, WOOD, star_points
from env.rules import BLACK, EMPTY, WHITE

UNIT = 40  # the distance between two lines
STONE = 0.46  # radii and sizes in units
HEAT = (70, 20, 150)
LAST = {BLACK: (255, 110, 80), WHITE: (200, 0, 0)}  # the last number: red that reads on the colour of its stone
HINT = (29, 111, 209)
INK = {BLACK: (245, 245, 245), WHITE: (20, 20, 20)}

_STONES = """\
<defs>
<radialGradient id="black" cx="35%" cy="30%" r="75%"><stop offset="0" stop-color="#6a6a6a"/>\
<stop offset="0.5" stop-color="#222"/><stop offset="1" stop-color="#111"/></radialGradient>
<radialGradient id="white" cx="35%" cy="30%" r="75%"><stop offset="0" stop-color="#fff"/>\
<stop offset="0.7" stop-color="#eee"/><stop offset="1" stop-color="#cfcfcf"/></radialGradient>
</defs>"""


def board_svg(
    board: Board,
    *,
    numbers: bool = True,
    heat: NDArray[np.floating] | None = None,
    hint: int | None = None,
    title: str = "",
) -> str:
    """The board as one <svg> element.

    numbers: write the move numbers; without them the last stone has a red dot.
    heat: (A,) or (H, W), a probability a cell: the likelier, the darker; from 1 % on it is written.
    hint: a cell that is ringed in blue.
    title: written above the board, in as many lines as it needs.
    """
    lines = title_lines(title, board.width)
    top = 1.1 + 0.6 * len(lines)
    width, height = board.width + 1.1, board.height + top
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_px(width)} {_px(height)}"'
        f' width="{_px(width)}" height="{_px(height)}" font-family="Helvetica, Arial, sans-serif">',
        _STONES,
        f'<rect width="{_px(width)}" height="{_px(height)}" fill="{_rgb(WOOD)}"/>',
    ]
    rows += [_text(width / 2, 0.5 + 0.6 * i, line, 0.42, INK[WHITE], bold=False) for i, line in enumerate(lines)]
    rows.append(f'<g transform="translate({_px(1.15)} {_px(top - 0.45)})">')
    chances = None if heat is None else np.asarray(heat, dtype=np.float64).reshape(board.height, board.width)
    if chances is not None:
        rows += _tints(board, chances)
    rows += _grid(board)
    if chances is not None:
        rows += _percents(board, chances)
    rows += [*_forbidden(board), *_stones(board, numbers)]
    if hint is not None:
        rows.append(_circle(board, hint, 0.4, f'fill="none" stroke="{_rgb(HINT)}" stroke-width="3.5"'))
    rows += ["</g>", "</svg>"]
    return "\n".join(rows) + "\n"


def title_lines(title: str, width: int) -> list[str]:
    """A title cut into lines that fit over a board of `width` columns: four letters a column."""
    return [part for line in title.splitlines() for part in textwrap.wrap(printable(line), max(12, 4 * width))]


def _grid(board: Board) -> Iterator[str]:
    right, bottom = board.width - 1, board.height - 1
    lines = [f"M0 {_px(row)}H{_px(right)}" for row in range(board.height)]
    lines += [f"M{_px(col)} 0V{_px(bottom)}" for col in range(board.width)]
    yield f'<path d="{"".join(lines)}" stroke="{_rgb(LINE)}" stroke-width="1.3" stroke-linecap="square"/>'
    for cell in star_points(board.height, board.width):
        yield _circle(board, cell, 0.11, f'fill="{_rgb(LINE)}"')
    for row in range(board.height):
        yield _text(-0.75, row, str(board.height - row), 0.34, LINE, bold=False)
    for col in range(board.width):
        yield _text(col, bottom + 0.78, chr(ord("a") + col), 0.36, LINE, bold=False)


def _stones(board: Board, numbers: bool) -> Iterator[str]:
    line = board.outcome.line if board.outcome else ()
    for ply, cell in enumerate(board.moves):
        colour, is_last = (BLACK, WHITE)[ply % 2], ply == len(board.moves) - 1
        ring = f'stroke="{_rgb(MARK)}" stroke-width="3.5"' if cell in line else 'stroke="#111" stroke-width="0.8"'
        yield _circle(board, cell, STONE - (0.03 if cell in line else 0), f'fill="url(#{_name(colour)})" {ring}')
        row, col = divmod(cell, board.width)
        if numbers:
            size = 0.46 if ply < 99 else 0.36
            yield _text(col, row, str(ply + 1), size, (LAST if is_last else INK)[colour])
        elif is_last:
            yield _circle(board, cell, 0.13, f'fill="{_rgb(LAST[colour])}"')


def _forbidden(board: Board) -> Iterator[str]:
    """The kind of each forbidden point, 44 above 33 if it is both, on a patch of wood that hides the crossing."""
    for cell, kind in sorted(board.forbidden().items()):
        row, col = divmod(cell, board.width)
        yield _circle(board, cell, 0.36, f'fill="{_rgb(WOOD)}" fill-opacity="0.9"')
        codes = kind.code.split("+")
        for i, code in enumerate(codes):
            yield _text(col, row + 0.34 * (i - (len(codes) - 1) / 2), code, 0.42 if len(codes) == 1 else 0.36, MARK)


def _tints(board: Board, heat: NDArray[np.float64]) -> Iterator[str]:
    """A square a cell, the darker the likelier."""
    for cell in np.flatnonzero(heat > 0).tolist():
        row, col = divmod(cell, board.width)
        tint = heat_colour(heat[row, col])
        yield f'<rect x="{_px(col - 0.5)}" y="{_px(row - 0.5)}" width="{UNIT}" height="{UNIT}" fill="{_rgb(tint)}"/>'


def _percents(board: Board, heat: NDArray[np.float64]) -> Iterator[str]:
    """The probabilities from 1 % on, in percent, on a patch that hides the crossing."""
    for cell in np.flatnonzero((heat >= 0.01) & (board.cells == EMPTY)).tolist():
        row, col = divmod(cell, board.width)
        tint = heat_colour(heat[row, col])
        yield _circle(board, cell, 0.3, f'fill="{_rgb(tint)}"')
        yield _text(col, row, f"{100 * heat[row, col]:.0f}", 0.36, INK[BLACK if sum(tint) < 400 else WHITE])


def heat_colour(chance: float) -> tuple[int, int, int]:
    """Wood for 0, HEAT for 1; in between by the square root, so that small chances are seen."""
    red, green, blue = (round(wood + chance**0.5 * (hot - wood)) for wood, hot in zip(WOOD, HEAT, strict=True))
    return red, green, blue


def _circle(board: Board, cell: int, radius: float, paint: str) -> str:
    row, col = divmod(cell, board.width)
    return f'<circle cx="{_px(col)}" cy="{_px(row)}" r="{_px(radius)}" {paint}/>'


def _text(x: float, y: float, text: str, size: float, colour: tuple[int, int, int], bold: bool = True) -> str:
    """Text centred on a point. `dy` instead of a baseline property, which not every program knows."""
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{_px(x)}" y="{_px(y)}" dy="0.36em" text-anchor="middle" font-size="{_px(size)}"{weight}'
        f' fill="{_rgb(colour)}">{escape(text)}</text>'
    )


def _name(colour: int) -> str:
    return "black" if colour == BLACK else "white"


def _px(units: float) -> str:
    """A length in pixels, at most one decimal."""
    return f"{round(units * UNIT, 1):g}"


def _rgb(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
