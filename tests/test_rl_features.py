"""Tactical features: counted cell by cell, exclusive stages, and a value that they can tell."""

import numpy as np

from env import Board
from env.coords import parse_cell
from env.observation import Positions, positions_of
from env.patterns import Pattern, patterns_on
from env.rules import Rule
from rl.features import MAKES, NAMES, STAGES, count_cells, tactical_features

OPEN_FOURS = (Pattern.OPEN_FOUR, Pattern.DOUBLE_FOUR)
THREES = (Pattern.OPEN_THREE, Pattern.SPLIT_THREE)
TWOS = (Pattern.OPEN_TWO, Pattern.SPLIT_TWO)


def random_boards(count: int, seed: int) -> list[Board]:
    rng = np.random.default_rng(seed)
    boards = []
    while len(boards) < count:
        board = Board(9, 9)
        for cell in rng.permutation(81)[: rng.integers(0, 50)].tolist():
            if board.outcome is None:
                board.play(cell)
        if board.outcome is None:
            boards.append(board)
    return boards


def counts_by_definition(board: Board, colour: int) -> list[int]:
    """At how many empty cells `colour` makes each of MAKES, by the patterns of the rules."""
    patterns = patterns_on(board.cells, colour, Rule.FREESTYLE)
    counts = dict.fromkeys(MAKES, 0)
    for row, col in np.argwhere(board.cells == 0).tolist():
        made = patterns[:, row, col].tolist()
        straight, fours = sum(m in OPEN_FOURS for m in made), made.count(Pattern.FOUR)
        threes = sum(m in THREES for m in made)
        counts["five"] += Pattern.FIVE in made
        counts["straight four"] += straight > 0 or fours > 1
        counts["four"] += straight + fours > 0
        counts["four-three"] += straight + fours > 0 and threes > 0
        counts["open three"] += threes > 0
        counts["double three"] += threes > 1
        counts["open two"] += any(m in TWOS for m in made)
    return list(counts.values())


def test_cells_are_counted_as_the_patterns_say() -> None:
    boards = random_boards(60, seed=1)
    counts = count_cells(positions_of(boards))  # (2, 7, N)
    for i, board in enumerate(boards):
        own = board.to_move
        assert counts[0, :, i].tolist() == counts_by_definition(board, own)
        assert counts[1, :, i].tolist() == counts_by_definition(board, -own)


def test_they_are_shares_and_exactly_one_stage_holds() -> None:
    found = tactical_features(positions_of(random_boards(300, seed=2)))
    assert found.shape == (300, len(NAMES)) and found.dtype == np.float32
    assert (found >= 0).all() and (found <= 1).all()
    assert (found[:, : len(STAGES)].sum(axis=1) == 1).all()
    assert (found[:, : len(STAGES)].sum(axis=0) > 0).sum() >= 5  # the boards are of many kinds


def stage_of(black: str, white: str) -> str:
    board = Board()
    for pair in zip(black.split(), white.split(), strict=True):
        for name in pair:
            board.play(parse_cell(name, 15, 15))
    return STAGES[int(tactical_features(positions_of([board]))[0, : len(STAGES)].argmax())]


def test_stages_by_example() -> None:
    far = "a1 a15 o1 o15"
    assert stage_of("d4 e4 f4 g4", "d8 e8 f8 g8") == "I win now"
    assert stage_of(far, "d8 e8 f8 g8") == "the other has two fives to come"
    assert stage_of("c8 a15 o1 o15", "d8 e8 f8 g8") == "I must block a five"
    assert stage_of("d4 e4 f4", "d8 e8 f8") == "I can make a straight four"
    assert stage_of("d4 e4 f4 g5 g6", "c4 a1 o1 o3 o5") == "I can make a four and an open three"
    assert stage_of("a1 a15 o1", "d8 e8 f8") == "the other could make a straight four"
    assert stage_of("f8 g8 h6 h7", "a1 a3 c1 o15") == "I can make two open threes"
    assert stage_of("h8", "g7") == "quiet"


def test_colour_and_phase() -> None:
    board = Board(4, 4, win_length=4)
    features = {name: i for i, name in enumerate(NAMES)}
    empty = tactical_features(positions_of([board]))[0]
    board.play(5)
    one = tactical_features(positions_of([board]))[0]
    assert (empty[features["I am black"]], one[features["I am black"]]) == (1, 0)
    assert one[features["share of cells taken"]] == 1 / 16


def test_many_boards_come_out_as_each_alone() -> None:
    positions = positions_of(random_boards(300, seed=3))
    together = tactical_features(positions)
    for i in (0, 255, 256, 299):
        alone = Positions(positions.planes[i : i + 1], positions.legal[i : i + 1], 5, positions.rule)
        assert (tactical_features(alone)[0] == together[i]).all()
