import json
from pathlib import Path

from env import BLACK, WHITE, Board, IllegalMoveError

PARITY = Path(__file__).parent / "data" / "parity"
COLOUR_NUMBER = {BLACK: 1, WHITE: 2, 0: 0}


def test_every_step_of_the_java_games_is_taken_or_refused_alike():
    """env.json: moves off the board, on stones and after the end are refused and change nothing."""
    games = json.loads((PARITY / "env.json").read_text())["games"]
    assert len(games) > 10
    for number, game in enumerate(games):
        board = Board()
        for step_number, step in enumerate(game["steps"]):
            where = f"game {number} ({game['kind']}), step {step_number}: {step}"
            if step[0] == "reset":
                board = Board()
                wanted = step[1:]
            else:
                row, col, accepted, *wanted = step
                before = (board.cells.tobytes(), list(board.moves), board.to_move, board.outcome)
                try:
                    # Java checks row and column; a column off the board has no cell number here.
                    board.play(row * 15 + col if 0 <= col < 15 else -1)
                    played = 1
                except IllegalMoveError:
                    played = 0
                    assert (board.cells.tobytes(), board.moves, board.to_move, board.outcome) == before, where
                assert played == accepted, where
            winner = COLOUR_NUMBER[board.outcome.winner] if board.outcome else 0
            assert [winner, int(board.is_over), COLOUR_NUMBER[board.to_move], len(board.moves)] == wanted, where
        digits = "".join(str(COLOUR_NUMBER[int(stone)]) for stone in board.cells.ravel())
        assert digits == game["board"], f"game {number} ({game['kind']})"
