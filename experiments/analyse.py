"""`gomoku analyse`: look ahead from a position, deeper and deeper, and say at each depth what seems best.

A line a depth, after one for the position as it stands: the score in points to the side to move (+ is good for it;
"wins in 5" counts the moves of both sides), the time, nodes (positions entered) and nodes a second, and the line of
best play. Most positions are not entered: their worth is read off the one before. They are the children scored.
"""

import argparse
import math

from env import Board
from env.coords import cell_name
from env.render import COLOUR_NAMES, board_text
from experiments.errors import EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.files.position import add_position_arguments, read_position
from experiments.playing.outlook import score_text
from rl.search.budget import Budget
from rl.search.insights import insights
from rl.search.rule_file import default_rules, load_rules
from rl.search.search import DEEPEST, Insight


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_position_arguments(parser)
    parser.add_argument("--time", type=float, metavar="S", help="seconds (default: 10; with --depth, no limit)")
    parser.add_argument("--depth", type=int, metavar="D", help="moves ahead, at most")
    parser.add_argument("--rules", metavar="FILE", help="evaluate by the rules of this file (see gomoku rules)")


def run(args: argparse.Namespace) -> int:
    """Analyse until the time or the depth is reached, the game is decided, or Ctrl-C."""
    if args.time is not None and not 0 < args.time < math.inf:
        raise UserError(f"--time {args.time:g}: use a number of seconds above 0")
    if args.depth is not None and not 1 <= args.depth <= DEEPEST:
        raise UserError(f"--depth {args.depth}: use 1 to {DEEPEST}")
    board = read_position(args)
    if board.is_over:
        raise UserError("the game is over in this position; choose an earlier one with --ply")
    rules = default_rules() if args.rules is None else load_rules(args.rules)
    limit = args.time or (math.inf if args.depth else 10.0)
    print(f"{board_text(board)}\n\n{board.rule.value}, {COLOUR_NAMES[board.to_move]} to move\n")
    budget = Budget(limit)
    best: Insight | None = None
    seconds = 0.0
    print(f"{'depth':>5} {'score':>11} {'seconds':>8} {'nodes':>10} {'nodes/s':>8}  line", flush=True)
    try:
        for best in insights(board, rules, budget, args.depth or DEEPEST):
            seconds = budget.elapsed
            print(insight_text(best, board, seconds), flush=True)
    except KeyboardInterrupt:
        print(_verdict(best, board, seconds))
        return EXIT_INTERRUPTED
    print(_verdict(best, board, seconds))
    return EXIT_OK


def insight_text(insight: Insight, board: Board, seconds: float) -> str:
    """Return what one depth says, as one line."""
    names = " ".join(cell_name(cell, board.height, board.width) for cell in insight.line)
    rate = insight.nodes / max(seconds, 1e-6)
    score = score_text(insight.worth)
    return f"{insight.depth:>5} {score:>11} {seconds:>8.2f} {insight.nodes:>10,} {rate:>8,.0f}  {names}"


def _verdict(best: Insight | None, board: Board, seconds: float) -> str:
    if best is None:
        return "\nstopped before the first depth was finished"
    rate = best.scored / max(seconds, 1e-6)
    return (
        f"\nbest: {cell_name(best.line[0], board.height, board.width)} ({score_text(best.worth)});"
        f" {best.scored:,} children scored besides, {rate:,.0f} a second"
    )
