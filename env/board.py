"""One game of Gomoku: whose turn it is, what may be played, and whether it is over.

A Board is played forward and taken back move by move; search, self-play and the Gym environments stand on it.
"""

from array import array
from collections.abc import Iterable
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.coords import cell_name
from env.lines import WALL, slot, slots, steps, stride
from env.renju import ALLOWED, Forbidden, forbidden_at, forbidden_points
from env.rules import BLACK, EMPTY, WHITE, IllegalMoveError, Outcome, Rule, check_settings


class ForbiddenMoveError(IllegalMoveError):
    """Renju forbids this point to black; `kind` says why. Nothing has changed."""

    def __init__(self, point: str, kind: Forbidden) -> None:
        reasons = " and ".join(str(reason.name).lower().replace("_", " ") for reason in kind)
        super().__init__(f"{point} is forbidden to black: {reasons}; play a cell that the legal mask allows")
        self.point, self.kind = point, kind

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by what it was made of, so that another process can pass it on."""
        return type(self), (self.point, self.kind)


class Board:
    """A position together with the moves that led to it.

    Any height and width from 3 to 25; black begins; `win_length` in a row wins as `rule` says. Renju wants
    win_length 5. Settings that make no game raise ValueError.

    cells    (H, W) int8, EMPTY, BLACK or WHITE; a read-only window that follows the game (copy it to keep it)
    to_move  BLACK or WHITE; changes after every accepted move, after the last one too
    outcome  None while the game goes on
    moves    the cells played, oldest first
    """

    __slots__ = (
        "_area", "_forbidden", "_grid", "_steps", "cells", "height", "moves", "outcome", "rule", "to_move", "width",
        "win_length",
    )  # fmt: skip

    def __init__(self, height: int = 15, width: int = 15, win_length: int = 5, rule: Rule = Rule.FREESTYLE) -> None:
        check_settings(height, width, win_length, rule)
        height, width = index(height), index(width)  # NumPy's small integers would overflow below
        self.height, self.width, self.win_length, self.rule = height, width, index(win_length), rule
        self.to_move = BLACK
        self.outcome: Outcome | None = None
        self.moves: list[int] = []
        self._area = height * width
        self._steps = steps(width)
        self._forbidden: dict[int, Forbidden] | None = None  # of this position, once it has been asked for
        self._grid = array("b", [WALL]) * slots(height, width)
        self.cells = _window(self._grid, height, width)
        for cell in range(self._area):
            self._grid[slot(cell, width)] = EMPTY

    @classmethod
    def from_moves(
        cls,
        cells: Iterable[int],
        height: int = 15,
        width: int = 15,
        win_length: int = 5,
        rule: Rule = Rule.FREESTYLE,
    ) -> "Board":
        """The board after these moves, black first. Raises IllegalMoveError at the first that is refused."""
        board = cls(height, width, win_length, rule)
        for cell in cells:
            board.play(cell)
        return board

    @property
    def is_over(self) -> bool:
        """Whether the game has been won or drawn."""
        return self.outcome is not None

    def play(self, cell: int) -> None:
        """Put a stone of the side to move on `cell`.

        Only lines through the new stone can have become complete, so only they are walked.
        Raises IllegalMoveError, and changes nothing, when the game is over or the cell is occupied or off the
        board; ForbiddenMoveError, which is one too, when renju forbids the cell to black.
        """
        cell = index(cell)
        if self.outcome is not None or not 0 <= cell < self._area:
            raise self._refusal(cell)
        grid = self._grid
        here = cell + cell // self.width + self.width + 2  # slot(cell, width), without the call
        if grid[here]:
            raise self._refusal(cell)
        colour = self.to_move
        if self.rule is Rule.RENJU:
            self._refuse_forbidden(cell, here)
            self._forbidden = None
        grid[here] = colour
        self.moves.append(cell)
        self.to_move = -colour
        for step in self._steps:
            run = 1
            ahead = here + step
            while grid[ahead] == colour:
                run += 1
                ahead += step
            behind = here - step
            while grid[behind] == colour:
                run += 1
                behind -= step
            if run >= self.win_length and self.rule.wins(run, self.win_length, colour):
                self.outcome = Outcome(colour, self._cells_between(behind + step, ahead, step))
                return
        if len(self.moves) == self._area or (self.rule is Rule.RENJU and not self._has_a_legal_move()):
            self.outcome = Outcome(0)

    def undo(self) -> int:
        """Take the last move back and return its cell.

        Raises IllegalMoveError when no move has been played.
        """
        if not self.moves:
            raise IllegalMoveError("nothing to undo: no move has been played")
        cell = self.moves.pop()
        self._grid[slot(cell, self.width)] = EMPTY
        self.to_move = -self.to_move
        self.outcome = None
        self._forbidden = None
        return cell

    def legal_mask(self) -> NDArray[np.bool_]:
        """Which cells the side to move may play: (A,) bool, A = H * W, a fresh array; all False once over."""
        if self.outcome is not None:
            return np.zeros(self._area, dtype=np.bool_)
        mask = np.equal(self.cells, EMPTY).reshape(-1)
        if self.rule is Rule.RENJU:
            mask[list(self.forbidden())] = False
        return mask

    def forbidden(self) -> dict[int, Forbidden]:
        """The cells that renju forbids to black and why; empty when white is to move, the game over, or no renju."""
        if self.rule is not Rule.RENJU or self.to_move != BLACK or self.outcome is not None:
            return {}
        if self._forbidden is None:
            self._forbidden = forbidden_points(self.cells)
        return dict(self._forbidden)

    def copy(self) -> "Board":
        """A board equal to this one that goes its own way from here."""
        twin = object.__new__(type(self))
        twin.height, twin.width = self.height, self.width
        twin.win_length, twin.rule = self.win_length, self.rule
        twin.to_move, twin.outcome, twin.moves = self.to_move, self.outcome, self.moves[:]
        twin._area, twin._steps, twin._grid = self._area, self._steps, self._grid[:]
        twin._forbidden = self._forbidden
        twin.cells = _window(twin._grid, self.height, self.width)
        return twin

    def __eq__(self, other: object) -> bool:
        """Equal when the same moves were played in the same order under the same settings."""
        return isinstance(other, Board) and self._key() == other._key()

    __hash__ = None  # type: ignore[assignment]  # a board changes, so it cannot be a key

    def __repr__(self) -> str:
        played = " ".join(cell_name(cell, self.height, self.width) for cell in self.moves)
        return (
            f"<Board {self.height}x{self.width} win_length={self.win_length} {self.rule.value}"
            f" moves={played or 'none'} outcome={self.outcome}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and deepcopy by replaying the game, since `cells` is a window on this board's own memory."""
        return type(self).from_moves, (self.moves[:], self.height, self.width, self.win_length, self.rule)

    def _key(self) -> tuple[object, ...]:
        return self.height, self.width, self.win_length, self.rule, self.moves

    def _cells_between(self, first: int, end: int, step: int) -> tuple[int, ...]:
        """The cells of the slots first, first + step, ... before end: (row + 1) * stride + col + 1 undone."""
        across = stride(self.width)
        return tuple((at // across - 1) * self.width + at % across - 1 for at in range(first, end, step))

    def _refuse_forbidden(self, cell: int, here: int) -> None:
        """Raise ForbiddenMoveError if black is to move and `cell`, in slot `here`, is forbidden."""
        if self.to_move != BLACK or not self._may_be_forbidden(here):
            return
        kind = forbidden_at(self.cells, cell) if self._forbidden is None else self._forbidden.get(cell, ALLOWED)
        if kind:
            raise ForbiddenMoveError(f"{cell_name(cell, self.height, self.width)} (cell {cell})", kind)

    def _may_be_forbidden(self, here: int) -> bool:
        """Whether four black stones lie within four steps of a slot, in the eight directions taken together.

        No overline, double four or double three is made with fewer, so this spares most cells the real judgement.
        """
        near = (self._grid[max(here - 4 * step, here % step) : here + 4 * step + 1 : step] for step in self._steps)
        return sum(stones.count(BLACK) for stones in near) >= 4

    def _has_a_legal_move(self) -> bool:
        """Whether the side to move can move at all: black may be left with nothing but forbidden points."""
        for cell in range(self._area):
            here = slot(cell, self.width)
            if self._grid[here] == EMPTY and (
                self.to_move == WHITE or not self._may_be_forbidden(here) or forbidden_at(self.cells, cell) == ALLOWED
            ):
                return True
        return False

    def _refusal(self, cell: int) -> IllegalMoveError:
        """Why `cell` may not be played now."""
        if not 0 <= cell < self._area:
            return IllegalMoveError(
                f"cell {cell} is off the {self.height}x{self.width} board: use 0 to {self._area - 1}"
            )
        name = cell_name(cell, self.height, self.width)
        if self.outcome is not None:
            ended = {BLACK: "black has won", WHITE: "white has won", 0: "it was drawn"}[self.outcome.winner]
            return IllegalMoveError(f"{name} (cell {cell}): the game is over, {ended}; start a new game")
        owner = "black" if self._grid[slot(cell, self.width)] == BLACK else "white"
        return IllegalMoveError(f"{name} (cell {cell}) is occupied by {owner}: play an empty cell")


def _window(grid: "array[int]", height: int, width: int) -> NDArray[np.int8]:
    """The cells of a walled layout as a read-only (H, W) view of the same memory."""
    across = stride(width)
    rows = np.frombuffer(grid, dtype=np.int8)[across : (height + 1) * across].reshape(height, across)
    window = rows[:, 1:]
    window.flags.writeable = False
    return window
