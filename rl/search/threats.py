"""The threats on a board by name, each with its cells: where a side can go on, and where it can be stopped.
Each is a finding of one line, as rl/search/evaluation.py defines it; what two lines make together is two threats.

      . g x x x g c o      an open three of x: a stone on a g makes an open four; o stops it on a g or on the c
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from env import EMPTY, Board, Rule
from rl.search.evaluation import Kind, line_findings
from rl.search.line_codes import lines_of

Cells = tuple[int, ...]


class Threat(NamedTuple):
    """One group of stones on one line. All are cells of the board, in the order of the line.

    stones  what makes it
    gains   where one more stone of the same colour takes it a step up: a four becomes a win, an open three an open four
    costs   where one stone of the other colour stops it: no stone of it is then in so good a group, a four counting for
            as good as an open four. None, if one stone is not enough
    """

    kind: Kind
    stones: Cells
    gains: Cells
    costs: Cells


def threats(board: Board, colour: int, weakest: Kind = Kind.OPEN_THREE) -> list[Threat]:
    """Return what stands on the board for `colour`, of kind `weakest` or better, the best first.

    In renju a cell that other lines make forbidden to black is told all the same: `board.forbidden()` names those.
    """
    cells = [int(stone) for stone in board.cells.flat]
    found = []
    for line in lines_of(board.height, board.width, board.win_length):
        on_line = [cells[cell] for cell in line]
        if colour not in on_line:
            continue
        for kind, owner, positions, gains in line_findings(on_line, board.win_length, board.rule):
            if owner == colour and kind >= weakest:
                costs = _costs(on_line, kind, colour, positions, board.win_length, board.rule)
                of_line = tuple(tuple(line[at] for at in places) for places in (positions, gains, costs))
                found.append(Threat(kind, *of_line))
    return sorted(found, key=lambda threat: (-threat.kind, threat.stones))


def _costs(on_line: Sequence[int], kind: Kind, colour: int, stones: Cells, win_length: int, rule: Rule) -> Cells:
    """Return the positions of a line where a stone of the other colour leaves none of `stones` in so good a group."""
    level = min(kind, Kind.FOUR)
    costs = []
    for at, cell in enumerate(on_line):
        if cell == EMPTY:
            after = line_findings([*on_line[:at], -colour, *on_line[at + 1 :]], win_length, rule)
            if not any(f.kind >= level and set(f.positions) & set(stones) for f in after):
                costs.append(at)
    return tuple(costs)
