"""`gomoku evaluate`: one agent against another over colour-swapped pairs, with a 95 % interval.

Two deterministic agents from the empty board play one game again and again, so each pair starts from an opening of
random stones, or from one of a file, and is played twice, colours swapped.
"""

import argparse
import json
import time
from pathlib import Path

from tqdm import tqdm

from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.files.output_place import check_place
from experiments.strength import pairing
from nn.weights import replace_file
from rl.arena import ArenaResult, Tally, result_of
from rl.pairs import Games, play_batches, present

MOST_GAMES = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "agent",
        metavar="AGENT",
        help="who is measured, such as greedy, threat, alphabeta:time=1, policy:PATH; all: rl/agents/__init__.py",
    )
    parser.add_argument("--against", metavar="AGENT", required=True, help="the opponent, named the same way")
    parser.add_argument("--games", type=int, required=True, metavar="N", help="how many games, an even number")
    pairing.add_arguments(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the table as JSON")
    parser.add_argument("--save-games", type=Path, metavar="FILE", help="also write the games, one line each")


def run(args: argparse.Namespace) -> int:
    """Play the games, print the table, write what was asked for."""
    if not 2 <= args.games <= MOST_GAMES or args.games % 2:
        raise UserError(
            f"--games {args.games}: games come in colour-swapped pairs; name an even number, at least 2 and at most "
            f"{MOST_GAMES:,}"
        )
    pairing.check_arguments(args)
    if args.json is not None and args.json == args.save_games:
        raise UserError(f"--json and --save-games both name {args.json}; name two files")
    for path in filter(None, (args.json, args.save_games)):
        check_place(path)
    players, pairs = (args.agent, args.against), args.games // 2
    with present(players) as agents:
        setting = pairing.setting_for(args, players, agents)
        slots = pairing.schedule(agents, pairs)
    given = pairing.read_openings(args.openings, setting.board()) if args.openings else []
    plies = pairing.plies_of(args)
    opening = pairing.opening_by_pair(setting, pairs, given, plies, args.seed, balanced=False)
    work = pairing.batches(slots, players, opening, args.seed)
    finished: dict[int, Games] = {}
    code, began = EXIT_OK, time.monotonic()
    try:
        with pairing.open_fleet(setting, args.jobs) as fleet, tqdm(total=args.games, unit="game", disable=None) as bar:
            for number, games in play_batches(fleet, work, ahead=2 * args.jobs):
                finished[number] = games
                bar.update(len(games))
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if finished:
        result = result_of([record for number in sorted(finished) for record in finished[number]])
        conditions = pairing.describe(setting, args.openings, plies, args.seed)
        print(f"{args.agent} against {args.against}: {conditions}, {time.monotonic() - began:.1f} s")
        tell(args, result)
    return code


def tell(args: argparse.Namespace, result: ArenaResult) -> None:
    """Print the table and write what was asked for."""
    if result.total.games < args.games:
        print(f"stopped after {result.total.games:,} of {args.games:,} games")
    print(table(result))
    pairing.note_forfeits(result.records)
    if args.json is not None:
        replace_file(args.json, (json.dumps(result.as_dict(), indent=2) + "\n").encode())
    if args.save_games is not None:
        replace_file(args.save_games, "".join(f"{record.to_line()}\n" for record in result.records).encode())


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

