"""What may come of a position: black's chance to win, how likely a network finds each move, what a search expects."""

import numpy as np
from numpy.typing import NDArray

from env import BLACK, Board
from env.lockstep import Lockstep
from env.observation import positions_of
from nn import BoardNet
from nn.losses import masked_log_softmax
from rl.agents import GreedyAgent
from rl.sampling import RandomSource
from rl.search.line_values import POINT
from rl.search.minimax import DECIDED, WIN

PLAYOUTS = 50


def black_chance(board: Board, rng: RandomSource, net: BoardNet | None = None) -> float:
    """Return black's chance to win from here, 0 to 1, a draw counting half.

    A network with values says v for the side to move, from -1 to 1: its chance is (v + 1) / 2. Without one, the
    greedy heuristic plays the game to its end against itself, PLAYOUTS times.
    Raises ShapeError if the network was made for another board.
    """
    if board.outcome is not None:
        return (1 + board.outcome.winner) / 2
    if net is not None and net.HAS_VALUE:
        value = float(net.values(positions_of([board]).seen(net.planes))[0])
        return (1 + value * board.to_move * BLACK) / 2
    games = Lockstep(PLAYOUTS, board.height, board.width, board.win_length, board.rule)
    for cell in board.moves:
        games.play(np.full(PLAYOUTS, cell))
    greedy = GreedyAgent()
    while len(running := np.flatnonzero(~games.over)):
        games.play(greedy.choose_positions(games.positions(running), rng), running)
    return float((1 + games.winner.mean()) / 2)


def move_chances(board: Board, net: BoardNet) -> NDArray[np.float64]:
    """Return how likely the network finds each move: (A,), summing to 1.

    The game goes on. Raises ShapeError if the network was made for another board, AnswerError if it knows no moves.
    """
    positions = positions_of([board])
    logits = net.logits(positions.seen(net.planes))  # (1, A)
    chances: NDArray[np.float64] = np.exp(masked_log_softmax(logits, positions.legal)[0].astype(np.float64))
    return chances


def score_text(worth: int) -> str:
    """Return a worth in points with its sign, or how many moves are left until the game is won or lost."""
    if abs(worth) > DECIDED:
        return f"{'wins' if worth > 0 else 'loses'} in {WIN - abs(worth)}"
    return f"{worth / POINT:+.2f}"
