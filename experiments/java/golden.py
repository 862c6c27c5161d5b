"""Golden files: what the reference Java program computed, read so strictly that a damaged character does not pass.

Every value knows where it stands (`forward.json: positions[3].logits_hex[17]`), and that is how a mismatch is told.
"""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.errors import UserError

Doubles = NDArray[np.float64]
# Some inputs decide nothing: where a move was tried that is refused anyhow, the seed of draws that cannot matter, a
# label. No comparison sees them change, so the reference files that have such inputs are known by name, size and sum.
REFERENCE = {
    ("env.json", 136674): "82d66d953209ffdf7a1470661057a3569f4aa3f83149f5d4ec5eca563f07ea60",
    ("functions.json", 151741): "61f0fc4e1e8dd7ed6e77b1fc894f16c5e3d315eb8a4f8f07e65c026a50c375a5",
}
NOT_FINITE = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


class Damaged(Exception):
    """A golden file is not of its format; the message names file, entry, what was wanted and what stands there."""


@dataclass(frozen=True)
class Entry:
    """A value of a golden file together with its place; each method returns it as one kind or raises Damaged."""

    where: str
    value: object

    def record(self, *names: str) -> dict[str, "Entry"]:
        """Return an object's entries by name; it must have exactly these names."""
        value = self.value
        if not isinstance(value, dict) or set(value) != set(names):
            got = sorted(value) if isinstance(value, dict) else value
            raise self.damage(f"an object with the names {sorted(names)}", got)
        return {
            name: Entry(f"{self.where}{'' if self.where.endswith(': ') else '.'}{name}", value[name]) for name in value
        }

    def entries(self, length: int | None = None) -> list["Entry"]:
        """Return a list's entries; a list must not be empty unless its length is asked for."""
        if not isinstance(self.value, list) or (length is None and not self.value):
            raise self.damage("a list that is not empty", self.value)
        if length is not None and len(self.value) != length:
            raise self.damage(f"a list of {length}", self.value)
        return [Entry(f"{self.where}[{i}]", value) for i, value in enumerate(self.value)]

    def integer(self, low: int = -(2**63), high: int = 2**63 - 1) -> int:
        """Return a whole number in low..high."""
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.damage(f"a whole number from {low} to {high}", self.value)
        return self.value

    def integers(self, length: int | None = None, low: int = -(2**63), high: int = 2**63 - 1) -> list[int]:
        """Return a list of whole numbers in low..high."""
        return [entry.integer(low, high) for entry in self.entries(length)]

    def string(self, pattern: str = r".+") -> str:
        """Return a text that the pattern matches as a whole."""
        if not isinstance(self.value, str) or re.fullmatch(pattern, self.value) is None:
            raise self.damage(f"a text of the form {pattern}", self.value)
        return self.value

    def double(self) -> float:
        """Return the double of 16 hex digits."""
        digits = self.string("[0-9a-f]{16}")
        number = float(np.array(int(digits, 16), np.uint64).view(np.float64))
        if number != number and digits != "7ff8000000000000":
            raise self.damage("a NaN written as 7ff8000000000000", digits)
        return number

    def damage(self, wanted: str, got: object) -> Damaged:
        """Return the error to raise when something else stands here."""
        return Damaged(f"{self.where}: wanted {wanted}, got {brief(got)}")


def is_damaged_reference(path: Path) -> bool:
    """Return whether a file has name and size of a reference file, but other bytes."""
    data = path.read_bytes()
    wanted = REFERENCE.get((path.name, len(data)))
    return wanted is not None and hashlib.sha256(data).hexdigest() != wanted


def doubles(record: dict[str, Entry], name: str, length: int | None = None) -> Doubles:
    """Return the list NAME of a record, stored as NAME_hex and again as NAME_dec; both must say the same, (length,)."""
    by_hex = np.array([entry.double() for entry in record[f"{name}_hex"].entries(length)])
    for number, entry in zip(by_hex, record[f"{name}_dec"].entries(len(by_hex)), strict=True):
        value = NOT_FINITE.get(entry.value) if isinstance(entry.value, str) else entry.value
        if type(value) is not float or to_hex(value) != to_hex(number):
            raise entry.damage(f"{number!r}, which stands in {name}_hex", entry.value)
    return by_hex


def both(*names: str) -> list[str]:
    """Return the two names under which each list of doubles is stored."""
    return [f"{name}_{form}" for name in names for form in ("hex", "dec")]


def net_key(entry: Entry) -> tuple[tuple[int, ...], int | None]:
    """Return what java_net needs, from a record of layer_seeds and bias_seed."""
    record = entry.record("layer_seeds", "bias_seed")
    return net_seeds(record["layer_seeds"], record["bias_seed"])


def net_seeds(layer_seeds: Entry, bias_seed: Entry) -> tuple[tuple[int, ...], int | None]:
    """Return four layer seeds and the bias seed or None."""
    return tuple(layer_seeds.integers(4)), None if bias_seed.value is None else bias_seed.integer()


def to_hex(number: float) -> str:
    """Return the 16 hex digits of a double, any NaN as 7ff8000000000000."""
    return "7ff8000000000000" if number != number else np.array(number, ">f8").tobytes().hex()


def checksum(array: NDArray[np.floating[Any]]) -> str:
    """Return the SHA-256 of an array's doubles (any shape, C order), big-endian, any NaN as 7ff8000000000000."""
    plain = array.astype(">f8", order="C")
    plain[np.isnan(plain)] = np.nan
    return hashlib.sha256(plain.tobytes()).hexdigest()


def brief(value: object) -> str:
    """Return a value as text of at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def read_golden(path: Path) -> Entry:
    """Return the content of a golden JSON file.

    Raises UserError if it cannot be read, Damaged if it is not JSON, names something twice, or holds a number that
    is not written in its shortest form.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot read the golden file: {error.strerror}") from error
    where = f"{path.name}: "
    letters: set[str] = set()
    try:
        value = json.loads(
            data.decode(),
            parse_float=_shortest(letters),
            parse_int=_whole,
            parse_constant=_refuse,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{where}wanted JSON, got: {error}") from error
    if len(letters) > 1:
        raise Damaged(f"{where}wanted one letter before all exponents, got both e and E")
    return Entry(where, value)


def _shortest(letters: set[str]) -> Callable[[str], float]:
    """Return a reader of decimals that notes the exponent letter and wants the fewest digits that read back.

    Java writes at least two digits, so there the closest pair is the shortest form (4.9E-324).
    """

    def read(text: str) -> float:
        number = float(text)
        letters.update(letter for letter in text if letter in "eE")
        if Decimal(text) != Decimal(repr(number)) and Decimal(text) != Decimal(f"{number:.1e}"):
            raise ValueError(f"{text}, whose shortest form is {number!r}")
        return number

    return read


def _whole(text: str) -> int:
    if len(text) > 20 or str(int(text)) != text:
        raise ValueError(f"{text}, which is no plain whole number")
    return int(text)


def _refuse(text: str) -> float:
    raise ValueError(f"{text} outside of quotes")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError(f"a name twice among {[name for name, _ in pairs]}")
    return dict(pairs)
