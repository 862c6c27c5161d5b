"""How many positions with a known forced win the alpha-beta player solves, how fast, and how many by fours alone.

The file is one of known wins, see experiments/strength/known_wins.py. Solved: the player's move starts a win that it
proves against every reply, or is the known win's first; proved: the former.

    python -m experiments.tactics_report tests/data/tactics/wins.json --seconds 1.8
"""

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from tqdm import tqdm

from env import Rule
from experiments.errors import EXIT_BROKEN_PIPE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, UserError
from experiments.strength.known_wins import KnownWin, load_known_wins
from rl.search.budget import Budget, undisturbed
from rl.search.forced_wins import forced_win
from rl.search.insights import insights
from rl.search.minimax import DECIDED
from rl.search.rule_file import default_rules

SHORT = 9  # plies of a win that must always be found


class Result(NamedTuple):
    """What became of one position: `fours` and `seconds` are how it was solved, and after how long it was decided."""

    number: int
    rule: str
    win_plies: int
    solved: bool
    proved: bool
    fours: bool
    seconds: float
    fours_seconds: float


def measure(number: int, position: KnownWin, seconds: float) -> Result:
    """Solve one position: by fours alone, then as the player does."""
    board, win_plies, first = position
    with undisturbed():
        budget = Budget(seconds)
        fours = forced_win(board, budget, threes=False) is not None
        fours_seconds = budget.elapsed
        budget = Budget(seconds)
        *_, best = insights(board, default_rules(), budget)
        seconds = budget.elapsed
    proved = best.worth > DECIDED
    solved = proved or best.line[0] == first
    return Result(number, board.rule.value, win_plies, solved, proved, fours, seconds, fours_seconds)


def table(results: Sequence[Result]) -> str:
    """Return the results by length of the known win and by rule, and the times."""
    lines = [f"{'':<14}{'positions':>10}{'solved':>8}{'%':>7}{'proved':>8}{'by fours':>10}{'median s':>10}{'p90 s':>8}"]
    groups = [("all", list(results))]
    groups += [(rule.value, [r for r in results if r.rule == rule.value]) for rule in Rule]
    for low, high in ((3, 3), (5, 5), (7, 7), (9, 9), (11, 11), (13, 13), (15, 19), (21, math.inf)):
        name = f"{low} plies" if low == high else f"{low}-{high} plies" if high < math.inf else f"{low}+ plies"
        groups.append((name, [r for r in results if low <= r.win_plies <= high]))
    for name, group in groups:
        if not group:
            continue
        solved, proved, fours = sum(r.solved for r in group), sum(r.proved for r in group), sum(r.fours for r in group)
        # Each time twice, since a lone one has no quantiles.
        times = quantiles([r.seconds for r in group] * 2, n=10, method="inclusive")
        lines.append(
            f"{name:<14}{len(group):>10}{solved:>8}{100 * solved / len(group):>7.1f}{proved:>8}{fours:>10}"
            f"{times[4]:>10.4f}{times[8]:>8.3f}"
        )
    lines.append(f"fours alone: {sum(r.fours_seconds for r in results):.2f} s for all positions together")
    missed = [f"{r.number} ({r.rule}, {r.win_plies} plies)" for r in results if not r.solved and r.win_plies <= SHORT]
    lines.append(f"not solved of {SHORT} plies or fewer: {', '.join(missed) or 'none'}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; exit 1 if a short win was missed or fewer than 90 % of all were found."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.tactics_report", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("file", type=Path, help="positions with a forced win for the side to move")
    parser.add_argument("--seconds", type=float, default=1.8, help="time for a position (default: 1.8)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every N-th position")
    options = parser.parse_args(argv)
    try:
        if not options.seconds > 0 or options.every < 1:
            raise UserError("--seconds and --every: use numbers above 0")
        chosen = list(enumerate(load_known_wins(options.file)))[:: options.every]
    except UserError as error:
        print(f"tactics: {error}", file=sys.stderr)
        return EXIT_USAGE
    results = []
    interrupted = False
    try:
        for number, position in tqdm(chosen, disable=None, unit="position"):
            results.append(measure(number, position, options.seconds))
    except KeyboardInterrupt:
        interrupted = True
    if results:
        try:
            print(table(results), flush=True)
        except BrokenPipeError:  # whoever read has gone; the interpreter flushes once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return EXIT_BROKEN_PIPE
    if interrupted:
        return EXIT_INTERRUPTED
    enough = sum(r.solved for r in results) >= 0.9 * len(results)
    return EXIT_OK if enough and all(r.solved for r in results if r.win_plies <= SHORT) else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
