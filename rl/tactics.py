"""Wins in one and threats to block: where they are, and positions that hold one.

Such positions serve twice: as puzzles to learn from (exploring starts) and, from another seed, as a test.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from env import Board, Rule
from env.lockstep import Lockstep
from env.observation import Positions
from rl.agents.greedy import DIRECTIONS, GreedyAgent
from rl.agents.random import RandomAgent
from rl.sampling import BoolArray, IntArray, RandomSource, draw_numbers, draw_uniforms

GAMES_AT_ONCE = 1024
MOST_PLIES = 24
MOST_ROUNDS = 100


class PuzzleError(ValueError):
    """A game in which hardly any position is a puzzle."""


def completing_cells(stones: BoolArray, win_length: int, exact: bool) -> BoolArray:
    """Where one more stone of this colour makes a winning line.

        . X X X _ X .      win_length 5: the gap completes exactly five; six would count only if not `exact`

    stones (N, H, W). Returns (N, H, W) bool; cells that are occupied are not left out.
    """
    count, height, width = stones.shape
    reach = win_length if exact else win_length - 1
    walled = np.zeros((height + 2 * reach, width + 2 * reach, count), dtype=np.uint8)
    walled[reach : reach + height, reach : reach + width] = stones.transpose(1, 2, 0)
    found = np.zeros((height, width, count), dtype=np.bool_)
    for d_row, d_col in DIRECTIONS:
        length = np.ones((height, width, count), dtype=np.uint8)
        for sign in (-1, 1):
            joined = np.ones_like(length)
            for step in range(1, reach + 1):
                row, col = reach + sign * step * d_row, reach + sign * step * d_col
                joined &= walled[row : row + height, col : col + width]
                length += joined
        found |= length == win_length if exact else length >= win_length
    return found.transpose(2, 0, 1)


def winning_cells(positions: Positions, *, of_mover: bool) -> BoolArray:
    """The cells at which the side to move (or else the other side) would win at once. Returns (N, A) bool.

    Under renju the mover's colour is not known to a batch; black's exact five is asked of both sides.
    """
    stones = positions.planes[:, 0 if of_mover else 1] > 0
    cells = completing_cells(stones, positions.win_length, positions.rule is not Rule.FREESTYLE)
    return cells.reshape(len(cells), -1) & positions.legal


@dataclass(frozen=True)
class Puzzles:
    """Positions with a right answer, each as the moves that lead to it.

    moves (P, L) int64, a row's moves in order and then -1; lengths (P,) how many there are.
    """

    moves: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        return len(self.lengths)

    def draw(self, count: int, rng: RandomSource) -> Puzzles:
        """`count` of them, uniformly with replacement, one draw each."""
        index = draw_numbers(rng, count, len(self))
        return Puzzles(self.moves[index], self.lengths[index])

    def set_up(self, games: Lockstep, which: IntArray) -> None:
        """Play the i-th puzzle's moves in the empty game which[i]."""
        for ply in range(int(self.lengths.max(initial=0))):
            playing = self.lengths > ply
            games.play(self.moves[playing, ply], which[playing])

    def boards(self, new_board: Callable[[], Board]) -> tuple[Board, ...]:
        """The puzzles as boards."""
        made = []
        for moves, length in zip(self.moves, self.lengths, strict=True):
            board = new_board()
            for move in moves[:length]:
                board.play(int(move))
            made.append(board)
        return tuple(made)


def make_puzzles(new_games: Callable[[int], Lockstep], size: int, rng: RandomSource) -> tuple[Puzzles, Puzzles]:
    """(wins, blocks): `size` positions where the side to move can win in one, and `size` where it cannot but the other
    side could, at exactly one cell.

    They are met in games that begin with 2 to 6 random stones and go on with each move random or greedy, even odds:
    greedy moves alone would leave few threats standing, random ones make few. No answer is kept, only the position.
    """
    found: tuple[list[tuple[IntArray, int]], list[tuple[IntArray, int]]] = ([], [])
    rounds = 0
    while min(len(kind) for kind in found) < size:
        rounds += 1
        if rounds > MOST_ROUNDS:
            raise PuzzleError(
                f"{rounds - 1} times {GAMES_AT_ONCE} games gave {len(found[0])} positions with a win in one and "
                f"{len(found[1])} with a threat to block; {size} of each were wanted: ask for fewer, or another game"
            )
        games = new_games(GAMES_AT_ONCE)
        history = np.full((GAMES_AT_ONCE, MOST_PLIES), -1, dtype=np.int64)
        opening = 2 + draw_numbers(rng, GAMES_AT_ONCE, 5)
        for ply in range(MOST_PLIES):
            which = np.flatnonzero(~games.over)
            if not len(which):
                break
            positions = games.positions(which)
            can_win = winning_cells(positions, of_mover=True).any(axis=1)
            threats = winning_cells(positions, of_mover=False).sum(axis=1)
            for kind, fits in zip(found, (can_win, ~can_win & (threats == 1)), strict=True):
                kind.extend((history[game], ply) for game in which[fits])
            at_random = (ply < opening[which]) | (draw_uniforms(rng, len(which)) < 0.5)
            random, greedy = (agent.choose_positions(positions, rng) for agent in (RandomAgent(), GreedyAgent()))
            cells = np.where(at_random, random, greedy)
            history[which, ply] = cells
            games.play(cells, which)
    wins, blocks = (_some_of(kind, size, rng) for kind in found)
    return wins, blocks


def _some_of(found: list[tuple[IntArray, int]], size: int, rng: RandomSource) -> Puzzles:
    index = np.argsort(draw_uniforms(rng, len(found)))[:size]
    lengths = np.array([found[i][1] for i in index])
    moves = np.stack([found[i][0] for i in index])
    moves[np.arange(MOST_PLIES) >= lengths[:, None]] = -1
    return Puzzles(moves, lengths)
