"""Greedy: its choices equal the golden ones, as its scores do (parity), and the batched twin equals the definition."""

import json
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, WHITE, Board
from env.observation import positions_of
from rl.agents import GreedyAgent
from rl.agents.greedy import greedy_scores
from rl.agents.greedy_bits import greedy_choice, greedy_digits
from rl.sampling import inverse_cdf

GOLDEN = json.loads((Path(__file__).parent / "data/parity/greedy.json").read_text())["positions"]


def board_of(position):
    return Board.from_moves([row * 15 + col for row, col in position["moves"]])


def test_java_ties_equal_the_golden_choices():
    boards = [(board_of(p), p["greedy"]) for p in GOLDEN if not p["game_over"]]
    chosen = GreedyAgent(first_of_ties=True).choose_many([b for b, _ in boards], np.random.default_rng(0))
    assert [list(divmod(cell, 15)) for cell in chosen] == [wanted for _, wanted in boards]


@pytest.mark.parametrize(
    ("height", "width", "win_length"),
    [(15, 15, 5), (6, 6, 4), (3, 7, 3), (9, 4, 5), (5, 5, 6), (4, 5, 2), (3, 3, 1)],
)
def test_the_batched_twin_equals_the_definition(height, width, win_length):
    rng = np.random.default_rng(height * 100 + width)
    fill = rng.random((40, 1, 1))
    cells = rng.choice([BLACK, WHITE], size=(40, height, width)) * (rng.random((40, height, width)) < fill)
    cells = cells.astype(np.int8)
    for colour in (BLACK, WHITE):
        digits = greedy_digits(cells == colour, cells == 0, win_length)
        for board, digit in zip(cells, digits, strict=True):
            expected = greedy_scores(board, colour, win_length)
            assert np.array_equal(np.where(board == 0, 10 ** digit.astype(np.int64), 0), expected)


def test_sharp_takes_its_win_where_plain_greedy_may_block_instead():
    # Black and white both have three in a row with one end blocked by the edge; black, to move, wins at cell 3.
    board = Board.from_moves([0, 30, 1, 31, 2, 32], 6, 6, win_length=4)
    rng = np.random.default_rng(0)
    assert set(GreedyAgent().choose_many([board] * 200, rng)) == {3, 33}
    assert set(GreedyAgent(sharp=True).choose_many([board] * 200, rng)) == {3}


def test_ties_are_broken_evenly_and_only_among_the_best():
    board = Board(6, 6, win_length=4)
    board.play(14)
    digits = np.maximum(greedy_scores(board.cells, BLACK, 4), greedy_scores(board.cells, WHITE, 4)).ravel()
    best = set(np.flatnonzero(digits == digits.max()).tolist())
    chosen = GreedyAgent().choose_many([board] * 4000, np.random.default_rng(5))
    assert set(chosen) == best
    counts = np.bincount(chosen, minlength=36)[sorted(best)]
    # Five standard errors of a count of 4000 / len(best).
    assert np.abs(counts - 4000 / len(best)).max() < 5 * np.sqrt(4000 / len(best))


def test_it_never_chooses_an_occupied_cell_on_a_nearly_full_board():
    rng = np.random.default_rng(6)
    boards = []
    for _ in range(30):
        board = Board(4, 4, win_length=4)
        while board.outcome is None and board.legal_mask().sum() > 2:
            board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if board.outcome is None:
            boards.append(board)
    assert boards
    for first in (True, False):
        cells = GreedyAgent(first_of_ties=first).choose_positions(positions_of(boards), rng)
        assert all(board.legal_mask()[cell] for board, cell in zip(boards, cells, strict=True))


def random_cells(rng, count, height, width):
    cells = rng.choice([BLACK, WHITE], size=(count, height, width)) * (
        rng.random((count, height, width)) < rng.random((count, 1, 1))
    )
    cells[(cells != 0).all(axis=(1, 2)), 0, 0] = 0  # a cell to play
    return cells


@pytest.mark.parametrize(
    ("count", "height", "width", "win_length"), [(10_000, 15, 15, 5), (1, 15, 15, 5), (1100, 6, 6, 4), (65, 4, 9, 3)]
)
def test_the_choice_is_the_nth_of_the_best_legal_cells(count, height, width, win_length):
    rng = np.random.default_rng(count + width)
    cells = random_cells(rng, count, height, width)
    own, other, empty = cells == BLACK, cells == WHITE, cells == 0
    # From the digits, which the tests above hold against the definition: the best value, then the nth of its cells.
    legal = empty.reshape(count, -1).copy()
    first = legal.argmax(axis=1)
    legal[np.arange(count), first] &= legal.sum(axis=1) == 1  # an empty cell that may not be played, if there are two
    digits = np.maximum(greedy_digits(own, empty, win_length), greedy_digits(other, empty, win_length))
    value = np.where(legal, digits.reshape(count, -1) + 1, 0)
    best = value == value.max(axis=1, keepdims=True)
    uniforms = rng.random(count)
    uniforms[: count // 2] = np.nextafter(1.0, 0.0)  # times k it may round up to k
    stones = np.stack([own, other], axis=1)
    assert np.array_equal(greedy_choice(stones, legal, win_length, uniforms), inverse_cdf(best, uniforms))
    first = greedy_choice(stones, legal, win_length, np.zeros(count))
    assert np.array_equal(first, value.argmax(axis=1))


def test_the_digits_of_many_boards_equal_the_definition():
    rng = np.random.default_rng(8)
    cells = random_cells(rng, 200, 15, 15).astype(np.int8)
    for colour in (BLACK, WHITE):
        digits = greedy_digits(cells == colour, cells == 0, 5)
        for board, digit in zip(cells, digits, strict=True):
            expected = greedy_scores(board, colour)
            assert np.array_equal(np.where(board == 0, 10 ** digit.astype(np.int64), 0), expected)
