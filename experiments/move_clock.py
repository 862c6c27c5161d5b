"""How long a move may take: from what a match manager says of its clock to two limits, in seconds.

The agent is asked to be done by the first; at the second an answer is given, whether or not it is done.
"""

import math
from typing import NamedTuple

from env.gomocup import NO_LIMIT

MOVES_TO_COME = 20  # a move may take this share of what is left of the game's time
LATENCY = 0.1  # for the way through the pipe, and for threads that wait their turn on a machine that is busy
AT_ONCE = 0.02  # what "as fast as possible" leaves for thinking


class Limits(NamedTuple):
    """Seconds from the moment the move was asked for."""

    think: float
    answer: float


class MoveClock:
    """What INFO said of the time; a new game starts a new count.

    timeout_turn   milliseconds a move, 0 as fast as possible
    timeout_match  milliseconds a game, 0 for no limit
    time_left      milliseconds left of the game, sent before each move; 2147483647 for no limit
    """

    def __init__(self) -> None:
        self.turn = math.inf  # seconds, as all of these
        self.match = math.inf
        self.left = math.inf

    def new_game(self) -> None:
        """Count the game's time from its beginning."""
        self.left = self.match

    def inform(self, key: str, milliseconds: int) -> None:
        """Take one of the three numbers; other keys are passed over."""
        seconds = math.inf if milliseconds >= NO_LIMIT else max(0, milliseconds) / 1000
        if key == "timeout_turn":
            self.turn = seconds
        elif key == "timeout_match":
            self.match = self.left = seconds or math.inf
        elif key == "time_left":
            self.left = seconds

    def spend(self, seconds: float) -> None:
        """Note what a move took, for managers that do not send time_left."""
        self.left = max(0.0, self.left - seconds)

    def limits(self) -> Limits:
        """The limits of a move that is asked for now.

        Infinite if nobody set one. Else an answer is given LATENCY before the time is out, and thinking ends 5 % and
        half of LATENCY before that; of a time too short for it, thinking gets a quarter, and the answer is due at half.
        """
        share = min(self.turn, self.left / MOVES_TO_COME)
        if share == math.inf:
            return Limits(math.inf, math.inf)
        last = min(self.turn, self.left) or 10 * AT_ONCE
        think = max(0.95 * share - 1.5 * LATENCY, share / 4) or AT_ONCE
        return Limits(think, max(last - LATENCY, last / 2))
