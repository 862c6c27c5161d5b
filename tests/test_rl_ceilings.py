"""What is read off without playing, by rl/search/calm.py and ceilings.py, against the definition that plays it all."""

from functools import partial

import numpy as np
import pytest

from env import Board, Rule
from rl.search.budget import Budget
from rl.search.calm import Menace, most_when_stopped
from rl.search.ceilings import ThreeMoves, TwoMoves
from rl.search.minimax import FOURS_AHEAD, WIN, candidates, minimax, quiet, static, winning
from rl.search.rule_file import default_rules
from rl.search.search import Search
from rl.search.stretches import THREES, UNIT

RULES = default_rules()


def lookahead(board):
    return Search(board, RULES, Budget()).look


def positions(rng, rule, count, size, stones):
    """Games that go on, in which nobody can win at once."""
    found = 0
    while found < count:
        board = Board(*size, 5, rule)
        for _ in range(int(rng.integers(*stones))):
            board.play(int(rng.choice(candidates(board))))
            if board.is_over:
                break
        if not board.is_over and not winning(board, board.to_move) and not winning(board, -board.to_move):
            found += 1
            yield board


def highest(holds):
    """The least change that a bound holds for, or None if it holds for none: it must hold for all above."""
    if not holds(10**7):
        return None
    low, high = -(10**7), 10**7
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize(("ceilings", "depth"), [(TwoMoves, 2), (ThreeMoves, 3)])
def test_ceilings_are_never_below_what_the_moves_bring(rule, ceilings, depth):
    """One answer after which the side that has moved gets no more is enough: the most promising are tried first."""
    rng = np.random.default_rng(depth)
    bounded = exact = 0
    for board in positions(rng, rule, 40, (9, 9) if depth == 2 else (7, 7), (3, 14)):
        if bounded == (30 if depth == 2 else 3):
            break
        moves, colour = len(board.moves), board.to_move
        look = lookahead(board)
        found = ceilings(look, 0, colour)
        if not found.are_known or look.near_the_end(1):
            continue
        here = static(board, RULES, moves)
        sharp = [(cell, highest(partial(found.hold, cell))) for cell in rng.permutation(candidates(board)).tolist()]
        for cell, change in [each for each in sharp if each[1] is not None][:2]:
            board.play(cell)
            for answer in lookahead(board).candidates(0, -colour):
                board.play(answer)
                worth = minimax(board, depth - 2, RULES, moves)
                board.undo()
                exact += worth == here + change
                if worth <= here + change:
                    break
            else:
                pytest.fail(f"{cell} brings more than {change} at {board}")
            board.undo()
            bounded += 1
    assert bounded >= 3 and exact


@pytest.mark.parametrize("rule", list(Rule))
def test_three_moves_ahead_nothing_is_said_where_a_four_may_be_made(rule):
    rng = np.random.default_rng(9)
    near = able = 0
    for board in positions(rng, rule, 40, (9, 9), (6, 24)):
        look, colour = lookahead(board), board.to_move
        found = ThreeMoves(look, 0, colour)
        assert found.are_known is not any(look.gain(0, colour, cell) & THREES - 1 for cell in candidates(board))
        able += not found.are_known
        for cell in candidates(board):
            if look.gain(0, colour, cell) & UNIT - 1:
                near += 1
                assert not found.hold(cell, 10**7)
    assert near and able


@pytest.mark.parametrize("rule", list(Rule))
def test_a_move_that_ends_the_menace_brings_its_gain_exactly(rule):
    rng = np.random.default_rng(7)
    ended = fours = 0
    for board in positions(rng, rule, 45, (8, 8), (14, 30)):
        moves, colour = len(board.moves), board.to_move
        look = lookahead(board)
        menace = Menace(look, 0, -colour)
        if not menace.cells or look.near_the_end(0):
            continue
        for cell in candidates(board):
            look.play(0, cell, colour)
            assert menace._ends(cell) is not bool(Menace(look, 1, -colour).cells), (board, cell)
        fours += len(look.fours(0, colour))
        found = menace.end(-(10**4))
        if found:
            cell, gain = found
            assert cell in candidates(board) and cell not in look.fours(0, colour)
            assert menace.end(gain + 1) is None or menace.end(gain + 1)[1] > gain
            board.play(cell)
            assert -quiet(board, FOURS_AHEAD, RULES, moves) == static_before(board, moves) + gain, (board, cell)
            board.undo()
            ended += 1
    assert ended > 5 and fours


def static_before(board, moves):
    """The worth, to the side that has just moved, of the position as it stood before."""
    cell = board.moves[-1]
    board.undo()
    worth = static(board, RULES, moves)
    board.play(cell)
    return worth


@pytest.mark.parametrize("rule", list(Rule))
def test_the_only_stop_to_a_win_is_worth_no_more_than_what_it_is_said_to_be(rule):
    rng = np.random.default_rng(8)
    stopped = exact = 0
    while stopped < 3:
        board = Board(7, 8, 5, rule)
        for _ in range(int(rng.integers(14, 30))):
            calm = [cell for cell in candidates(board) if cell not in winning(board, board.to_move)]
            board.play(int(rng.choice(calm)))
        stops = winning(board, -board.to_move)
        look = lookahead(board)
        if winning(board, board.to_move) or len(stops) != 1 or not look.legal(0, board.to_move, stops):
            continue
        most = most_when_stopped(look, 0, board.to_move, stops[0])
        if most < WIN:
            worth = minimax(board, 1, RULES)
            assert worth <= most, board
            stopped += 1
            exact += worth == most
    assert exact
