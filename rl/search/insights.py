"""Everything that is known about finding a move, in the order in which it is worth trying.
A win on the next move and the stop to one are seen at once; then come proofs of a forced win; then alpha-beta.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from env import Board
from rl.search.account import EvaluationRules
from rl.search.budget import Budget
from rl.search.search import DEEPEST, Insight, Search


def insights(
    board: Board,
    rules: EvaluationRules,
    budget: Budget,
    depth: int = DEEPEST,
    *,
    width: int | None = None,
    region: NDArray[np.bool_] | None = None,
) -> Iterator[Insight]:
    """Yield better and better answers to what the side to move should play, the first one at once.

    Ends at `depth`, when the budget is spent, or when the game is decided. The first answer has depth 0 and no worth.
    width and region confine alpha-beta as they do in `Search`. Raises IllegalMoveError if the game is over.
    """
    search = Search(board, rules, budget, width=width, region=region)
    yield from search.deepen(depth)
