"""Alpha-beta equals plain minimax, with and without its table; and what it must see."""

import numpy as np
import pytest

from env import Board, Rule
from env.coords import parse_cell
from rl.search import transposition
from rl.search.budget import Budget
from rl.search.calm import Menace
from rl.search.ceilings import ThreeMoves, TwoMoves
from rl.search.lookahead import Lookahead
from rl.search.minimax import DRAW, FOURS_AHEAD, WIN, candidates, later, minimax, quiet, winning
from rl.search.rule_file import default_rules
from rl.search.search import Search
from rl.search.threat_board import ThreatBoard
from rl.search.transposition import AT_LEAST, AT_MOST, EXACT, Found, Transpositions, seen_from

RULES = default_rules()


def both(board, depth):
    """The worth with and without the table, and at the end of iterative deepening."""
    worths = {Search(board, RULES, Budget(), remember=remember).worth(depth) for remember in (True, False)}
    last = list(Search(board, RULES, Budget()).deepen(depth))[-1]
    if last.depth == depth:
        worths.add(last.worth)
    return worths


def test_every_position_of_tic_tac_toe_is_worth_what_minimax_says():
    """To the end of the game, so that nothing but the rules counts: all 4,520 positions that go on."""
    known = {}

    def worth(board):
        key = board.cells.tobytes()
        if key not in known:
            if board.outcome is not None:
                known[key] = -WIN if board.outcome.winner else DRAW
                return known[key]
            values = []
            for cell in np.flatnonzero(board.legal_mask()).tolist():
                board.play(cell)
                values.append(later(-worth(board)))
                board.undo()
            known[key] = max(values)
            left = 9 - len(board.moves)
            assert Search(board, RULES, Budget()).worth(left) == known[key]
            if len(board.moves) > 2:
                assert Search(board, RULES, Budget(), remember=False).worth(left) == known[key]
        return known[key]

    assert worth(Board(3, 3, 3)) == DRAW
    assert len(known) == 5478


def position(rng, rule, sizes, lengths, most_empty):
    """A random game on a small board that goes on, with at most so many cells empty."""
    while True:
        height, width = (int(side) for side in rng.choice(sizes, 2))
        win_length = int(rng.choice(lengths))
        if win_length > max(height, width):
            continue
        board = Board(height, width, win_length, rule)
        empty = int(rng.integers(1, most_empty + 1))
        while board.outcome is None and height * width - len(board.moves) > empty:
            board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if board.outcome is None:
            return board


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("rule", list(Rule))
def test_on_small_boards_it_equals_minimax_at_every_depth(rule, depth):
    rng = np.random.default_rng(depth)
    lengths = [5] if rule is Rule.RENJU else [3, 4, 5]
    most_empty = {1: 18, 2: 14, 3: 10, 4: 8}[depth]
    for _ in range({1: 6, 2: 5, 3: 4, 4: 3}[depth]):
        board = position(rng, rule, [4, 5, 6] if rule is not Rule.RENJU else [5, 6], lengths, most_empty)
        assert both(board, depth) == {minimax(board, depth, RULES)}, (board, depth)


@pytest.mark.parametrize("rule", list(Rule))
def test_nothing_that_is_left_out_changes_the_worth_on_larger_boards(rule, monkeypatch):
    """Where plain minimax would take too long: iterative deepening, so that the table holds what other depths found."""
    rng = np.random.default_rng(3)
    boards = []
    while len(boards) < 5:
        board = Board(9, 9, 5, rule)
        for _ in range(int(rng.integers(6, 16))):
            board.play(int(rng.choice(candidates(board))))
        boards.append(board)

    def worths(remember):
        deepened = [Search(board, RULES, Budget(), remember=remember).deepen(4) for board in boards]
        return [[insight.worth for insight in insights] for insights in deepened]

    wanted = worths(True)
    assert worths(False) == wanted
    monkeypatch.setattr(TwoMoves, "hold", lambda *_: False)
    assert worths(True) == wanted
    monkeypatch.setattr(ThreeMoves, "hold", lambda *_: False)
    assert worths(True) == wanted
    monkeypatch.setattr(Menace, "end", lambda *_: None)
    assert worths(True) == wanted
    monkeypatch.setattr(Lookahead, "doublers", lambda *_: [])  # nor that of moves that lose to two ways to complete
    assert worths(True) == wanted


@pytest.mark.parametrize("depth", [2, 3])
def test_the_worth_is_that_of_the_best_first_move(depth):
    """Searched alone, each move has the whole window; together, all but one are asked first whether they are better."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        board = Board(8, 8, 5)
        for _ in range(7):
            board.play(int(rng.choice(candidates(board))))
        first = candidates(board)
        alone = []
        for cell in first:
            search = Search(board, RULES, Budget())
            search.barred = {*first} - {cell}
            alone.append(search.worth(depth))
        assert Search(board, RULES, Budget()).worth(depth) == max(alone)
        assert len({*alone}) > 3


@pytest.mark.parametrize("rule", list(Rule))
def test_exchanges_of_fours_at_the_end_of_the_depth_are_those_of_the_definition(rule):
    """Positions in which the side to move has several fours to make, and cannot win at once."""
    rng = np.random.default_rng(6)
    asked = 0
    while asked < 8:
        board = Board(9, 9, 5, rule)
        for _ in range(int(rng.integers(24, 40))):
            quiet_cells = sorted({*np.flatnonzero(board.legal_mask()).tolist()} - {*winning(board, board.to_move)})
            board.play(int(rng.choice(quiet_cells)))
        ground = ThreatBoard(board)
        if ground.fives(board.to_move) or ground.fives(-board.to_move) or len(ground.fours(board.to_move)) < 4:
            continue
        asked += 1
        for fours in (0, 1, FOURS_AHEAD):
            found = Search(board, RULES, Budget())._quiet(0, board.to_move, -2 * WIN, 2 * WIN, fours)
            assert found == quiet(board, fours, RULES, len(board.moves)), (board, fours)


def test_only_what_was_found_at_the_same_depth_is_looked_up():
    """A table full of lies about other depths changes nothing, nor do bounds that say nothing; others would."""
    board = Board.from_moves([40, 41, 50, 30], 9, 9, 5)
    mine, theirs = board.to_move, -board.to_move
    clean = Search(board, RULES, Budget()).worth(4)
    lies = [(1, EXACT, 10**9), (3, EXACT, 10**9), (2, AT_MOST, 10**9), (2, AT_MOST, clean + 1), (2, AT_LEAST, -(10**9))]
    for depth, bound, lie in [*lies, (2, EXACT, 10**9), (2, AT_LEAST, 10**9)]:
        search = Search(board, RULES, Budget())
        look = search.look
        for first in look.candidates(0, mine):
            look.play(0, first, mine)
            for second in look.candidates(1, theirs):
                look.play(1, second, theirs)
                search._table.keep(look.levels[2].key, Found(depth, bound, lie, first))
        assert (search.worth(4) == clean) is ((depth, bound, lie) in lies), (depth, bound, lie)


def test_a_win_is_counted_from_the_position_where_it_is_looked_up():
    assert seen_from(WIN - 3, 2) == WIN - 1 and seen_from(WIN - 3, -2) == WIN - 5
    assert seen_from(3 - WIN, 2) == 1 - WIN and seen_from(3 - WIN, -2) == 5 - WIN
    assert seen_from(1234, 2) == 1234


def test_a_full_table_forgets_everything_and_the_worth_stays(monkeypatch):
    board = Board.from_moves([40, 41, 50, 30], 9, 9, 5)
    wanted = Search(board, RULES, Budget()).worth(3)
    monkeypatch.setattr(transposition, "MOST_KEPT", 2)
    table = Transpositions()
    for key in range(3):
        table.keep(key, Found(1, EXACT, 0, 0))
    assert list(table) == [2]
    search = Search(board, RULES, Budget())
    assert search.worth(3) == wanted and len(search._table) <= 2


def test_a_width_leaves_the_most_promising_candidates(monkeypatch):
    board = Board.from_moves([40, 41, 50, 30], 9, 9, 5)
    search = Search(board, RULES, Budget(), width=3)
    tried, play = set(), search.look.play

    def watched(k, cell, colour):
        tried.update([cell] if k == 0 else [])
        play(k, cell, colour)

    monkeypatch.setattr(search.look, "play", watched)
    search.worth(3)
    assert tried == set(search.look.candidates(0, board.to_move)[:3])


def test_a_four_that_black_may_not_stop_has_won():
    """White's e8 makes the four b8 to e8; black would make six in a row at f8."""
    names = ["a8", "b8", "f5", "c8", "f6", "d8", "f7", "o1", "f10", "m1", "f9", "e8"]
    board = Board.from_moves([parse_cell(name, 15, 15) for name in names], rule=Rule.RENJU)
    assert Search(board, RULES, Budget()).worth(1) == Search(board, RULES, Budget()).worth(2) == 2 - WIN
    board.undo()
    assert Search(board, RULES, Budget()).worth(1) == WIN - 3  # seen at the end of the depth
    free = Board.from_moves(board.moves, rule=Rule.STANDARD)
    assert Search(free, RULES, Budget()).worth(1) < WIN - 3
