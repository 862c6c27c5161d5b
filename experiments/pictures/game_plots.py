"""What recorded games were like: how long, begun where, and how each stood as it went on. Axes in, Axes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from env import BLACK, WHITE, Board, GameRecord
from experiments.errors import UserError
from experiments.pictures.boards import draw_board
from experiments.pictures.figures import BLUE
from experiments.playing.outlook import black_chance
from nn import BoardNet
from rl.sampling import RandomSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 30


def length_histogram(ax: Axes, games: Sequence[GameRecord]) -> Axes:
    """Draw how many games took how many plies, by who won, and return `ax`."""
    lengths = np.array([len(game.moves) for game in games])
    winners = np.array([game.winner for game in games])
    width = -(-(int(np.ptp(lengths)) + 1) // BINS)
    edges = np.arange(lengths.min(), lengths.max() + width + 1, width) - 0.5
    all_kinds = ((BLACK, "black won", "0.1"), (WHITE, "white won", "0.75"), (0, "nobody won", BLUE))
    kinds = [kind for kind in all_kinds if np.any(winners == kind[0])]
    ax.hist(
        [lengths[winners == winner] for winner, _, _ in kinds],
        bins=edges.tolist(),
        stacked=True,
        color=[colour for _, _, colour in kinds],
        edgecolor="white",
        linewidth=0.5,
        label=[f"{label} ({np.mean(winners == winner):.0%})" for winner, label, _ in kinds],
    )
    ax.set_xlabel("game length (plies)" + (f", {width} a bar" if width > 1 else ""))
    ax.set_ylabel("games")
    ax.set_title(f"{len(games):,} games, {lengths.mean():.1f} plies on average", fontsize="medium")
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    ax.legend(fontsize="small")
    return ax


def first_move_map(ax: Axes, games: Sequence[GameRecord]) -> Axes:
    """Draw where the agents' first own move fell, after any given opening, and return `ax`.

    Numbers are percent of the games that have such a move. Raises UserError for none, or boards of several sizes.
    """
    sizes = {(game.height, game.width) for game in games}
    if len(sizes) > 1:
        raise UserError("the games are of several board sizes; a map of first moves wants one")
    firsts = [game.moves[game.opening] for game in games if len(game.moves) > game.opening]
    if not firsts:
        raise UserError("no game has a move after its opening")
    ((height, width),) = sizes
    shares = np.bincount(firsts, minlength=height * width) / len(firsts)
    first = games[0]
    draw_board(ax, Board(height, width, first.win_length, first.rule), heat=shares)
    given = "after the opening, " if any(game.opening for game in games) else ""
    ax.set_title(f"first move, {given}{len(firsts):,} games\n(numbers: percent)", fontsize="medium")
    return ax


def value_curve(ax: Axes, game: GameRecord, chances: Sequence[float]) -> Axes:
    """Draw black's chance to win after each ply of a game, and return `ax`.

    chances: one number from 0 to 1 for each of the positions from the empty board to the last, see `chances_along`.
    """
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    plies = np.arange(len(chances))
    ax.axhline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    if game.opening:
        ax.axvspan(0, game.opening, color="0.9", label="given opening")
    ax.plot(plies, chances, color=BLUE, linewidth=1.2, zorder=2)
    for first, face, label in ((1, "0.1", "after black's move"), (2, "white", "after white's move")):
        ax.scatter(plies[first::2], chances[first::2], s=22, color=face, edgecolors="0.1", zorder=3, label=label)
    ax.set_ylim(-0.03, 1.03)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10], integer=True))
    ax.set_xlabel("ply")
    ax.set_ylabel("black's chance to win")
    result = {BLACK: "black won", WHITE: "white won", 0: "nobody won"}[game.winner]
    ax.set_title(f"{game.black} (black) – {game.white} (white): {result}", fontsize="medium", parse_math=False)
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
    return ax


def chances_along(game: GameRecord, rng: RandomSource, net: BoardNet | None = None) -> list[float]:
    """Return black's chance to win on the empty board and after every move, as `black_chance` sees it."""
    board = game.board(0)
    chances = [black_chance(board, rng, net)]
    for cell in game.moves:
        board.play(cell)
        chances.append(black_chance(board, rng, net))
    return chances
