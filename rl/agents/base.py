"""What every agent is: something with a name that chooses a cell on a board.

A batch agent answers for many positions in one call, which is what lockstep self-play and the arena want. A thinker can
be told how long it has, and to answer at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from env import Board, IllegalMoveError
from env.observation import Positions, positions_of
from rl.sampling import IntArray, RandomSource
from rl.search.search import Insight


class Agent(ABC):
    """A program that plays. An agent holds no game: all it needs is on the board it is shown."""

    name: str

    @abstractmethod
    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell for the side to move. The board is left as it was.

        Raises IllegalMoveError once the game is over.
        """

    def choose_many(self, boards: Sequence[Board], rng: RandomSource) -> list[int]:
        """One cell a board, in order."""
        return [self.choose(board, rng) for board in boards]


class BatchAgent(Agent):
    """An agent that needs only what `Positions` tells: both sides' stones and the legal cells."""

    @abstractmethod
    def choose_positions(self, positions: Positions, rng: RandomSource) -> IntArray:
        """One legal cell a position. positions of N boards; returns (N,) int64."""

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell for the side to move."""
        return self.choose_many([board], rng)[0]

    def choose_many(self, boards: Sequence[Board], rng: RandomSource) -> list[int]:
        """One cell a board, in order, decided in one call. Raises IllegalMoveError once a game is over."""
        for board in boards:
            if board.is_over:
                raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
        return [int(cell) for cell in self.choose_positions(positions_of(boards), rng)]


class Thinker(Agent):
    """An agent that uses the time it is given: a match manager's clock, or a person who has waited long enough.

    listener  called with each insight while the agent thinks, by the thread that thinks, if the agent has insights
    """

    listener: Callable[[Insight], None] | None = None

    @abstractmethod
    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        """A legal cell for the side to move, within `seconds` of wall time.

        seconds is a limit beside the agent's own options; math.inf leaves those alone. `stopped` is asked as often as
        the clock is read, and may be made true by another thread: then the best move found so far is wanted at once.
        The board is left as it was. Raises IllegalMoveError once the game is over.
        """
