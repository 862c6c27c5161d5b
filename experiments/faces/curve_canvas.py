"""How a game went, as a curve: black's chance to win after each move, as far as it has been worked out."""

import tkinter as tk
from collections.abc import Sequence

PAPER, INK, PALE, CURVE = "#fbf7ef", "#333333", "#d5ccba", "#0b5fa5"
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 24, 32  # margins in pixels


class CurveCanvas(tk.Canvas):
    """A small diagram, 0 to 100 % over the number of moves."""

    def __init__(self, master: tk.Misc) -> None:
        super().__init__(master, width=280, height=180, background=PAPER, highlightthickness=1)
        self.configure(highlightbackground=PALE)

    def show(self, outlook: Sequence[tuple[int, float]], plies: int) -> None:
        """Draw (moves, black's chance) pairs of a game that has `plies` moves by now."""
        self.delete("all")
        width, height = max(self.winfo_width(), 120), max(self.winfo_height(), 80)
        last = max(10, plies)

        def at(ply: float, chance: float) -> tuple[float, float]:
            across, up = width - LEFT - RIGHT, height - TOP - BOTTOM
            return LEFT + across * ply / last, TOP + up * (1 - chance)

        font = ("Helvetica", -11)
        self.create_text(8, 12, text="black's chance to win, %", anchor="w", font=font, fill=INK)
        for chance in (0.0, 0.5, 1.0):
            self.create_line(*at(0, chance), *at(last, chance), fill=PALE)
            x, y = at(0, chance)
            self.create_text(x - 5, y, text=f"{100 * chance:.0f}", anchor="e", font=font, fill=INK)
        for ply in (0, last // 2, last):
            x, y = at(ply, 0)
            self.create_text(x, y + 5, text=str(ply), anchor="n", font=font, fill=INK)
        self.create_text(width / 2 + 14, height - 2, text="moves", anchor="s", font=font, fill=INK)
        points = [at(ply, chance) for ply, chance in outlook]
        if len(points) > 1:
            self.create_line(*(place for point in points for place in point), fill=CURVE, width=2, tags=("curve",))
        for x, y in points:
            self.create_oval(x - 2, y - 2, x + 2, y + 2, fill=CURVE, outline="", tags=("point",))
