"""The policy gradient points where it says, at the temperature it was played at, and improves what it should."""

import numpy as np
import pytest

from env import Rule
from env.lockstep import Lockstep
from env.observation import Positions
from nn import PolicyNet
from nn.line_value_net import LineValueNet
from nn.losses import masked_log_softmax
from nn.optim import Adam
from rl.baseline import LeaveOneOut, NoBaseline, RunningMean, TacticalTable
from rl.reinforce import policy_gradient, standardised, update
from rl.returns import discounted_returns, signed_results
from rl.selfplay import LEARNER, Decisions, play
from rl.tactics import winning_cells
from rl.value_net_baseline import ValueNetBaseline


def tiny_net():
    return PolicyNet(3, 4, filters=(3, 2), hidden=8, rng=np.random.default_rng(0), dtype=np.float64)


def some_decisions(count, rng):
    planes = (rng.random((count, 2, 3, 4)) < 0.3).astype(np.float32)
    planes[:, 1] *= 1 - planes[:, 0]
    legal = ~(planes.sum(axis=1) > 0).reshape(count, -1)
    legal[:, 0] = True
    actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
    return planes, legal, actions


def loss_of(net, planes, legal, actions, advantages, temperature, entropy_weight):
    log_p = masked_log_softmax(net.predict(planes.astype(net.dtype)) / temperature, legal)
    p = np.exp(log_p)
    spread = -(p * np.where(legal, log_p, 0.0)).sum(axis=1).mean()
    chosen = log_p[np.arange(len(actions)), actions]
    return -(advantages * chosen).mean() - entropy_weight * spread


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
@pytest.mark.parametrize("entropy_weight", [0.0, 0.3])
def test_gradient_of_the_whole_loss_by_finite_differences(temperature, entropy_weight):
    rng, net = np.random.default_rng(1), tiny_net()
    planes, legal, actions = some_decisions(5, rng)
    advantages = rng.normal(size=5)
    played = masked_log_softmax(net.predict(planes) / temperature, legal)[np.arange(5), actions]
    loss, _, _ = policy_gradient(
        net, planes, legal, actions, played, advantages, temperature=temperature, entropy_weight=entropy_weight
    )
    arguments = (planes, legal, actions, advantages, temperature, entropy_weight)
    assert loss == pytest.approx(loss_of(net, *arguments), rel=1e-12)
    for parameter in net.parameters():
        for index in rng.integers(0, parameter.value.size, 4):
            at = np.unravel_index(index, parameter.value.shape)
            kept, step = parameter.value[at], 1e-6
            parameter.value[at] = kept + step
            up = loss_of(net, *arguments)
            parameter.value[at] = kept - step
            down = loss_of(net, *arguments)
            parameter.value[at] = kept
            # Central differences in float64 at step 1e-6 are good to about 1e-9.
            assert parameter.grad[at] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-8)


def test_illegal_mass_is_what_the_mask_takes_away():
    rng, net = np.random.default_rng(2), tiny_net()
    planes, legal, actions = some_decisions(6, rng)
    _, _, mass = policy_gradient(
        net, planes, legal, actions, np.zeros(6), np.ones(6), temperature=1.0, entropy_weight=0.0
    )
    logits = net.predict(planes)
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    assert mass == pytest.approx((p * ~legal).sum(axis=1).mean(), rel=1e-10)


def test_standardised_within_groups():
    advantages, groups = np.array([1.0, 3.0, 10.0, 30.0, 7.0]), np.array([0, 0, 1, 1, 2])
    assert standardised(advantages, groups).tolist() == [-1.0, 1.0, -1.0, 1.0, 0.0]


def test_a_decision_counts_as_often_as_the_policy_still_makes_it():
    rng = np.random.default_rng(5)
    planes, legal, actions = some_decisions(1, rng)
    grads = []
    for ratio in (1.0, 0.25, 1.5, 50.0):
        net = tiny_net()
        now = masked_log_softmax(net.predict(planes), legal)[[0], actions]
        policy_gradient(
            net, planes, legal, actions, now - np.log(ratio), np.ones(1), temperature=1.0, entropy_weight=0.0
        )
        grads.append(net.parameters()[-1].grad.copy())
    for grad, factor in zip(grads[1:], (0.25, 1.5, 2.0), strict=True):
        np.testing.assert_allclose(grad, factor * grads[0], rtol=1e-12)


def as_decisions(net, planes, legal, actions):
    count = len(actions)
    zeros = np.zeros(count, dtype=np.int64)
    return Decisions(
        planes=planes,
        legal=legal,
        actions=actions,
        log_p=masked_log_softmax(net.predict(planes), legal)[np.arange(count), actions],
        games=zeros,
        colours=np.ones(count, dtype=np.int8),
        following=zeros - 1,
        moves_left=zeros,
        winners=np.ones(count, dtype=np.int8),
        seats=np.full((1, 2), LEARNER),
        lengths=np.array([count]),
        game_winners=np.ones(1, dtype=np.int8),
    )


def test_an_update_raises_the_rewarded_move_and_lowers_the_punished_one():
    rng, net = np.random.default_rng(3), tiny_net()
    planes, legal, actions = some_decisions(8, rng)
    advantages = np.where(np.arange(8) % 2 == 0, 1.0, -1.0)
    before = masked_log_softmax(net.predict(planes), legal)[np.arange(8), actions]
    for _ in range(20):
        stats = update(
            net, Adam(net.parameters(), 3e-3), as_decisions(net, planes, legal, actions), advantages,
            batch=4, temperature=1.0, entropy_weight=0.0, max_gradient_norm=10.0, rng=rng,
        )  # fmt: skip
    change = masked_log_softmax(net.predict(planes), legal)[np.arange(8), actions] - before
    assert (change[0::2] > 0).mean() >= 0.75 and (change[1::2] < 0).mean() >= 0.75
    assert stats.parameter_change > 0 and stats.gradient_norm > 0


def test_the_entropy_bonus_alone_spreads_the_policy():
    rng, net = np.random.default_rng(4), tiny_net()
    net.parameters()[-1].value[...] = rng.normal(size=12) * 3
    planes, legal, actions = some_decisions(8, rng)
    entropies = [
        update(
            net, Adam(net.parameters(), 1e-2), as_decisions(net, planes, legal, actions), np.zeros(8),
            batch=8, temperature=1.0, entropy_weight=1.0, max_gradient_norm=10.0, rng=rng,
        ).entropy
        for _ in range(30)
    ]  # fmt: skip
    assert entropies[-1] > entropies[0] + 0.2


def real_decisions(seed):
    net = tiny_net()
    games = Lockstep(40, 3, 4, win_length=3)
    return play(
        net, np.full((40, 2), LEARNER), [], games,
        temperature=1.0, symmetric=False, rng=np.random.default_rng(seed),
    )  # fmt: skip


MAKE = {
    "none": lambda groups: NoBaseline(),
    "mean": RunningMean,
    "tactics": TacticalTable,
    "value": lambda groups: ValueNetBaseline(LineValueNet(3, 4, rng=np.random.default_rng(9))),
}


@pytest.mark.parametrize("kind", ["mean", "tactics"])
def test_a_baseline_learns_what_it_is_told_and_says_nothing_before(kind):
    baseline, decisions = MAKE[kind](2), real_decisions(5)
    groups = decisions.games % 2
    # What each can see: the mean only the colour and the group, the table that a win is there to be taken.
    target = np.where(decisions.colours == 1, 0.5, -0.25) + 0.1 * groups
    if kind == "tactics":
        target = np.where(can_win(decisions), 1.0, target)
    assert not baseline.predict(3, decisions, groups).any()
    for _ in range(60):
        baseline.predict(3, decisions, groups)
        baseline.learn(decisions, groups, target, np.random.default_rng(0))
    error = np.abs(baseline.predict(3, decisions, groups) - target)
    # The table shrinks every entry towards 0 by two imagined decisions, which only rare entries feel.
    assert np.median(error) < 0.05 and error.max() < (1e-9 if kind == "mean" else 0.3)


def can_win(decisions):
    positions = Positions(decisions.planes, decisions.legal, 3, Rule.FREESTYLE)
    return winning_cells(positions, of_mover=True).any(axis=1)


@pytest.mark.parametrize("kind", ["mean", "tactics", "value"])
def test_prediction_does_not_see_this_batch(kind):
    baseline, decisions = MAKE[kind](1), real_decisions(6)
    groups = np.zeros(len(decisions), dtype=np.int64)
    baseline.predict(3, decisions, groups)
    baseline.learn(decisions, groups, np.full(len(decisions), 0.3), np.random.default_rng(0))
    first = baseline.predict(3, decisions, groups)
    assert first.any() and np.array_equal(first, baseline.predict(3, decisions, groups))


@pytest.mark.parametrize("kind", ["none", "mean", "tactics", "value"])
def test_baseline_state_round_trip(kind):
    one, two, decisions = MAKE[kind](1), MAKE[kind](1), real_decisions(7)
    groups = np.zeros(len(decisions), dtype=np.int64)
    one.predict(3, decisions, groups)
    one.learn(decisions, groups, decisions.colours * 0.5, np.random.default_rng(0))
    two.load_state(one.state())
    assert np.array_equal(one.predict(3, decisions, groups), two.predict(3, decisions, groups))
    for baseline in (one, two):
        baseline.learn(decisions, groups, decisions.colours * 0.25, np.random.default_rng(0))
    assert np.array_equal(one.predict(3, decisions, groups), two.predict(3, decisions, groups))


def test_no_baseline_is_zero():
    decisions = real_decisions(8)
    assert not NoBaseline().predict(3, decisions, decisions.games).any()


def test_leaving_one_out_is_the_mean_over_the_other_games():
    decisions = real_decisions(10)
    groups = decisions.games % 2
    returns = discounted_returns(signed_results(decisions.winners, decisions.colours), decisions.moves_left, 0.9)
    values = LeaveOneOut(0.9).predict(3, decisions, groups)
    for i in range(len(decisions)):
        alike = (groups == groups[i]) & (decisions.colours == decisions.colours[i])
        others = returns[alike & (decisions.games != decisions.games[i])]
        assert values[i] == pytest.approx(others.mean(), abs=1e-12)


def test_leaving_out_the_only_game_leaves_nothing():
    decisions = real_decisions(10)
    assert not LeaveOneOut(0.9).predict(3, decisions, decisions.games).any()


def test_a_value_network_learns_what_is_there_to_be_won():
    baseline, decisions = MAKE["value"](1), real_decisions(11)
    groups, target = np.zeros(len(decisions), dtype=np.int64), np.where(can_win(decisions), 0.8, -0.4)
    assert np.abs(baseline.predict(3, decisions, groups)).max() < 0.3
    rng = np.random.default_rng(0)
    for _ in range(150):
        baseline.learn(decisions, groups, target, rng)
    assert np.corrcoef(baseline.predict(3, decisions, groups), target)[0, 1] > 0.8


def test_without_the_mask_the_loss_pushes_on_illegal_cells_too():
    rng, net = np.random.default_rng(12), tiny_net()
    planes, legal, _ = some_decisions(6, rng)
    legal[:, 5] = False
    actions = np.array([rng.choice(np.flatnonzero(row)) for row in legal])
    grads = {}
    for masked in (True, False):
        for parameter in net.parameters():
            parameter.grad[...] = 0
        loss, _, mass = policy_gradient(
            net, planes, legal, actions, np.full(6, -20.0), np.ones(6), temperature=1.0, entropy_weight=0.0,
            masked=masked,
        )  # fmt: skip
        grads[masked] = net.parameters()[-1].grad.copy()  # of the bias of each cell's logit
        cells = legal if masked else np.ones_like(legal)
        chosen = masked_log_softmax(net.predict(planes), cells)[np.arange(6), actions]
        assert loss == pytest.approx(-2 * chosen.mean(), rel=1e-12)  # the ratio to e^-20 is cut off at 2
        assert mass > 0.05
    assert grads[True][5] == 0 < grads[False][5]
