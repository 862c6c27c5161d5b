import random
from itertools import pairwise

import numpy as np
import pytest
from env_referee import LETTER, winner
from hypothesis import given, settings
from hypothesis import strategies as st

import env.board
import env.renju
from env import BLACK, Board, Forbidden, Outcome, Rule
from env.renju import forbidden_by_definition


def follow_a_game(board, rng):
    """Play random cells to the end; the whole-board referee must agree after every move, and every undo."""
    height, width = board.height, board.width
    stones, order = {}, list(range(height * width))
    rng.shuffle(order)
    snapshots = []
    colour = BLACK
    while not board.is_over:
        legal = board.legal_mask()
        cell = next(cell for cell in order if cell not in board.moves and legal[cell])
        snapshots.append(snapshot(board))
        board.play(cell)
        assert board.undo() == cell
        assert snapshot(board) == snapshots[-1], f"undo of {cell} after {board.moves}"
        board.play(cell)
        stones[divmod(cell, width)] = LETTER[colour]
        colour = -colour
        assert board.to_move == colour
        assert {(int(r), int(c)) for r, c in np.argwhere(board.cells)} == set(stones)
        won = winner(stones, height, width, board.win_length, board.rule)
        allowed = [divmod(cell, width) not in stones and not forbidden(board, cell) for cell in range(height * width)]
        wanted = won if won is not None else (None if any(allowed) else 0)
        assert (board.outcome.winner if board.outcome else None) == wanted, f"after {board.moves}\n{board.cells}"
        if board.outcome is None:
            assert board.legal_mask().tolist() == allowed
        else:
            assert not board.legal_mask().any()
        if won is not None:
            check_line(board)
    for before in reversed(snapshots):
        board.undo()
        assert snapshot(board) == before


def forbidden(board, cell):
    """Whether renju forbids an empty cell to black, by the literal rules."""
    if board.rule is not Rule.RENJU or board.to_move != BLACK or board.cells.flat[cell]:
        return False
    return bool(forbidden_by_definition(board.cells, cell))


def check_line(board):
    """The winning line: neighbours in one direction, all the winner's, through the last stone, and no longer."""
    line = board.outcome.line
    places = [divmod(cell, board.width) for cell in line]
    assert board.moves[-1] in line
    assert {int(board.cells[place]) for place in places} == {board.outcome.winner}
    if len(line) > 1:
        gaps = {(r2 - r1, c2 - c1) for (r1, c1), (r2, c2) in pairwise(places)}
        assert len(gaps) == 1 and gaps <= {(0, 1), (1, 0), (1, 1), (1, -1)}
        (down, right), (first_row, first_col), (last_row, last_col) = gaps.pop(), places[0], places[-1]
        for row, col in ((first_row - down, first_col - right), (last_row + down, last_col + right)):
            if 0 <= row < board.height and 0 <= col < board.width:
                assert board.cells[row, col] != board.outcome.winner
    assert board.rule.wins(len(line), board.win_length, board.outcome.winner)


def snapshot(board):
    return (
        board.cells.tobytes(), board.to_move, board.outcome, list(board.moves), board.legal_mask().tobytes(),
        board.forbidden(),
    )  # fmt: skip


@st.composite
def games(draw):
    rule = draw(st.sampled_from([Rule.FREESTYLE, Rule.STANDARD]))
    height, width = draw(st.integers(3, 9)), draw(st.integers(3, 9))
    # Lengths of 2 to 4 fill a random game with wins and overlines; longer ones with draws.
    win_length = draw(st.one_of(st.integers(2, 4), st.integers(1, 9)).filter(lambda n: n <= max(height, width)))
    return Board(height, width, win_length, rule), draw(st.randoms(use_true_random=False))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(games())
def test_board_equals_a_referee_that_looks_at_the_whole_board(game):
    follow_a_game(*game)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(3, 7), st.integers(5, 7), st.randoms(use_true_random=False))
def test_board_equals_the_referee_in_renju(height, width, rng):
    follow_a_game(Board(height, width, 5, Rule.RENJU), rng)


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.STANDARD])
@pytest.mark.parametrize(("height", "width"), [(15, 15), (25, 25), (3, 25), (25, 3), (12, 17)])
def test_board_equals_the_referee_on_large_boards(height, width, rule):
    follow_a_game(Board(height, width, 5, rule), random.Random(height * width))


WRONG_RULES = {
    "overlines win under standard": lambda patch: patch.setattr(Rule, "exact", lambda *_: False),
    "overlines never win": lambda patch: patch.setattr(Rule, "exact", lambda *_: True),
    "one stone too few wins": lambda patch: patch.setattr(Rule, "wins", lambda rule, run, n, colour: run >= n - 1),
    "rows count twice, columns not": lambda patch: patch.setattr(env.board, "steps", lambda w: (1, 1, w + 2, w)),
    "one diagonal is not looked at": lambda patch: patch.setattr(
        env.board, "steps", lambda w: (1, w + 1, w + 2, w + 2)
    ),
    "white's lines are won by black": lambda patch: patch.setattr(
        env.board, "Outcome", lambda winner, line=(): Outcome(abs(winner), line)
    ),
    "lines go on round the edge": lambda patch: patch.setattr(env.board, "WALL", BLACK),
}


@pytest.mark.parametrize("name", WRONG_RULES)
def test_a_wrong_rule_is_caught(name, monkeypatch):
    WRONG_RULES[name](monkeypatch)
    with pytest.raises((AssertionError, StopIteration)):
        for seed in range(60):
            for rule in (Rule.FREESTYLE, Rule.STANDARD):
                follow_a_game(Board(5, 6, 3, rule), random.Random(seed))


def without(kind):
    """Wrong tables of renju, which let one kind of forbidden point pass."""
    return lambda cells: {cell: why for cell, why in env.renju.forbidden_points(cells).items() if why is not kind}


WRONG_RENJU = {
    "white's overline is none": lambda patch: patch.setattr(Rule, "exact", lambda rule, _: rule is not Rule.FREESTYLE),
    "double fours are let pass": lambda patch: patch.setattr(
        env.board, "forbidden_points", without(Forbidden.DOUBLE_FOUR)
    ),
    "double threes are let pass": lambda patch: patch.setattr(
        env.board, "forbidden_points", without(Forbidden.DOUBLE_THREE)
    ),
    "overlines are let pass": lambda patch: patch.setattr(env.board, "forbidden_points", without(Forbidden.OVERLINE)),
}


@pytest.mark.parametrize("name", WRONG_RENJU)
def test_a_wrong_rule_of_renju_is_caught(name, monkeypatch):
    WRONG_RENJU[name](monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(60):
            follow_a_game(Board(6, 7, 5, Rule.RENJU), random.Random(seed))


true_winner = winner
WRONG_REFEREES = {
    "overlines always win": lambda *game: true_winner(*game[:4], Rule.FREESTYLE),
    "overlines never win": lambda *game: true_winner(*game[:4], Rule.STANDARD),
    "black's lines are white's": lambda *game: -(true_winner(*game) or 0) or None,
    "the board is a row shorter": lambda stones, height, *rest: true_winner(stones, height - 1, *rest),
}


@pytest.mark.parametrize("name", WRONG_REFEREES)
def test_a_wrong_referee_is_caught(name, monkeypatch):
    monkeypatch.setitem(globals(), "winner", WRONG_REFEREES[name])
    with pytest.raises(AssertionError):
        for seed in range(60):
            for rule in (Rule.FREESTYLE, Rule.STANDARD):
                follow_a_game(Board(5, 6, 3, rule), random.Random(seed))
