"""Where games of a match start: openings written as lines of text, and random ones in which nobody has a quick win.

Agents that always answer alike play one game again and again; a match is as large a sample as it has openings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from env import BLACK, EMPTY, WHITE, Board, IllegalMoveError
from env.coords import CoordinateError, parse_cell
from env.symmetry import apply_cell
from rl.arena import TRIES, ArenaError, random_opening
from rl.sampling import BoolArray, RandomSource
from rl.tactics import completing_cells

WORD = re.compile(r"([A-Za-z]\d+)")


class OpeningError(ValueError):
    """A line of text that is no opening of the game."""


def parse_opening(text: str, empty: Board) -> tuple[int, ...]:
    """The moves of one opening, black first: "h8i9g7" or "h8 i9 g7".

    Raises OpeningError, naming the word and the move, if the text is something else, or a move cannot be played on
    `empty`, or the game is over after them.
    """
    board = empty.copy()
    words = [word for word in WORD.split(text) if word.strip(" ,\t")]
    for ply, word in enumerate(words, start=1):
        try:
            board.play(parse_cell(word.strip(), board.height, board.width))
        except (CoordinateError, IllegalMoveError) as error:
            raise OpeningError(f"move {ply}, {word.strip()[:20]!r}: {error}") from None
    if not words:
        raise OpeningError("there is no move in it")
    if board.outcome is not None:
        raise OpeningError(f"the game is over after its {len(words)} moves")
    return tuple(board.moves)


def opening_of_pair(openings: Sequence[tuple[int, ...]], pair: int, height: int, width: int) -> tuple[int, ...]:
    """The opening of the pair with this number, counted from 0.

    One after the other; then all of them again, turned and mirrored in each way that fits the board. So `turns(...)`
    times as many pairs as openings start differently, and the pairs after them repeat the first.
    """
    ways = turns(height, width)
    k = ways[pair // len(openings) % len(ways)]
    return tuple(apply_cell(k, cell, height, width) for cell in openings[pair % len(openings)])


def turns(height: int, width: int) -> tuple[int, ...]:
    """The symmetries that leave the board's shape as it is."""
    return tuple(range(8)) if height == width else (0, 2, 4, 6)


def balanced_opening(new_board: Callable[[], Board], plies: int, rng: RandomSource) -> Board:
    """A random opening (see `random_opening`) that is balanced.

    Raises ArenaError if hardly any random opening is like that, or if the stones do not fit.
    """
    for _ in range(TRIES):
        board = random_opening(new_board, plies, rng)
        if plies == 0 or is_balanced(board):
            return board
    raise ArenaError(
        f"{plies} random stones left a quick win in {TRIES} openings out of {TRIES} ({board.height}x{board.width}, "
        f"{board.win_length} in a row); ask for fewer opening plies, or name a file of openings"
    )


def quick_win(own: BoolArray, empty: BoolArray, win_length: int, exact: bool) -> bool:
    """Whether a side, having the move, wins with this stone, or with the next whatever the other side does.

        . . X X X . .      a stone at either end makes two cells that win; only one of them can be blocked

    own, empty: (H, W) bool; exact: whether a longer line is no win. A four of the other side, which would have to be
    answered first, is not looked at, nor what renju forbids.
    """
    height, width = own.shape
    free = empty.ravel()
    if (completing_cells(own[None], win_length, exact).ravel() & free).any():
        return True
    moves = np.flatnonzero(free)
    after = np.repeat(own.reshape(1, -1), len(moves), axis=0)  # (M, A), one more stone in each row
    after[np.arange(len(moves)), moves] = True
    wins = completing_cells(after.reshape(-1, height, width), win_length, exact).reshape(after.shape) & free
    wins[np.arange(len(moves)), moves] = False
    return bool((wins.sum(axis=1) >= 2).any())


def is_balanced(board: Board) -> bool:
    """Whether neither side, having the move, would have a quick win."""
    empty = board.cells == EMPTY
    return not any(
        quick_win(board.cells == colour, empty, board.win_length, board.rule.exact(colour)) for colour in (BLACK, WHITE)
    )
