"""The threat player: what it plays in drawn positions, an older player's faults, every rule and size, strength."""

import random

import numpy as np
import pytest

from env import BLACK, EMPTY, WHITE, Board, IllegalMoveError, Rule
from env.coords import cell_name, parse_cell
from env.renju import forbidden_points
from env.symmetry import apply_cell
from rl.agents import make_agent
from rl.agents.threat import MINE, ORDER, THEIRS, Urgency, candidates, urgency
from rl.arena import compare
from rl.search.prospects import FIVE, FOUR, OPEN_FOUR, THREE, VALUE, Prospects


def board_of(black: str, white: str, size: int = 15, win_length: int = 5, rule: Rule = Rule.FREESTYLE) -> Board:
    board = Board(size, size, win_length, rule)
    stones = [[parse_cell(name, size, size) for name in names.split()] for names in (black, white)]
    while any(stones):
        board.play(stones[0 if board.to_move == BLACK else 1].pop(0))
    return board


def moves(board: Board) -> set[str]:
    return {cell_name(cell, board.height, board.width) for cell in candidates(board)}


@pytest.mark.parametrize(
    ("black", "white", "wanted"),
    [
        # a win before anything else, also where the other side could win too
        ("d8 e8 f8 g8", "d4 e4 f4 g4", "c8 h8"),
        ("d8 e8 g8 h8", "d4 e4 f4 g4", "f8"),
        # an own four is completed before their three is blocked
        ("d8 e8 f8 g8 a1", "c8 d4 e4 f4 o15", "h8"),
        # a gap is seen: XXX_XX, XXX_X, XX_X
        ("c8 d8 e8 g8 h8 a1", "d4 e4 f4 o15 o1 o5", "f8"),
        ("c8 d8 e8 g8", "d4 e4 f4 o15", "f8"),
        ("d8 e8 g8 a1", "d4 e4 a12 o15", "f8"),
        # their five is stopped, through a gap too
        ("d8 e8 f8 a1", "d4 e4 g4 h4", "f4"),
        ("d8 e8 f8 o15", "a4 b4 c4 d4", "e4"),
        # an open four before stopping their open three
        ("d8 e8 f8 a1", "d4 e4 f4 o15", "c8 g8"),
        # two fours at once, a four and a three at once
        ("e8 f8 g8 h5 h6 h7 a1", "d8 h4 a15 c15 e15 g15 o5", "h8"),
        ("e8 f8 g8 h6 h7 a1", "d8 a15 c15 e15 g15 o5", "h8"),
        # two threes at once
        ("f8 g8 h6 h7", "a15 o15 o1 a1", "h8"),
    ],
)
def test_it_plays_what_is_most_urgent(black: str, white: str, wanted: str) -> None:
    board = board_of(black, white)
    assert moves(board) <= set(wanted.split()), moves(board)


def test_an_open_three_is_stopped_on_one_of_its_three_cells() -> None:
    board = board_of("b8 c8 d8", "o15 o1")  # the edge is near: a8 and f8 stop it too
    assert moves(board) <= {"a8", "e8", "f8"}
    board = board_of("e8 f8 g8", "o15 o1")
    assert moves(board) <= {"d8", "h8"}


def test_their_open_four_is_stopped_before_two_threes_of_its_own_are_made() -> None:
    quiet = board_of("f8 g8 h6 h7", "a15 o15 o1 a1")
    assert moves(quiet) == {"h8"}
    threatened = board_of("f8 g8 h6 h7", "c12 d12 e12 a1")
    assert moves(threatened) <= {"b12", "f12"}


def test_their_four_and_three_is_stopped() -> None:
    board = board_of("e8 f8 g8 h6 h7 a1", "d8 a15 c15 o15 g15")  # white to move; black wants h8
    assert moves(board) <= {"h8", "h5", "h9", "h4", "h10", "i8"}
    board.play(candidates(board)[0])
    assert not any(urgent >= Urgency.FOUR_AND_THREE for urgent in urgencies(board))


def urgencies(board: Board) -> list[Urgency]:
    return [urgency(packed) for packed in Prospects(board).of[board.to_move]]


def test_what_cannot_be_stopped_any_more_is_met_with_a_four() -> None:
    """Two open threes at once: one stone stops neither, so white plays the four he has."""
    board = board_of("d8 e8 f8 k12 l12 m12 a1", "c2 d2 e2 a15 c15 o15")
    assert moves(board) <= {"a2", "b2", "f2", "g2"}


def test_blocked_means_stones_as_well_as_edges() -> None:
    """Three with a stone at one end is no open three: white need not stop it and makes his own."""
    blocked = board_of("d8 e8 f8 a1", "c8 l4 m5")
    assert moves(blocked) <= {"k3", "n6", "j2", "o7"}
    open_one = board_of("d8 e8 f8 a1", "a15 l4 m5")
    assert moves(open_one) <= {"c8", "g8"}


@pytest.mark.parametrize(
    ("packed", "wanted"),
    [
        (7, Urgency.QUIET),
        (THREE, Urgency.OPEN_THREE),
        (2 * THREE + 9, Urgency.TWO_THREES),
        (FOUR, Urgency.QUIET),
        (FOUR + THREE, Urgency.FOUR_AND_THREE),
        (2 * FOUR, Urgency.OPEN_FOUR),
        (OPEN_FOUR + THREE, Urgency.OPEN_FOUR),
        (FIVE + 3 * FOUR, Urgency.FIVE),
        (2 * FIVE, Urgency.FIVE),
    ],
)
def test_the_lines_through_a_cell_are_judged_together(packed: int, wanted: Urgency) -> None:
    assert urgency(packed) is wanted


def test_six_in_a_row_wins_or_not_as_the_rule_says() -> None:
    for rule, played in ((Rule.FREESTYLE, {"f8"}), (Rule.STANDARD, {"f4"})):
        board = board_of("c8 d8 e8 g8 h8", "d4 e4 g4 h4", rule=rule)
        board.play(parse_cell("o15", 15, 15))  # white
        assert moves(board) <= played, rule


def test_renju_black_never_plays_a_forbidden_point_and_white_need_not_stop_one() -> None:
    double_three = board_of("f8 g8 h6 h7", "a15 o15 o1 a1", rule=Rule.RENJU)
    assert parse_cell("h8", 15, 15) in double_three.forbidden()
    assert "h8" not in moves(double_three)
    to_white = board_of("f8 g8 h6 h7 o8", "a15 o15 l12 m12", rule=Rule.RENJU)
    assert moves(to_white) <= {"k12", "n12", "j12", "o12"}  # his own three; h8 stops itself
    free = board_of("f8 g8 h6 h7 o8", "a15 o15 l12 m12", rule=Rule.FREESTYLE)
    assert moves(free) <= {"e8", "h8", "i8", "h5", "h9", "d8", "h4", "h10", "j8"}


@pytest.mark.parametrize("rule", Rule)
def test_it_wins_and_stops_wins_in_positions_of_chance(rule: Rule) -> None:
    """Every position in which somebody could win: it wins, or it takes one of the cells that would."""
    rng, seen = random.Random(3), 0
    while seen < 25:
        board = Board(9, 9, 5, rule)
        while not board.is_over and len(board.moves) < 50:
            winning = {colour: wins(board, colour) for colour in (board.to_move, -board.to_move)}
            wanted = winning[board.to_move] or winning[-board.to_move]
            if wanted:
                seen += 1
                assert set(candidates(board)) <= set(wanted)
            board.play(rng.choice(np.flatnonzero(board.legal_mask()).tolist()))


def by_definition(board: Board) -> tuple[object, set[int]]:
    """What is looked for first, and the candidates, by playing every stop on the board and counting what is left."""
    me, legal = board.to_move, np.flatnonzero(board.legal_mask()).tolist()
    of = Prospects(board).of
    barred = forbidden_points(board.cells) if board.rule is Rule.RENJU and me == WHITE else {}
    mine = {cell: urgency(of[me][cell]) for cell in legal}
    theirs = {cell: packed for cell, packed in enumerate(of[-me]) if packed >= THREE}
    dangers = {cell: urgency(packed) for cell, packed in theirs.items() if cell not in barred}
    worth = {cell: (of[me][cell] & VALUE) + (of[-me][cell] & VALUE) for cell in legal}

    def left(stop: int, level: Urgency) -> int:
        after = board.copy()
        after.play(stop)
        theirs = Prospects(after).of[-me]
        return sum(urgency(theirs[cell]) >= level for cell, was in dangers.items() if was >= level)

    found, first = set(legal), None
    for whose, level in ORDER:
        if whose is MINE and level in mine.values():
            found, first = {cell for cell in legal if mine[cell] is level}, (whose, level)
            break
        if whose is THEIRS and level in dangers.values():
            counts = {cell: left(cell, level) for cell in legal if cell in theirs}
            found, first = {cell for cell in counts if counts[cell] == min(counts.values())}, (whose, level)
            fours = {cell for cell in legal if of[me][cell] >= FOUR}
            if level is not Urgency.FIVE and min(counts.values()) and fours:
                found = fours
            break
    return first, {cell for cell in found if worth[cell] == max(worth[other] for other in found)}


@pytest.mark.parametrize("rule", Rule)
def test_each_choice_is_the_first_of_the_order_that_the_board_offers(rule: Rule) -> None:
    rng, seen = random.Random(6), set()
    for _ in range(70):
        board = Board(8, 8, 5, rule)
        for _ in range(rng.randint(4, 18)):
            if not board.is_over:  # stones of chance near the middle, and moves of its own among them
                middle = [cell for cell in np.flatnonzero(board.legal_mask()).tolist() if 1 < cell % 8 < 7]
                board.play(rng.choice(candidates(board)) if rng.random() < 0.4 else rng.choice(middle))
        if not board.is_over:
            first, wanted = by_definition(board)
            assert set(candidates(board)) == wanted, (board, first)
            seen.add(first)
    assert len(seen) >= 8


def wins(board: Board, colour: int) -> list[int]:
    """The cells that the side to move may play and on which `colour` would win, by trying each."""
    found = []
    for cell in np.flatnonzero(board.legal_mask()).tolist():
        cells = board.cells.copy()
        cells.flat[cell] = colour
        for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                row, col = cell // board.width + sign * down, cell % board.width + sign * across
                while 0 <= row < board.height and 0 <= col < board.width and cells[row, col] == colour:
                    run, row, col = run + 1, row + sign * down, col + sign * across
            if board.rule.wins(run, board.win_length, colour):
                found.append(cell)
    return found


@pytest.mark.parametrize(
    ("height", "width", "win_length", "rule"),
    [
        (15, 15, 5, Rule.RENJU),
        (7, 9, 5, Rule.RENJU),
        (3, 3, 3, Rule.FREESTYLE),
        (3, 3, 1, Rule.FREESTYLE),
        (6, 4, 2, Rule.STANDARD),
        (8, 8, 4, Rule.STANDARD),
        (9, 12, 7, Rule.FREESTYLE),
        (3, 20, 6, Rule.STANDARD),
    ],
)
def test_whole_games_on_any_board_by_any_rule(height: int, width: int, win_length: int, rule: Rule) -> None:
    agent, rng = make_agent("threat"), np.random.default_rng(1)
    board = Board(height, width, win_length, rule)
    while not board.is_over:
        before = board.copy()
        cell = agent.choose(board, rng)
        assert board.moves == before.moves
        board.play(cell)
    with pytest.raises(IllegalMoveError, match="game is over"):
        agent.choose(board, rng)


def test_turned_and_mirrored_it_has_the_same_choice() -> None:
    rng = random.Random(4)
    for _ in range(5):
        board = Board(9, 9)
        for _ in range(rng.randint(2, 14)):
            board.play(rng.choice(np.flatnonzero(board.cells == EMPTY).tolist()))
        for k in range(8):
            turned = Board.from_moves([apply_cell(k, cell, 9, 9) for cell in board.moves], 9, 9)
            assert set(candidates(turned)) == {apply_cell(k, cell, 9, 9) for cell in candidates(board)}


def test_equals_are_drawn_from_by_one_number_a_move() -> None:
    agent, board = make_agent("threat"), board_of("h8", "")
    assert len(candidates(board)) == 8  # all round the stone
    rng, twin = np.random.default_rng(5), np.random.default_rng(5)
    played = {agent.choose(board, rng) for _ in range(60)}
    assert played == set(candidates(board))
    twin.random(60)
    assert rng.random() == twin.random()


@pytest.mark.parametrize("rule", Rule)
def test_it_beats_greedy(rule: Rule) -> None:
    result = compare(
        make_agent("threat"),
        make_agent("greedy"),
        40,
        new_board=lambda: Board(rule=rule),
        opening_plies=4,
        rng=np.random.default_rng(2),
    )
    assert result.total.interval[0] > 0.75
    assert result.as_white.wins >= 15
    assert {record.winner for record in result.records} >= {BLACK, WHITE}
