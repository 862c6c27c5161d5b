"""A position named on the command line: moves written one after the other, or a file of games and a ply.

      h8h9i9           moves from h8 on, black first; spaces and commas may stand between them
      game.sgf         the end of a recorded game, or what --ply and --game say
      -                the empty board
"""

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from env import Board, GameRecord, IllegalMoveError, Rule
from env.coords import CoordinateError, parse_cell
from experiments.errors import UserError
from experiments.files.game_files import read_games

SIZE = 15
MOVE = r"[a-zA-Z]\d+"


def add_position_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what names a position."""
    parser.add_argument("position", metavar="POSITION", help="moves such as h8h9i9, a file of games, or - for no moves")
    parser.add_argument(
        "--rule", choices=[rule.value for rule in Rule], help="(default: freestyle, or what the file says)"
    )
    parser.add_argument("--size", type=int, metavar="N", help=f"rows and columns, 3 to 25 (default: {SIZE})")
    parser.add_argument("--win-length", type=int, metavar="N", help="how many in a row win (default: 5)")
    parser.add_argument("--game", type=int, metavar="N", help="which game of the file (default: the first)")
    parser.add_argument("--ply", type=int, metavar="N", help="the position after N moves (default: after all)")


def read_position(args: argparse.Namespace) -> Board:
    """Return the position that the arguments name.

    Raises `UserError` if it is neither moves nor a file, if a move is off the board or refused, or if --game or --ply
    asks for more than there is; SettingsError for sizes that make no game.
    """
    rule = None if args.rule is None else Rule(args.rule)
    names = [] if args.position == "-" else move_names(args.position)
    if names or args.position == "-":
        if args.game is not None:
            raise UserError("--game chooses from a file; the position here is a list of moves")
        size = SIZE if args.size is None else args.size
        board = Board(size, size, 5 if args.win_length is None else args.win_length, rule or Rule.FREESTYLE)
        play_names(board, names[: _plies(args.ply, len(names))], "the position")
        return board
    path = Path(args.position)
    if not path.exists():
        raise UserError(f"{args.position[:60]!r} is neither a list of moves such as h8h9i9 nor a file")
    if args.size is not None or args.win_length is not None:
        raise UserError(f"--size and --win-length are for lists of moves; {path} says its own")
    return position_at(chosen_game(read_games(path, rule), args.game, path), args.ply)


def move_names(text: str) -> list[str]:
    """Return the moves in a text such as h8h9i9 or "h8, h9, i9" by name; none if there is anything else in it."""
    return [] if re.sub(rf"{MOVE}|[\s,]", "", text) else re.findall(MOVE, text)


def play_names(board: Board, names: Sequence[str], what: str) -> None:
    """Play moves by name. Raises `UserError` naming the move of `what` that is off the board or refused."""
    for number, name in enumerate(names, start=1):
        try:
            board.play(parse_cell(name, board.height, board.width))
        except (CoordinateError, IllegalMoveError) as error:
            raise UserError(f"move {number} of {what}, {name}: {error}") from None


def chosen_game(games: Sequence[GameRecord], number: int | None, where: object) -> GameRecord:
    """Return the game of this number, counted from 1, or the first. Raises `UserError` if there are not so many."""
    if number is not None and not 1 <= number <= len(games):
        there = "there is 1 game" if len(games) == 1 else f"there are {len(games)} games"
        raise UserError(f"--game {number}: {there} in {where}; use 1 to {len(games)}")
    return games[0 if number is None else number - 1]


def position_at(game: GameRecord, ply: int | None) -> Board:
    """Return the board after `ply` moves, or at the end. Raises `UserError` if there are not so many."""
    return game.board(_plies(ply, len(game.moves)))


def _plies(wanted: int | None, there: int) -> int:
    if wanted is not None and not 0 <= wanted <= there:
        raise UserError(f"--ply {wanted}: there are {there} moves; use 0 to {there}")
    return there if wanted is None else wanted
