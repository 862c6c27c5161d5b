"""What every part of the game must agree on: the colours, the three rules, the end of a game, a refused move.

The rules differ only in what a line longer than the winning length is worth, and in what black may not play:

      rule        black wins with   white wins with   forbidden to black
      freestyle   five or more      five or more      nothing
      standard    exactly five      exactly five      nothing
      renju       exactly five      five or more      overline, double four, double three

Nobody passes here. So a renju game in which black has only forbidden points left is a draw: by the rules of the Renju
International Federation black could pass, and two passes draw; a match manager would ask for his stone all the same,
and count it as lost.
"""

from dataclasses import dataclass
from enum import Enum
from numbers import Integral

BLACK, WHITE, EMPTY = 1, -1, 0


class Rule(Enum):
    """Which lines win; see the table above. Renju's forbidden points are in env/renju.py."""

    FREESTYLE = "freestyle"
    STANDARD = "standard"
    RENJU = "renju"

    def exact(self, colour: int) -> bool:
        """Whether `colour` needs exactly the winning length, a longer line (an overline) being no win."""
        return self is Rule.STANDARD or (self is Rule.RENJU and colour == BLACK)

    def wins(self, run: int, win_length: int, colour: int) -> bool:
        """Whether an unbroken line of `run` stones wins for `colour`."""
        return run == win_length or (run > win_length and not self.exact(colour))


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    winner: BLACK, WHITE, or 0 for a draw: the board is full, or renju leaves black to move only forbidden points.
    line: the cells of the winning line from its top (or left) end, empty in a draw.
    """

    winner: int
    line: tuple[int, ...] = ()


class IllegalMoveError(ValueError):
    """A move was refused and nothing has changed: off the board, an occupied cell, a game that is over."""


class SettingsError(ValueError):
    """A size, win length or rule that makes no game."""


def usual_win_length(height: int, width: int) -> int:
    """How many in a row win where nobody says: five, or the longer side of a board too small for five."""
    return min(5, max(height, width))


def check_settings(height: int, width: int, win_length: int, rule: Rule) -> None:
    """Refuse a game that cannot be played.

    Raises SettingsError, its message naming the setting, the value and what would be right.
    """
    for name, value in (("height", height), ("width", width), ("win_length", win_length)):
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise SettingsError(f"{name} {value!r}: use a whole number")
    for name, value in (("height", height), ("width", width)):
        if not 3 <= value <= 25:
            raise SettingsError(f"{name} {value}: a board has from 3 to 25 rows and columns")
    if not 1 <= win_length <= max(height, width):
        raise SettingsError(
            f"win_length {win_length}: no line of a {height}x{width} board is that long; use 1 to {max(height, width)}"
        )
    if not isinstance(rule, Rule):
        raise SettingsError(f"rule {rule!r}: use Rule.FREESTYLE, Rule.STANDARD or Rule.RENJU")
    if rule is Rule.RENJU and win_length != 5:
        raise SettingsError(f"win_length {win_length}: renju's forbidden points are about five in a row; use 5")
