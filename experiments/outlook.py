"""How the game stands: black's chance to win from here, by a network with values, or else by playing on."""

import numpy as np

from env import BLACK, Board
from env.lockstep import Lockstep
from env.observation import positions_of
from nn import BoardNet
from rl.agents import GreedyAgent
from rl.sampling import RandomSource

PLAYOUTS = 50


def black_chance(board: Board, rng: RandomSource, net: BoardNet | None = None) -> float:
    """Return black's chance, 0 to 1, a draw counting half.

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
