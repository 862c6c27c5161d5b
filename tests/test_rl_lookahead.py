"""The lookahead: what it keeps move by move equals what is counted afresh, and what the rules' account says."""

import numpy as np
import pytest

from env import BLACK, WHITE, Board, Rule
from env.renju import forbidden_points
from rl.search.account import explain
from rl.search.evaluation import Kind, line_findings
from rl.search.line_codes import lines_of
from rl.search.line_values import BLACK_WINS, COUNT, POINT, WHITE_WINS, WORTH, LineValues, line_worths
from rl.search.lookahead import Lookahead
from rl.search.minimax import candidates, promising, static, winning
from rl.search.rule_file import default_rules
from rl.search.stretches import UNIT

RULES = default_rules()
VALUES = {rule: LineValues(5, rule, line_worths(RULES.worths(0))) for rule in Rule}
SIZES = [(6, 6), (9, 7), (15, 15), (5, 12)]


def random_move(rng, board):
    """A legal cell, mostly near the stones so that lines meet."""
    legal = candidates(board) if rng.random() < 0.8 else np.flatnonzero(board.legal_mask())
    return int(rng.choice(legal))


def random_position(rng, rule, most, sizes=SIZES):
    """A game that goes on, up to `most` moves old."""
    board = Board(*sizes[int(rng.integers(len(sizes)))], 5, rule)
    for _ in range(int(rng.integers(most))):
        board.play(random_move(rng, board))
        if board.is_over:
            board.undo()
            break
    return board


def assert_same(level, other):
    assert np.array_equal(level.gains, other.gains)
    assert (level.tally, level.key) == (other.tally, other.key)
    assert np.array_equal(level.near, other.near)
    assert [line.code for line in level.lines] == [line.code for line in other.lines]


def test_what_is_kept_equals_recomputation_over_a_thousand_games_with_moves_taken_back():
    """The centre is left out here, since it fades with the moves on the board that one begins from."""
    rng = np.random.default_rng(1)
    for game in range(1000):
        board = Board(*(SIZES[game % 4] if game < 200 else (6, 6)), 5, list(Rule)[game % 3])
        values = VALUES[board.rule]
        look = Lookahead(board, values, centre=0)
        for _ in range(int(rng.integers(4, 20))):
            k = len(board.moves)
            if k and rng.random() < 0.35:
                board.undo()
            elif not board.is_over:
                cell = random_move(rng, board)
                look.play(k, cell, board.to_move)
                board.play(cell)
        if board.is_over:
            board.undo()
        assert_same(look.levels[len(board.moves)], Lookahead(board, values, centre=0).levels[0])


@pytest.mark.parametrize("rule", list(Rule))
def test_tally_and_gains_are_the_static_worth_of_the_position_and_of_its_children(rule):
    rng = np.random.default_rng(2)
    for _ in range(12):
        board = random_position(rng, rule, 50)
        moves = len(board.moves)
        look = Lookahead(board, VALUES[rule], RULES.worths(moves)["centre"])
        for k in range(3):
            colour = board.to_move
            level = look.levels[k]
            here = colour * (level.tally >> WORTH)
            assert here == static(board, RULES, moves)
            gains = level.black if colour == BLACK else level.white
            wins = winning(board, colour)
            assert look.winning(k, colour) == wins
            assert look.winning(k, -colour) == winning(board, -colour)
            assert (level.tally >> BLACK_WINS & COUNT > 0) == bool(winning(board, BLACK))
            assert (level.tally >> WHITE_WINS & COUNT > 0) == bool(winning(board, WHITE))
            for cell in rng.permutation(candidates(board))[:5].tolist():
                if cell not in wins:
                    board.play(cell)
                    assert here + gains[cell] // UNIT == -static(board, RULES, moves)
                    board.undo()
            cell = random_move(rng, board)
            look.play(k, cell, colour)
            board.play(cell)
            if board.is_over:
                break


@pytest.mark.parametrize("rule", list(Rule))
def test_candidates_fours_and_forbidden_cells_are_those_of_the_board(rule):
    rng = np.random.default_rng(3)
    for _ in range(20):
        board = random_position(rng, rule, 70)
        look = Lookahead(board, VALUES[rule], 10)
        colour = board.to_move
        wanted = candidates(board)
        assert sorted(look.candidates(0, colour)) == wanted
        by_gain = look.by_gain(0, colour)
        assert sorted(cell for cell, _ in by_gain) == wanted
        assert [gain for _, gain in by_gain] == sorted((gain for _, gain in by_gain), reverse=True)
        assert not board.moves or look.best_gain(0, colour)[1] == by_gain[0][1]
        forbidden = forbidden_points(board.cells) if rule is Rule.RENJU else {}
        empty = np.flatnonzero(board.cells == 0).tolist()
        assert {cell for cell in empty if look.renju and look.forbidden(0, cell)} == set(forbidden)
        if not winning(board, colour):
            fours = []
            for cell in np.flatnonzero(board.legal_mask()).tolist():
                board.play(cell)
                if winning(board, colour):
                    fours.append(cell)
                board.undo()
            assert sorted(look.fours(0, colour)) == fours
            wanted = []
            for cell in fours[:6]:
                board.play(cell)
                if promising(board, cell):
                    wanted.append(cell)
                board.undo()
            assert [cell for cell in fours[:6] if cell in look.fours(0, colour, promising=True)] == wanted


def test_the_static_worth_is_the_account_but_for_twos_and_threes():
    rng = np.random.default_rng(4)
    for rule in Rule:
        for _ in range(10):
            board = random_position(rng, rule, 60, SIZES[:2])
            moves = len(board.moves)
            entries = [entry for entry in explain(board, RULES) if entry.rule != "double_open_two"]
            account = POINT * sum(entry.amount * (0.25 if entry.rule == "open_three" else 1) for entry in entries)
            half = POINT * RULES.worths(moves)["double_open_two"] / 2
            cells = [int(colour) for colour in board.cells.flat]
            for line in lines_of(board.height, board.width, 5):
                for finding in line_findings([cells[cell] for cell in line], 5, rule):
                    account += board.to_move * finding.colour * half * (finding.kind is Kind.OPEN_TWO)
            rounded = moves / 2 + 1e-6  # the centre, stone by stone
            assert abs(static(board, RULES, moves) - account) <= rounded


def test_on_the_empty_board_every_cell_is_a_candidate_and_the_middle_comes_first():
    for size, middle in ((15, 112), (9, 40), (6, None)):
        look = Lookahead(Board(size, size), VALUES[Rule.FREESTYLE], 10)
        cells = look.candidates(0, BLACK)
        assert sorted(cells) == list(range(size * size))
        assert middle is None or cells[0] == middle


def test_a_region_confines_the_candidates_unless_none_would_be_left():
    board = Board.from_moves([112, 113, 114])
    region = np.zeros(225, dtype=bool)
    region[[97, 98, 0]] = True
    look = Lookahead(board, VALUES[Rule.FREESTYLE], 10, region)
    assert sorted(look.candidates(0, WHITE)) == [97, 98]
    look.play(0, 97, WHITE)
    assert look.candidates(1, BLACK) == [98]
    region[:] = False
    assert len(Lookahead(board, VALUES[Rule.FREESTYLE], 10, region).candidates(0, WHITE)) > 20
