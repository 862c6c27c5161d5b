"""A position given as stones instead of moves: an order in which they can have been played.

Editors set positions up and match managers send them so, but a Board knows only games that black begins, in which the
colours alternate and nobody plays on after a five.
"""

from collections.abc import Sequence

from env.board import Board
from env.rules import BLACK, WHITE, IllegalMoveError


def play_setup(board: Board, black: Sequence[int], white: Sequence[int]) -> bool:
    """Play the stones on an empty board, and say whether it went; if not, the board is empty again.

    There are as many black as white stones, or one more. Each colour's are played in their order, except that a stone
    forbidden at that time waits for a later turn, and that the one which ends the game, if any does, is the last: all
    are tried as that.
    """
    ends = black if len(black) > len(white) else white
    return any(_play_in_turn(board, black, white, last) for last in reversed(ends))


def _play_in_turn(board: Board, black: Sequence[int], white: Sequence[int], last: int) -> bool:
    """Play the stones in turn, `last` last; take all back if that fails."""
    waiting = {BLACK: list(black), WHITE: list(white)}
    while own := waiting[board.to_move]:
        for cell in own:
            try:
                if cell != last or len(waiting[BLACK]) + len(waiting[WHITE]) == 1:
                    board.play(cell)
                    own.remove(cell)
                    break
            except IllegalMoveError:
                continue
        else:
            break
    if len(board.moves) == len(black) + len(white):
        return True
    while board.moves:
        board.undo()
    return False
