"""Does it see what is on the board: the share of wins in one that an agent takes, and of single threats it blocks.

The suite is made from games between random and greedy players, so that it belongs to no agent in particular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from env import Board, Rule
from env.observation import Positions, positions_of
from rl.agents.base import Agent
from rl.agents.greedy import GreedyAgent
from rl.agents.random import RandomAgent
from rl.match import play_games
from rl.sampling import BoolArray, RandomSource

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


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
class TacticalSuite:
    """Positions with one right answer each kind: a win to take, or (with no win) exactly one threat to block."""

    wins: tuple[Board, ...]
    blocks: tuple[Board, ...]

    def score(self, agent: Agent, rng: RandomSource) -> dict[str, float]:
        """Shares of right moves: {"win_in_one", "block_in_one"}, each in 0..1."""
        return {
            "win_in_one": _share(agent, self.wins, rng, of_mover=True),
            "block_in_one": _share(agent, self.blocks, rng, of_mover=False),
        }


def _share(agent: Agent, boards: tuple[Board, ...], rng: RandomSource, *, of_mover: bool) -> float:
    chosen = np.array(agent.choose_many(boards, rng))
    return float(winning_cells(positions_of(boards), of_mover=of_mover)[np.arange(len(boards)), chosen].mean())


def make_suite(new_board: Callable[[], Board], size: int, rng: RandomSource) -> TacticalSuite:
    """A suite of `size` positions of each kind, at most one of a kind from any game.

    Each game is random against greedy, greedy against random, or random against random: with a greedy player alone
    few threats would be left standing.
    """
    random, greedy = RandomAgent(), GreedyAgent()
    kinds = [(random, greedy), (greedy, random), (random, random)]
    wins: list[Board] = []
    blocks: list[Board] = []
    while len(wins) < size or len(blocks) < size:
        seats = [kinds[i % 3] for i in range(96)]
        for record in play_games(seats, [new_board() for _ in seats], rng):
            boards = _prefixes(new_board, record.moves)
            own = winning_cells(positions_of(boards), of_mover=True).sum(axis=1)
            other = winning_cells(positions_of(boards), of_mover=False).sum(axis=1)
            _add_one(wins, boards, own > 0, size, rng)
            _add_one(blocks, boards, (own == 0) & (other == 1), size, rng)
    return TacticalSuite(tuple(wins), tuple(blocks))


def _prefixes(new_board: Callable[[], Board], moves: tuple[int, ...]) -> list[Board]:
    board = new_board()
    boards = [board.copy()]
    for move in moves[:-1]:
        board.play(move)
        boards.append(board.copy())
    return boards


def _add_one(kept: list[Board], boards: list[Board], fits: NDArray[np.bool_], size: int, rng: RandomSource) -> None:
    choices = np.flatnonzero(fits)
    if len(choices) and len(kept) < size:
        kept.append(boards[choices[int(rng.random() * len(choices))]])
