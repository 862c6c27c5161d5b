"""What a position is worth by seven readable rules and a five, as an account: which rule, which cells, how much.
The rules are data, read from a file by rl/search/rule_file.py; what they count is said in rl/search/evaluation.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from env import BLACK, WHITE, Board
from rl.search.evaluation import Kind, line_findings
from rl.search.line_codes import lines_of

RULE_IDS = ("five", "open_four", "four", "open_three", "closed_three", "double_open_two", "split_two", "centre")
BY_KIND = {
    Kind.FIVE: "five",
    Kind.OPEN_FOUR: "open_four",
    Kind.FOUR: "four",
    Kind.OPEN_THREE: "open_three",
    Kind.CLOSED_THREE: "closed_three",
    Kind.SPLIT_TWO: "split_two",
}  # an open two alone is worth nothing: see `explain`
QUIET = 0.3  # how much a rule counts whose pattern need not be answered at once


@dataclass(frozen=True)
class EvaluationRule:
    """One rule as people edit it; weight is between 0 and 1."""

    id: str
    name: str
    enabled: bool
    base_score: float
    is_immediate: bool
    weight: float

    @property
    def worth(self) -> float:
        """What one pattern counts: base_score * weight, 0.3 of it if it is not immediate, 0 if not enabled."""
        return self.base_score * self.weight * (1.0 if self.is_immediate else QUIET) if self.enabled else 0.0


@dataclass(frozen=True)
class Decay:
    """How the rules that are not immediate lose weight as the game goes on: a threat late in it is as good as ever.

          1 ----.
                 `.            the factor falls in a straight line between two numbers of moves
        min        `------
             start  end
    """

    enabled: bool
    start_move: int
    end_move: int
    min_weight: float

    def factor(self, moves: int) -> float:
        """The factor after so many moves."""
        if not self.enabled or moves <= self.start_move:
            return 1.0
        if moves >= self.end_move:
            return self.min_weight
        return 1.0 - (1.0 - self.min_weight) * (moves - self.start_move) / (self.end_move - self.start_move)


@dataclass(frozen=True)
class EvaluationRules:
    """All rules, one for each of RULE_IDS and in that order, and the decay."""

    rules: tuple[EvaluationRule, ...]
    decay: Decay

    def worths(self, moves: int) -> dict[str, float]:
        """What one pattern of each rule counts after so many moves, by id, decay included."""
        factor = self.decay.factor(moves)
        return {rule.id: rule.worth * (1.0 if rule.is_immediate else factor) for rule in self.rules}


class Entry(NamedTuple):
    """One line of the account: which rule, whose stones, which cells, how much to the side to move."""

    rule: str
    colour: int
    cells: tuple[int, ...]
    amount: float


def explain(board: Board, rules: EvaluationRules) -> list[Entry]:
    """Return the account of a position, the largest entries first; what it is worth is the sum of the amounts.

    The side to move is credited with what its own stones make and debited with the opponent's. An entry is one finding,
    except for two rules:

    double_open_two   asks for two open twos of one colour at least. Each counts half, and twice that if it shares a
                      gain with another: a stone there makes two open threes. So a pair counts once or twice.
    centre            one entry a colour: the sum of `centre_factor` over its stones.

    Rules that are worth nothing leave no entry. The board is left as it was.
    """
    worths = rules.worths(len(board.moves))
    cells = [int(colour) for colour in board.cells.flat]
    entries = []
    twos: dict[int, list[tuple[tuple[int, ...], set[int]]]] = {BLACK: [], WHITE: []}
    for line in lines_of(board.height, board.width, board.win_length):
        on_line = [cells[cell] for cell in line]
        for kind, colour, positions, gains in line_findings(on_line, board.win_length, board.rule):
            stones = tuple(line[position] for position in positions)
            if kind is Kind.OPEN_TWO:
                twos[colour].append((stones, {line[position] for position in gains}))
            else:
                entries.append(Entry(BY_KIND[kind], colour, stones, worths[BY_KIND[kind]]))
    for colour in (BLACK, WHITE):
        for number, (stones, gains_here) in enumerate(twos[colour]):
            others = [gains for other, (_, gains) in enumerate(twos[colour]) if other != number]
            if others:
                shares = any(gains & gains_here for gains in others)
                amount = worths["double_open_two"] * (1.0 if shares else 0.5)
                entries.append(Entry("double_open_two", colour, stones, amount))
        stones = tuple(cell for cell, owner in enumerate(cells) if owner == colour)
        near = sum(centre_factor(cell, board.height, board.width, len(board.moves)) for cell in stones)
        entries.append(Entry("centre", colour, stones, worths["centre"] * near))
    signed = [entry._replace(amount=entry.amount * entry.colour * board.to_move) for entry in entries if entry.amount]
    return sorted(signed, key=lambda entry: (-abs(entry.amount), -entry.colour * board.to_move, entry.cells))


def centre_factor(cell: int, height: int, width: int, moves: int) -> float:
    """How much of the centre rule's worth a stone counts: 1 in the middle of an empty board, falling two ways.

    nearness = 1 - d / D, d the Manhattan distance from the middle of the board and D that of a corner;
    times 1 - moves / (A / 4), no less than 0: with a quarter of the A cells taken, the middle means nothing any more.
    """
    row, col = divmod(cell, width)
    distance = abs(2 * row - height + 1) + abs(2 * col - width + 1)  # counted in half steps
    fade = max(0.0, 1.0 - 4 * moves / (height * width))
    return (1.0 - distance / (height + width - 2)) * fade
