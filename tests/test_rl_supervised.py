"""Imitation: targets, the loss and its slope, lessons from games going on, examples from games that are over."""

import numpy as np
import pytest
from numpy.typing import NDArray

from env import Board, GameRecord, Rule
from env.lockstep import Lockstep
from env.observation import positions_of
from nn import PolicyNet
from nn.losses import MaskError, weighted_cross_entropy
from nn.optim import Adam
from rl.agents import make_agent
from rl.agents.base import BatchAgent
from rl.agents.shapes import ShapeAgent
from rl.demonstrations import demonstrate, shares_of
from rl.examples import as_states, epoch, from_demonstrations, from_records
from rl.lessons import Lessons
from rl.supervised import (
    Lesson,
    agreement,
    hard_targets,
    imitate,
    is_urgent,
    soft_cross_entropy,
    soft_targets,
    teach,
    validate,
)
from rl.views import Views


def batch_agent(spec: str) -> BatchAgent:
    agent = make_agent(spec)
    assert isinstance(agent, BatchAgent)
    return agent


def test_soft_targets_by_hand() -> None:
    values = np.array([[100, 50, 0, -1], [0, 0, -1, 0], [7, -1, -1, 7]])
    found = soft_targets(values, 4.0)
    assert found == pytest.approx(np.array([[16 / 17, 1 / 17, 0, 0], [1 / 3, 1 / 3, 0, 1 / 3], [0.5, 0, 0, 0.5]]))


def test_hard_targets_and_a_teacher_of_either_kind() -> None:
    assert hard_targets(np.array([2, 0]), 3).tolist() == [[0, 0, 1], [1, 0, 0]]
    board = Board()
    for cell in (112, 0, 113, 1, 114, 2):
        board.play(cell)
    positions = positions_of([board])
    soft = teach(batch_agent("summed"), positions, 4.0, np.random.default_rng(1))
    assert soft.sum() == pytest.approx(1) and (soft > 0).sum() > 2
    for spec, power in (("summed", 0.0), ("greedy", 4.0)):
        hard = teach(batch_agent(spec), positions, power, np.random.default_rng(1))
        assert hard.max() == 1 and (hard > 0).sum() == 1


def random_problem(seed: int, count: int = 3, area: int = 5) -> tuple[NDArray[np.float64], ...]:
    rng = np.random.default_rng(seed)
    legal = rng.random((count, area)) < 0.7
    legal[:, 0] = True
    targets = rng.random((count, area)) * legal
    return rng.standard_normal((count, area)), targets / targets.sum(axis=1, keepdims=True), legal


@pytest.mark.parametrize("count", [1, 4])
def test_the_slope_of_the_loss_by_finite_differences(count: int) -> None:
    logits, targets, legal = random_problem(1, count)
    _, slope = soft_cross_entropy(logits, targets, legal)
    for index in np.ndindex(logits.shape):
        ends = []
        for sign in (-1, 1):
            moved = logits.copy()
            moved[index] += sign * 1e-5
            ends.append(soft_cross_entropy(moved, targets, legal)[0])
        assert slope[index] == pytest.approx((ends[1] - ends[0]) / 2e-5, abs=1e-8)


def test_with_hard_targets_it_is_the_cross_entropy_of_reinforce_with_weights_of_one() -> None:
    logits, _, legal = random_problem(2)
    actions = np.array([0, 0, 0])
    loss, slope = soft_cross_entropy(logits, hard_targets(actions, 5), legal)
    wanted, wanted_slope = weighted_cross_entropy(logits, actions, np.ones(3), legal)
    assert loss == pytest.approx(wanted)
    assert slope == pytest.approx(wanted_slope)


def test_a_target_on_an_illegal_cell_is_refused() -> None:
    with pytest.raises(MaskError, match="not legal"):
        soft_cross_entropy(np.zeros((1, 2)), np.array([[0.5, 0.5]], dtype=np.float32), np.array([[True, False]]))


def test_weights_count_a_position_as_so_many() -> None:
    logits, targets, legal = random_problem(3)
    weights = np.array([2, 1, 1], dtype=np.float32)
    twice = [np.concatenate([array, array[:1]]) for array in (logits, targets, legal)]
    loss, slope = soft_cross_entropy(logits, targets, legal, weights)
    wanted, wanted_slope = soft_cross_entropy(*twice)  # type: ignore[arg-type]
    assert loss == pytest.approx(wanted)
    assert slope[0] == pytest.approx(2 * wanted_slope[0]) and slope[1:] == pytest.approx(wanted_slope[1:3])


def test_positions_with_a_five_at_stake_are_urgent() -> None:
    boards = [Board() for _ in range(4)]
    for board, moves in zip(
        boards, ((112,), (0, 30, 1, 31, 2, 32, 3, 33), (0, 30, 1, 31, 2, 32, 3), (0, 30, 1, 31, 2, 32)), strict=True
    ):
        for cell in moves:
            board.play(cell)
    assert is_urgent(positions_of(boards)).tolist() == [False, True, True, False]
    boards[1].play(4)  # won: nothing is left to play for
    assert is_urgent(positions_of(boards[1:2])).tolist() == [False]


def test_agreement_counts_every_best_cell_and_no_illegal_one() -> None:
    legal = np.array([[True, True, False]] * 3)
    planes = np.zeros((3, 2, 1, 3), dtype=np.float32)
    lesson = Lesson(planes, legal, np.array([[0.5, 0.5, 0]] * 2 + [[0.9, 0.1, 0]], dtype=np.float32))
    assert agreement(np.array([[0, 1, 9], [1, 0, 9], [0, 1, 9]]), lesson) == pytest.approx(2 / 3)


def lessons(seed: int = 1, games: int = 32, **changes: float) -> Lessons:
    settings = {"net_share": 0.5, "noise": 0.1, "opening_plies": 3, "power": 4.0, "urgent": 1.0, "temperature": 0.5}
    settings |= changes
    return Lessons(
        Lockstep(games, 6, 6, 4),
        batch_agent("summed"),
        [batch_agent("greedy")],
        rng=np.random.default_rng(seed),
        **settings,  # type: ignore[arg-type]
    )


def small_net(seed: int = 1) -> PolicyNet:
    return PolicyNet(6, 6, filters=(4, 8), hidden=32, rng=np.random.default_rng(seed))


def test_imitation_learns() -> None:
    source, net = lessons(), small_net()
    adam = Adam(net.parameters(), learning_rate=3e-3)
    aside = lessons(seed=2, games=256, net_share=0.0)
    for _ in range(8):
        lesson = aside.next(256)
        aside.play(np.zeros((256, 36)))
    before = validate(net, lesson)
    for _ in range(300):
        _, logits = imitate(net, adam, source.next(32), 1.0)
        source.play(logits)
    after = validate(net, lesson)
    assert after[0] < before[0] - 0.4 and after[1] > before[1] + 0.1


def test_lessons_are_the_games_positions_labelled_by_the_teacher() -> None:
    source = lessons(games=8)
    for turn in range(40):
        positions = source.games.positions(np.arange(4) + 4 * (turn % 2))
        lesson = source.next(4)
        assert (lesson.legal.sum(axis=1) == positions.legal.sum(axis=1)).all()
        assert (lesson.planes.sum(axis=(2, 3)) == positions.planes.sum(axis=(2, 3))).all()  # a view keeps all stones
        teacher = batch_agent("summed")
        assert isinstance(teacher, ShapeAgent)
        wanted = soft_targets(teacher.values(positions).T, 4.0)
        assert np.sort(lesson.targets) == pytest.approx(np.sort(wanted))
        assert (lesson.targets[~lesson.legal] == 0).all()
        source.play(np.zeros((4, 36)))


def test_the_network_s_seats_play_what_it_prefers_through_the_view() -> None:
    """It prefers the one cell that it saw the second stone of the board on: always the same on the board itself."""
    source = lessons(games=16, net_share=1.0, noise=0.0, opening_plies=0, temperature=0.0)
    source.next(16)
    _, views, _ = source._shown or pytest.fail("nothing shown")
    logits = np.zeros((16, 36))
    logits[np.arange(16), Views(6, 6).seen_at(np.full(16, 9), views)] = 1
    source.play(logits)
    assert (source.games.cells.reshape(16, -1)[:, 9] == 1).all()


def test_openings_fall_on_the_middle_and_long_games_are_broken_off() -> None:
    source = Lessons(
        Lockstep(64), batch_agent("summed"), [batch_agent("random")], net_share=0, noise=0, opening_plies=6, power=4,
        urgent=1, temperature=1, rng=np.random.default_rng(1),
    )  # fmt: skip
    edge = np.ones((15, 15), dtype=bool)
    edge[3:12, 3:12] = False
    for ply in range(130):
        if ply == 1:
            opened = source._opening > 0
            assert opened.sum() > 40 and not source.games.cells[opened][:, edge].any()
        source.next(64)
        source.play(np.zeros((64, 225)))
    assert source.finished >= 64 and source.games.plies.max() < 113


def test_a_stream_of_lessons_continues_as_if_never_stopped() -> None:
    first, net = lessons(), small_net()
    for _ in range(50):
        first.play(net.predict(first.next(20).planes))
    arrays, state = first.arrays(), first.rng.bit_generator.state  # type: ignore[union-attr]
    second = lessons(seed=99)
    second.restore(arrays)
    second.rng.bit_generator.state = state  # type: ignore[union-attr]
    for _ in range(30):
        one, other = first.next(20), second.next(20)
        assert (one.planes == other.planes).all() and (one.targets == other.targets).all()
        first.play(net.predict(one.planes))
        second.play(net.predict(other.planes))
    assert first.finished == second.finished > 0


def test_moves_are_asked_for_only_after_a_lesson() -> None:
    with pytest.raises(ValueError, match="no lesson"):
        lessons().play(np.zeros((1, 36)))


def test_demonstrations_become_examples() -> None:
    rng = np.random.default_rng(1)
    teacher = make_agent("summed")
    games = demonstrate(teacher, [Board(6, 6, 4) for _ in range(5)], noise=0.3, most_plies=18, rng=rng)
    examples = from_demonstrations(games)
    assert examples.shares is not None
    at = 0
    for number, game in enumerate(games):
        assert len(game.board.moves) <= 18
        replay = Board(6, 6, 4)
        for cell in game.board.moves:
            assert (examples.states[at] == replay.cells * replay.to_move).all()
            assert examples.games[at] == number and replay.legal_mask()[examples.actions[at]]
            assert examples.shares[at, examples.actions[at]] == 255  # the choice is the best, whatever was played
            replay.play(cell)
            at += 1
    assert at == len(examples)
    played = [cell for game in games for cell in game.board.moves]
    assert (examples.actions != played).any()  # the noise


def test_shares_of_the_best_value() -> None:
    assert shares_of(np.array([[200, 100, -1, 0], [-1, 0, 0, 0]], dtype=np.int32)).tolist() == [
        [255, 127, 0, 0],
        [0, 0, 0, 0],
    ]


def test_recorded_games_become_examples() -> None:
    record = GameRecord(5, 6, 4, Rule.FREESTYLE, (0, 7, 1, 8, 2), "a", "b", 0, opening=2)
    examples = from_records([record, record])
    assert examples.shares is None
    assert examples.actions.tolist() == [1, 8, 2] * 2 and examples.games.tolist() == [0] * 3 + [1] * 3
    assert examples.states[1].ravel()[[0, 7, 1]].tolist() == [-1, 1, -1]  # white to move


def test_an_epoch_is_every_example_once_through_a_view_with_its_move() -> None:
    record = GameRecord(5, 5, 4, Rule.FREESTYLE, (0, 7, 1, 8, 2, 14), "a", "b", 0)
    examples = from_records([record] * 4)
    seen = np.zeros(len(examples), dtype=int)
    for lesson in epoch(examples, np.arange(24), 5, 4.0, np.random.default_rng(1)):
        states = as_states(lesson.planes)
        for state, targets in zip(states, lesson.targets, strict=True):
            views = Views(5, 5)
            both = [(view, i) for view in range(8) for i in range(6) if (
                views.show(examples.states[i].reshape(1, -1), np.array([view])) == state.ravel()).all()
                and targets[views.seen_at(examples.actions[i : i + 1], np.array([view]))] == 1
            ]  # fmt: skip
            assert both
            seen[both[0][1]] += 1
    assert seen.sum() == 24 and (seen[:6] == 4).all()


def test_a_split_keeps_games_whole() -> None:
    record = GameRecord(5, 5, 4, Rule.FREESTYLE, (0, 7, 1), "a", "b", 0)
    examples = from_records([record] * 200)
    learnt, aside = examples.split(0.25, np.random.default_rng(1))
    assert len(learnt) + len(aside) == 600 and 20 < len(aside) // 3 < 80
    assert not set(examples.games[learnt]) & set(examples.games[aside])
