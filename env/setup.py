"""A position given as stones instead of moves: an order in which they can have been played.

Editors set positions up and match managers send them so, but a Board knows only games that black begins, in which the
colours alternate and nobody plays on after a five.
"""

from collections.abc import Sequence

from env.board import Board
from env.rules import BLACK, WHITE, IllegalMoveError


def play_setup(board: Board, black: Sequence[int], white: Sequence[int]) -> bool:
    """Play the stones on an empty board, and say whether it went; if not, the board is empty again.

    There are as many black as white stones, or one more. Each colour's are played in their order as far as can be: a
    stone that would end the game too early, or is forbidden at that time, waits for a later turn. If that leaves the
    wrong one for the end, each stone is tried as the last. The last stone may end the game.
    """
    last_to_place = black if len(black) > len(white) else white
    return any(_play_waiting(board, black, white, last) for last in (None, *last_to_place))


def _play_waiting(board: Board, black: Sequence[int], white: Sequence[int], last: int | None) -> bool:
    """Play the stones in turn, `last` last, each as early in its order as it can be; take all back if that fails."""
    waiting = {BLACK: list(black), WHITE: list(white)}
    left = len(black) + len(white)
    while left:
        left -= 1
        own = waiting[board.to_move]
        for cell in own:
            if left and cell == last:
                continue
            try:
                board.play(cell)
            except IllegalMoveError:
                continue
            if left and board.is_over:
                board.undo()
                continue
            own.remove(cell)
            break
        else:
            while board.moves:
                board.undo()
            return False
    return True
