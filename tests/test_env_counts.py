"""Exhaustive counts of small games, and tables of move sequences held against the whole-board referee."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from env_referee import LETTER, as_stones, winner

import env.board
from env import BLACK, Board, Rule
from env.coords import cell_name
from env.renju import forbidden_by_definition
from env.symmetry import apply


def test_three_by_three_has_the_known_numbers():
    """Noughts and crosses: nodes without the root, games by result, positions, positions up to symmetry."""
    board = Board(3, 3, win_length=3)
    results, seen = Counter(), {board.cells.tobytes(): board.cells.copy()}
    nodes = 0

    def walk():
        nonlocal nodes
        for cell in board.legal_mask().nonzero()[0].tolist():
            board.play(cell)
            nodes += 1
            if board.outcome is not None:
                results[board.outcome.winner] += 1
            key = board.cells.tobytes()
            if key not in seen:
                seen[key] = board.cells.copy()
            walk()
            board.undo()

    walk()
    assert nodes == 549_945
    assert dict(results) == {1: 131_184, -1: 77_904, 0: 46_080}
    assert results.total() == 255_168
    assert len(seen) == 5_478
    assert len({min(apply(k, cells).tobytes() for k in range(8)) for cells in seen.values()}) == 765


def count(board, depth, counts):
    """Sequences of moves that go on, and those ended by black, by white, by a full board, at every ply."""
    for cell in board.legal_mask().nonzero()[0].tolist():
        board.play(cell)
        counts[len(board.moves), board.outcome.winner if board.outcome else None] += 1
        if depth > 1:
            count(board, depth - 1, counts)
        board.undo()
    return counts


def count_by_referee(stones, colour, settings, depth, counts):
    """The same table with the whole-board referee."""
    height, width, win_length, rule = settings
    for place in [(row, col) for row in range(height) for col in range(width) if (row, col) not in stones]:
        stones[place] = LETTER[colour]
        result = winner(stones, height, width, win_length, rule)
        if result is None and len(stones) == height * width:
            result = 0
        counts[len(stones), result] += 1
        if depth > 1 and result is None:
            count_by_referee(stones, -colour, settings, depth - 1, counts)
        del stones[place]
    return counts


def renju_positions():
    """Positions late in random renju games, black to move, in which some points are forbidden."""
    for seed in range(400):
        rng = random.Random(seed)
        board = Board(6, 7, 5, Rule.RENJU)
        for _ in range(32):
            if board.is_over:
                break
            board.play(rng.choice(board.legal_mask().nonzero()[0].tolist()))
        if not board.is_over and board.forbidden():
            yield board


def test_renju_sequences_are_counted_by_the_literal_rules():
    """Late positions, three plies deep; black's points judged one by one from the rules' own words."""

    def count_literally(stones, colour, depth, counts):
        for place in [(row, col) for row in range(6) for col in range(7) if (row, col) not in stones]:
            cells = np.zeros((6, 7), dtype=np.int8)
            for at, letter in stones.items():
                cells[at] = BLACK if letter == "X" else -BLACK
            if colour == BLACK and forbidden_by_definition(cells, place[0] * 7 + place[1]):
                continue
            stones[place] = LETTER[colour]
            result = winner(stones, 6, 7, 5, Rule.RENJU)
            counts[len(stones), result] += 1
            if depth > 1 and result is None:
                count_literally(stones, -colour, depth - 1, counts)
            del stones[place]
        return counts

    positions = list(itertools.islice(renju_positions(), 5))
    assert len(positions) == 5
    for board in positions:
        got = count(board.copy(), 3, Counter())
        # Whoever has no legal move has drawn; the literal count does not know that and calls the game unfinished.
        unfinished = Counter({(ply, result or None): 0 for ply, result in got})
        for (ply, result), number in got.items():
            unfinished[ply, result or None] += number
        wanted = count_literally(as_stones(board.cells), BLACK, 3, Counter())
        assert +unfinished == wanted, f"{board!r}"


def divide(settings, depth):
    """For each first move whose subtree differs: what the board counts and what the referee counts."""
    height, width, _, _ = settings
    report = []
    for cell in range(height * width):
        board = Board(*settings)
        board.play(cell)
        got = count(board, depth - 1, Counter())
        wanted = count_by_referee({divmod(cell, width): LETTER[BLACK]}, -BLACK, settings, depth - 1, Counter())
        if got != wanted:
            report.append(
                f"{cell_name(cell, height, width)}: {dict(got - wanted)} too many, {dict(wanted - got)} missing"
            )
    return report


TABLES = [
    (3, 3, 1, Rule.FREESTYLE, 2),
    (3, 3, 2, Rule.FREESTYLE, 5),
    (3, 3, 2, Rule.STANDARD, 5),
    (3, 4, 3, Rule.STANDARD, 4),
    (4, 3, 2, Rule.STANDARD, 4),
    (3, 5, 2, Rule.STANDARD, 3),
    (4, 4, 2, Rule.FREESTYLE, 3),
    (5, 5, 3, Rule.FREESTYLE, 2),
]


@pytest.mark.parametrize(("height", "width", "win_length", "rule", "depth"), TABLES)
def test_move_sequences_are_counted_as_the_referee_counts_them(height, width, win_length, rule, depth):
    settings = (height, width, win_length, rule)
    got = count(Board(*settings), depth, Counter())
    wanted = count_by_referee({}, BLACK, settings, depth, Counter())
    assert got == wanted, "\n".join(["divide by first move:", *divide(settings, depth)])


def test_the_divide_names_the_moves_that_differ(monkeypatch):
    settings = (3, 3, 2, Rule.FREESTYLE)
    assert divide(settings, 3) == []
    monkeypatch.setattr(env.board, "steps", lambda width: (1, width + 1, width + 2, width + 2))  # no /
    report = divide(settings, 3)
    assert "b3: {(3, None): 7} too many, {(3, 1): 7} missing" in report
    assert not any(line.startswith(("a3", "c1")) for line in report)
