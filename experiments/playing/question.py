"""What a game asks an agent, and what comes back: an answer finds its position again, or is dropped."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a question is about."""

    MOVE = "move"
    HINT = "hint"
    OUTLOOK = "outlook"


@dataclass(frozen=True, eq=False)
class Question:
    """Something to work out about a position.

    game    the number of the game that is asked about
    moves   the position
    work    what answers it: a cell (moves and hints) or black's chance (outlook)
    stop    asks for what is known by then; may be called from any thread, and more than once
    """

    kind: Kind
    game: int
    moves: tuple[int, ...]
    work: Callable[[], float]
    stop: Callable[[], None]

    def answer(self) -> "Answer":
        """Work it out, however long it takes. Touches nothing of the session, raises nothing: fit for a thread."""
        try:
            return Answer(self, self.work())
        except Exception as error:
            return Answer(self, math.nan, error)


@dataclass(frozen=True, eq=False)
class Answer:
    """What was worked out, or the error that came instead."""

    question: Question
    value: float
    error: Exception | None = None
