"""Monte Carlo tree search: what it proves is true, it finds forced play, keeps its tree, and beats the bare policy."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, WHITE, Board, IllegalMoveError, Rule
from env.bitboard import Bitboard
from env.lockstep import Lockstep
from env.observation import positions_of
from nn import AnswerError, PolicyNet, ShapeError, make_net
from nn.java_random import JavaRandom
from nn.losses import weighted_cross_entropy
from nn.optim import Adam
from rl.agents import AgentSpecError, GreedyAgent, PolicyAgent, RandomAgent, make_agent
from rl.agents.judges import Judge, NetValues, Rollouts
from rl.agents.mcts import KEPT, TOGETHER, MctsAgent, NoiseError, has_choice
from rl.arena import compare
from rl.match import play_game
from rl.search.budget import Budget
from rl.search.forced_wins import forced_win
from rl.search.tree import LOST, WON, Leaf, Node, Tree, back_up, met


def a_judge(height: int, width: int, seed: int = 0, values: bool = True) -> Judge:
    """An untrained network: nothing that the tests below find can come from it."""
    rng = np.random.default_rng(seed)
    policy = make_net("policy", height, width, filters=(4, 4), hidden=8, rng=rng)
    value = make_net("value", height, width, filters=(4, 4), hidden=8, rng=rng)
    value.fc2.weight.value *= 0.1
    return Judge(policy, NetValues(value) if values else Rollouts(GreedyAgent()))


def an_agent(height: int, width: int, simulations: int, **options: object) -> MctsAgent:
    return MctsAgent(a_judge(height, width), simulations, **options)


def random_board(rng: np.random.Generator, plies: int, *settings: object) -> Board:
    while True:
        board = Board(*settings)
        for _ in range(plies):
            if board.is_over:
                break
            board.play(int(rng.choice(np.flatnonzero(board.legal_mask()))))
        if not board.is_over:
            return board


def searched(board: Board, simulations: int, seed: int = 0) -> Tree:
    """A tree grown leaf by leaf."""
    tree, judge = Tree(board), a_judge(board.height, board.width, seed)
    while tree.simulations < simulations and has_choice(tree.root):
        leaves = tree.leaves(min(TOGETHER, simulations - tree.simulations))
        if leaves:
            judge(leaves, board.win_length, board.rule, np.random.default_rng(0))
        for leaf in leaves:
            back_up(leaf.way, leaf.node)
    return tree


# --- What is proven is true -------------------------------------------------------------------------------------------


def solved(board: Board) -> int:
    """The value of a position for the side to move, by trying everything."""
    position = board.cells.tobytes(), board.to_move
    if position not in SOLVED.setdefault((board.height, board.width, board.win_length, board.rule), {}):
        if board.outcome is not None:
            best = -1 if board.outcome.winner else 0
        else:
            best = -1
            for cell in np.flatnonzero(board.legal_mask()):
                board.play(int(cell))
                best = max(best, -solved(board))
                board.undo()
                if best == 1:
                    break
        SOLVED[board.height, board.width, board.win_length, board.rule][position] = best
    return SOLVED[board.height, board.width, board.win_length, board.rule][position]


SOLVED: dict[tuple[object, ...], dict[tuple[bytes, int], int]] = {}


@pytest.mark.parametrize(
    ("settings", "plies"),
    [
        ((3, 3, 3), (0, 1, 2, 3, 4, 5)),
        ((4, 3, 3), (4, 5, 6, 7)),
        ((4, 4, 4, Rule.STANDARD), (9, 10, 11)),
        ((3, 4, 3, Rule.STANDARD), (4, 5, 6, 7)),
    ],
)
def test_what_is_proven_equals_trying_everything(settings: tuple[object, ...], plies: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    decided = proven = 0
    for i in range(14):
        board = random_board(rng, plies[i % len(plies)], *settings)
        result, wanted = searched(board, 200, seed=i).root.result, solved(board)
        assert result in (None, wanted), board
        decided += wanted != 0
        proven += result in (WON, LOST)
    assert decided > 2 and proven >= 0.75 * decided, (proven, decided)


def test_every_node_keeps_its_accounts() -> None:
    board = random_board(np.random.default_rng(2), 6, 6, 6, 4)
    tree = searched(board, 150)
    assert tree.root.result is None, "take another position"
    assert tree.root.visits.sum() == tree.simulations - 1 == 149
    nodes = [tree.root]
    while nodes:
        node = nodes.pop()
        assert (np.abs(node.totals) <= node.visits).all()
        assert node.prior.sum() == pytest.approx(1)
        for index, child in node.children.items():
            if child.grown and len(child.moves) > 1 and child.result is None:
                assert node.visits[index] == 1 + child.visits.sum()
            if child.result:
                assert node.proven[index] == -child.result
            if child.grown:
                nodes.append(child)


def test_values_are_turned_round_at_each_step() -> None:
    board = random_board(np.random.default_rng(3), 4, 5, 5, 5)
    tree = Tree(board)
    below = []
    for value in (0.5, 0.25, -0.75):  # one leaf after the other: the root, a move, its answer or another move
        (leaf,) = tree.leaves(1)
        count = len(leaf.node.moves)
        prior = np.full(count, 1e-6)
        prior[3] = 1 - 1e-6 * (count - 1)  # so that descent takes move 3 of each node
        leaf.node.grow(prior, value)
        back_up(leaf.way, leaf.node)
        below.append(leaf.node)
    root, child, grandchild = below
    assert root.children[3] is child and child.children[3] is grandchild
    assert root.visits[3] == 2 and root.totals[3] == pytest.approx(-0.25 - 0.75)
    assert child.visits[3] == 1 and child.totals[3] == pytest.approx(0.75)


def test_descent_avoids_what_is_proven_to_lose_and_what_waits_to_be_judged() -> None:
    tree = Tree(Board(3, 3, 3))
    (leaf,) = tree.leaves(1)
    leaf.node.grow(np.array([1 - 8e-6, *[1e-6] * 8]), 0.0)
    back_up(leaf.way, leaf.node)
    waiting = tree.leaves(8)
    assert waiting[0].way[0][1] == 0
    assert tree.root.visits.sum() == len(waiting) == tree.simulations - 1, "a withdrawn descent leaves no trace"
    assert tree.root.totals.sum() == -len(waiting), "each waiting leaf counts as lost"
    for each in waiting:
        each.node.grow(np.full(8, 1 / 8), -1.0)  # bad for the other side: move 0 looks best
        back_up(each.way, each.node)
    assert tree.root.promising() == 0
    tree.root.learn(0, LOST)
    assert tree.root.promising() != 0


# --- What the rules say at once ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", list(Rule))
def test_it_takes_a_win_and_blocks_one_whatever_the_network_says(rule: Rule) -> None:
    rng, agent = np.random.default_rng(4), an_agent(8, 8, 3)
    wins = blocks = 0
    for _ in range(2000):
        board = random_board(rng, int(rng.integers(16, 30)), 8, 8, 5, rule)
        bits = Bitboard.from_board(board)
        own, other = bits.winning(board.to_move), bits.winning(-board.to_move)
        if own and wins < 12:
            assert bits.bit(agent.choose(board, rng)) & own
            wins += 1
        elif not own and bin(other & bits.legal()).count("1") == 1 and blocks < 12:
            assert bits.bit(agent.choose(board, rng)) & other
            blocks += 1
        if wins == blocks == 12:
            break
    assert wins == blocks == 12


def test_what_the_rules_decide() -> None:
    def node(black: list[int], white: list[int], rule: Rule = Rule.FREESTYLE) -> Node:
        """The position with these stones on 15x15; black is to move if both have as many."""
        moves = [0] * (len(black) + len(white))
        moves[0::2], moves[1::2] = black, white
        return met(Bitboard.from_board(Board.from_moves(moves, 15, 15, 5, rule)))

    row = [107, 108, 109, 110]  # g8 to k8: 106 and 111 complete it
    away = [0, 2, 4, 30, 32]
    won = node(row, away[:4])
    assert won.result == WON and won.moves.tolist() == [106, 111]
    lost = node([*row, 34], away[:4])  # white is to move and has nothing
    assert lost.result == LOST and lost.moves.tolist() == [106, 111]
    forced = node([*row, 34], [106, 2, 4, 30])
    assert forced.result is None and forced.moves.tolist() == [111]
    free = node(row[:3], away[:3])
    assert free.result is None and len(free.moves) == 225 - 6
    # White's four can be stopped on 111 only, and there black makes six in a column.
    black, white = [106, 66, 81, 96, 126, 141], [*row, 0, 4]
    assert node(black, white).result == WON
    standard = node(black, white, Rule.STANDARD)
    assert standard.result is None and standard.moves.tolist() == [111]
    renju = node(black, white, Rule.RENJU)
    assert renju.result == LOST and 111 not in renju.moves and len(renju.moves) > 200
    ended = node([*row, 111], away[:4])
    assert ended.result == LOST and not len(ended.moves)
    full = Board.from_moves([0, 1, 2, 4, 3, 5, 7, 6, 8], 3, 3, 3)
    assert full.outcome.winner == 0 and met(Bitboard.from_board(full)).result == 0


def forced_by(board: Board) -> list[int]:
    """The moves after which the other side cannot win at once and must stop two wins: won in three plies."""
    found, mover = [], board.to_move
    bits = Bitboard.from_board(board)
    if bits.winning(mover) or bits.winning(-mover):
        return []
    for cell in bits.cells_of(bits.legal()):
        bits.play(cell)
        if bits.winner is None and bin(bits.winning(mover)).count("1") > 1:
            found.append(cell)
        bits.undo()
    return found


@pytest.mark.parametrize("rule", list(Rule))
def test_it_finds_wins_in_three_plies(rule: Rule) -> None:
    rng = np.random.default_rng(5)
    found = 0
    while found < 4:
        board = random_board(rng, int(rng.integers(14, 22)), 8, 8, 5, rule)
        winning = forced_by(board)
        if winning:
            found += 1
            root = searched(board, 1000, seed=found).root
            assert root.result == WON
            shortest = int(root.moves[(root.proven == WON).argmax()]) in winning
            assert shortest or len(board.moves) > 13, "or a longer win was found first"


def test_wins_by_fours_are_seen_at_a_leaf() -> None:
    rng = np.random.default_rng(11)
    found = missing = 0
    while found < 5 or missing < 5:
        board = random_board(rng, int(rng.integers(18, 24)), 8, 8, 5)
        bits = Bitboard.from_board(board)
        if bits.winning(1) or bits.winning(-1):
            continue
        win = forced_win(board, Budget(nodes=10_000), threes=False)
        tree = Tree(board, fours=10_000)
        leaves = tree.leaves(1)
        assert (tree.root.result == WON, bool(leaves)) == (win is not None, win is None)
        if win is None:
            missing += 1
            continue
        found += 1
        assert tree.root.moves.tolist() == [win.moves[0]] and len(board.moves) == len(tree._start.moves)
        game, agent = board.copy(), an_agent(8, 8, 1)
        while not game.is_over:
            player = agent if game.to_move == board.to_move else GreedyAgent()
            game.play(player.choose(game, rng))
        assert game.outcome.winner == board.to_move
        blunder = board.moves[-1]
        board.undo()
        for fours, proven in ((0, 0), (10_000, LOST)):
            tree = Tree(board, fours=fours)
            if tree.leaves(1):
                index = int((tree.root.moves == blunder).argmax())
                tree.root.grow(np.eye(len(tree.root.moves))[index], 0.0)
                tree.leaves(1)
                assert tree.root.proven[index] == proven


def test_a_move_that_is_proven_to_lose_is_not_chosen_while_another_is_left() -> None:
    root = met(Bitboard(3, 3, 3))
    root.grow(np.full(9, 1 / 9), 0.0)
    root.visits[:] = [9, 5, 1, 0, 0, 0, 0, 0, 0]
    agent = an_agent(3, 3, 1)
    assert agent._chosen(root, np.random.default_rng(0)) == 0
    assert not root.learn(0, LOST)
    assert agent._chosen(root, np.random.default_rng(0)) == 1
    sampling = an_agent(3, 3, 1, temperature=1.0)
    assert {sampling._chosen(root, np.random.default_rng(seed)) for seed in range(40)} == {1, 2}
    assert root.learn(2, WON) and root.result == WON
    assert agent._chosen(root, np.random.default_rng(0)) == 2
    for index in range(9):
        root.learn(index, LOST)
    assert root.result == LOST and agent._chosen(root, np.random.default_rng(0)) == 0, "all lose: the most tried"


# --- The agent --------------------------------------------------------------------------------------------------------


@cache
def an_imitator() -> PolicyNet:
    """A small policy for 6x6, four in a row, that has seen greedy play for some seconds."""
    rng = np.random.default_rng(6)
    net = PolicyNet(6, 6, filters=(8, 8), hidden=64, rng=rng)
    adam, greedy = Adam(net.parameters(), 3e-3), GreedyAgent()
    games = Lockstep(128, 6, 6, 4)
    for _ in range(250):
        seen = games.positions()
        moves = greedy.choose_positions(seen, rng)
        adam.zero_grad()
        weights = np.ones(len(moves), np.float32)
        net.add_gradients(weighted_cross_entropy(net.forward(seen.planes), moves, weights, seen.legal)[1])
        adam.step()
        at_random = rng.random(len(moves)) < 0.3
        games.play(np.where(at_random, RandomAgent().choose_positions(seen, rng), moves))
        games.reset(np.flatnonzero(games.over))
    return net


def test_it_beats_the_policy_it_searches_with() -> None:
    net = an_imitator()
    agent = MctsAgent(Judge(net, Rollouts(GreedyAgent())), 16)
    result = compare(
        agent, PolicyAgent(net), 60, new_board=lambda: Board(6, 6, 4), rng=np.random.default_rng(7)
    ).total
    low, high = result.interval
    assert low > 0.6, (result.win_rate, low, high)


def test_many_boards_at_once_are_searched_as_one_by_one() -> None:
    rng = np.random.default_rng(8)
    boards = [random_board(rng, plies, 6, 6, 4) for plies in (0, 3, 5, 8, 8, 12)]
    together = an_agent(6, 6, 60).choose_many(boards, rng)
    assert together == [an_agent(6, 6, 60).choose(board, rng) for board in boards]
    assert all(board.legal_mask()[cell] for board, cell in zip(boards, together, strict=True))


def test_a_board_of_another_size_is_refused_in_words() -> None:
    agent = make_agent("mcts,simulations=1")
    with pytest.raises(ShapeError, match=r"^mcts,simulations=1 plays on 15x15 only; the board is 9x12$"):
        agent.choose(Board(9, 12), np.random.default_rng(0))


def test_the_tree_is_kept_while_the_game_goes_on_and_only_then() -> None:
    agent, rng = an_agent(6, 6, 60), np.random.default_rng(9)
    board = Board(6, 6, 4)
    board.play(agent.choose(board, rng))
    (kept,) = agent._kept.values()
    likely = int(kept.moves[kept.visits.argmax()])
    board.play(likely)
    root = agent._remembered(board)
    assert root is not None and root is kept.children[int(kept.visits.argmax())] and root.visits.sum() > 0
    assert not agent._kept, "it is taken, so that two games do not share it"
    assert agent._remembered(board) is None

    board.undo()
    board.undo()
    board.play(agent.choose(board, rng))
    other = Board.from_moves([*board.moves, likely], 6, 6, 4, Rule.STANDARD)
    assert agent._remembered(other) is None, "another rule is another game"
    assert agent._remembered(Board.from_moves([35, likely], 6, 6, 4)) is None, "another game"


def test_what_is_kept_helps_and_does_not_grow_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, rng = an_agent(5, 5, 30), np.random.default_rng(10)
    board = random_board(rng, 2, 5, 5, 4)
    fresh = searched(board, 30).root
    board.play(agent.choose(board, rng))
    (kept,) = agent._kept.values()
    board.play(int(kept.moves[kept.visits.argmax()]))
    before = kept.children[int(kept.visits.argmax())].visits.sum()
    agent.choose(board, rng)
    assert before > 0 and fresh.visits.sum() == 29
    monkeypatch.setattr("rl.agents.mcts.KEPT", 3)
    agent.choose_many([Board.from_moves([cell], 5, 5, 4) for cell in range(8)], rng)
    assert len(agent._kept) == 3 < KEPT


@pytest.mark.parametrize("settings", [(5, 6, 5, Rule.STANDARD), (6, 6, 5, Rule.RENJU), (3, 3, 3)])
def test_whole_games_under_every_rule(settings: tuple[object, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rl.agents.judges.FARTHEST", 4)  # plies played on: more take time and show no other rule
    rng = np.random.default_rng(11)
    for values in (True, False):
        agent = MctsAgent(a_judge(settings[0], settings[1], values=values), 3, temperature=0.5, noise=0.25)
        for seats in ((RandomAgent(), agent), (agent, agent)):
            board = Board(*settings)
            record = play_game(*seats, board, rng)
            assert record.replay().is_over and not board.moves


def test_noise_and_temperature_are_for_self_play() -> None:
    board = random_board(np.random.default_rng(12), 4, 6, 6, 4)
    plain = {an_agent(6, 6, 40).choose(board, np.random.default_rng(seed)) for seed in range(3)}
    assert len(plain) == 1
    for options in ({"temperature": 1.0}, {"noise": 1.0}):
        assert len({an_agent(6, 6, 40, **options).choose(board, np.random.default_rng(s)) for s in range(8)}) > 1
    with pytest.raises(NoiseError, match="JavaRandom"):
        an_agent(6, 6, 40, noise=0.1).choose(board, JavaRandom(0))
    an_agent(6, 6, 40, temperature=1.0).choose(board, JavaRandom(0))
    agent, root = an_agent(6, 6, 1, noise=0.25), met(Bitboard(6, 6, 4))
    root.grow(np.full(36, 1 / 36), 0.0)
    agent._add_noise([root], np.random.default_rng(0))
    assert root.prior.sum() == pytest.approx(1)
    assert root.prior.min() == pytest.approx(0.75 / 36, rel=0.01) and root.prior.max() > 2 / 36


def test_one_simulation_is_the_policy_where_the_rules_leave_a_choice() -> None:
    rng = np.random.default_rng(13)
    agent = an_agent(7, 7, 1)
    boards = [random_board(rng, plies, 7, 7, 5) for plies in (0, 2, 3, 4, 5)]
    assert agent.choose_many(boards, rng) == PolicyAgent(agent.net).choose_many(boards, rng)


def test_no_time_and_a_stop_still_give_a_legal_move() -> None:
    board = random_board(np.random.default_rng(14), 6, 7, 7, 5)
    before = board.moves[:]
    agent = an_agent(7, 7, 2000)
    judge, judged = agent.judge, []
    agent.judge = lambda leaves, *rest: (judged.append(len(leaves)), judge(leaves, *rest))
    for seconds, stopped in ((0.0, False), (1000.0, True), (0.02, False)):
        judged.clear()
        cell = agent.think(board, np.random.default_rng(0), seconds=seconds, stopped=lambda s=stopped: s)
        assert board.legal_mask()[cell] and board.moves == before
        assert sum(judged) == 1 if seconds != 0.02 else sum(judged) < 2000
    with pytest.raises(IllegalMoveError, match="nothing to choose"):
        agent.choose(Board.from_moves([0, 10, 1, 11, 2, 12, 3, 13, 4], 7, 7, 5), np.random.default_rng(0))


# --- Judges -----------------------------------------------------------------------------------------------------------


def a_leaf(board: Board) -> Leaf:
    bits = Bitboard.from_board(board)
    return Leaf([], met(bits), bits)


def test_rollouts_are_seen_by_the_side_to_move() -> None:
    def first_cell(self: RandomAgent, positions, rng):
        return positions.legal.argmax(axis=1)

    agent = type("First", (RandomAgent,), {"choose_positions": first_cell})()
    boards = [Board.from_moves(moves, 4, 4, 3) for moves in ([], [15], [15, 11], [0, 4])]
    judge = Judge(a_judge(4, 4).net, Rollouts(agent))
    leaves = [a_leaf(board) for board in boards]
    judge(leaves, 3, Rule.FREESTYLE, np.random.default_rng(0))
    for board, leaf in zip(boards, leaves, strict=True):
        end = play_game(agent, agent, board, np.random.default_rng(0)).winner
        assert end and leaf.node.value == end * board.to_move
    assert {board.to_move for board in boards} == {BLACK, WHITE}


@pytest.mark.parametrize("name", ["policy", "three_plane", "policy_value"])
def test_a_judge_says_what_its_networks_say(name: str) -> None:
    rng = np.random.default_rng(0)
    sizes = {"filters": 3, "blocks": 1} if name == "policy_value" else {"filters": (2, 2), "hidden": 4}
    net = make_net(name, 5, 5, rng=rng, **sizes)
    value = make_net("value", 5, 5, filters=(2, 2), hidden=4, rng=rng)
    judge = Judge(net) if net.HAS_VALUE else Judge(net, NetValues(value))
    boards = [random_board(rng, plies, 5, 5, 5) for plies in (0, 1, 4)]
    leaves = [a_leaf(board) for board in boards]
    judge(leaves, 5, Rule.FREESTYLE, rng)
    seen = positions_of(boards)
    logits = net.logits(seen.seen(net.planes))
    values = (net if net.HAS_VALUE else value).values(seen.seen(net.planes if net.HAS_VALUE else 2))
    for i, leaf in enumerate(leaves):
        likely = np.exp(logits[i][leaf.node.moves].astype(float))
        assert np.allclose(leaf.node.prior, likely / likely.sum(), atol=1e-6)
        assert leaf.node.value == pytest.approx(float(values[i]), abs=1e-6)


def test_specs(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    policy, value, both = (str(tmp_path / f"{name}.npz") for name in ("policy", "value", "both"))
    make_net("policy", 5, 5, filters=(2, 2), hidden=4, rng=rng).save(policy)
    make_net("value", 5, 5, filters=(2, 2), hidden=4, rng=rng).save(value)
    make_net("policy_value", 5, 5, filters=2, blocks=1, rng=rng).save(both)
    for spec, source in [
        (f"mcts:{policy}", Rollouts),
        (f"mcts:{policy},value={value},simulations=20", NetValues),
        (f"mcts:{policy},value={both}", NetValues),
        (f"mcts:{both}", type(None)),
        (f"mcts:{both},rollouts=random,temperature=1,noise=0.25", Rollouts),
    ]:
        agent = make_agent(spec)
        assert isinstance(agent, MctsAgent) and isinstance(agent.judge.values, source) and agent.name == spec
        agent.simulations = 10
        assert 0 <= agent.choose(Board(5, 5, 4), rng) < 25
    assert make_agent(f"mcts:{policy},simulations=20").simulations == 20
    assert make_agent(f"mcts:{policy},fours=7").fours == 7
    for options, complaint in [
        ("simulatoins=5", "did you mean 'simulations'"),
        ("simulations=0", "whole number"),
        ("simulations=2.5", "whole number"),
        ("simulations=nan", "whole number"),
        ("simulations=inf", "whole number"),
        ("rollouts=greddy", "did you mean 'greedy'"),
        (f"value={value},rollouts=greedy", "not from both"),
        ("noise=2", "noise"),
        ("fours=-1", "fours"),
        ("fours=0.5", "fours"),
        ("temperature=-1", "temperature"),
    ]:
        with pytest.raises(AgentSpecError, match=complaint):
            make_agent(f"mcts:{policy},{options}")
    with pytest.raises(AgentSpecError, match="holds a ValueNet"):
        make_agent(f"mcts:{value}")
    with pytest.raises(AnswerError, match="how well"):
        make_agent(f"mcts:{policy},value={policy}")
    with pytest.raises(AnswerError):
        Judge(a_judge(5, 5).net)
    for wrong in ({"simulations": 0}, {"temperature": -1.0}, {"noise": 1.5}, {"fours": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            MctsAgent(a_judge(5, 5), **wrong)
