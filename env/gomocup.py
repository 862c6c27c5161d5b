"""What both ends of a pipe that speaks the Gomocup protocol must agree on: points as text, and rules as numbers.

A point is "column,row", both counted from 0, the row from the top: "7,7" is h8, the middle of 15x15.
"""

import re

from env.coords import cell_at
from env.rules import Rule

WIN_LENGTH = 5
RULE_NUMBERS = {Rule.FREESTYLE: 0, Rule.STANDARD: 1, Rule.RENJU: 4}
NO_LIMIT = 2147483647  # milliseconds: how a manager says that time_left has no end
_POINT = re.compile(r"\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*", re.ASCII)


class ProtocolError(ValueError):
    """A line that does not say what it should."""


def rule_of(number: int) -> Rule:
    """The rule of a sum of bits: 4 is renju, else 1 exactly five; the others (continuous, caro) are not known here."""
    return Rule.RENJU if number & 4 else Rule.STANDARD if number & 1 else Rule.FREESTYLE


def point_text(cell: int, width: int) -> str:
    """The cell as "column,row"."""
    row, col = divmod(cell, width)
    return f"{col},{row}"


def parse_point(text: str, height: int, width: int) -> int:
    """The cell that "column,row" names. Raises ProtocolError if it is no such text, or off the board."""
    match = _POINT.fullmatch(text)
    if match is None:
        raise ProtocolError(f"{text[:40]!r} is no point: use column,row from 0,0 to {width - 1},{height - 1}")
    col, row = int(match[1]), int(match[2])
    if col >= width or row >= height:
        raise ProtocolError(f"{col},{row} is off the board: use column,row from 0,0 to {width - 1},{height - 1}")
    return cell_at(row, col, width)
