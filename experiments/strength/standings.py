"""What the games of a tournament say: ratings, who won against whom with which colour, what moving first is worth.

The same numbers as text, as JSON and, in experiments/pictures/arena_plots.py, as pictures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import BLACK, WHITE
from env.record import GameRecord
from rl.arena import Tally
from rl.elo import DRAW, LOSS, WIN, Ratings, fit
from rl.sprt import Sprt

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Standings:
    """players in the order they were named; results (K, K, 3), see `fit`: row black, column white; ratings."""

    players: tuple[str, ...]
    results: Counts
    ratings: Ratings

    def tally(self, player: int) -> Tally:
        """All games of one player."""
        as_black, as_white = self.results[player].sum(axis=0), self.results[:, player].sum(axis=0)
        wins, losses = as_black[WIN] + as_white[LOSS], as_black[LOSS] + as_white[WIN]
        return Tally(int(wins), int(as_black[DRAW] + as_white[DRAW]), int(losses))

    @property
    def black(self) -> Tally:
        """All games, as black sees them."""
        wins, draws, losses = (int(count) for count in self.results.sum(axis=(0, 1)))
        return Tally(wins, draws, losses)

    @property
    def order(self) -> list[int]:
        """The players, the strongest first."""
        return sorted(range(len(self.players)), key=lambda player: -self.ratings.players[player].value)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        matches = [
            {"black": self.players[i], "white": self.players[j], **_plain(Tally(*self.results[i, j].tolist()))}
            for i, j in zip(*np.nonzero(self.results.sum(axis=2)), strict=True)
        ]
        return {
            "players": [
                {"name": name, **rating.as_dict(), **_plain(self.tally(i)), "score": score(self.tally(i))}
                for i, (name, rating) in enumerate(zip(self.players, self.ratings.players, strict=True))
            ],
            "first_move": {**self.ratings.first_move.as_dict(), **_plain(self.black)},
            "draws_between_equals": self.ratings.draws,
            "matches": matches,
        }


def standings_of(
    games: Iterable[GameRecord], players: Sequence[str] | None = None, anchor: int | None = None
) -> Standings:
    """The standings after these games, by the names in their records; players: in which order, else by name."""
    games = list(games)
    if players is None:
        players = sorted({name for game in games for name in (game.black, game.white)})
    results = np.zeros((len(players), len(players), 3), dtype=np.int64)
    for game in games:
        outcome = {BLACK: WIN, 0: DRAW, WHITE: LOSS}[game.winner]
        results[players.index(game.black), players.index(game.white), outcome] += 1
    return Standings(tuple(players), results, fit(results, anchor))


def score(tally: Tally) -> float:
    """Points a game: a win 1, a draw 1/2."""
    return (tally.wins + tally.draws / 2) / tally.games if tally.games else 0.0


def pair_counts(games: Sequence[GameRecord]) -> list[Counts]:
    """(5,) after each pair, the first player's: how many pairs brought 0, 1/2, 1, 3/2, 2 points so far."""
    counts, found = np.zeros(5, dtype=np.int64), []
    for first, second in zip(games[0::2], games[1::2], strict=True):
        counts[2 + first.winner - second.winner] += 1
        found.append(counts.copy())
    return found


def sprt_verdict(test: Sprt, games: Sequence[GameRecord]) -> dict[str, Any]:
    """Where the test ended: {"accepted": "H0", "H1" or None, "pairs": after how many, "log_ratio": ..., its terms}.

    It is asked after every pair, in the order of the pairs, so it says the same whichever of them were played first.
    """
    counts = np.array([np.zeros(5, dtype=np.int64), *pair_counts(games)])
    ratios, (low, high) = test.log_ratio(counts), test.bounds
    ended = np.flatnonzero((ratios[1:] <= low) | (ratios[1:] >= high))
    pairs = int(ended[0]) + 1 if len(ended) else len(counts) - 1
    return {
        "elo0": test.elo0,
        "elo1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "accepted": test.accepted(counts[pairs]) if pairs else None,
        "pairs": pairs,
        "log_ratio": float(ratios[pairs]),
        "low": low,
        "high": high,
    }


def table(standings: Standings) -> str:
    """The standings as text: the players, the matrix of results by colour, the first move."""
    width = max(len("player"), *map(len, standings.players))
    heads = f"{'games':>7}{'wins':>7}{'draws':>7}{'losses':>8}{'score':>8}"
    lines = [f"{'':4}{'player':<{width}}{'Elo':>9}   {'95 % interval':<18}{heads}"]
    for place, i in enumerate(standings.order, start=1):
        rating, tally = standings.ratings.players[i], standings.tally(i)
        interval = f"{rating.low:+.0f} to {rating.high:+.0f}"
        counts = f"{tally.games:>7}{tally.wins:>7}{tally.draws:>7}{tally.losses:>8}{score(tally):>8.1%}"
        lines.append(f"{place:>2}. {standings.players[i]:<{width}}{rating.value:>+9.0f}   {interval:<18}{counts}")
    return "\n".join([*lines, "", *_matrix(standings, width), "", first_move(standings)])


def first_move(standings: Standings) -> str:
    """One line about what it is worth to move first."""
    worth, black = standings.ratings.first_move, standings.black
    shares = [f"{count / max(1, black.games):.1%}" for count in (black.wins, black.draws, black.losses)]
    return (
        f"the first move is worth {worth.value:+.0f} Elo ({worth.low:+.0f} to {worth.high:+.0f}): "
        f"black won {shares[0]}, drew {shares[1]}, lost {shares[2]} of {black.games:,} games"
    )


def sprt_line(verdict: Mapping[str, Any]) -> str:
    """One line about a sequential test."""
    test = f"SPRT, {verdict['elo0']:g} Elo (H0) against {verdict['elo1']:g} Elo (H1)"
    if verdict["accepted"]:
        return f"{test}: {verdict['accepted']} accepted after {verdict['pairs']} pairs"
    where = f"{round(verdict['log_ratio'], 2) + 0.0:.2f} between {verdict['low']:.2f} and {verdict['high']:.2f}"
    return f"{test}: undecided after {verdict['pairs']} pairs, log-likelihood ratio {where}"


def _matrix(standings: Standings, width: int) -> list[str]:
    order = standings.order
    cells = [["/".join(map(str, standings.results[i, j])) if i != j else "" for j in order] for i in order]
    room = 2 + max(len(cell) for row in cells for cell in row)
    places = "".join(f"{f'{place}.':>{room}}" for place in range(1, len(order) + 1))
    lines = ["black (row) won/drew/lost against white (column):", f"{'':{width + 4}}{places}"]
    for place, (i, row) in enumerate(zip(order, cells, strict=True), start=1):
        lines.append(f"{place:>2}. {standings.players[i]:<{width}}" + "".join(f"{cell:>{room}}" for cell in row))
    return lines


def _plain(tally: Tally) -> dict[str, int]:
    return {"games": tally.games, "wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
