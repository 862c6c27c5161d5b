"""The referee and the arena: legal, replayable, fair to both colours, and honest about uncertainty."""

import re

import numpy as np
import pytest

from env import BLACK, WHITE, Board, IllegalMoveError, Rule
from env.coords import parse_cell
from env.record import GameRecord
from rl.agents import Agent, AgentSpecError, GreedyAgent, RandomAgent, make_agent
from rl.arena import ArenaError, Tally, compare, random_opening, wilson_interval
from rl.match import play_game, play_games


def small():
    return Board(6, 6, win_length=4)


class FirstCell(Agent):
    name = "first"

    def choose(self, board, rng):
        return int(np.flatnonzero(board.legal_mask())[0])


class Cheat(Agent):
    name = "cheat"

    def choose(self, board, rng):
        return board.moves[0] if board.moves else 0


def test_a_game_replays_to_the_same_outcome():
    record = play_game(GreedyAgent(), RandomAgent(), small(), np.random.default_rng(0))
    board = record.replay()
    assert board.outcome.winner == record.winner and tuple(board.moves) == record.moves
    assert (record.black, record.white) == ("greedy", "random")


def test_the_start_board_is_left_alone_and_counts_as_opening():
    board = small()
    board.play(0)
    record = play_game(FirstCell(), FirstCell(), board, np.random.default_rng(0))
    assert board.moves == [0] and record.opening == 1 and record.moves[:2] == (0, 1)


def test_games_side_by_side_equal_games_one_by_one_for_an_agent_that_draws_nothing():
    boards = [Board.from_moves(cells, height=6, width=6, win_length=4) for cells in ([7], [8, 20], [14, 15, 3])]
    together = play_games([(FirstCell(), make_agent("greedy:java"))] * 3, boards, np.random.default_rng(0))
    apart = [play_game(FirstCell(), make_agent("greedy:java"), b, np.random.default_rng(0)) for b in boards]
    assert [r.moves for r in together] == [r.moves for r in apart]


def test_an_illegal_move_names_the_agent():
    with pytest.raises(IllegalMoveError, match="cheat"):
        play_game(RandomAgent(), Cheat(), small(), np.random.default_rng(0))


def test_pairs_share_an_opening_and_swap_colours():
    counted = []
    result = compare(
        GreedyAgent(), RandomAgent(), 40, new_board=small, rng=np.random.default_rng(1), finished=counted.append
    )
    assert sum(counted) == 40 == result.total.games
    for first, second in zip(result.records[0::2], result.records[1::2], strict=True):
        assert first.moves[:4] == second.moves[:4] and first.opening == second.opening == 4
        assert (first.black, first.white) == (second.white, second.black) == ("greedy", "random")
    wins = sum(r.winner == BLACK for r in result.records[0::2]) + sum(r.winner == WHITE for r in result.records[1::2])
    assert result.total.wins == wins == result.as_black.wins + result.as_white.wins
    assert result.total.win_rate > 0.8
    assert len({r.moves[:4] for r in result.records}) == 20


def test_the_same_seed_plays_the_same_games():
    one, two = (
        compare(GreedyAgent(), GreedyAgent(), 10, new_board=small, rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert one == two


def test_an_odd_number_of_games_is_refused():
    with pytest.raises(ValueError, match="even"):
        compare(GreedyAgent(), RandomAgent(), 7, new_board=small, rng=np.random.default_rng(0))


def test_openings_lie_in_the_middle_and_are_varied():
    rng = np.random.default_rng(4)
    boards = [random_opening(Board, 4, rng) for _ in range(50)]
    for board in boards:
        assert len(board.moves) == 4 and board.outcome is None
        assert all(3 <= c // 15 < 12 and 3 <= c % 15 < 12 for c in board.moves)
    assert len({tuple(b.moves) for b in boards}) == 50


def test_an_opening_never_ends_the_game():
    rng = np.random.default_rng(5)
    for _ in range(200):
        assert random_opening(lambda: Board(3, 3, win_length=3), 6, rng).outcome is None
    with pytest.raises(ArenaError, match="middle"):
        random_opening(small, 37, rng)
    with pytest.raises(ArenaError, match="fewer"):
        random_opening(lambda: Board(6, 6, win_length=1), 1, rng)


def test_wilson_interval_by_hand_and_by_simulation():
    low, high = wilson_interval(8, 10)
    assert (low, high) == pytest.approx((0.49016, 0.94332), abs=1e-5)  # Newcombe 1998's worked form
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert wilson_interval(0, 50)[0] == 0 and wilson_interval(50, 50)[1] == 1
    wins = np.random.default_rng(6).binomial(200, 0.7, size=2000)
    covered = np.mean([low <= 0.7 <= high for low, high in (wilson_interval(int(w), 200) for w in wins)])
    assert 0.93 < covered < 0.97


def test_a_draw_is_no_win():
    tally = Tally(wins=3, draws=4, losses=3)
    assert tally.games == 10 and tally.win_rate == 0.3
    assert set(tally.as_dict()) == {"games", "wins", "draws", "losses", "win_rate", "low", "high"}


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("gredy", "greedy"),
        ("greedy:jva", "java"),
        ("random,temperature=1", "temperature"),
        ("policy:x.npz,temprature=1", "temperature"),
        ("policy:x.npz,temperature=hot", "number"),
        ("policy:x.npz,temperature=-1", "0"),
        ("policy:x.npz,temperature=nan", "argmax"),
        ("policy:x.npz,temperature=inf", "argmax"),
        ("policy:x.npz,temperature=1e-42", "0.001"),
        ("policy:x.npz,temperature=1e39", "1000"),
        ("policy:x.npz,views=8,views=1", "twice"),
        ("alphabeta:time=1,time=2", "twice"),
        ("greedy,first", "key=value"),
    ],
)
def test_a_wrong_spec_names_what_was_meant(spec, hint):
    with pytest.raises(AgentSpecError, match=hint):
        make_agent(spec)


@pytest.mark.parametrize("spec", ["random", "greedy", "greedy:java"])
def test_once_the_game_is_over_there_is_nothing_to_choose(spec):
    over = Board.from_moves([0, 3, 1, 4, 2], 3, 3, 3)
    agent, rng = make_agent(spec), np.random.default_rng(1)
    with pytest.raises(IllegalMoveError, match=f"^{spec} has nothing to choose"):
        agent.choose(over, rng)
    with pytest.raises(IllegalMoveError, match="nothing to choose"):
        agent.choose_many([Board(3, 3, 3), over], rng)


def test_choosing_is_all_that_a_foreign_agent_must_know():
    class Foreign:
        def choose(self, board, rng):
            return int(np.flatnonzero(board.legal_mask())[0])

    record = play_game(Foreign(), FirstCell(), Board(3, 3, 3), np.random.default_rng(1))
    assert (record.black, record.white, record.winner) == ("Foreign", "first", BLACK)


def test_a_forbidden_choice_names_the_agent():
    """Black at the crossing of two open threes."""
    names = ("g8", "a1", "i8", "c1", "h7", "e1", "h9", "g1")
    board = Board.from_moves([parse_cell(name, 15, 15) for name in names], rule=Rule.RENJU)

    class Stubborn(Agent):
        name = "stubborn"

        def choose(self, board, rng):
            return parse_cell("h8", 15, 15)

    with pytest.raises(IllegalMoveError, match="stubborn: h8 .* is forbidden to black: double three"):
        play_game(Stubborn(), FirstCell(), board, np.random.default_rng(1))


class Crash(Agent):
    """Plays the first cell until there are six stones, then fails in one of several ways."""

    def __init__(self, how):
        self.name, self.how = f"crash {how}", how

    def choose(self, board, rng):
        if len(board.moves) < 6:
            return int(np.flatnonzero(board.legal_mask())[0])
        if self.how == "raises":
            raise RuntimeError("out of\n order")
        return {"occupied": board.moves[0], "nothing": None, "off": 99, "word": "a1"}[self.how]


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("raises", "RuntimeError: out of order"),
        ("occupied", "c3 .* occupied"),
        ("nothing", "TypeError: "),
        ("off", "cell 99 "),
        ("word", "TypeError: "),
    ],
)
def test_a_fault_forfeits_the_game_if_asked_for_and_the_record_says_why(how, why):
    crash, greedy = Crash(how), GreedyAgent()
    boards = [Board.from_moves([20, 33], 6, 6, 5), Board.from_moves([20], 6, 6, 5), Board(6, 6, 5)]
    seats = [(crash, greedy), (greedy, crash), (greedy, RandomAgent())]
    counted = []
    records = play_games(seats, boards, np.random.default_rng(0), counted.append, forfeits=True)
    assert sum(counted) == 3
    assert [record.winner for record in records[:2]] == [WHITE, BLACK] and not records[2].note
    for record in records[:2]:
        assert 6 <= len(record.moves) < 9 and record.replay().outcome is None
        assert re.match(f"crash {how} forfeits: {why}", record.note), record.note
        assert GameRecord.from_line(record.to_line()) == record
    with pytest.raises((RuntimeError, IllegalMoveError, TypeError)):
        play_games(seats, boards, np.random.default_rng(0))


def test_a_batch_that_fails_is_asked_board_by_board():
    class Half(Agent):
        name = "half"

        def choose(self, board, rng):
            if board.moves == [0]:
                raise RuntimeError("not from a6")
            return int(np.flatnonzero(board.legal_mask())[-1])

    boards = [Board.from_moves([cell], 6, 6, 4) for cell in (0, 7)]
    records = play_games([(FirstCell(), Half())] * 2, boards, np.random.default_rng(0), forfeits=True)
    assert [bool(record.note) for record in records] == [True, False]
