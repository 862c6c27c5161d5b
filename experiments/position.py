"""A position named on the command line: moves written one after the other, or a file of games and a ply.

      h8h9i9           moves from h8 on, black first; spaces and commas may stand between them
      game.sgf         the end of a recorded game, or what --ply and --game say
      -                the empty board
"""

import argparse
import re
from pathlib import Path

from env import Board, IllegalMoveError, Rule
from env.coords import CoordinateError, parse_cell
from experiments.errors import UserError
from experiments.game_files import read_games

SIZE = 15


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
    names = re.findall(r"[a-zA-Z]\d+", args.position)
    if args.position == "-" or (names and not re.sub(r"[a-zA-Z]\d+|[\s,]", "", args.position)):
        if args.game is not None:
            raise UserError("--game chooses from a file; the position here is a list of moves")
        size = SIZE if args.size is None else args.size
        board = Board(size, size, 5 if args.win_length is None else args.win_length, rule or Rule.FREESTYLE)
        for number, name in enumerate(names[: _plies(args.ply, len(names))], start=1):
            try:
                board.play(parse_cell(name, size, size))
            except (CoordinateError, IllegalMoveError) as error:
                raise UserError(f"move {number} of the position, {name}: {error}") from None
        return board
    path = Path(args.position)
    if not path.exists():
        raise UserError(f"{args.position[:60]!r} is neither a list of moves such as h8h9i9 nor a file")
    if args.size is not None or args.win_length is not None:
        raise UserError(f"--size and --win-length are for lists of moves; {path} says its own")
    games = read_games(path, rule)
    number = 1 if args.game is None else args.game
    if not 1 <= number <= len(games):
        raise UserError(f"--game {number}: {path} holds {len(games)}; use 1 to {len(games)}")
    game = games[number - 1]
    moves = game.moves[: _plies(args.ply, len(game.moves))]
    return Board.from_moves(moves, game.height, game.width, game.win_length, game.rule)


def _plies(wanted: int | None, there: int) -> int:
    if wanted is not None and not 0 <= wanted <= there:
        raise UserError(f"--ply {wanted}: there are {there} moves; use 0 to {there}")
    return there if wanted is None else wanted
