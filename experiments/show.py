"""`gomoku show`: print a recorded game or draw it, or write it in another format.

The printed board has a move number in every stone: X12 is black's, O13 is white's.
"""

import argparse
import sys
import textwrap
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from env import Board, GameRecord, Rule
from env.coords import cell_name
from env.record_text import printable
from env.render import COLOUR_NAMES, STONE_LETTERS
from env.rules import BLACK, WHITE
from env.svg import board_svg
from experiments.errors import EXIT_OK, UserError
from experiments.files.game_files import read_games, write_games
from experiments.files.position import chosen_game, position_at
from experiments.pictures.figures import save_figure
from experiments.playing.outlook import move_chances
from nn import load_net
from nn.weights import replace_file

COLUMNS = 78
LONGEST_NAME = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE", type=Path, help="games: .sgf, .psq, or lines of text")
    parser.add_argument("--game", type=int, metavar="N", help="which game of the file (default: the first)")
    parser.add_argument("--ply", type=int, metavar="N", help="the position after N moves (default: the end)")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="draw it: .png, .svg or .pdf")
    parser.add_argument("--no-numbers", action="store_true", help="leave the move numbers out")
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="how likely this network finds each move, in percent"
    )
    parser.add_argument("--rule", choices=[rule.value for rule in Rule], help="whatever the file says")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write the games (or --game N) as .sgf, .psq or .txt")


def run(args: argparse.Namespace) -> int:
    """Read the games, then print, draw or write what was asked for."""
    games = read_games(args.file, Rule(args.rule) if args.rule else None)
    game = chosen_game(games, args.game, args.file)
    if args.to is not None:
        if args.ply is not None:
            raise UserError("--to writes whole games; --ply is for showing one")
        if args.to.exists() and args.to.samefile(args.file):
            raise UserError(f"--to {args.to}: that is the file the games are read from; name another")
        chosen = games if args.game is None else [game]
        write_games(args.to, chosen)
        _print(f"{args.to}: {_count(len(chosen), 'game')}")
        if args.output is None:
            return EXIT_OK
    board = position_at(game, args.ply)
    net = None if args.policy is None else load_net(args.policy)
    if net is not None and board.is_over:
        raise UserError("--policy: the game is over in this position; choose an earlier one with --ply")
    chances = None if net is None else move_chances(board, net)
    if args.output is not None:
        _draw(args.output, game, board, not args.no_numbers, chances)
        _print(str(args.output))
        return EXIT_OK
    _print(f"{args.file}, game {args.game or 1} of {len(games)}" if len(games) > 1 else str(args.file))
    _print(game_text(game, board, not args.no_numbers, chances))
    return EXIT_OK


def game_text(game: GameRecord, board: Board, numbers: bool = True, chances: NDArray[np.float64] | None = None) -> str:
    """Return a game as text: who played what, the board, how it stands, and the moves so far."""
    players = " against ".join(
        f"{_shortened(name) or COLOUR_NAMES[colour]} ({STONE_LETTERS[colour]})"
        for name, colour in ((game.black, BLACK), (game.white, WHITE))
    )
    settings = f"{game.height}x{game.width}, {game.win_length} in a row, {game.rule.value}"
    given = f", the first {game.opening} given" if game.opening else ""
    line = f" with {_names(board, board.outcome.line)}" if board.outcome and board.outcome.line else ""
    return "\n".join(
        [
            players,
            f"{settings}; {_count(len(game.moves), 'move')}{given}",
            board_text(board, numbers, chances),
            f"after {_count(len(board.moves), 'move')}: {standing(game, board)}{line}",
            *textwrap.wrap(_names(board, board.moves), COLUMNS),
        ]
    )


def standing(game: GameRecord, board: Board) -> str:
    """Return how a game stands on `board`, one of its positions."""
    if board.outcome is not None:
        return f"{COLOUR_NAMES[board.outcome.winner]} has won" if board.outcome.winner else "a draw"
    if len(board.moves) < len(game.moves):
        return f"{COLOUR_NAMES[board.to_move]} to move"
    if game.winner:
        why = game.note or "time, a resignation, a foul"
        return f"{COLOUR_NAMES[game.winner]} has won, though not on the board ({printable(why)})"
    return f"broken off with {COLOUR_NAMES[board.to_move]} to move"


def board_text(board: Board, numbers: bool = True, chances: NDArray[np.float64] | None = None) -> str:
    """Return the board as lines of text, the last move in brackets.

    3   .   . O2
    2   .(X3)  .      with coordinates left and below; a point forbidden to black is !33, !44 or !6,
    1  X1   . 7%      a move's chance of 1 % and more is written in percent
        a   b  c
    """
    words = dict.fromkeys(range(board.height * board.width), ".")
    if chances is not None:
        words |= {cell: f"{100 * chances[cell]:.0f}%" for cell in np.flatnonzero(chances >= 0.01).tolist()}
    words |= {cell: f"!{kind.code}" for cell, kind in board.forbidden().items()}
    for ply, cell in enumerate(board.moves):
        words[cell] = STONE_LETTERS[(BLACK, WHITE)[ply % 2]] + (str(ply + 1) if numbers else "")
    last = board.moves[-1] if board.moves else None
    room = 1 + max(map(len, words.values()))
    lines = []
    for row in range(board.height):
        line = f"{board.height - row:2d} "
        for cell in range(row * board.width, (row + 1) * board.width):
            line += f"({words[cell]}".rjust(room) if cell == last else words[cell].rjust(room)
            if cell == last:
                line += ")"
            elif cell - 1 == last and cell % board.width:
                line = line[:-room] + line[1 - room :]  # the closing bracket stands in the gap
        lines.append(line)
    return "\n".join([*lines, "   " + "".join(chr(ord("a") + col).rjust(room) for col in range(board.width))])


def _draw(path: Path, game: GameRecord, board: Board, numbers: bool, chances: NDArray[np.float64] | None) -> None:
    """Write a picture of the board; SVG is ours, everything else matplotlib's."""
    black, white = _shortened(game.black) or "?", _shortened(game.white) or "?"
    title = f"{black} (black) against {white} (white)\nmove {len(board.moves)}: {standing(game, board)}"
    if path.suffix == ".svg":
        replace_file(path, board_svg(board, numbers=numbers, heat=chances, title=title).encode())
        return
    from experiments.pictures.boards import board_figure  # here, since matplotlib takes a second to import

    figure = board_figure(board, numbers=numbers, heat=chances, title=title)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # a name in a script its fonts do not have
        save_figure(figure, path)


def _names(board: Board, cells: Iterable[int]) -> str:
    return " ".join(cell_name(cell, board.height, board.width) for cell in cells)


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _print(text: str) -> None:
    """Print, with ? for letters that the terminal's encoding does not have."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, errors="replace").decode(encoding))
