"""The board in a window: wood, grid, stones, names of the crossings, and what is to be marked on it.

The stones are those of `env.render.position_pixels`: three pictures are drawn once a size, a board empty, all black and
all white, and a stone is its square of one of them.
"""

import tkinter as tk
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE
from env.render import MARK, position_pixels
from env.svg import heat_colour
from experiments.faces.board_grid import Grid, window_grid
from experiments.playing.game import Game

RIM, NAME = "#a87b45", "#3a2812"
RED = "#{:02x}{:02x}{:02x}".format(*MARK)
HINT = "#1d6fd1"
LEAST = 0.01  # chances below are not shown


class BoardCanvas(tk.Canvas):
    """Shows a game; calls `on_click` with the cell whose crossing is nearest to where a person clicked.

    A click off the board, farther than half a square from the outermost lines, means nothing. `can_play` says whether
    a person could put a stone on a cell: then a circle shows under the pointer.
    """

    def __init__(self, master: tk.Misc, on_click: Callable[[int], None], can_play: Callable[[int], bool]) -> None:
        super().__init__(master, width=640, height=640, background=RIM, highlightthickness=0)
        self.grid_now = Grid(0, 0, 1, 0, 0)
        self._on_click, self._can_play = on_click, can_play
        self._faces: dict[int, tk.PhotoImage] = {}  # a whole board of each colour, and the empty one
        self._picture: tk.PhotoImage | None = None
        self._shown: NDArray[np.int8] = np.zeros((0, 0), dtype=np.int8)
        self.bind("<Button-1>", self._clicked)
        self.bind("<Motion>", self._moved)
        self.bind("<Leave>", lambda _: self.delete("ghost"))

    def show(self, game: Game, heat: NDArray[np.float64] | None = None, hint: int | None = None) -> None:
        """Draw the position, and on it the last move, a winning line, black's forbidden points, chances and a hint.

        heat: (A,), a chance a cell.
        """
        board = game.board
        self._fit(board.height, board.width)
        self._put_stones(board.cells)
        self.delete("mark", "ghost")
        if heat is not None:
            self._show_heat(heat, board.cells)
        for cell, kind in game.forbidden.items():
            self._cross(cell, kind.code)
        if hint is not None:
            self._ring(hint, 0.4, HINT)
        for cell in game.win_line:
            self._ring(cell, 0.4, RED)
        if board.moves:
            x, y = self.grid_now.point(board.moves[-1])
            size = max(3, round(0.12 * self.grid_now.unit))
            self.create_oval(x - size, y - size, x + size, y + size, fill=RED, outline="", tags=("mark", "last"))

    def _fit(self, height: int, width: int) -> None:
        """Draw the empty board anew if its size, or the window's, is another now."""
        grid = window_grid(height, width, max(self.winfo_width(), 100), max(self.winfo_height(), 100))
        if grid == self.grid_now:
            return
        if (height, width, grid.unit) != (self.grid_now.height, self.grid_now.width, self.grid_now.unit):
            self._draw_faces(height, width, int(grid.unit))
        self.grid_now = grid
        unit = int(grid.unit)
        self._picture = tk.PhotoImage(master=self, width=width * unit, height=height * unit)
        self._picture.tk.call(self._picture, "copy", self._faces[EMPTY])
        self._shown = np.zeros((height, width), dtype=np.int8)
        self.delete("all")
        left, top = grid.left - unit // 2, grid.top - unit // 2
        self.create_image(left, top, image=self._picture, anchor="nw")
        font = ("Helvetica", -max(9, round(0.34 * unit)))
        for row in range(height):
            y = grid.top + row * unit
            for x in (left - 0.27 * unit, left + (width + 0.27) * unit):
                self.create_text(x, y, text=str(height - row), font=font, fill=NAME)
        for col in range(width):
            x = grid.left + col * unit
            for y in (top - 0.27 * unit, top + (height + 0.27) * unit):
                self.create_text(x, y, text=chr(ord("a") + col), font=font, fill=NAME)

    def _draw_faces(self, height: int, width: int, unit: int) -> None:
        for colour in (EMPTY, BLACK, WHITE):
            pixels = position_pixels(np.full((height, width), colour, dtype=np.int8), cell=unit)
            header = f"P6 {width * unit} {height * unit} 255 ".encode()
            self._faces[colour] = tk.PhotoImage(master=self, data=header + pixels.tobytes(), format="PPM")

    def _put_stones(self, cells: NDArray[np.int8]) -> None:
        """Copy the squares that have changed."""
        assert self._picture is not None
        unit = int(self.grid_now.unit)
        for row, col in np.argwhere(self._shown != cells).tolist():
            x, y = col * unit, row * unit
            square = (x, y, x + unit, y + unit)
            face = self._faces[int(cells[row, col])]
            self._picture.tk.call(self._picture, "copy", face, "-from", *square, "-to", *square)
        self._shown = cells.copy()

    def _show_heat(self, heat: NDArray[np.float64], cells: NDArray[np.int8]) -> None:
        unit = self.grid_now.unit
        font = ("Helvetica", -max(8, round(0.34 * unit)), "bold")
        for cell in np.flatnonzero((heat >= LEAST) & (cells.ravel() == EMPTY)).tolist():
            (x, y), tint = self.grid_now.point(cell), heat_colour(heat[cell])
            size = 0.42 * unit
            colour = "#{:02x}{:02x}{:02x}".format(*tint)
            self.create_oval(x - size, y - size, x + size, y + size, fill=colour, outline="", tags=("mark", "heat"))
            ink = "black" if sum(tint) > 400 else "white"
            self.create_text(x, y, text=f"{100 * heat[cell]:.0f}", font=font, fill=ink, tags=("mark", "heat"))

    def _cross(self, cell: int, code: str) -> None:
        """A forbidden point: a red cross, with what forbids it below."""
        (x, y), unit = self.grid_now.point(cell), self.grid_now.unit
        size = 0.16 * unit
        for sign in (1, -1):
            ends = (x - size, y - sign * size, x + size, y + sign * size)
            self.create_line(*ends, fill=RED, width=max(2, unit // 14), tags=("mark", "forbidden"))
        font = ("Helvetica", -max(7, round(0.24 * unit)), "bold")
        self.create_text(x, y + 0.33 * unit, text=code, font=font, fill=RED, tags=("mark", "forbidden"))

    def _ring(self, cell: int, radius: float, colour: str) -> None:
        (x, y), unit = self.grid_now.point(cell), self.grid_now.unit
        size, thick = radius * unit, max(2, round(unit / 12))
        tags = ("mark", "hint" if colour == HINT else "line")
        self.create_oval(x - size, y - size, x + size, y + size, outline=colour, width=thick, tags=tags)

    def _clicked(self, event: "tk.Event[tk.Misc]") -> None:
        cell = self.grid_now.nearest(event.x, event.y)
        if cell is not None:
            self._on_click(cell)

    def _moved(self, event: "tk.Event[tk.Misc]") -> None:
        """Show where a click would put the stone."""
        self.delete("ghost")
        cell = self.grid_now.nearest(event.x, event.y)
        if cell is not None and self._can_play(cell):
            (x, y), size = self.grid_now.point(cell), 0.3 * self.grid_now.unit
            self.create_oval(x - size, y - size, x + size, y + size, outline=NAME, width=2, tags=("ghost",))
