"""Who is stronger: colour-swapped pairs of games from random openings, with a 95 % interval.

Every opening is played twice, each agent once with black, so that neither the colour nor the opening favours one.
A single game between two deterministic agents would be the same game every time: the openings make the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from env import BLACK, WHITE, Board
from env.record import GameRecord
from rl.agents.base import Agent
from rl.match import play_games
from rl.middle import middle_cells
from rl.sampling import RandomSource, draw_uniforms, inverse_cdf

TRIES = 1000  # openings thrown away before saying that there is none


class ArenaError(ValueError):
    """A match that cannot be played as asked: an odd number of games, or openings that end the game."""


def wilson_interval(wins: int, games: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score (JASA 22, 1927).

        centre = (p + z^2 / 2n) / (1 + z^2 / n),  half-width = z sqrt(p (1 - p) / n + z^2 / 4n^2) / (1 + z^2 / n)

    With p = wins / games and n = games. It stays inside [0, 1] and does not shrink to nothing at 0 or n wins.
    (0, 1) for no games.
    """
    if games == 0:
        return 0.0, 1.0
    share, scale = wins / games, 1 + z * z / games
    centre = (share + z * z / (2 * games)) / scale
    half = z * math.sqrt(share * (1 - share) / games + z * z / (4 * games * games)) / scale
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass(frozen=True)
class Tally:
    """Results of some games from one agent's point of view. A draw is no win: win_rate = wins / games."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of games."""
        return self.wins + self.draws + self.losses

    @property
    def win_rate(self) -> float:
        """Share of games won."""
        return self.wins / self.games if self.games else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval of the win rate."""
        return wilson_interval(self.wins, self.games)

    def as_dict(self) -> dict[str, float]:
        """The tally as plain numbers, for JSON."""
        low, high = self.interval
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "win_rate": self.win_rate,
            "low": low,
            "high": high,
        }


@dataclass(frozen=True)
class ArenaResult:
    """One agent's results against another: in all, with black, with white, and every game."""

    as_black: Tally
    as_white: Tally
    records: tuple[GameRecord, ...]

    @property
    def total(self) -> Tally:
        """Both colours together."""
        return Tally(
            self.as_black.wins + self.as_white.wins,
            self.as_black.draws + self.as_white.draws,
            self.as_black.losses + self.as_white.losses,
        )

    def as_dict(self) -> dict[str, object]:
        """The result as plain numbers, for JSON."""
        return {**self.total.as_dict(), "as_black": self.as_black.as_dict(), "as_white": self.as_white.as_dict()}


def random_opening(new_board: Callable[[], Board], plies: int, rng: RandomSource) -> Board:
    """A board with `plies` random stones on it and nobody having won.

    The stones fall on the middle of the board, uniformly among its legal cells, one uniform draw each. An opening
    that ends the game is thrown away. Raises ArenaError if they do not fit, or (nearly) always end the game.
    """
    for _ in range(TRIES):
        board = new_board()
        allowed = middle_cells(board.height, board.width)
        if plies > allowed.sum():
            raise ArenaError(f"{plies} opening plies do not fit the middle of a {board.height}x{board.width} board")
        for _ in range(plies):
            choices = board.legal_mask() & allowed
            if board.outcome is not None or not choices.any():
                break
            board.play(int(inverse_cdf(choices[None], draw_uniforms(rng, 1))[0]))
        if board.outcome is None and len(board.moves) == plies:
            return board
    raise ArenaError(
        f"{plies} random stones ended the game in {TRIES} openings out of {TRIES} ({board.height}x{board.width}, "
        f"{board.win_length} in a row); ask for fewer opening plies"
    )


def compare(
    agent: Agent,
    opponent: Agent,
    games: int,
    *,
    new_board: Callable[[], Board] = Board,
    opening_plies: int = 4,
    rng: RandomSource,
    finished: Callable[[int], None] | None = None,
) -> ArenaResult:
    """Play `games` games (an even number) as games / 2 colour-swapped pairs from random openings.

    `finished(n)` is called as n more games end. The records hold each pair side by side, `agent` with black first.
    """
    if games < 2 or games % 2:
        raise ArenaError(f"{games} games cannot be paired; ask for an even number, at least 2")
    openings = [random_opening(new_board, opening_plies, rng) for _ in range(games // 2)]
    seats = [(agent, opponent), (opponent, agent)] * len(openings)
    boards = [board for board in openings for _ in range(2)]
    return result_of(play_games(seats, boards, rng, finished))


def result_of(records: Sequence[GameRecord]) -> ArenaResult:
    """The first player's result over pairs of games, each pair side by side, the first player with black first."""
    return ArenaResult(_tally(records[0::2], BLACK), _tally(records[1::2], WHITE), tuple(records))


def _tally(records: Sequence[GameRecord], colour: int) -> Tally:
    winners = [record.winner * colour for record in records]
    return Tally(wins=winners.count(1), draws=winners.count(0), losses=winners.count(-1))
