"""One question to an agent, asked so that whoever asks can stop waiting: which move in this position?

A face runs `answer` in a thread and stays alive meanwhile; an agent answers one question at a time.
"""

import math
import threading
import time

from env import Board
from rl.agents.base import Agent, Thinker
from rl.sampling import RandomSource
from rl.search.search import Insight


class Mind:
    """An agent, and the lock that keeps a question from disturbing another one that nobody waits for any more."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.lock = threading.Lock()

    def ask(self, board: Board, rng: RandomSource, seconds: float = math.inf) -> "Thought":
        """The question what to play on `board`, which is copied, to be answered in `seconds` from now."""
        return Thought(self, board.copy(), rng, seconds)


class Thought:
    """A question under way. All its methods may be called from any thread.

    insight  what a `Thinker` that looks ahead has found so far, None before; it may be read at any time
    """

    insight: Insight | None = None

    def __init__(self, mind: Mind, board: Board, rng: RandomSource, seconds: float) -> None:
        self.mind, self.board, self.rng = mind, board, rng
        self.deadline = time.perf_counter() + seconds
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Ask for the best move found so far. Only a `Thinker` hears it; other agents answer when they are done."""
        self._stopped.set()

    def answer(self) -> int:
        """Return the agent's move; takes as long as it takes. Raises whatever the agent raises."""
        agent = self.mind.agent
        with self.mind.lock:
            if not isinstance(agent, Thinker):
                return agent.choose(self.board, self.rng)
            left = max(0.0, self.deadline - time.perf_counter())
            agent.listener = self._hear
            try:
                return agent.think(self.board, self.rng, seconds=left, stopped=self._stopped.is_set)
            finally:
                agent.listener = None

    def _hear(self, insight: Insight) -> None:
        self.insight = insight
