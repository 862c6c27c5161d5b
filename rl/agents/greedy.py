"""The player everybody is measured against: score each empty cell by the run a stone there would join.

The score counts stones in a row and open ends, for both colours, and looks no move ahead. It is the heuristic of
the reference Java program, whose quirks are kept: see `line_digit`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from env import EMPTY
from env.observation import Positions
from rl.agents.base import BatchAgent
from rl.agents.greedy_bits import greedy_choice
from rl.sampling import IntArray, RandomSource, draw_uniforms

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


def digit_of_run(length: int, open_somewhere: bool, negative_open: bool, win_length: int) -> int:
    """The digit d of a line score 10**d, from the run a stone would make.

    length counts the new stone; missing = win_length - length:

        missing <= 0          5     a win
        missing == 1          4 if any end is open, else 3
        missing == 2          3 if open_somewhere and negative_open, else 2
        missing == 3          2 if open_somewhere and negative_open, else 1
        alone, or further     0
    """
    missing = win_length - length
    if missing <= 0:
        return 5
    if length == 1 or missing > 3:
        return 0
    if missing == 1:
        return 4 if open_somewhere or negative_open else 3
    both = open_somewhere and negative_open
    return (3 if both else 2) if missing == 2 else (2 if both else 1)


def line_digit(
    cells: NDArray[np.int8], row: int, col: int, direction: tuple[int, int], colour: int, win_length: int
) -> int:
    """The digit of one cell in one direction: the definition.

    Walk the negative side first, then the positive side, over stones of `colour`, at most win_length cells each:

            . X X [ ] X O        length 4, negative side ends open, positive side ends blocked
            <-----     ->

    The quirk of the original: `negative_open` asks whether the *negative* side holds a stone and ends open, where one
    would expect "both ends are open". So the score changes under reflection.
    """
    height, width = cells.shape
    length, open_somewhere, negative_open = 1, False, False
    for sign in (-1, 1):
        for step in range(1, win_length + 1):
            r, c = row + sign * step * direction[0], col + sign * step * direction[1]
            if not (0 <= r < height and 0 <= c < width):
                break
            if cells[r, c] == colour:
                length += 1
                continue
            open_somewhere = open_somewhere or cells[r, c] == EMPTY
            break
        if sign == -1 and length > 1:
            negative_open = open_somewhere
    return digit_of_run(length, open_somewhere, negative_open, win_length)


def greedy_scores(cells: NDArray[np.int8], colour: int, win_length: int = 5) -> NDArray[np.int64]:
    """Score of every empty cell for `colour`: 10 ** (the largest digit over the four directions).

    cells (H, W). Returns (H, W) int64, 0 on occupied cells.
    """
    scores = np.zeros(cells.shape, dtype=np.int64)
    for row, col in zip(*np.nonzero(cells == EMPTY), strict=True):
        digits = [line_digit(cells, row, col, direction, colour, win_length) for direction in DIRECTIONS]
        scores[row, col] = 10 ** max(digits)
    return scores


class GreedyAgent(BatchAgent):
    """Plays a cell with the largest score for either colour: max(own score, opponent's score).

    Ties are broken by one uniform draw a move, or, with `first_of_ties` (the Java program), go to the first cell in
    row order. It never looks ahead, and as the value is a maximum it may block where it could win, unless `sharp`:
    then a win is taken before anything else.
    """

    def __init__(self, *, first_of_ties: bool = False, sharp: bool = False) -> None:
        self.first_of_ties, self.sharp = first_of_ties, sharp
        self.name = "greedy:java" if first_of_ties else "greedy:sharp" if sharp else "greedy"

    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. Returns (N,) int64."""
        stones = positions.planes.astype(np.bool_, copy=False)  # (N, 2, H, W)
        uniforms = np.zeros(len(stones)) if self.first_of_ties else draw_uniforms(rng, len(stones))
        return greedy_choice(stones, positions.legal, positions.win_length, uniforms, self.sharp)
