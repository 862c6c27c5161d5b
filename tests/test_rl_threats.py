"""Threats named with their cells, and what one more stone would make: drawn, and against play on whole boards."""

import random

import numpy as np
import pytest

from env import BLACK, EMPTY, WHITE, Board, Rule
from env.coords import cell_name, parse_cell
from env.patterns import Pattern, patterns_on
from rl.search.evaluation import Kind
from rl.search.line_codes import lines_of
from rl.search.prospects import COUNT, FIVE, FOUR, OPEN_FOUR, THREE, VALUE, Prospects
from rl.search.threats import threats


def board_of(black: str, white: str, size: int = 15, win_length: int = 5, rule: Rule = Rule.FREESTYLE) -> Board:
    board = Board(size, size, win_length, rule)
    stones = [[parse_cell(name, size, size) for name in names.split()] for names in (black, white)]
    while any(stones):
        board.play(stones[0 if board.to_move == BLACK else 1].pop(0))
    return board


def names(board: Board, cells: tuple[int, ...]) -> str:
    return " ".join(sorted(cell_name(cell, board.height, board.width) for cell in cells))


@pytest.mark.parametrize(
    ("black", "kind", "stones", "gains", "costs"),
    [
        ("e8 f8 g8 h8", Kind.OPEN_FOUR, "e8 f8 g8 h8", "d8 i8", ""),
        ("d8 f8 g8 h8 j8", Kind.OPEN_FOUR, "d8 f8 g8 h8 j8", "e8 i8", ""),
        ("d8 f8 g8 h8", Kind.FOUR, "d8 f8 g8 h8", "e8", "e8"),
        ("e8 f8 g8 a1", Kind.OPEN_THREE, "e8 f8 g8", "d8 h8", "d8 h8"),
        ("b8 c8 d8 a1", Kind.OPEN_THREE, "b8 c8 d8", "e8", "a8 e8 f8"),
        ("e8 f8 h8 a1", Kind.OPEN_THREE, "e8 f8 h8", "g8", "d8 g8 i8"),
        ("e4 f5 h7 a1", Kind.OPEN_THREE, "e4 f5 h7", "g6", "d3 g6 i8"),
    ],
)
def test_a_threat_is_told_with_the_cells_that_make_go_on_with_and_stop_it(
    black: str, kind: Kind, stones: str, gains: str, costs: str
) -> None:
    board = board_of(black, "o1 o3 m1 k1")
    (threat,) = threats(board, BLACK)
    assert threat.kind is kind
    assert (names(board, threat.stones), names(board, threat.gains), names(board, threat.costs)) == (
        stones, gains, costs,
    )  # fmt: skip
    assert threats(board, WHITE) == []


def test_weaker_threats_are_told_when_asked_for_and_the_best_comes_first() -> None:
    board = board_of("a8 b8 c8 d8 m10 n10 o10 h2 h3", "o1 o3 m1 k1 a15 c15 e15 g15")
    assert [threat.kind for threat in threats(board, BLACK, Kind.SPLIT_TWO)] == [
        Kind.FOUR, Kind.CLOSED_THREE, Kind.OPEN_TWO,
    ]  # fmt: skip
    assert [threat.kind for threat in threats(board, BLACK)] == [Kind.FOUR]


def test_a_stone_beside_blocks_as_the_edge_does_and_rules_differ_about_six() -> None:
    blocked = board_of("e8 f8 g8 h8", "d8 o3 m1 k1")
    assert names(blocked, threats(blocked, BLACK)[0].gains) == "i8"
    for rule, found in ((Rule.FREESTYLE, "d8 i8"), (Rule.STANDARD, "d8"), (Rule.RENJU, "d8")):
        six = board_of("e8 f8 g8 h8 j8", "o1 o3 m1 k1", rule=rule)
        assert names(six, threats(six, BLACK)[0].gains) == found


def played(rng: random.Random, rule: Rule, win_length: int, size: int = 9) -> Board:
    """A position of a game of random moves with no win in it."""
    while True:
        board = Board(size, size, win_length, rule)
        for _ in range(rng.randint(4, 40)):
            if board.is_over:
                break
            board.play(rng.choice(np.flatnonzero(board.legal_mask()).tolist()))
        if not board.is_over:
            return board


def with_stone(board: Board, cell: int, colour: int) -> np.ndarray:
    cells = board.cells.copy()
    cells.flat[cell] = colour
    return cells


def wins_on(cells: np.ndarray, cell: int, colour: int, win_length: int, rule: Rule) -> list[int]:
    """The runs of `colour` through `cell` that win, walked on the whole board: one length a direction, 0 for none."""
    height, width = cells.shape
    runs = []
    for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
        run = 1
        for sign in (1, -1):
            row, col = cell // width + sign * down, cell % width + sign * across
            while 0 <= row < height and 0 <= col < width and cells[row, col] == colour:
                run, row, col = run + 1, row + sign * down, col + sign * across
        runs.append(run if rule.wins(run, win_length, colour) else 0)
    return runs


CASES = [(Rule.FREESTYLE, 5), (Rule.STANDARD, 5), (Rule.RENJU, 5), (Rule.FREESTYLE, 4), (Rule.STANDARD, 3)]


@pytest.mark.parametrize(("rule", "win_length"), CASES)
def test_standing_fours_gain_on_exactly_the_cells_that_win(rule: Rule, win_length: int) -> None:
    rng = random.Random(5)
    for _ in range(30):
        board = played(rng, rule, win_length)
        for colour in (BLACK, WHITE):
            gains = {cell for threat in threats(board, colour, Kind.FOUR) for cell in threat.gains}
            empty = np.flatnonzero(board.cells == EMPTY).tolist()
            wins = {c for c in empty if any(wins_on(with_stone(board, c, colour), c, colour, win_length, rule))}
            assert gains == wins


@pytest.mark.parametrize(("rule", "win_length"), CASES)
def test_a_cost_stops_its_threat_and_no_other_cell_does(rule: Rule, win_length: int) -> None:
    """Asked of the whole board after the stop: no threat so good shares a stone on a line with it."""
    rng = random.Random(6)
    for _ in range(8):
        board = played(rng, rule, win_length)
        for colour in (BLACK, WHITE):
            for threat in threats(board, colour)[:3]:
                (line,) = [line for line in lines_of(9, 9, win_length) if {*threat.stones, *threat.gains} <= set(line)]
                for cell in [cell for cell in line if board.cells.flat[cell] == EMPTY]:
                    after = Board(9, 9, win_length, rule)
                    after.cells.flags.writeable = True
                    after.cells[...] = with_stone(board, cell, -colour)
                    left = [
                        other
                        for other in threats(after, colour, min(threat.kind, Kind.FOUR))
                        if {*other.stones, *other.gains} <= set(line) and set(other.stones) & set(threat.stones)
                    ]
                    assert (cell in threat.costs) == (not left), (board, cell, threat)


@pytest.mark.parametrize(("rule", "win_length"), CASES)
def test_prospects_count_the_wins_and_the_fours_of_play(rule: Rule, win_length: int) -> None:
    """Lines on which a stone wins, or would have a winning stone after it, counted by walking on the whole board."""
    rng = random.Random(7)
    for _ in range(4):
        board = played(rng, rule, win_length)
        prospects = Prospects(board)
        for colour in (BLACK, WHITE):
            for cell, packed in enumerate(prospects.of[colour]):
                if board.cells.flat[cell] != EMPTY:
                    assert packed == 0
                    continue
                cells = with_stone(board, cell, colour)
                runs = wins_on(cells, cell, colour, win_length, rule)
                assert packed // FIVE == sum(run > 0 for run in runs)
                if not any(runs):
                    fours = (packed // FOUR & COUNT) + (packed // OPEN_FOUR & COUNT)
                    assert fours == lines_one_short(cells, cell, colour, win_length, rule)


def lines_one_short(cells: np.ndarray, cell: int, colour: int, win_length: int, rule: Rule) -> int:
    """On how many lines through a stone that does not win one more stone makes it win."""
    height, width = cells.shape
    short = set()
    for way, (down, across) in enumerate(((0, 1), (1, 0), (1, 1), (1, -1))):
        for k in range(1 - win_length, win_length):
            row, col = cell // width + k * down, cell % width + k * across
            if 0 <= row < height and 0 <= col < width and cells[row, col] == EMPTY:
                after = cells.copy()
                after[row, col] = colour
                if wins_on(after, cell, colour, win_length, rule)[way]:
                    short.add(way)
    return len(short)


def test_prospects_of_five_in_a_row_are_the_patterns_of_env() -> None:
    rng = random.Random(8)
    for trial in range(15):
        rule = tuple(Rule)[trial % 3]
        board = played(rng, rule, 5)
        prospects = Prospects(board)
        for colour in (BLACK, WHITE):
            patterns = patterns_on(board.cells, colour, rule).reshape(4, -1)
            exact = rule is Rule.RENJU and colour == BLACK
            for cell in np.flatnonzero(board.cells == EMPTY).tolist():
                made = [Pattern(pattern) for pattern in patterns[:, cell]]
                packed = prospects.of[colour][cell]
                assert packed // FIVE == made.count(Pattern.FIVE)
                assert packed // THREE & COUNT == made.count(Pattern.OPEN_THREE) + made.count(Pattern.SPLIT_THREE)
                if not any(threat.kind is Kind.FOUR for threat in threats(board, colour)):
                    fours, doubles = made.count(Pattern.FOUR), made.count(Pattern.DOUBLE_FOUR)
                    assert packed // FOUR & COUNT == fours + (doubles if exact else 0)
                    assert packed // OPEN_FOUR & COUNT == made.count(Pattern.OPEN_FOUR) + (0 if exact else doubles)


def test_the_value_counts_windows_and_the_stones_in_them() -> None:
    empty = Prospects(Board(15, 15)).of[BLACK]
    assert (empty[112], empty[0]) == (20, 3)  # five windows a line in the middle, one in the corner, on three lines
    one = Prospects(board_of("h8", "")).of
    assert one[BLACK][113] & VALUE == 4 * 4 + 1 + 15  # i8: h8 stands in four of the five windows along the row
    assert one[WHITE][113] & VALUE == 1 + 15


@pytest.mark.parametrize("rule", Rule)
def test_prospects_after_a_stone_are_those_of_the_board_with_it(rule: Rule) -> None:
    rng = random.Random(9)
    for _ in range(20):
        board = played(rng, rule, 5)
        prospects, me = Prospects(board), board.to_move
        cell = rng.choice(np.flatnonzero(board.legal_mask()).tolist())
        changed = {colour: prospects.after(cell, me, colour) for colour in (BLACK, WHITE)}
        board.play(cell)
        for colour, wanted in Prospects(board).of.items():
            got = [changed[colour].get(other, packed) for other, packed in enumerate(prospects.of[colour])]
            assert got == wanted
