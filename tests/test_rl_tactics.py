"""The tactical suite asks what it says: wins to take, and exactly one threat to block."""

import numpy as np
import pytest

from env import Board, Rule
from env.lockstep import Lockstep
from env.observation import positions_of
from rl.agents import Agent, GreedyAgent, RandomAgent
from rl.tactical_suite import make_suite
from rl.tactics import PuzzleError, completing_cells, make_puzzles, winning_cells


def by_trying(board, colour):
    """Cells where a stone of `colour` would win, by putting one there."""
    found = []
    for cell in np.flatnonzero(board.legal_mask()):
        cells = board.cells.copy()
        cells.ravel()[cell] = colour
        row, col = divmod(int(cell), board.width)
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            run = 1
            for sign in (1, -1):
                r, c = row + sign * dr, col + sign * dc
                while 0 <= r < board.height and 0 <= c < board.width and cells[r, c] == colour:
                    run, r, c = run + 1, r + sign * dr, c + sign * dc
            if board.rule.wins(run, board.win_length, colour):
                found.append(int(cell))
                break
    return found


@pytest.mark.parametrize("rule", [Rule.FREESTYLE, Rule.STANDARD])
@pytest.mark.parametrize(("height", "width", "win_length"), [(6, 6, 4), (5, 8, 3), (9, 9, 5)])
def test_winning_cells_equal_trying_every_cell(rule, height, width, win_length):
    rng = np.random.default_rng(height)
    boards = []
    while len(boards) < 60:
        board = Board(height, width, win_length, rule)
        for _ in range(int(rng.integers(6, height * width - 2))):
            if board.outcome is None:
                board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if board.outcome is None:
            boards.append(board)
    own = winning_cells(positions_of(boards), of_mover=True)
    other = winning_cells(positions_of(boards), of_mover=False)
    assert own.any() and other.any()
    for i, board in enumerate(boards):
        assert np.flatnonzero(own[i]).tolist() == by_trying(board, board.to_move)
        assert np.flatnonzero(other[i]).tolist() == by_trying(board, -board.to_move)


def test_an_overline_completes_only_where_it_wins():
    stones = np.zeros((1, 1, 9), dtype=bool)
    stones[0, 0, [1, 2, 3, 5, 6]] = True  # . X X X _ X X . .
    assert np.flatnonzero(completing_cells(stones, 4, exact=False)[0, 0]).tolist() == [0, 4]
    assert completing_cells(stones, 5, exact=False)[0, 0, 4]
    assert not completing_cells(stones, 5, exact=True)[0, 0, 4]


def six_by_six(count):
    return Lockstep(count, 6, 6, win_length=4)


def test_puzzles_are_positions_of_their_kind_and_can_be_set_up_in_lockstep():
    wins, blocks = make_puzzles(six_by_six, 50, np.random.default_rng(2))
    for puzzles, of_mover in ((wins, True), (blocks, False)):
        boards = puzzles.boards(lambda: Board(6, 6, win_length=4))
        assert len(puzzles) == len(boards) == 50
        for board in boards:
            own, other = by_trying(board, board.to_move), by_trying(board, -board.to_move)
            assert own if of_mover else (not own and len(other) == 1)
        games = six_by_six(60)
        puzzles.set_up(games, np.arange(5, 55))
        assert np.array_equal(games.cells[5:55], np.stack([board.cells for board in boards]))
        assert not games.plies[:5].any() and not games.plies[55:].any() and not games.over.any()


def test_drawing_puzzles_repeats_with_the_seed_and_covers_them():
    wins, _ = make_puzzles(six_by_six, 20, np.random.default_rng(3))
    one, two = (wins.draw(500, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.moves, two.moves)
    assert len(np.unique(one.moves, axis=0)) == len(np.unique(wins.moves, axis=0))


class Knows(Agent):
    """Always right: wins if it can, else blocks."""

    name = "knows"

    def choose(self, board, rng):
        own, other = by_trying(board, board.to_move), by_trying(board, -board.to_move)
        return (own or other or [int(np.flatnonzero(board.legal_mask())[0])])[0]


def test_the_suite_tells_a_seeing_agent_from_a_blind_one():
    suite = make_suite(six_by_six, 60, np.random.default_rng(0))
    assert len(suite.boards["win_in_one"]) == len(suite.boards["block_in_one"]) == 60
    for board in suite.boards["win_in_one"]:
        assert by_trying(board, board.to_move)
    for board in suite.boards["block_in_one"]:
        assert not by_trying(board, board.to_move) and len(by_trying(board, -board.to_move)) == 1
    rng = np.random.default_rng(1)
    assert suite.score(Knows(), rng) == {"win_in_one": 1.0, "block_in_one": 1.0}
    blind = suite.score(RandomAgent(), rng)
    assert blind["win_in_one"] < 0.4 and blind["block_in_one"] < 0.3
    assert suite.score(GreedyAgent(), rng)["block_in_one"] == 1.0


def test_a_game_with_too_few_puzzles_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("rl.tactics.MOST_ROUNDS", 1)
    with pytest.raises(PuzzleError, match="threat to block"):
        make_puzzles(six_by_six, 100_000, np.random.default_rng(0))
