"""The account of a position: amounts by hand, sides and symmetries, weights, decay, open twos in pairs."""

import dataclasses
import random

import pytest

from env import BLACK, WHITE, Board, Rule
from env.coords import parse_cell
from env.symmetry import apply_cell
from rl.search.account import RULE_IDS, Decay, EvaluationRules, centre_factor, explain
from rl.search.rule_file import default_rules


def board_of(black: str, white: str, size: int = 15, **settings: object) -> Board:
    """Stones by name, moved in turns; both colours must have as many, or black one more."""
    board = Board(size, size, **settings)  # type: ignore[arg-type]
    stones = [[parse_cell(name, size, size) for name in names.split()] for names in (black, white)]
    while any(stones):
        board.play(stones[0 if board.to_move == BLACK else 1].pop(0))
    return board


def without_centre(rules: EvaluationRules) -> EvaluationRules:
    return changed(rules, "centre", enabled=False)


def changed(rules: EvaluationRules, rule_id: str, **fields: object) -> EvaluationRules:
    return dataclasses.replace(
        rules,
        rules=tuple(dataclasses.replace(rule, **fields) if rule.id == rule_id else rule for rule in rules.rules),  # type: ignore[arg-type]
    )


def amounts(board: Board, rules: EvaluationRules) -> dict[tuple[str, int], list[float]]:
    found: dict[tuple[str, int], list[float]] = {}
    for entry in explain(board, rules):
        found.setdefault((entry.rule, entry.colour), []).append(round(entry.amount, 9))
    return found


FAR = "a1 c3 e1 g3"  # four white stones that make nothing


@pytest.mark.parametrize(
    ("black", "rule", "amount"),
    [
        ("h8 i8 j8 k8", "open_four", 10000),
        ("l8 m8 n8 o8", "four", 1000),
        ("h8 i8 k8 l8", "four", 1000),
        ("h8 i8 j8 o15", "open_three", 100),
        ("h8 i8 k8 o15", "open_three", 100),
        ("m8 n8 o8 a15", "closed_three", 3),
        ("h8 j8 o15 a15", "split_two", 1.5),
    ],
)
def test_each_rule_gives_what_it_says(black: str, rule: str, amount: float) -> None:
    account = explain(board_of(black, FAR), without_centre(default_rules()))
    assert [(entry.rule, entry.colour, entry.amount) for entry in account] == [(rule, BLACK, pytest.approx(amount))]
    names = black.split()[: len(account[0].cells)]
    assert account[0].cells == tuple(sorted(parse_cell(name, 15, 15) for name in names))


def test_a_five_is_told_too_and_debited_to_the_side_that_comes_next() -> None:
    board = board_of("h8 i8 j8 k8 l8", FAR)
    first = explain(board, default_rules())[0]
    assert (first.rule, first.colour, first.amount) == ("five", BLACK, -100000)


def test_two_open_twos_count_half_each_and_whole_when_they_share_an_empty_point() -> None:
    rules = without_centre(default_rules())
    assert amounts(board_of("h8 i8 a15 o15", FAR), rules) == {}  # one alone is nothing
    apart = board_of("h8 i8 h12 i12", FAR)
    assert amounts(apart, rules) == {("double_open_two", BLACK): [7.5, 7.5]}  # 50 * 0.3 / 2
    crossing = board_of("h8 i8 l9 m10", FAR)  # both want k8
    assert amounts(crossing, rules) == {("double_open_two", BLACK): [15, 15]}


def test_the_opponents_side_is_the_same_with_the_sign_reversed() -> None:
    rng = random.Random(3)
    rules = default_rules()
    for game in range(40):
        board = random_board(rng, plies=2 * rng.randint(2, 20), rule=(Rule.FREESTYLE, Rule.STANDARD)[game % 2])
        swapped = Board(board.height, board.width, board.win_length, board.rule)
        for black, white in zip(board.moves[::2], board.moves[1::2], strict=True):
            swapped.play(white)
            swapped.play(black)
        here = {(entry.rule, entry.colour, entry.cells): entry.amount for entry in explain(board, rules)}
        there = {(entry.rule, -entry.colour, entry.cells): -entry.amount for entry in explain(swapped, rules)}
        assert here == pytest.approx(there)


@pytest.mark.parametrize("rule", Rule)
def test_turned_and_mirrored_a_position_is_worth_the_same(rule: Rule) -> None:
    rng = random.Random(4)
    rules = default_rules()
    for _ in range(6):
        board = random_board(rng, plies=rng.randint(5, 40), rule=rule)
        wanted = {(e.rule, e.colour, tuple(sorted(e.cells))): e.amount for e in explain(board, rules)}
        for k in range(8):
            turned = Board.from_moves([apply_cell(k, cell, 9, 9) for cell in board.moves], 9, 9, 5, rule)
            moved = {
                (name, colour, tuple(sorted(apply_cell(k, cell, 9, 9) for cell in cells))): amount
                for (name, colour, cells), amount in wanted.items()
            }
            there = {(e.rule, e.colour, tuple(sorted(e.cells))): e.amount for e in explain(turned, rules)}
            assert there == pytest.approx(moved), k


def random_board(rng: random.Random, plies: int, rule: Rule) -> Board:
    """A game of random moves near the middle, not over."""
    while True:
        board = Board(9, 9, 5, rule)
        while len(board.moves) < plies and not board.is_over:
            board.play(rng.choice([cell for cell in range(81) if board.legal_mask()[cell]]))
        if not board.is_over:
            return board


def test_weights_switches_and_the_three_tenths_of_quiet_rules() -> None:
    rules = default_rules()
    assert tuple(rules.worths(0)) == RULE_IDS
    assert rules.worths(0) == pytest.approx(
        dict(zip(RULE_IDS, (100000, 10000, 1000, 100, 3, 15, 1.5, 3), strict=True))
    )
    assert changed(rules, "four", weight=0.25).worths(0)["four"] == 250
    assert changed(rules, "four", weight=0.25, is_immediate=False).worths(0)["four"] == pytest.approx(75)
    assert changed(rules, "four", enabled=False).worths(0)["four"] == 0
    board = board_of("h8 i8 j8 o15", FAR)
    assert amounts(board, changed(without_centre(rules), "open_three", enabled=False)) == {}


def test_the_decay_falls_in_a_straight_line_and_spares_threats() -> None:
    decay = Decay(enabled=True, start_move=10, end_move=30, min_weight=0.5)
    assert [decay.factor(moves) for moves in (0, 10, 20, 30, 200)] == [1, 1, 0.75, 0.5, 0.5]
    assert dataclasses.replace(decay, enabled=False).factor(200) == 1
    assert dataclasses.replace(decay, start_move=30).factor(31) == 0.5  # no distance to fall over
    late = dataclasses.replace(default_rules(), decay=decay).worths(40)
    assert (late["open_three"], late["split_two"]) == (100, pytest.approx(0.75))


def test_the_middle_counts_most_and_fades_with_the_moves() -> None:
    assert centre_factor(112, 15, 15, 0) == 1
    assert centre_factor(0, 15, 15, 0) == 0
    near = [centre_factor(parse_cell(name, 15, 15), 15, 15, 0) for name in ("h8", "h9", "i9", "h11", "a1")]
    assert near == pytest.approx([1, 13 / 14, 12 / 14, 11 / 14, 0])
    assert centre_factor(112, 15, 15, 28) == pytest.approx(1 - 4 * 28 / 225)
    assert centre_factor(112, 15, 15, 57) == 0
    board = board_of("h8", "", size=15)
    assert [(e.rule, e.colour, round(e.amount, 6)) for e in explain(board, default_rules())] == [
        ("centre", BLACK, round(-3 * (1 - 4 / 225), 6))
    ]


def test_white_in_renju_is_accounted_by_its_own_law_and_the_board_is_left_alone() -> None:
    board = board_of("a1 c1 e1 g1 i1 a3", "h8 i8 j8 l8 m8 n8", rule=Rule.RENJU)
    before = board.copy()
    assert (WHITE, "four") in {(entry.colour, entry.rule) for entry in explain(board, default_rules())}
    assert (board.moves, board.to_move) == (before.moves, before.to_move)
    swapped = board_of("h8 i8 j8 l8 m8 n8", "a1 c1 e1 g1 i1 a3", rule=Rule.RENJU)  # seven: no four of black's
    assert (BLACK, "four") not in {(entry.colour, entry.rule) for entry in explain(swapped, default_rules())}
