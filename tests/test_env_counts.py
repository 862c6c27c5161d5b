"""Exhaustive counts of small games under all rules, as data; what differs is divided by the first move."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from env_referee import LETTER, as_stones, winner

import env.bitboard
import env.board
import env.renju
from env import BLACK, Board, Forbidden, Rule
from env.bitboard import Bitboard
from env.coords import cell_name, parse_cell
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


# Positions (height, width, win length, moves), and for each rule the sequences of moves from there, ply by ply: how
# many go on, and how many are ended by black, by white, and as a draw. The numbers come from a program of its own,
# with its own judges of lines and of renju's forbidden points.
COUNTS = [
    # An overline of black's, which wins, or goes on, or is forbidden; and a double four, forbidden in renju.
    (
        (7, 7, 5, "f7 c6 f4 c7 e7 e1 d5 c5 b5 g4 b6 g7 c2 e5 g3 d3 b4 f1 g2"
                  " a2 e2 g6 g1 a3 e6 b7 a7 d7 d2 c3 b2 g5 e3 d1 d4 b1"),
        {
            Rule.FREESTYLE: [(11, 2, 0, 0), (112, 0, 20, 0), (1010, 222, 0, 0)],
            Rule.STANDARD: [(12, 1, 0, 0), (122, 0, 22, 0), (1212, 130, 0, 0)],
            Rule.RENJU: [(10, 1, 0, 0), (101, 0, 19, 0), (854, 101, 0, 0)],
        },
    ),
    (
        (6, 7, 5, "f5 e6 b2 d1 a5 d6 c4 b5 e4 b1 a3 e5 g4 a2 f4 c6 b4 f3 d3 b3 e1 g2 c1 e3 d2 f6 c5 a4"),
        {
            Rule.FREESTYLE: [(12, 2, 0, 0), (134, 0, 22, 0), (1342, 266, 0, 0)],
            Rule.STANDARD: [(13, 1, 0, 0), (145, 0, 24, 0), (1586, 154, 0, 0)],
            Rule.RENJU: [(11, 1, 0, 0), (123, 0, 20, 0), (1148, 123, 0, 0)],
        },
    ),
    # To the end. In renju 24 games are drawn with two cells empty, since both are forbidden to black.
    (
        (6, 6, 5, "d4 b6 d3 e6 e1 a2 f1 f4 a5 d1 f6 a1 a4 c6 d6 b1 e2 d2 a6 b4 c3 c2 f3 f5 a3 b2 e5 c1 e3 e4"),
        {
            Rule.FREESTYLE: [
                (5, 1, 0, 0), (25, 0, 0, 0), (72, 28, 0, 0), (192, 0, 24, 0), (168, 216, 0, 0), (0, 0, 132, 36),
            ],
            Rule.STANDARD: [
                (6, 0, 0, 0), (30, 0, 0, 0), (120, 0, 0, 0), (360, 0, 0, 0), (684, 36, 0, 0), (0, 0, 36, 648),
            ],
            Rule.RENJU: [
                (5, 0, 0, 0), (25, 0, 0, 0), (72, 0, 0, 0), (168, 0, 24, 24), (168, 36, 0, 0), (0, 0, 132, 36),
            ],
        },
    ),
    # A double three.
    (
        (9, 9, 5, "e5 a9 f5 c9 d4 g9 d3 i9"),
        {
            Rule.FREESTYLE: [(73, 0, 0, 0), (5256, 0, 0, 0)],
            Rule.RENJU: [(72, 0, 0, 0), (5184, 0, 0, 0)],
        },
    ),
    # From the empty board, two in a row to the end: in standard, three in a row go on.
    (
        (3, 3, 2, ""),
        {
            Rule.FREESTYLE: [
                (9, 0, 0, 0), (72, 0, 0, 0), (224, 280, 0, 0), (544, 0, 800, 0), (480, 2240, 0, 0), (144, 0, 1776, 0),
                (0, 432, 0, 0),
            ],
            Rule.STANDARD: [
                (9, 0, 0, 0), (72, 0, 0, 0), (224, 280, 0, 0), (544, 0, 800, 0), (688, 2032, 0, 0), (480, 0, 2272, 0),
                (288, 1152, 0, 0), (0, 0, 576, 0),
            ],
        },
    ),
    (
        (3, 4, 3, ""),
        {Rule.STANDARD: [(12, 0, 0, 0), (132, 0, 0, 0), (1320, 0, 0, 0), (11880, 0, 0, 0), (88992, 6048, 0, 0)]},
    ),
    ((5, 5, 5, ""), {Rule.RENJU: [(25, 0, 0, 0), (600, 0, 0, 0), (13800, 0, 0, 0)]}),
]  # fmt: skip
CASES = [(start, rule, table) for start, tables in COUNTS for rule, table in tables.items()]


def begun(start, rule):
    """The board of a position of COUNTS."""
    height, width, win_length, moves = start
    cells = [parse_cell(name, height, width) for name in moves.split()]
    return Board.from_moves(cells, height, width, win_length, rule)


def legal(game):
    return game.legal_mask().nonzero()[0].tolist() if isinstance(game, Board) else game.cells_of(game.legal())


def result(game):
    """Who has won, 0 for a draw, None while the game goes on."""
    if isinstance(game, Board):
        return game.outcome.winner if game.outcome else None
    return game.winner


def count(game, depth, counts, first=None):
    """Sequences of moves of a Board or a Bitboard by how many moves it had before and how they end: (plies, result).

    first: only those that begin with this cell.
    """
    for cell in legal(game) if first is None else [first] if first in legal(game) else []:
        game.play(cell)
        counts[len(game.moves), result(game)] += 1
        if depth > 1:
            count(game, depth - 1, counts)
        game.undo()
    return counts


def playable(stones, colour, settings):
    """The places where a colour may play, one by one; black's in renju judged by the rules' own words."""
    height, width, _, rule = settings
    cells = np.zeros((height, width), dtype=np.int8)
    for place, letter in stones.items():
        cells[place] = BLACK if letter == "X" else -BLACK
    for cell in np.flatnonzero(cells == 0).tolist():
        if rule is not Rule.RENJU or colour != BLACK or not forbidden_by_definition(cells, cell):
            yield divmod(cell, width)


def count_by_referee(stones, colour, settings, depth, counts, first=None):
    """The same with the whole-board referee; `first` is a place."""
    for place in list(playable(stones, colour, settings)):
        if first not in (None, place):
            continue
        stones[place] = LETTER[colour]
        ended = winner(stones, *settings)
        if ended is None and not any(True for _ in playable(stones, -colour, settings)):
            ended = 0
        counts[len(stones), ended] += 1
        if depth > 1 and ended is None:
            count_by_referee(stones, -colour, settings, depth - 1, counts)
        del stones[place]
    return counts


def divide(game, depth):
    """For each first move whose sequences differ: what the game counts and what the referee counts."""
    settings = (game.height, game.width, game.win_length, game.rule)
    stones = as_stones(game.as_cells() if isinstance(game, Bitboard) else game.cells)
    report = []
    for cell in range(game.height * game.width):
        got = count(game, depth, Counter(), cell)
        wanted = count_by_referee(stones, game.to_move, settings, depth, Counter(), divmod(cell, game.width))
        if got != wanted:
            name = cell_name(cell, game.height, game.width)
            report.append(f"{name}: {dict(got - wanted)} too many, {dict(wanted - got)} missing")
    return report


def by_ply(counts, start, depth):
    """Counts as COUNTS has them."""
    plies = range(start + 1, start + depth + 1)
    return [tuple(counts[ply, ended] for ended in (None, BLACK, -BLACK, 0)) for ply in plies]


@pytest.mark.parametrize("game_of", [lambda board: board, Bitboard.from_board], ids=["board", "bitboard"])
@pytest.mark.parametrize(("start", "rule", "wanted"), CASES, ids=str)
def test_sequences_of_moves_are_counted(start, rule, wanted, game_of):
    game, depth = game_of(begun(start, rule)), len(wanted)
    got = by_ply(count(game, depth, Counter()), len(game.moves), depth)
    if got != wanted:
        pytest.fail("\n".join([f"{got} instead of {wanted}; by first move:", *divide(game, depth)]))


@pytest.mark.parametrize(("start", "rule"), [(start, rule) for start, rule, _ in CASES[:8]], ids=str)
def test_the_referee_counts_the_same(start, rule):
    assert divide(begun(start, rule), 2) == []


def renju_positions():
    """Positions late in random renju games, black to move, in which some points are forbidden."""
    for seed in range(400):
        rng = random.Random(seed)
        board = Board(6, 7, 5, Rule.RENJU)
        for _ in range(32):
            if board.is_over:
                break
            board.play(rng.choice(legal(board)))
        if not board.is_over and board.forbidden():
            yield board


def test_renju_sequences_are_counted_by_the_literal_rules():
    """Late positions, three plies deep."""
    positions = list(itertools.islice(renju_positions(), 5))
    assert len(positions) == 5
    for board in positions:
        assert divide(board, 3) == [], f"{board!r}"


def test_the_divide_names_the_moves_that_differ(monkeypatch):
    game = Board(3, 3, 2)
    assert divide(game, 3) == []
    monkeypatch.setattr(env.board, "steps", lambda width: (1, width + 1, width + 2, width + 2))  # no /
    report = divide(Board(3, 3, 2), 3)
    assert "b3: {(3, None): 7} too many, {(3, 1): 7} missing" in report
    assert not any(line.startswith(("a3", "c1")) for line in report)


@pytest.mark.parametrize("game_of", [lambda board: board, Bitboard.from_board], ids=["board", "bitboard"])
def test_the_divide_names_a_forbidden_point_that_was_played(game_of, monkeypatch):
    (start, _), rule = COUNTS[0], Rule.RENJU
    for module in (env.board, env.bitboard):  # double fours are let pass
        monkeypatch.setattr(module, "forbidden_points", lambda cells: without_fours(env.renju.forbidden_points(cells)))
        monkeypatch.setattr(module, "forbidden_at", lambda cells, cell: Forbidden(0))
    assert divide(game_of(begun(start, rule)), 1) == ["c4: {(37, None): 1} too many, {} missing"]


def without_fours(points):
    return {cell: kind for cell, kind in points.items() if kind is not Forbidden.DOUBLE_FOUR}
