"""The border to the Java program: its numbers for the colours, its network, its environment's answers.

Nothing else in this program knows that Java calls black 1 and white 2.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from env import BLACK, EMPTY, WHITE, Board, IllegalMoveError
from env.observation import planes
from nn import PolicyNet
from nn.exact import exact_forward, java_softmax

PLAYER = {EMPTY: 0, BLACK: 1, WHITE: 2}  # Java's numbers for our colours
SIZE = 15


@lru_cache(maxsize=4)
def java_net(layer_seeds: tuple[int, ...], bias_seed: int | None) -> PolicyNet:
    """Return the Java network of these seeds; the last few are kept, since several entries share one."""
    return PolicyNet.java(layer_seeds, bias_seed)


def java_state(board: Board) -> NDArray[np.float64]:
    """Return what the Java network sees: (2, 15, 15), the stones of the side to move, then the other's."""
    state: NDArray[np.float64] = planes(board).astype(np.float64)
    return state


def java_logits(net: PolicyNet, board: Board) -> NDArray[np.float64]:
    """Return the network's preferences (A,) in Java's order of additions."""
    logits: NDArray[np.float64] = exact_forward(net, java_state(board)[None])[0]
    return logits


def java_probs(logits: NDArray[np.float64], board: Board) -> NDArray[np.float64]:
    """logits (A,) -> probabilities (A,): occupied cells count as -infinity; all NaN on a full board."""
    return java_softmax(np.where(board.cells.ravel() == 0, logits, -np.inf))


def accepted(board: Board, at_row: int, at_col: int) -> bool:
    """Play (row, col) if the board accepts it, and say whether it did."""
    if not (0 <= at_row < SIZE and 0 <= at_col < SIZE):
        return False
    try:
        board.play(at_row * SIZE + at_col)
    except IllegalMoveError:
        return False
    return True


def winner(board: Board) -> int:
    """Return Java's winner: 1 or 2, or 0 in a draw and while the game goes on."""
    return 0 if board.outcome is None else PLAYER[board.outcome.winner]


def told(board: Board) -> list[int]:
    """Return what the Java environment tells after a step: winner, game over 0/1, current player, stones."""
    return [winner(board), int(board.is_over), PLAYER[board.to_move], len(board.moves)]
