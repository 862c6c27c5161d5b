"""The log of a run: `metrics.jsonl`, one JSON object a line, one line an update.

It is the truth that curves and tables are made from, so it survives a killed process and never holds a NaN.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from experiments.errors import UserError

Row = dict[str, Any]


class MetricsError(UserError):
    """A metrics file that cannot be read, or a row that must not be written."""


class MetricsLog:
    """Appends rows to a metrics file; each row is on the disk when `append` returns.

    `rows` is how many rows of an existing file to keep, the count a checkpoint was written with. Everything
    after them goes: rows the resumed run will write again, and a last line torn by the kill. Opening anew
    (`rows=0`) starts an empty file.

    Raises `MetricsError` if the file holds fewer than `rows` whole rows.
    """

    def __init__(self, path: Path, rows: int = 0) -> None:
        self.path = path
        self.rows = rows
        length = _length_of_rows(path, rows)  # before the file is touched
        self._file = open(path, "ab")  # noqa: SIM115 - closed by `close`
        self._file.truncate(length)

    def append(self, row: Mapping[str, Any]) -> None:
        """Write one row; NumPy scalars become plain numbers, and floats keep every bit.

        Raises `MetricsError`, and writes nothing, if a value is NaN or infinite.
        """
        broken = _first_non_finite(row)
        if broken:
            raise MetricsError(
                f"{self.path}: row {self.rows + 1} not written: {broken}; a value must be finite, "
                "and one that was not measured is left out"
            )
        line = json.dumps(row, allow_nan=False, default=_plain)
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows += 1

    def close(self) -> None:
        """Close the file; appending afterwards is an error."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


def read_metrics(path: str | Path) -> list[Row]:
    """Return the rows of a metrics file, oldest first.

    A last line without its line end is left out: the run was killed while writing it, or is writing it now.
    Raises `MetricsError` naming file and line if the file is missing or a line is not a JSON object.
    """
    path = Path(path)
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        raise MetricsError(f"{path}: no such file; a run directory holds its metrics there") from None
    return [_parse(path, number, line) for number, line in enumerate(lines, start=1)]


def _parse(path: Path, number: int, line: bytes) -> Row:
    try:
        row = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # covers JSON and UTF-8
        raise MetricsError(f"{path}, line {number}: not one JSON object a line: {error}") from None
    if not isinstance(row, dict):
        raise MetricsError(f"{path}, line {number}: wanted a JSON object, found {type(row).__name__}")
    return row


def _length_of_rows(path: Path, rows: int) -> int:
    """Return the length in bytes of the first `rows` lines, each of which must be a row."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    if len(lines) < rows:
        raise MetricsError(f"{path}: holds {len(lines)} whole rows where the checkpoint was written after {rows}")
    for number, line in enumerate(lines[:rows], start=1):
        _parse(path, number, line)
    return sum(len(line) + 1 for line in lines[:rows])


def _first_non_finite(value: Any, name: str = "") -> str:
    """Return `name is value` of the first NaN or infinity inside `value`, or nothing."""
    if isinstance(value, Mapping):
        items = [(f"{name}.{key}" if name else str(key), item) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        items = [(f"{name}[{index}]", item) for index, item in enumerate(value)]
    else:
        number = isinstance(value, (float, np.floating))
        return f"{name} is {value}" if number and not math.isfinite(value) else ""
    return next((found for key, item in items if (found := _first_non_finite(item, key))), "")


def _plain(value: object) -> object:
    """Return a NumPy scalar as the Python number it is."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a metrics row holds numbers, texts, lists and mappings, not {type(value).__name__}")


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
