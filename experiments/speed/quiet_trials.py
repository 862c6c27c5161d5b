"""How fast alpha-beta looks ahead where nothing is forced: children scored a second, and the depth it reaches.
Time is the processor's own, so that what else the machine does costs little; a yardstick says how fast that is.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from env import Board
from experiments.strength import pairing
from rl.sampling import RandomSource
from rl.search.account import EvaluationRules
from rl.search.budget import Budget, undisturbed
from rl.search.line_values import BLACK_FOURS, COUNT, WHITE_FOURS
from rl.search.minimax import DECIDED
from rl.search.search import DEEPEST, Search

OPENINGS = Path("freestyle")  # the set that comes along, which the positions begin with
STONES = 12, 20  # between so many in all
CARELESS = 4  # moves are drawn from the candidates, the n-th by exp(-n / CARELESS)
TRIES = 60


class Look(NamedTuple):
    """One search: processor seconds, positions entered, children scored besides, deepest finished depth."""

    seconds: float
    nodes: int
    scored: int
    depth: int


def quiet_board(openings: Sequence[Sequence[int]], rules: EvaluationRules, rng: RandomSource) -> Board:
    """Return a middle game on the 15x15 board in which nobody can make a four, begun by one of the openings."""
    while True:
        board = Board.from_moves(openings[int(rng.random() * len(openings))])
        wanted = STONES[0] + int(rng.random() * (STONES[1] - STONES[0] + 1))
        for _ in range(TRIES):
            moves = Search(board, rules, Budget()).look.candidates(0, board.to_move)
            board.play(moves[min(int(-CARELESS * np.log(1 - rng.random())), len(moves) - 1)])
            if board.is_over or _fours(board, rules):
                board.undo()
            elif len(board.moves) == wanted:
                return board


def _fours(board: Board, rules: EvaluationRules) -> int:
    """Return how many cells make a four of either side, each line counted."""
    tally = Search(board, rules, Budget()).look.levels[0].tally
    return (tally >> BLACK_FOURS & COUNT) + (tally >> WHITE_FOURS & COUNT)


def look(board: Board, rules: EvaluationRules, seconds: float, depth: int = DEEPEST) -> Look | None:
    """Search with all candidates for so many seconds of the processor; None if the game turns out to be decided."""
    began = time.process_time()
    budget = Budget(stopped=lambda: time.process_time() - began >= seconds)
    search, reached, worth = Search(board, rules, budget), 0, 0
    with undisturbed():
        for insight in search.deepen(depth):
            reached, worth = insight.depth, insight.worth
    return Look(time.process_time() - began, budget.used, search.scored, reached) if abs(worth) < DECIDED else None


def looks(rules: EvaluationRules, count: int, seed: int, seconds: float, depth: int) -> Iterator[Look | None]:
    """Yield what came of so many quiet positions."""
    openings = pairing.read_openings(OPENINGS, Board())
    for number in range(count):
        board = quiet_board(openings, rules, pairing.generator(seed, pairing.OPENING, number))
        yield look(board, rules, seconds, depth)


def yardstick() -> float:
    """Return how many microseconds it takes to add fifteen complex numbers, which a search does four times a move."""
    line, rounds = np.zeros(15, dtype=np.complex128), 20_000
    times = []
    for _ in range(5):
        began = time.process_time()
        for _ in range(rounds):
            np.add(line, line, line)
        times.append((time.process_time() - began) / rounds)
    return 1e6 * min(times)


def looks_text(done: list[Look], decided: int) -> str:
    """Return the averages as text."""
    seconds, nodes, scored = (sum(each[part] for each in done) for part in range(3))
    depths = sorted(each.depth for each in done)
    return "\n".join(
        [
            f"quiet positions        {len(done):>10,}   (and {decided} that were decided)",
            f"nodes a second         {nodes / seconds:>10,.0f}",
            f"children a second      {scored / seconds:>10,.0f}   (scored without being entered)",
            f"depth, average         {mean(depths):>10.1f}   ({depths[0]} to {depths[-1]}, all candidates)",
            f"yardstick              {yardstick():>10.2f}   (microseconds to add 15 complex numbers)",
        ]
    )
