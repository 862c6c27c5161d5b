"""The swap2 opening: one side lays three stones, the other takes a colour, so that neither begins better off.
Alpha-beta judges the stones, whoever plays on from there.

      black, white, black     laid by the first player, who tries to favour nobody
      white's next move       if the second player keeps white ...
      SWAP                    ... or he takes black, and the first player goes on as white

The second player may instead lay two more stones, after which the first chooses. If both judge alike, that gives the
better side away, while a choice takes it: so it is never done here, and only answered.

Source: the Gomocup protocol, SWAP2BOARD.
"""

from collections.abc import Sequence

import numpy as np

from env import Board
from rl.sampling import RandomSource
from rl.search.budget import Budget, undisturbed
from rl.search.insights import insights
from rl.search.rule_file import default_rules

STONES = (0, 3, 5)  # on the board when a choice is asked for
PROPOSED = 8  # openings that are drawn, of which the most balanced is laid
MIDDLE = 3  # steps from the middle of the board, within which they are drawn
SHARE, MOST = 1 / 4, 1.0  # of the time for the move, and seconds, for judging


def worth(board: Board, seconds: float) -> float:
    """Return what the position is worth to the side to move, in hundredths of a point.

    The mean of the last two depths: whoever made the last move of a line looks better off than he is.
    """
    with undisturbed():
        last = [insight.worth for insight in insights(board, default_rules(), Budget(seconds))][-2:]
    return sum(last) / len(last)


def proposal(empty: Board, rng: RandomSource, seconds: float) -> tuple[int, ...]:
    """Return three cells, black's, white's and black's, after which neither side is much better off."""
    rows, cols = np.indices((empty.height, empty.width)).reshape(2, -1)
    middle = (abs(rows - empty.height // 2) <= MIDDLE) & (abs(cols - empty.width // 2) <= MIDDLE)
    openings = []
    for _ in range(PROPOSED):
        left = np.flatnonzero(middle).tolist()
        openings.append(tuple(left.pop(int(rng.random() * len(left))) for _ in range(3)))

    def imbalance(cells: Sequence[int]) -> float:
        board = empty.copy()
        for cell in cells:
            board.play(cell)
        return abs(worth(board, seconds / PROPOSED))

    return min(openings, key=imbalance)
