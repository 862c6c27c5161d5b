"""`gomoku parity DIR`: every golden file of the Java program, value by value, against what this program computes.

It prints a table, one line per file, and names the first mismatch of each.
"""

import argparse
import sys
from pathlib import Path

from experiments.errors import EXIT_FAILED, EXIT_OK, UserError
from experiments.java.golden import is_damaged_reference, read_golden
from experiments.java.stages import STAGES
from experiments.java.tally import Row


def run_parity(directory: Path) -> list[Row]:
    """Compare every golden file in `directory`; one row per stage.

    Raises UserError if the directory or a file of the format is missing.
    """
    if not directory.is_dir():
        raise UserError(f"{directory}: no such directory; name one with the golden files, such as tests/data/parity")
    paths = {stage: directory / ("demos.json" if stage == "demo" else f"{stage}.json") for stage in STAGES}
    missing = [path.name for path in paths.values() if not path.is_file()]
    if missing:
        raise UserError(f"{directory}: golden files are missing: {', '.join(missing)}")
    return [run_stage(stage, path) for stage, path in paths.items()]


def run_stage(stage: str, path: Path) -> Row:
    """Compare one golden file; one that is not of its format is a mismatch. Raises UserError if it cannot be read."""
    row = Row(stage)
    with row.guarded():
        STAGES[stage](row, read_golden(path), path.parent)
    if row.mismatches == 0 and is_damaged_reference(path):
        row.wrong(f"{path.name}: wanted the bytes of the reference file of this name and size, got others")
    return row


def table(rows: list[Row]) -> str:
    """Return the rows as text, a header above and the sums below."""
    total = Row("in all", sum(row.compared for row in rows), sum(row.mismatches for row in rows))
    total.largest = max((row.largest for row in rows), default=0.0)
    lines = [f"{'stage':<10} {'compared':>12} {'mismatches':>12} {'largest difference':>20}"]
    for row in [*rows, total]:
        lines.append(f"{row.stage:<10} {row.compared:>12,} {row.mismatches:>12,} {row.largest:>20.2g}")
    return "\n".join(lines)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("directory", type=Path, metavar="DIR", help="a directory with the golden files")


def run(args: argparse.Namespace) -> int:
    """Compare, print the table, and name the first mismatch of every stage."""
    rows = run_parity(args.directory)
    print(table(rows))
    for row in rows:
        if row.first is not None:
            more = f" (and {row.mismatches - 1} more in {row.stage})" if row.mismatches > 1 else ""
            print(f"gomoku: mismatch in {row.first}{more}", file=sys.stderr)
    return EXIT_FAILED if any(row.mismatches for row in rows) else EXIT_OK
