"""The metrics of a run as pictures and tables need them: checked, and flat."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.errors import UserError
from experiments.metrics import Row, read_metrics
from experiments.run_dir import read_json

# What pictures are drawn from, by the beginning of a dotted name: numbers all.
DRAWN = (
    "games", "evaluation.tactics", "win_rate", "drill", "entropy", "gradient_norm", "parameter_change", "game_length",
)  # fmt: skip


class NothingYet(UserError):
    """A run is sound, and too young for its picture."""


def checked_rows(path: Path, needs: str) -> list[Row]:
    """Return the metrics of a run, in which a picture that needs these names can be drawn.

    Raises NothingYet if no row has them, UserError naming the line that cannot be drawn.
    """
    metrics = path / "metrics.jsonl"
    rows = read_metrics(metrics)
    for number, row in enumerate(rows, start=1):
        if "evaluation" in row and not _can_be_drawn(row):
            what = "wanted a number of games and each opponent's win_rate, low and high"
            raise UserError(f"{metrics}, line {number}: {what}")
        for name, value in {"games": None, **dict(flatten(row))}.items():
            if _within(name, DRAWN) and not _is_number(value):
                raise UserError(f"{metrics}, line {number}: wanted a number of {name}, found {value!r}")
    if not any(_within(name, (needs, f"drill.{needs}")) for row in rows for name, _ in flatten(row)):
        raise NothingYet(f"{path}: no {needs} in its {len(rows)} rows of metrics yet")
    return rows


def reached(path: Path, rows: Sequence[Row]) -> Row:
    """Return how a run was measured last: in its verdict, or in its last evaluation while there is none.

    Raises UserError if it was not measured yet, or if the verdict is none.
    """
    result = path / "result.json"
    if result.exists():
        verdict = read_json(result)
        found: Row | None = verdict.get("trained", verdict.get("evaluation"))
        if not _can_be_drawn({"games": 0, "evaluation": found}):
            raise UserError(f"{result}: wanted each opponent's win_rate, low and high")
    else:
        found = next((row["evaluation"] for row in reversed(rows) if "evaluation" in row), None)
    if found is None:
        raise UserError(f"{path}: the run has not been evaluated yet")
    return found


def flatten(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (`evaluation.greedy.win_rate`, value) for every value inside a row."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def csv_text(rows: Mapping[Path, Sequence[Row]]) -> str:
    """Return all rows of all runs as one table; nested names are joined by dots, what is absent stays empty."""
    flat = [
        {"run": path.resolve().name, **dict(flatten(row))} for path, run_rows in rows.items() for row in run_rows
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(key for row in flat for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _within(name: str, groups: Sequence[str]) -> bool:
    return any(name == group or name.startswith(f"{group}.") for group in groups)


def _can_be_drawn(row: Row) -> bool:
    """Return whether an evaluation is a table of tables, and what curves are drawn from is numbers."""
    tables = row["evaluation"]
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        return False
    rates = [table for table in tables.values() if "win_rate" in table]
    rates += [rate[key] for rate in rates for key in ("as_black", "as_white") if key in rate]
    if not all(isinstance(rate, dict) for rate in rates):
        return False
    numbers = [row.get("games"), *(table.get(key) for table in rates for key in ("win_rate", "low", "high"))]
    return all(map(_is_number, numbers))


def _is_number(value: object) -> bool:
    """Return whether it can be drawn: a picture makes a float of it, which ends at 2**1024."""
    return isinstance(value, (int, float)) and abs(value) < 2**1000
