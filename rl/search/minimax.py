"""What a position is worth so many moves ahead, by trying everything: what rl/search/search.py must equal.
It plays on a Board, counts each line afresh, and prunes nothing, so it is slow and short.

      worth(position, depth) = the best over the candidates of -worth(position after the move, depth - 1)

with the end of the game and the end of the depth as the two ways out. Values are for the side to move, in hundredths of
a point. A win is WIN - n, n the moves until it stands on the board, so that the quicker win is worth more and the
slower loss less bad; a draw is 0.
"""

from __future__ import annotations

import numpy as np

from env import EMPTY, Board
from env.bitboard import Bitboard
from rl.search.account import EvaluationRules, centre_factor
from rl.search.evaluation import Kind, line_findings
from rl.search.line_codes import lines_of
from rl.search.line_values import POINT, line_worths

WIN = 10**12
DECIDED = WIN - 10**6  # from here on a value means a win
DRAW = 0
REACH = 2  # a cell farther than this from every stone, in steps of a chess king, is no candidate ...
SMALL = 36  # ... unless the board has no more cells than this
FOURS_AHEAD = 3  # how many fours the quiet search tries in a row


def minimax(board: Board, depth: int, rules: EvaluationRules, moves: int | None = None) -> int:
    """Return the worth of a position to the side to move, `depth` moves ahead.

    moves is the number of moves after which the rules' weights are taken: those of the position asked about, all
    through the search.
    """
    moves = len(board.moves) if moves is None else moves
    if board.outcome is not None:
        return -WIN if board.outcome.winner else DRAW
    if depth == 0:
        return quiet(board, FOURS_AHEAD, rules, moves)
    values = []
    for cell in candidates(board):
        board.play(cell)
        values.append(later(-minimax(board, depth - 1, rules, moves)))
        board.undo()
    return max(values)


def quiet(board: Board, fours: int, rules: EvaluationRules, moves: int) -> int:
    """Return the worth at the end of the depth: `static`, but not in the middle of an exchange of fours.

    A win on the next move is taken and the opponent's is stopped; otherwise the side to move may let the position
    stand or make a four that is `promising`, at most `fours` of them in a row.
    """
    if board.outcome is not None:
        return -WIN if board.outcome.winner else DRAW
    if winning(board, board.to_move):
        return later(WIN)
    legal = np.flatnonzero(board.legal_mask()).tolist()
    must = winning(board, -board.to_move)
    if must:
        if len(must) > 1 or must[0] not in legal:
            return -later(later(WIN))
        tries, best = must, -WIN
    else:
        tries, best = legal if fours else [], static(board, rules, moves)
    for cell in tries:
        board.play(cell)
        if must or promising(board, cell):
            best = max(best, later(-quiet(board, fours if must else fours - 1, rules, moves)))
        board.undo()
    return best


def static(board: Board, rules: EvaluationRules, moves: int) -> int:
    """Return what stands on the board, to the side to move: the part of the account that lines decide, and the centre.

    It is the sum of rl/search/account.py's `explain`, but for open twos and threes: see `line_worths`.
    """
    worths = rules.worths(moves)
    by_kind = line_worths(worths)
    cells = [int(colour) for colour in board.cells.flat]
    total = 0
    for line in lines_of(board.height, board.width, board.win_length):
        found = line_findings([cells[cell] for cell in line], board.win_length, board.rule)
        total += sum(finding.colour * by_kind[finding.kind] for finding in found)
    for cell, colour in enumerate(cells):
        near = centre_factor(cell, board.height, board.width, moves)
        total += colour * round(POINT * worths["centre"] * near)
    return total * board.to_move


def candidates(board: Board) -> list[int]:
    """Return the legal cells within reach of a stone; all legal ones if there is no such cell or the board is small."""
    legal = np.flatnonzero(board.legal_mask()).tolist()
    rows, cols = np.nonzero(board.cells)
    near = [
        cell
        for cell in legal
        if np.any((abs(rows - cell // board.width) <= REACH) & (abs(cols - cell % board.width) <= REACH))
    ]
    return legal if board.cells.size <= SMALL or not near else near


def winning(board: Board, colour: int) -> list[int]:
    """Return the empty cells where `colour` completes a win, whoever is to move."""
    bits = Bitboard.from_board(board)
    return bits.cells_of(bits.winning(colour))


def promising(board: Board, cell: int) -> bool:
    """Whether the stone just put on `cell` makes a four that the other side's stop does not quite settle.

    It makes a four on some line, and leaves two cells to complete on one, or comes near a four on two: some win_length
    cells in a row, free of the other colour, lack two stones or fewer.
    """
    colour, length = -board.to_move, board.win_length
    completing = set(winning(board, colour))
    if not completing:
        return False
    near = 0
    for line in lines_of(board.height, board.width, length):
        if cell in line:
            cells = [int(board.cells.flat[place]) for place in line]
            windows = [cells[start : start + length] for start in range(len(line) - length + 1)]
            covers = [start <= line.index(cell) < start + length for start in range(len(windows))]
            near += any(
                covered and -colour not in window and window.count(colour) >= length - 2
                for window, covered in zip(windows, covers, strict=True)
            )
            near += sum(_completes(cells, place, board, colour) for place in range(len(line))) >= 2
    return near >= 2


def _completes(cells: list[int], place: int, board: Board, colour: int) -> bool:
    """Whether one more stone of `colour` on a place of a line makes a five on it."""
    grown = [*cells[:place], colour, *cells[place + 1 :]]
    found = line_findings(grown, board.win_length, board.rule)
    return cells[place] == EMPTY and any(f.kind is Kind.FIVE and place in f.positions for f in found)


def later(value: int) -> int:
    """Return a value one move further from the board: a win or a loss counts one less."""
    return value - 1 if value > DECIDED else value + 1 if value < -DECIDED else value
