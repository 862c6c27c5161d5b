"""`gomoku evaluate`: one agent against another over colour-swapped pairs, with a 95 % interval.

Two deterministic agents from the empty board play one game again and again, so each pair starts from an opening of
random stones and is played twice, colours swapped.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from tqdm import tqdm

from env import Board, Rule
from experiments.config import config_from
from experiments.errors import EXIT_OK, UserError
from experiments.run_dir import read_json
from nn.weights import replace_file
from rl.agents import Agent, PolicyAgent, make_agent
from rl.arena import ArenaResult, Tally, compare, middle

DEFAULT_SIZE = 15
MOST_GAMES = 1_000_000  # all boards of a match are held at once


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        help="who is measured: random, greedy, greedy:java, greedy:sharp, policy:PATH[,temperature=T]",
    )
    parser.add_argument("--against", metavar="AGENT", required=True, help="the opponent, named the same way")
    parser.add_argument("--games", type=int, required=True, metavar="N", help="how many games, an even number")
    parser.add_argument(
        "--opening-plies", type=int, default=4, metavar="K", help="random stones a game starts from (default: 4)"
    )
    parser.add_argument(
        "--size", type=int, metavar="S", help="a square board (default: the policy's own size, else 15)"
    )
    parser.add_argument("--height", type=int, metavar="H", help="with --width: a board that is not square")
    parser.add_argument("--width", type=int, metavar="W")
    parser.add_argument(
        "--win-length", type=int, metavar="L", help="stones in a row that win (default: as the policy's run, else 5)"
    )
    parser.add_argument(
        "--rule", choices=[rule.value for rule in Rule], help="default: as the policy's run, else freestyle"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same games (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table as JSON")
    parser.add_argument("--save-games", type=Path, metavar="FILE", help="also write the games, one line each")


def run(args: argparse.Namespace) -> int:
    """Play the games, print the table, write what was asked for."""
    if not 2 <= args.games <= MOST_GAMES or args.games % 2:
        raise UserError(
            f"--games {args.games}: games come in colour-swapped pairs; name an even number, at least 2 and at most "
            f"{MOST_GAMES:,}"
        )
    if args.seed < 0:
        raise UserError(f"--seed {args.seed}: a seed is 0 or larger")
    if args.json is not None and args.json == args.save_games:
        raise UserError(f"--json and --save-games both name {args.json}; name two files")
    agent, opponent = make_agent(args.agent), make_agent(args.against)
    height, width = board_size(args, (agent, opponent))
    win_length, rule = game(args)
    board = _new_board(height, width, win_length, rule)
    check_opening(board, args.opening_plies)
    began = time.monotonic()
    with tqdm(total=args.games, unit="game", disable=None) as bar:
        result = compare(
            agent,
            opponent,
            args.games,
            new_board=board.copy,
            opening_plies=args.opening_plies,
            rng=np.random.default_rng(args.seed),
            finished=bar.update,
        )
    print(
        f"{args.agent} against {args.against}: {height}x{width}, {win_length} in a row, {rule.value}, "
        f"{args.opening_plies} random opening plies, seed {args.seed}, {time.monotonic() - began:.1f} s"
    )
    print(table(result))
    if args.json is not None:
        replace_file(args.json, (json.dumps(result.as_dict(), indent=2) + "\n").encode())
    if args.save_games is not None:
        replace_file(args.save_games, "".join(f"{record.to_line()}\n" for record in result.records).encode())
    return EXIT_OK


def board_size(args: argparse.Namespace, agents: tuple[Agent, Agent]) -> tuple[int, int]:
    """Return (height, width): what was asked for, else the size a policy among the agents was made for, else 15x15.

    Raises `UserError` if the request contradicts itself or the policies.
    """
    if args.size is not None and (args.height is not None or args.width is not None):
        raise UserError("--size says height and width at once; name either --size or --height and --width")
    if (args.height is None) != (args.width is None):
        raise UserError("--height and --width go together; for a square board name --size")
    own = {agent.name: (agent.net.height, agent.net.width) for agent in agents if isinstance(agent, PolicyAgent)}
    if args.size is not None:
        asked = (args.size, args.size)
    elif args.height is not None:
        asked = (args.height, args.width)
    else:
        asked = next(iter(own.values()), (DEFAULT_SIZE, DEFAULT_SIZE))
    for name, size in own.items():
        if size != asked:
            raise UserError(f"{name} plays on {size[0]}x{size[1]} only; the board is {asked[0]}x{asked[1]}")
    return asked


def game(args: argparse.Namespace) -> tuple[int, Rule]:
    """Return (win length, rule): what was asked for, else those of the run a policy lies in, else 5 and freestyle."""
    win_length, rule = args.win_length, args.rule
    for spec in (args.agent, args.against):
        name, _, rest = spec.partition(":")
        config = Path(rest.partition(",")[0]).parent / "config.json"
        if name == "policy" and config.is_file() and (win_length is None or rule is None):
            trained = config_from(read_json(config))
            win_length = trained.win_length if win_length is None else win_length
            rule = rule or trained.rule
    return 5 if win_length is None else win_length, Rule(rule or "freestyle")


def check_opening(board: Board, plies: int) -> None:
    """Raise `UserError` unless `plies` random stones fit the middle of the board and leave a game to play."""
    room = int(middle(board).sum())
    if not 0 <= plies < room:
        raise UserError(
            f"--opening-plies {plies}: on a {board.height}x{board.width} board name a number from 0 to {room - 1}"
        )


def table(result: ArenaResult) -> str:
    """Return the result as text, one line a colour."""
    lines = ["           games   wins  draws  losses  win rate   95 % interval"]
    for name, tally in (("as black", result.as_black), ("as white", result.as_white), ("both", result.total)):
        lines.append(f"{name:<9}{_columns(tally)}")
    return "\n".join(lines)


def _columns(tally: Tally) -> str:
    low, high = tally.interval
    counts = f"{tally.games:>7} {tally.wins:>6} {tally.draws:>6} {tally.losses:>7}"
    return f"{counts}   {tally.win_rate:>7.1%}   {low:.1%} to {high:.1%}"


def _new_board(height: int, width: int, win_length: int, rule: Rule) -> Board:
    try:
        return Board(height, width, win_length=win_length, rule=rule)
    except ValueError as error:  # the message names the size or win length that is out of range
        raise UserError(str(error)) from None
