"""How long a move may take: from what a match manager says of its clock to two limits, in seconds.

The agent is asked to be done by the first; at the second an answer is given, whether or not it is done.
"""

import math
from typing import NamedTuple

from env.gomocup import NO_LIMIT

MOVES_TO_COME = 20  # a move may take this share of what is left of the game's time
LATENCY = 0.1  # for the way through the pipe
CALMER = 0.95  # after a move, what was seen to come late is expected to be so much less late
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
        self.late = 0.0  # by how much a thread here may wake up late: a machine that is busy

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
        self.late *= CALMER

    def overslept(self, seconds: float) -> None:
        """Note that a thread woke up so much later than it had asked for."""
        self.late = max(self.late, seconds)

    def limits(self) -> Limits:
        """The limits of a move that is asked for now.

        Infinite if nobody set one. Else an answer is given a margin before the time is out: LATENCY, and twice what a
        thread was seen to oversleep, once here and once at the other end. Thinking ends 5 % and half of the margin
        before that. Of a time too short for it, thinking gets a quarter, and the answer is due at half; an eighth and
        a quarter on a busy machine.
        """
        share = min(self.turn, self.left / MOVES_TO_COME)
        if share == math.inf:
            return Limits(math.inf, math.inf)
        last = min(self.turn, self.left) or 10 * AT_ONCE
        margin = LATENCY + 2 * self.late
        least = 1 / 2 if self.late < AT_ONCE else 1 / 4
        think = max(0.95 * share - 1.5 * margin, share * least / 2) or AT_ONCE
        return Limits(think, max(last - margin, last * least))
