"""What keeps a long run steady: a share of the decisions, the average, the gate, the pool, the value regression."""

import numpy as np
import pytest

from env import Rule
from env.lockstep import Lockstep
from env.observation import Positions
from nn import PolicyNet
from nn.optim import Adam
from rl.agents import make_agent
from rl.features import NAMES, tactical_features
from rl.gate import Gate
from rl.league import League
from rl.reinforce import choose_lessons, policy_gradient
from rl.returns import explained_variance
from rl.selfplay import LEARNER, play
from rl.teacher_pull import TeacherPull
from rl.value_regression import ValueRegression
from rl.weight_average import WeightAverage


def small_net(seed=0):
    return PolicyNet(5, 5, filters=(2, 3), hidden=8, rng=np.random.default_rng(seed), dtype=np.float64)


def some_decisions(seed=1, games=60):
    return play(
        small_net(), np.full((games, 2), LEARNER), [], Lockstep(games, 5, 5, win_length=4),
        temperature=1.0, symmetric=False, rng=np.random.default_rng(seed),
    )  # fmt: skip


def gradient(net, decisions, index, advantages):
    for parameter in net.parameters():
        parameter.grad.fill(0)
    policy_gradient(
        net, decisions.planes[index], decisions.legal[index], decisions.actions[index], decisions.log_p[index],
        advantages[index], temperature=1.0, entropy_weight=0.0,
    )  # fmt: skip
    return np.concatenate([parameter.grad.ravel() for parameter in net.parameters()]) * len(index)


def test_a_share_of_the_decisions_has_on_average_the_gradient_of_all():
    decisions, net, rng = some_decisions(), small_net(), np.random.default_rng(2)
    advantages = rng.normal(size=len(decisions)) * rng.choice([0.1, 1.0, 4.0], size=len(decisions))
    whole = gradient(net, decisions, np.arange(len(decisions)), advantages)
    found = []
    for _ in range(150):
        taken, weighted = choose_lessons(decisions, advantages, 0.25, rng)
        # A mean over n taken stands for the mean over all: n is about a quarter of them, each weighted share / q.
        found.append(gradient(net, decisions, taken, weighted) / 0.25)
    spread = np.std(found, axis=0) / np.sqrt(len(found))
    assert len(taken) == pytest.approx(0.25 * len(decisions), rel=0.15)
    assert (np.abs(np.mean(found, axis=0) - whole) < 4.5 * spread + 1e-9).all()


def test_decisions_that_would_move_the_policy_are_taken_first():
    decisions, rng = some_decisions(), np.random.default_rng(3)
    advantages = np.where(np.arange(len(decisions)) % 10 == 0, 5.0, 0.01)
    taken = np.concatenate([choose_lessons(decisions, advantages, 0.1, rng)[0] for _ in range(20)])
    assert (taken % 10 == 0).mean() > 0.6
    assert len(np.unique(taken)) > len(decisions) // 5  # and yet the others are looked at now and then


def test_all_are_taken_once_when_the_share_is_one():
    decisions, advantages = some_decisions(), np.arange(len(some_decisions()), dtype=np.float64)
    taken, weighted = choose_lessons(decisions, advantages, 1.0, np.random.default_rng(4))
    assert sorted(taken) == list(range(len(decisions))) and weighted is advantages


def test_the_average_follows_the_weights():
    net = small_net()
    average = WeightAverage(net, 0.75)
    first = net.parameters()[0].value.copy()
    net.parameters()[0].value += 1
    average.take(net)
    np.testing.assert_allclose(average.net.parameters()[0].value, first + 0.25)
    average.take(net)
    np.testing.assert_allclose(average.net.parameters()[0].value, first + 0.4375)


def gate_after(rates, entropy=1.0, drop=0.1):
    net = small_net()
    optimizer = Adam(net.parameters(), 1e-3)
    gate = Gate(net, optimizer, drop, least_entropy=0.2)
    reasons = []
    for number, rate in enumerate(rates):
        for parameter in net.parameters():
            parameter.value[...] = number
            parameter.grad[...] = 0
        optimizer.step()
        reasons.append(gate.look(net, optimizer, rate, entropy))
    return net, optimizer, gate, reasons


def test_the_gate_goes_back_to_the_best_weights_and_halves_the_rate():
    net, optimizer, gate, reasons = gate_after([0.5, 0.6, 0.7, 0.0])
    assert reasons[:3] == [None] * 3 and "win rate" in reasons[3]
    assert gate.factor == 0.5 and gate.mean == gate.best
    assert all((parameter.value == 2).all() for parameter in net.parameters())
    assert int(optimizer.state()["steps"]) == 3


def test_the_gate_goes_back_when_the_entropy_is_gone_and_leaves_a_good_run_alone():
    assert "entropy" in gate_after([0.5], entropy=0.1)[3][0]
    assert gate_after([0.5, 0.45, 0.5, 0.48, 0.52])[3] == [None] * 5


def test_the_gate_goes_on_from_its_state():
    _, _, gate, _ = gate_after([0.5, 0.7])
    net = small_net()
    optimizer = Adam(net.parameters(), 1e-3)
    other = Gate(net, optimizer, 0.1, 0.2)
    other.load_state(gate.state())
    assert (other.mean, other.best, other.factor) == (gate.mean, gate.best, gate.factor)
    assert "entropy" in other.look(net, optimizer, 0.7, 0.0)
    assert all((parameter.value == 1).all() for parameter in net.parameters())


def test_the_pool_meets_those_it_loses_to():
    league = League({"pool": 1.0}, capacity=4, at_once=1, temperature=1.0, difficulty=True)
    for _ in range(4):
        league.remember(small_net())
    league.rates[...] = [0.9, 0.9, 0.1, 0.9]
    rng = np.random.default_rng(5)
    met = [int(league._past_selves(rng)[0].name[-1]) for _ in range(400)]
    share = np.bincount(met, minlength=4) / len(met)
    weight = (1 - league.rates) ** 2 + 0.02
    np.testing.assert_allclose(share, weight / weight.sum(), atol=0.07)


def test_the_pool_learns_how_games_against_each_end():
    league = League({"pool": 1.0}, capacity=2, at_once=2, temperature=1.0, difficulty=True)
    league.remember(small_net())
    league.remember(small_net(1))
    seats, opponents, _ = league.draw(40, np.random.default_rng(6))
    name_of = np.array([agent.name for agent in opponents])
    against = name_of[seats.max(axis=1)]
    learner = np.where(seats[:, 0] == LEARNER, 1, -1)
    winners = np.where(against == "past0", learner, -learner).astype(np.int8)
    league.learn(seats, opponents, winners)
    assert league.rates[0] > 0.5 > league.rates[1]
    league.remember(small_net(2))  # a full pool drops every second one, with what was known of it
    assert len(league.rates) == len(league.snapshots) == 2 and league.rates[1] == 0.5


def test_the_regression_finds_what_depends_on_the_board():
    decisions = some_decisions(games=300)
    groups = decisions.games % 2
    baseline = ValueRegression(2)
    assert not baseline.predict(4, decisions, groups).any()

    seen = tactical_features(Positions(decisions.planes, decisions.legal, 4, Rule.FREESTYLE))
    target = seen @ np.linspace(-1, 1, len(NAMES)) + np.where(groups, 0.5, -0.5)
    for _ in range(25):
        baseline.predict(4, decisions, groups)
        baseline.learn(decisions, groups, target, np.random.default_rng(0))
    values = baseline.predict(4, decisions, groups)
    assert explained_variance(target, values) > 0.97
    other = ValueRegression(2)
    other.load_state(baseline.state())
    assert np.array_equal(other.predict(4, decisions, groups), values)


def test_explained_variance():
    returns = np.array([1.0, -1.0, 1.0, -1.0])
    assert explained_variance(returns, returns) == 1.0
    assert explained_variance(returns, np.zeros(4)) == 0.0
    assert explained_variance(np.ones(4), np.zeros(4)) == 0.0


def test_the_pull_towards_a_teacher_is_what_its_weight_says():
    decisions, net = some_decisions(), small_net()
    pull = TeacherPull(make_agent("shapes:balanced"), 0.5, 4, Rule.FREESTYLE)
    targets = pull.targets(decisions.planes, decisions.legal, np.random.default_rng(7))
    np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-5)
    inputs = (decisions.planes, decisions.legal, decisions.actions, decisions.log_p, np.zeros(len(decisions)))

    def slope(**more):
        for parameter in net.parameters():
            parameter.grad.fill(0)
        loss, *_ = policy_gradient(net, *inputs, temperature=0.7, entropy_weight=0.0, **more)
        return loss, net.parameters()[-1].grad.copy()

    half, whole = slope(pull=(targets, 0.5)), slope(pull=(targets, 1.0))
    assert slope()[0] == 0 and not slope()[1].any()
    assert whole[0] == pytest.approx(2 * half[0])
    np.testing.assert_allclose(whole[1], 2 * half[1], rtol=1e-9)
    parameter, step, losses = net.parameters()[-1], 1e-6, []
    for sign in (1, -1):
        parameter.value[3] += sign * step
        losses.append(slope(pull=(targets, 1.0))[0])
        parameter.value[3] -= sign * step
    assert whole[1][3] == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-4)
