"""Keeping count while golden values are compared: how many, how many differ, by how much, and which differed first.

Every stage of the comparison with the Java program fills one Row.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.java.golden import Damaged, Doubles, Entry, brief, checksum, to_hex


@dataclass
class Row:
    """One line of the table: how many values a stage compared, how many differed, by how much, and the first.

    `largest` is the largest relative difference between two numbers; `first` names file, entry, wanted and got.
    """

    stage: str
    compared: int = 0
    mismatches: int = 0
    largest: float = 0.0
    first: str | None = None

    def wrong(self, text: str) -> None:
        """Count a mismatch."""
        self.mismatches += 1
        self.first = self.first or text

    def same(self, entry: Entry, got: object) -> None:
        """Compare a whole number or truth value, a text (each character counts), or a list of these."""
        if isinstance(got, list) and isinstance(entry.value, list) and len(got) == len(entry.value):
            for part, part_got in zip(entry.entries(len(got)), got, strict=True):
                self.same(part, part_got)
            return
        self.compared += len(got) if isinstance(got, str) else 1
        if type(entry.value) is type(got) and entry.value == got:
            return
        if isinstance(got, str) and isinstance(entry.value, str) and len(got) == len(entry.value):
            at = next(i for i, (want, have) in enumerate(zip(entry.value, got, strict=True)) if want != have)
            self.wrong(f"{entry.where}, character {at}: wanted {entry.value[at]!r}, got {got[at]!r}")
        else:
            self.wrong(f"{entry.where}: wanted {brief(entry.value)}, got {brief(got)}")

    def numbers(self, where: str, wanted: Doubles, got: NDArray[Any], tolerance: float = 0.0) -> None:
        """Compare doubles, (n,) each: bit for bit, or within a relative tolerance."""
        if len(wanted) != len(got):
            self.wrong(f"{where}: wanted {len(wanted)} numbers, got {len(got)}")
            return
        self.compared += len(wanted)
        for i in np.flatnonzero((wanted.view(np.int64) != got.view(np.int64)) & ~(np.isnan(wanted) & np.isnan(got))):
            want, have = float(wanted[i]), float(got[i])
            difference = (
                abs(have - want) / abs(want) if want and math.isfinite(want) and math.isfinite(have) else math.inf
            )
            self.largest = max(self.largest, difference)
            if not 0 < difference <= tolerance:
                self.wrong(f"{where}[{i}]: wanted {to_hex(want)} ({want!r}), got {to_hex(have)} ({have!r})")

    def number(self, entry: Entry, got: float) -> None:
        """Compare one double, bit for bit."""
        self.numbers(entry.where, np.array([entry.double()]), np.array([got]))

    def digest(self, entry: Entry, got: NDArray[Any]) -> None:
        """Compare the checksum of an array, which counts as all its values."""
        self.compared += got.size
        if entry.value != checksum(got):
            self.wrong(f"{entry.where}: wanted {brief(entry.value)}, got {checksum(got)} of {got.size} numbers")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Count an entry that is not of its format, or plays a move that is refused, as a mismatch and go on."""
        try:
            yield
        except Damaged as error:
            self.wrong(str(error))
