"""Openings: lines of text that are refused in words, pairs that do not repeat, random ones without a quick win."""

import numpy as np
import pytest

from env import Board, Rule
from env.coords import parse_cell
from rl.arena import ArenaError
from rl.openings import (
    OpeningError,
    balanced_opening,
    is_balanced,
    opening_of_pair,
    parse_opening,
    quick_win,
    turns,
)


def cells(words: str, height: int = 15, width: int = 15) -> tuple[int, ...]:
    return tuple(parse_cell(word, height, width) for word in words.split())


@pytest.mark.parametrize("text", ["h8i9g7", "h8 i9 g7", " H8, i9,g7 \t"])
def test_an_opening_reads_glued_or_apart(text: str) -> None:
    assert parse_opening(text, Board()) == cells("h8 i9 g7")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("h8h8", "move 2, 'h8': h8 .* is occupied"),
        ("h8z9", "move 2, 'z9': .* off the 15x15 board"),
        ("h8 i", "move 2, 'i': .* no crossing"),
        ("8h", "move 1, '8h': .* no crossing"),
        ("", "no move"),
        ("a1b1a2b2a3b3a4b4a5", "over after its 9 moves"),
    ],
)
def test_what_is_no_opening_is_told_by_move(text: str, complaint: str) -> None:
    with pytest.raises(OpeningError, match=complaint):
        parse_opening(text, Board())


def test_a_forbidden_move_is_no_opening_in_renju() -> None:
    text = "g8a1i8c1h7e1h9g1h8"
    assert len(parse_opening(text, Board())) == 9
    with pytest.raises(OpeningError, match="move 9, 'h8': .*forbidden"):
        parse_opening(text, Board(rule=Rule.RENJU))


@pytest.mark.parametrize(("height", "width", "ways"), [(15, 15, 8), (7, 9, 4)])
def test_pairs_turn_the_openings_before_they_repeat(height: int, width: int, ways: int) -> None:
    openings = [cells("c2 d5", height, width), cells("d4 g4 a1", height, width)]
    assert len(turns(height, width)) == ways
    pairs = [opening_of_pair(openings, pair, height, width) for pair in range(2 * ways + 1)]
    assert pairs[:2] == openings and pairs[-1] == pairs[0]
    assert len(set(pairs)) == 2 * ways
    assert all(len(Board.from_moves(pair, height, width).moves) in (2, 3) for pair in pairs)


DRAWN = {
    "open three": (". . . . . . .|. . X X X . .|. . . . . . .", True),
    "four": (". . . . . . .|O X X X X . .|. . . . . . .", True),
    "closed three": (". . . . . . .|O X X X . . .|. . . . . . .", False),
    "split three": (". . . . . . .|. X X . X . .|. . . . . . .", True),
    "two": (". . . . . . .|. . X X . . .|. . . . . . .", False),
    "two closed threes crossing": ("O X X X . . .|. . . . X . .|. . . X . . .|. . X . . . .|. . . . . . .", True),
    "shut in": ("O X X X X O .|. . . . . . .|. . . . . . .", False),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_quick_win_as_drawn(name: str) -> None:
    drawing, there = DRAWN[name]
    stones = np.array([row.split() for row in drawing.split("|")])
    assert quick_win(stones == "X", stones == ".", 5, exact=False) is there


def test_six_are_no_win_where_five_are_wanted() -> None:
    stones = np.array([list("X.XXXX.O")])
    assert quick_win(stones == "X", stones == ".", 5, exact=False)
    assert quick_win(stones == "X", stones == ".", 5, exact=True)  # on the right
    stones[0, 6] = "O"
    assert quick_win(stones == "X", stones == ".", 5, exact=False)
    assert not quick_win(stones == "X", stones == ".", 5, exact=True)


def test_a_quick_win_is_one_that_trying_everything_finds() -> None:
    rng, found = np.random.default_rng(0), []
    for _ in range(50):
        stones = rng.permutation([1] * 4 + [-1] * 5 + [0] * 16).reshape(5, 5)
        own, empty = stones == 1, stones == 0
        if has_four(own):
            continue
        found.append(quick_win(own, empty, 4, exact=False))
        assert found[-1] == (wins_now(own, empty) or wins_next(own, empty))
    assert 5 < sum(found) < len(found) - 5


def has_four(own: np.ndarray) -> bool:
    """Four in a row on a board, looked for in every window."""
    windows = [board[r : r + 4, c] for board in (own, own.T) for r in range(2) for c in range(5)]
    for square in (own[r : r + 4, c : c + 4] for r in range(2) for c in range(2)):
        windows += [square.diagonal(), square[::-1].diagonal()]
    return any(window.all() for window in windows)


def after(own: np.ndarray, cell: np.ndarray) -> np.ndarray:
    stones = own.copy()
    stones[tuple(cell)] = not stones[tuple(cell)]
    return stones


def wins_now(own: np.ndarray, empty: np.ndarray) -> bool:
    return any(has_four(after(own, cell)) for cell in np.argwhere(empty))


def wins_next(own: np.ndarray, empty: np.ndarray) -> bool:
    """There is a move after which every answer leaves a winning move."""
    for cell in np.argwhere(empty):
        mine, left = after(own, cell), after(empty, cell)
        if all(wins_now(mine, after(left, answer)) for answer in np.argwhere(left)):
            return True
    return False


def test_balanced_openings_have_no_quick_win_and_differ() -> None:
    rng = np.random.default_rng(1)
    boards = [balanced_opening(lambda: Board(7, 7, 4), 5, rng) for _ in range(20)]
    assert all(is_balanced(board) for board in boards)
    assert len({tuple(board.moves) for board in boards}) == 20 and {len(board.moves) for board in boards} == {5}
    assert balanced_opening(lambda: Board(3, 3, 3), 0, rng).moves == []
    with pytest.raises(ArenaError, match="left a quick win in 1000 openings"):
        balanced_opening(lambda: Board(4, 4, 2), 1, rng)
