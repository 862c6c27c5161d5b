"""`gomoku rules`: the evaluation's rules in a file: check them, time them, try them in a match, explain a position.

The rules are those that `alphabeta,rules=FILE` plays by; what they count is said in rl/search/account.py.
"""

import argparse
import math
import sys
from pathlib import Path

from tqdm import tqdm

from env import Board
from env.coords import cell_name
from env.render import COLOUR_NAMES, STONE_LETTERS, status_text
from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.evaluate import table
from experiments.files.position import add_position_arguments, read_position
from experiments.speed.quiet_trials import Look, looks, looks_text
from experiments.strength.pairing import DEFAULT_PLIES
from experiments.strength.rule_trials import Effort, Rival, bench_text, efforts, play_match, verdict
from rl.arena import ArenaResult
from rl.search.account import Entry, EvaluationRules, explain
from rl.search.rule_file import DEFAULT, load_rules
from rl.search.search import DEEPEST

SHIPPED = "default"
NAMED = f"a file of rules, or {SHIPPED}: those that come along"
MOST = 100_000  # games or openings
FEW_NODES = 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their arguments."""
    actions = parser.add_subparsers(title="what to do", metavar="ACTION", dest="action", required=True)
    check = actions.add_parser("check", help="read a file and say what each rule counts, or what is wrong and where")
    check.add_argument("file", metavar="FILE", help=NAMED)
    bench = actions.add_parser("bench", help="time the alpha-beta player by these rules on random openings")
    bench.add_argument("file", metavar="FILE", help=NAMED)
    bench.add_argument("--openings", type=int, default=100, metavar="N", help="(default: 100)")
    bench.add_argument("--time", type=float, default=1.5, metavar="S", help="seconds a move (default: 1.5)")
    bench.add_argument("--depth", type=int, default=DEEPEST, metavar="D", help="moves ahead at most")
    bench.add_argument(
        "--quiet",
        action="store_true",
        help="time alpha-beta alone, in processor time, on middle games where nothing is forced, instead of openings",
    )
    compare = actions.add_parser("compare", help="play the alpha-beta player by two files against itself")
    compare.add_argument("old", metavar="OLD", help=NAMED)
    compare.add_argument("new", metavar="NEW", help=NAMED)
    compare.add_argument("--games", type=int, default=50, metavar="N", help="in colour-swapped pairs (default: 50)")
    compare.add_argument(
        "--nodes", type=int, default=FEW_NODES, metavar="N", help=f"positions a move (default: {FEW_NODES:,})"
    )
    for action in (bench, compare):
        action.add_argument(
            "--opening-plies",
            type=int,
            default=DEFAULT_PLIES,
            metavar="K",
            help=f"random stones to begin with (default: {DEFAULT_PLIES})",
        )
        action.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same openings (default: 1)")
    of_position = actions.add_parser("explain", help="which rule counts which stones of a position, and how much")
    add_position_arguments(of_position)
    of_position.add_argument("--rules", metavar="FILE", default=SHIPPED, help=f"{NAMED} (the default)")
    actions.add_parser(SHIPPED, help="print the rules that come along, to begin a file of one's own with")


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    if args.action == SHIPPED:
        sys.stdout.write(DEFAULT.read_text(encoding="utf-8"))
        return EXIT_OK
    if args.action == "explain":
        rules = read_rules(args.rules)
        print(account_text(read_position(args), rules))
        return EXIT_OK
    if args.action == "check":
        print(rules_text(args.file, read_rules(args.file)))
        return EXIT_OK
    check_numbers(args)
    if args.action == "compare":
        return run_compare(args)
    return run_quiet(args) if args.quiet else run_bench(args)


def read_rules(name: str) -> EvaluationRules:
    """The rules in a file; a name at which nothing stands may be `default`. Raises RuleFileError."""
    return load_rules(DEFAULT if name == SHIPPED and not Path(name).exists() else name)


def check_numbers(args: argparse.Namespace) -> None:
    """Raise `UserError` for numbers out of range."""
    if args.seed < 0:
        raise UserError(f"--seed {args.seed}: a seed is 0 or larger")
    if not 0 <= args.opening_plies <= 40:
        raise UserError(f"--opening-plies {args.opening_plies}: name a number from 0 to 40")
    if args.action == "bench":
        if not 1 <= args.openings <= MOST:
            raise UserError(f"--openings {args.openings}: name a number from 1 to {MOST:,}")
        if not 0 < args.time < math.inf:
            raise UserError(f"--time {args.time:g}: use a number of seconds above 0")
        if not 1 <= args.depth <= DEEPEST:
            raise UserError(f"--depth {args.depth}: use 1 to {DEEPEST}")
    else:
        if not 2 <= args.games <= MOST or args.games % 2:
            raise UserError(f"--games {args.games}: games come in pairs; name an even number from 2 to {MOST:,}")
        if args.nodes < 1:
            raise UserError(f"--nodes {args.nodes}: name a number of positions from 1 on")


def run_bench(args: argparse.Namespace) -> int:
    """Time the openings one by one; Ctrl-C ends with what has been timed."""
    rules = read_rules(args.file)
    done: list[Effort] = []
    code = EXIT_OK
    try:
        work = efforts(rules, args.openings, args.opening_plies, args.seed, args.time, args.depth)
        for effort in tqdm(work, total=args.openings, unit="move", disable=None):
            done.append(effort)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if done:
        limit = f"{args.time:g} s a move" + (f" or depth {args.depth}" if args.depth < DEEPEST else "")
        print(f"{args.file}: alphabeta, {limit}, {args.opening_plies} random opening plies, seed {args.seed}")
        print(bench_text(done))
    return code


def run_quiet(args: argparse.Namespace) -> int:
    """Time alpha-beta on quiet positions one by one; Ctrl-C ends with what has been timed."""
    rules = read_rules(args.file)
    done: list[Look | None] = []
    code = EXIT_OK
    try:
        work = looks(rules, args.openings, args.seed, args.time, args.depth)
        for each in tqdm(work, total=args.openings, unit="position", disable=None):
            done.append(each)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    undecided = [each for each in done if each is not None]
    if undecided:
        print(f"{args.file}: alpha-beta alone, {args.time:g} s of processor time a position, seed {args.seed}")
        print(looks_text(undecided, len(done) - len(undecided)))
    return code


def run_compare(args: argparse.Namespace) -> int:
    """Play the match and say what it shows; Ctrl-C ends with the pairs that were played."""
    old, new = read_rules(args.old), read_rules(args.new)
    if old == new:
        raise UserError(f"{args.old} and {args.new} hold the same rules; there is nothing to compare")
    result: ArenaResult | None = None
    code = EXIT_OK
    try:
        with tqdm(total=args.games, unit="game", disable=None) as bar:
            for so_far in play_match(Rival(old, new, args.nodes), args.games, args.opening_plies, args.seed):
                result = so_far
                bar.update(result.total.games - bar.n)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    if result is not None:
        print(
            f"{args.new} against {args.old}: alphabeta with {args.nodes:,} nodes a move, 15x15, freestyle, "
            f"{args.opening_plies} random opening plies, seed {args.seed}"
        )
        print(f"{table(result)}\n{verdict(result.total)}")
    return code


def rules_text(name: str, rules: EvaluationRules) -> str:
    """Return the rules as a table, each with what one pattern of it counts."""
    lines = [f"{name}: {len(rules.rules)} rules, nothing wrong"]
    lines.append(f"{'rule':<16} {'score':>9} {'weight':>7} {'counts':>10}")
    for rule in rules.rules:
        quiet = "" if rule.is_immediate else "   not immediate: 0.3 of it"
        off = "" if rule.enabled else "   not enabled"
        lines.append(f"{rule.id:<16} {rule.base_score:>9,.6g} {rule.weight:>7g} {rule.worth:>10,.6g}{off or quiet}")
    decay = rules.decay
    if decay.enabled:
        lines.append(
            f"rules that are not immediate fall to {decay.min_weight:g} of that from move {decay.start_move} to "
            f"move {decay.end_move}"
        )
    return "\n".join(lines)


def account_text(board: Board, rules: EvaluationRules) -> str:
    """Return a position and its account: each stone with the number of the weightiest entry it is part of.

    The centre's entries are of all stones, and are on no stone.
    """
    account = explain(board, rules)
    patterns = [entry for entry in account if entry.rule != "centre"]
    lines = [_drawn(board, patterns), f"{status_text(board.to_move, board.outcome)}; + is good for that side", ""]
    room = max([4, *(len(_names(board, entry)) for entry in patterns)])
    for entry in account:
        number = f"{patterns.index(entry) + 1}" if entry in patterns else ""
        cells = _names(board, entry) if number else "all"
        who = COLOUR_NAMES[entry.colour]
        lines.append(f"{number:>3} {entry.rule:<16} {who:<6} {cells:<{room}} {entry.amount:>+12,.2f}")
    total = sum(entry.amount for entry in account)
    lines.append(f"{'':>3} {'in all':<16} {'':<6} {'':<{room}} {total:>+12,.2f}")
    return "\n".join(lines)


def _drawn(board: Board, patterns: list[Entry]) -> str:
    words = [STONE_LETTERS[int(stone)] for stone in board.cells.flat]
    for number, entry in reversed(list(enumerate(patterns, start=1))):  # the weightiest last: it stays
        for cell in entry.cells:
            words[cell] = f"{STONE_LETTERS[entry.colour]}{number}"
    room = 1 + max(map(len, words))
    lines = []
    for row in range(board.height):
        shown = "".join(word.rjust(room) for word in words[row * board.width : (row + 1) * board.width])
        lines.append(f"{board.height - row:2d} {shown}")
    return "\n".join([*lines, "   " + "".join(chr(ord("a") + col).rjust(room) for col in range(board.width))])


def _names(board: Board, entry: Entry) -> str:
    return " ".join(cell_name(cell, board.height, board.width) for cell in entry.cells)
