"""`gomoku generate`: games of a teacher against itself, written down as examples for `gomoku pretrain`.

What is written for a position is what the teacher would play, and how good it finds each cell, even where a random move
was played instead; those moves, and random openings, are there so that the games differ.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
from tqdm import tqdm

from env import Board, Rule
from env.record import GameRecord
from experiments.errors import EXIT_OK, UserError
from experiments.files.example_files import save_examples
from experiments.files.game_files import write_games
from experiments.files.output_place import check_place
from rl.agents import Agent, make_agent
from rl.arena import random_opening
from rl.demonstrations import Demonstration, demonstrate
from rl.examples import from_demonstrations
from rl.sampling import draw_numbers

AT_ONCE = 500
MOST_GAMES = 200_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("output", type=Path, metavar="FILE.npz", help="where the examples go")
    parser.add_argument("--teacher", default="summed", metavar="AGENT", help="who plays (default: summed)")
    parser.add_argument("--games", type=int, default=2_000, metavar="N", help="how many games (default: 2000)")
    parser.add_argument("--size", type=int, default=15, metavar="S", help="a square board (default: 15)")
    parser.add_argument("--win-length", type=int, default=5, metavar="L", help="stones in a row that win (default: 5)")
    parser.add_argument("--rule", choices=[rule.value for rule in Rule], default="freestyle")
    parser.add_argument(
        "--opening-plies", type=int, default=6, metavar="K", help="games open with 0 to K random stones (default: 6)"
    )
    parser.add_argument("--noise", type=float, default=0.05, metavar="P", help="chance of a random move (0.05)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same games (default: 1)")
    parser.add_argument(
        "--channels-last", action="store_true", help="states as (N, H, W, 3) float32 instead of (N, H, W) int8"
    )
    parser.add_argument("--save-games", type=Path, metavar="FILE", help="also write the games: .sgf or .txt")


def run(args: argparse.Namespace) -> int:
    """Play, drop what is of no use, write, and say what was done."""
    if not 1 <= args.games <= MOST_GAMES:
        raise UserError(f"--games {args.games}: name a number from 1 to {MOST_GAMES:,}")
    if not 0 <= args.noise <= 1:
        raise UserError(f"--noise {args.noise}: a chance is from 0 to 1")
    if args.seed < 0 or args.opening_plies < 0:
        raise UserError("--seed and --opening-plies are 0 or larger")
    if args.output.suffix != ".npz":
        raise UserError(f"{args.output}: examples are written as .npz")
    for path in filter(None, (args.output, args.save_games)):
        check_place(path)
    try:
        board = Board(args.size, args.size, args.win_length, Rule(args.rule))
    except ValueError as error:
        raise UserError(str(error)) from None
    teacher = make_agent(args.teacher)
    games, dropped = usable_games(teacher, board, args)
    if not games:
        raise UserError(f"none of {args.games} games can be used ({_counted(dropped)}); try --noise or another teacher")
    examples = from_demonstrations(games)
    meta = {"teacher": args.teacher, "seed": args.seed, "noise": args.noise, "games": len(games)}
    meta |= {"win_length": args.win_length, "rule": args.rule}
    save_examples(args.output, examples, meta, channels_last=args.channels_last)
    if args.save_games is not None:
        name = args.teacher
        write_games(args.save_games, [GameRecord.of(game.board, name, name, opening=game.opening) for game in games])
    soft = "moves and soft scores" if examples.shares is not None else "moves"
    print(f"{args.output}: {len(examples):,} positions of {len(games):,} games, {soft}; dropped: {_counted(dropped)}")
    return EXIT_OK


def usable_games(teacher: Agent, board: Board, args: argparse.Namespace) -> tuple[list[Demonstration], Counter[str]]:
    """(the games to keep, how many were dropped for each reason).

    A game is dropped if nobody won it within half the board, if it repeats another move for move, or if the teacher
    had no move in it.
    """
    rng = np.random.default_rng(args.seed)
    kept: list[Demonstration] = []
    dropped: Counter[str] = Counter()
    known: set[tuple[int, ...]] = set()
    with tqdm(total=args.games, unit="game", disable=None) as bar:
        for first in range(0, args.games, AT_ONCE):
            count = min(AT_ONCE, args.games - first)
            plies = draw_numbers(rng, count, args.opening_plies + 1)
            openings = [random_opening(board.copy, int(each), rng) for each in plies]
            most = max(1, board.height * board.width // 2)
            for game in demonstrate(
                teacher, openings, noise=args.noise, most_plies=most, rng=rng, finished=bar.update
            ):
                moves = tuple(game.board.moves)
                if not game.usable or not game.plies:
                    dropped["nobody won"] += 1
                elif moves in known:
                    dropped["played before"] += 1
                else:
                    known.add(moves)
                    kept.append(game)
    return kept, dropped


def _counted(dropped: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in dropped.items()) or "none"
