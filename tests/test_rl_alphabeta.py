"""The alpha-beta player: it sees what it must, keeps its limits, and never plays nonsense when they run out."""

import gc
import math
import re
import time
from itertools import pairwise

import numpy as np
import pytest

from env import BLACK, Board, Rule
from env.coords import cell_name, parse_cell
from rl.agents import AgentSpecError, alphabeta, make_agent
from rl.agents.alphabeta import DEFAULT, SLOW, AlphaBetaAgent, Settings, phase
from rl.search import insights as insights_module
from rl.search.budget import Budget
from rl.search.forced_wins import forced_win
from rl.search.insights import WIDTH, insights, patience, threes_share, urgent
from rl.search.minimax import DECIDED, WIN, winning
from rl.search.rule_file import DEFAULT as DEFAULT_RULES
from rl.search.rule_file import default_rules
from rl.search.search import Search

RNG = np.random.default_rng(0)


def board_of(moves, **settings):
    return Board.from_moves([parse_cell(name, 15, 15) for name in re.findall(r"[a-z]\d+", moves)], **settings)


def choice(moves, spec="alphabeta,nodes=2000,time=60", **settings):
    return cell_name(make_agent(spec).choose(board_of(moves, **settings), RNG), 15, 15)


@pytest.mark.parametrize("spec", ["alphabeta,nodes=1,time=60", "alphabeta,nodes=3000,time=60", "alphabeta,time=0"])
@pytest.mark.parametrize("rule", list(Rule))
def test_it_wins_before_it_blocks_a_three(rule, spec):
    # black: a four h8-k8 stopped at g8; white: an open three c3-e3
    assert choice("h8g8i8c3j8d3k8e3", spec, rule=rule) == "l8"


@pytest.mark.parametrize("spec", ["alphabeta,nodes=1,time=60", "alphabeta,nodes=3000,time=60", "alphabeta,time=0"])
@pytest.mark.parametrize("rule", list(Rule))
def test_it_sees_a_four_with_a_gap(rule, spec):
    assert choice("f8a1g8a3i8a5j8c1", spec, rule=rule) == "h8"  # XX_XX, to complete
    assert choice("f8a1g8a3i8a5j8", spec, rule=rule) == "h8"  # the same, to stop
    assert choice("f8a1g8a3h8a5j8", spec, rule=rule) == "i8"  # XXX_X
    if rule is Rule.FREESTYLE:  # XXX_XX: six in a row wins too
        assert choice("f8a1g8a3h8a5j8c1k8c15", spec, rule=rule) == "i8"
        assert choice("f8a1g8a3h8a5j8c1k8", spec, rule=rule) == "i8"


@pytest.mark.parametrize("rule", list(Rule))
def test_it_stops_an_open_three(rule):
    assert choice("h8a1i8a15j8", "alphabeta,nodes=3000,time=60", rule=rule) in {"f8", "g8", "k8", "l8"}


@pytest.mark.parametrize("nodes", [1, 2, 5, 17, 60, 250])
def test_a_budget_that_runs_out_in_the_middle_never_gives_nonsense(nodes):
    """Whatever depth is cut short: the move is legal, takes a win, stops a win; it is a finished depth's choice."""
    rng = np.random.default_rng(nodes)
    agent = AlphaBetaAgent(Settings(nodes=nodes, seconds=math.inf))
    for game in range(3):
        board = Board(9, 9, 5, list(Rule)[game % 3])
        while board.outcome is None and len(board.moves) < 30:
            wins, threats = winning(board, board.to_move), winning(board, -board.to_move)
            legal = np.flatnonzero(board.legal_mask()).tolist()
            cell = agent.choose(board, rng)
            assert cell in legal
            if wins:
                assert cell in wins
            elif set(threats) & set(legal):
                assert cell in threats
            board.play(cell if rng.random() < 0.7 else int(rng.choice(legal)))


def test_the_move_of_a_cut_search_is_that_of_the_last_finished_depth():
    board = board_of("h8i9h10h9g9i11i7f10")
    insights = list(Search(board, default_rules(), Budget(nodes=4000)).deepen())
    for before, after in pairwise(insights):
        nodes = (before.nodes + after.nodes) // 2  # in the middle of the later depth
        cut = list(Search(board, default_rules(), Budget(nodes=nodes)).deepen())
        assert cut == insights[: len(cut)] and cut[-1].depth == before.depth
        assert AlphaBetaAgent(Settings(nodes=nodes, seconds=math.inf)).choose(board, RNG) is not None


def test_it_keeps_its_time_and_stops_when_told():
    board = board_of("h8i9h10h9g9i11i7f10")
    agent = make_agent("alphabeta,time=0.2")
    began = time.perf_counter()
    agent.choose(board, RNG)
    assert time.perf_counter() - began < 2  # a tenth of that on a quiet machine; the machine may be busy
    slow = make_agent("alphabeta,time=100")
    began = time.perf_counter()
    slow.think(board, RNG, seconds=0.1, stopped=lambda: False)
    slow.think(board, RNG, seconds=math.inf, stopped=lambda: time.perf_counter() - began > 0.3)
    assert time.perf_counter() - began < 3


def test_the_same_nodes_give_the_same_move():
    board = board_of("h8i9h10h9g9i11i7f10")
    before = board.copy()
    agent = make_agent("alphabeta,nodes=1500,time=600")
    assert len({agent.choose(board, np.random.default_rng(seed)) for seed in range(3)}) == 1
    assert board == before


def test_the_middle_comes_first_and_any_board_is_played():
    assert choice("") == "h8"
    rng = np.random.default_rng(2)
    agent = make_agent("alphabeta,nodes=60,time=600")
    for height, width, win_length in ((3, 3, 3), (3, 25, 5), (7, 4, 4), (3, 3, 1), (4, 4, 2), (25, 25, 6)):
        board = Board(height, width, win_length)
        while board.outcome is None and len(board.moves) < 30:
            board.play(agent.choose(board, rng))


def test_black_never_plays_a_forbidden_point():
    rng = np.random.default_rng(7)
    agent = make_agent("alphabeta,nodes=120,time=600")
    for _ in range(4):
        board = Board(9, 9, 5, Rule.RENJU)
        while board.outcome is None:
            legal = np.flatnonzero(board.legal_mask())
            cell = agent.choose(board, rng) if board.to_move == BLACK else int(rng.choice(legal))
            board.play(cell)  # would refuse it


def test_a_win_and_the_only_stop_to_one_take_no_thought(monkeypatch):
    monkeypatch.setattr(alphabeta, "insights", None)
    assert choice("h8g8i8a1j8a3k8e3") == "l8"
    assert choice("h8g8i8a1j8a3k8") == "l8"


def test_against_two_wins_there_is_something_to_think_about():
    assert urgent(board_of("h8a1i8a3j8a5k8")) is None
    assert urgent(board_of("h8g8i8a3j8a5k8")) == parse_cell("l8", 15, 15)


def test_the_longer_the_time_the_more_of_it_goes_to_proofs():
    shares = [threes_share(seconds) for seconds in (0, 0.2, 1, 1.8, 60)]
    assert shares == sorted(shares) and shares[0] == threes_share(math.inf) == 0.2 and shares[-1] == 0.6
    assert 1.8 * threes_share(1.8) > 1


def test_the_shorter_the_time_the_less_of_it_goes_to_the_other_sides_threats():
    assert 0 < patience(0.1) < patience(0.2) < 0.2 < patience(0.4) < 1
    assert patience(0.5) == patience(60) == patience(math.inf) == 1


def test_looks_at_what_the_other_side_threatens_get_their_shares(monkeypatch):
    given = []
    with_share = insights_module._with_share

    def note(budget, share, *rest):
        given.append(share)
        return with_share(budget, share, *rest)

    monkeypatch.setattr(insights_module, "_with_share", note)
    monkeypatch.setattr(insights_module, "patience", lambda seconds: 0.5)
    list(insights(Board.from_moves([84, 140, 99, 94, 69, 114, 85]), default_rules(), Budget(), 1))
    assert given[2] == 0.075 and given.count(0.1) > 2


def test_proofs_without_a_clock_end_too(monkeypatch):
    monkeypatch.setattr(insights_module, "MOST_PROVING", 50)
    monkeypatch.setattr(insights_module, "MOST_TESTING", 50)
    hard = "k4j3i3i1l2i5k1g2j4e2f1g6h3m1h5l4e4i8o1f5n1"  # a win of 21 moves or more, not found in 3,000 nodes
    *_, last = insights(board_of(hard), default_rules(), Budget(), 1)
    assert last.depth == 1 and 50 < last.nodes < 1000


def test_a_move_that_loses_to_a_forced_win_is_not_played():
    """What seems best one move ahead loses to threes and fours, as most moves do that lie in the menace's way."""
    board = Board.from_moves([69, 97, 86, 144, 99, 113, 84, 114, 83, 82, 112])

    def loses(cell):
        after = board.copy()
        after.play(cell)
        return forced_win(after, Budget(nodes=3000), threes=True) is not None

    *_, shallow = Search(board, default_rules(), Budget()).deepen(1)
    *_, tested = insights(board, default_rules(), Budget(), 1)
    assert loses(shallow.line[0]) and not loses(tested.line[0])


def test_when_every_move_loses_it_says_so_and_holds_out():
    board = Board.from_moves([84, 140, 99, 94, 69, 114, 85, 100, 86])
    *_, last = insights(board, default_rules(), Budget(), 1)
    assert last.worth < -DECIDED and len(last.line) == WIN + last.worth > 4
    for cell in last.line:
        board.play(cell)
    assert board.outcome is not None and board.outcome.winner == BLACK


def test_phases():
    board = board_of("h8h9g8")
    assert phase(board) == (6, None)
    rng = np.random.default_rng(1)
    while len(board.moves) < 130:
        board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if board.is_over:
            board.undo()
    assert phase(Board.from_moves(board.moves[:40])) == (4, None)
    depth, region = phase(board)
    assert depth == 8 and 0 < region.sum() < 225 and region[board.moves[-1]]
    assert phase(Board.from_moves(board.moves[:9]))[0] == 6 and phase(Board.from_moves(board.moves[:10]))[0] == 4
    assert phase(Board.from_moves(board.moves[:112]))[0] == 4 and phase(Board.from_moves(board.moves[:113]))[0] == 8
    small = Board.from_moves([0, 1, 2, 3, 4, 5, 6, 7], 4, 4, 4)  # half of it is taken
    assert phase(small)[0] == 6  # few stones: still the opening
    even = Board.from_moves(range(18), 6, 6, 6)
    assert phase(even)[0] == 8
    even.undo()
    assert phase(even)[0] == 4
    near = [max(abs(cell // 15 - last // 15), abs(cell % 15 - last % 15)) for cell in range(225)
            for last in board.moves[-6:]]  # fmt: skip
    assert [min(near[6 * cell : 6 * cell + 6]) <= 4 for cell in range(225)] == region.tolist()


@pytest.mark.parametrize("stones", [40, 130])
def test_the_search_is_told_the_phase_and_the_settings(stones, monkeypatch):
    board, rng = Board(), np.random.default_rng(1)
    while len(board.moves) < stones:
        board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if board.is_over:
            board.undo()

    def watched(board, rules, budget, depth, *, width, region):
        told.append((depth, width, budget.limit, None if region is None else region.tolist()))
        return insights(board, rules, Budget(nodes=10), 1)

    told = []
    monkeypatch.setattr(alphabeta, "insights", watched)
    monkeypatch.setattr(alphabeta, "urgent", lambda board: None)
    for spec in ("alphabeta:phased,width=7", "alphabeta:phased,depth=3", "alphabeta:slow", "alphabeta:depth=9,nodes=5"):
        make_agent(spec).choose(board, RNG)
    depth, region = phase(board)
    near = None if region is None else region.tolist()
    assert told == [(depth, 7, math.inf, near), (3, WIDTH, math.inf, near), (depth, WIDTH, 15_000, near),
                    (9, WIDTH, 5, None)]  # fmt: skip


def test_specs():
    assert make_agent("alphabeta").settings == DEFAULT
    assert make_agent("alphabeta:slow").settings == SLOW
    assert make_agent("alphabeta:time=0.5").settings == Settings(seconds=0.5)
    assert make_agent("alphabeta:phased,depth=3,width=8").settings == Settings(depth=3, width=8, phased=True)
    for wrong in ("alphabeta:slwo", "alphabeta,tiem=1", "alphabeta,time=nan", "alphabeta,depth=0"):
        with pytest.raises(AgentSpecError):
            make_agent(wrong)


def test_a_file_of_rules_is_read_again_between_moves(tmp_path, caplog):
    path = tmp_path / "rules.json"
    path.write_text(DEFAULT_RULES.read_text())
    agent = make_agent(f"alphabeta,nodes=300,time=60,rules={path}")
    board = board_of("h8i9h10h9g9i11i7f10")
    first = agent.choose(board, RNG)
    path.write_text("{")
    assert agent.choose(board, RNG) == first and "rules.json" in caplog.text
    path.write_text(DEFAULT_RULES.read_text().replace('"weight": 1.0', '"weight": 0.5'))
    agent.choose(board, RNG)
    assert agent.rules().worths(0)["open_three"] == 50


def test_its_clock_is_not_stopped_by_a_look_for_garbage(monkeypatch):
    def watched(*args, **named):
        looks.append(gc.isenabled())
        return insights(*args, **named)

    looks = []
    monkeypatch.setattr(alphabeta, "insights", watched)
    choice("h8i9", "alphabeta:depth=1")
    assert looks == [False] and gc.isenabled()
