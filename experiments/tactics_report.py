"""How many positions with a known forced win are solved, how fast, and how many by fours alone.

The file is JSON: {"positions": [{"rule", "moves", "to_move", "win_plies"}, ...]}, moves such as "h8i9g7" on a 15x15
board, win_plies the length of one known win. Solved means proved: the first move starts a win against every reply.

    python -m experiments.tactics_report tests/data/tactics/wins.json --seconds 1.8
"""

import argparse
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

from tqdm import tqdm

from env import Board, Rule
from env.coords import parse_cell
from experiments.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, EXIT_USAGE, UserError
from experiments.run_dir import read_json
from rl.search.budget import Budget, undisturbed
from rl.search.forced_wins import forced_win

SIZE = 15
SHORT = 9  # plies of a win that must always be found
MOVES = re.compile(r"([a-o]\d{1,2})+")


class Result(NamedTuple):
    """What became of one position: `fours` and `seconds` are how it was solved, and after how long it was decided."""

    number: int
    rule: str
    win_plies: int
    solved: bool
    fours: bool
    seconds: float
    fours_seconds: float


def load(path: Path) -> list[tuple[Board, int]]:
    """Return the boards of a file and the length of a known win on each. Raises UserError."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    table = read_json(path)
    try:
        return [_board(entry) for entry in table["positions"]]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path}: not a file of positions: {error!r}; see {__name__}") from error


def _board(entry: dict[str, str]) -> tuple[Board, int]:
    if not MOVES.fullmatch(entry["moves"]):
        raise ValueError(f"moves {entry['moves']!r}: use names such as h8i9")
    cells = [parse_cell(name, SIZE, SIZE) for name in re.findall(r"[a-o]\d+", entry["moves"])]
    return Board.from_moves(cells, SIZE, SIZE, rule=Rule(entry["rule"])), int(entry["win_plies"])


def measure(number: int, board: Board, win_plies: int, seconds: float) -> Result:
    """Solve one position: by fours alone, then with all the time by threes too."""
    with undisturbed():
        budget = Budget(seconds)
        fours = forced_win(board, budget, threes=False) is not None
        fours_seconds = budget.elapsed
        budget = Budget(seconds)
        solved = forced_win(board, budget, threes=True) is not None
    return Result(number, board.rule.value, win_plies, solved, fours, budget.elapsed, fours_seconds)


def table(results: Sequence[Result]) -> str:
    """Return the results by length of the known win and by rule, and the times."""
    lines = [f"{'':<14}{'positions':>10}{'solved':>8}{'%':>7}{'by fours':>10}{'median s':>10}{'p90 s':>8}"]
    groups = [("all", list(results))]
    groups += [(rule.value, [r for r in results if r.rule == rule.value]) for rule in Rule]
    for low, high in ((3, 3), (5, 5), (7, 7), (9, 9), (11, 11), (13, 13), (15, 19), (21, math.inf)):
        name = f"{low} plies" if low == high else f"{low}-{high} plies" if high < math.inf else f"{low}+ plies"
        groups.append((name, [r for r in results if low <= r.win_plies <= high]))
    for name, group in groups:
        if not group:
            continue
        solved, fours = sum(r.solved for r in group), sum(r.fours for r in group)
        # Each time twice, since a lone one has no quantiles.
        times = quantiles([r.seconds for r in group] * 2, n=10, method="inclusive")
        lines.append(
            f"{name:<14}{len(group):>10}{solved:>8}{100 * solved / len(group):>7.1f}{fours:>10}"
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
        chosen = list(enumerate(load(options.file)))[:: options.every]
    except UserError as error:
        print(f"tactics: {error}", file=sys.stderr)
        return EXIT_USAGE
    results = []
    interrupted = False
    try:
        for number, (board, win_plies) in tqdm(chosen, disable=None, unit="position"):
            results.append(measure(number, board, win_plies, options.seconds))
    except KeyboardInterrupt:
        interrupted = True
    if results:
        print(table(results))
    if interrupted:
        return EXIT_INTERRUPTED
    enough = sum(r.solved for r in results) >= 0.9 * len(results)
    return EXIT_OK if enough and all(r.solved for r in results if r.win_plies <= SHORT) else EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
