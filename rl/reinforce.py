"""REINFORCE: push each decision's log-probability up or down by how much better it went than expected.

    loss = -(1/N) sum_i rho_i A_i log pi(a_i | s_i)  -  beta H(pi)    (Williams 1992; entropy bonus beta)

with pi = softmax(logits / T) over the legal cells, as in play: same view, same mask, same T. The chain rule through
logits / T puts a factor 1 / T before the gradient. The advantages A are the returns less a baseline (rl/returns,
rl/baseline), standardised below.

A batch of games is learnt from in many small steps, so after the first the policy is no longer quite the one that
played, mu. The importance weight rho = min(pi(a|s) / mu(a|s), MOST_RATIO), a plain number no slope goes through, counts
each decision as often as the present policy would make it. Without it a move that went badly is pushed down at full
strength however rare it has become, and the logits run away. Cutting rho off keeps one rare move from deciding a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nn import BoardNet
from nn.losses import entropy, masked_log_softmax, weighted_cross_entropy
from nn.optim import Adam, clip_gradients
from rl.sampling import BoolArray, IntArray, RandomSource, draw_uniforms
from rl.selfplay import Decisions
from rl.supervised import Targets, soft_cross_entropy
from rl.teacher_pull import TeacherPull

MOST_RATIO = 2.0
LEAST_SIZE = 0.1  # a decision that would move nothing is still looked at now and then, for its entropy


@dataclass(frozen=True)
class UpdateStats:
    """What one pass over the decisions did: means over its minibatches.

    loss, entropy (nats) of the policy, gradient_norm before clipping, illegal_mass = the probability the logits
    would give to illegal cells without the mask, parameter_change = |new - old| / |old| over all weights.
    """

    loss: float
    entropy: float
    gradient_norm: float
    illegal_mass: float
    parameter_change: float


def standardised(advantages: NDArray[np.float64], groups: IntArray) -> NDArray[np.float64]:
    """Advantages less their mean, over their standard deviation, within each group of decisions.

    advantages, groups (T,); returns (T,). A group without spread becomes 0. Dividing keeps the size of a step alike
    whether results are certain or not; doing it by colour keeps black's easier games from drowning white's.
    """
    out = np.zeros_like(advantages)
    for group in np.unique(groups):
        members = groups == group
        centred = advantages[members] - advantages[members].mean()
        deviation = centred.std()
        out[members] = centred / deviation if deviation > 0 else 0.0
    return out


def policy_gradient(
    net: BoardNet,
    planes: NDArray[np.float32],
    legal: BoolArray,
    actions: IntArray,
    log_p: NDArray[Any],
    advantages: NDArray[np.float64],
    *,
    temperature: float,
    entropy_weight: float,
    masked: bool = True,
    pull: tuple[Targets, float] | None = None,
) -> tuple[float, float, float]:
    """Add the gradient of the loss to the net's parameters; returns (loss, entropy, illegal mass).

    planes (N, 2, H, W), legal (N, A); actions, advantages and log_p, the log-probability in play, (N,). Unless
    `masked`, pi is the softmax over all cells, though no illegal one was played. `pull` is what a teacher thinks
    (N, A) and how much that weighs.
    """
    logits = net.forward(planes.astype(net.dtype, copy=False)) / temperature
    cells = legal if masked else np.ones_like(legal)
    now = masked_log_softmax(logits, cells)[np.arange(len(actions)), actions]
    weights = advantages * np.minimum(np.exp(now - log_p), MOST_RATIO)
    loss, d_loss = weighted_cross_entropy(logits, actions, weights, cells)
    randomness, d_randomness = entropy(logits, cells)
    d_logits = d_loss - entropy_weight * d_randomness
    if pull is not None:
        targets, weight = pull
        distance, d_distance = soft_cross_entropy(logits, targets, legal)
        loss, d_logits = loss + weight * distance, d_logits + weight * d_distance
    net.add_gradients(d_logits / temperature)
    unmasked = np.exp(masked_log_softmax(logits, np.ones_like(legal)))
    illegal_mass = float((unmasked * ~legal).sum(axis=1).mean())
    return loss - entropy_weight * randomness, randomness, illegal_mass


def choose_lessons(
    decisions: Decisions, advantages: NDArray[np.float64], share: float, rng: RandomSource
) -> tuple[IntArray, NDArray[np.float64]]:
    """About `share` of the decisions, those that would move the policy most, and what each then counts for.

    A decision is taken, on its own draw, with probability q = min(1, c (s + LEAST * mean of s)), s = |A| (1 - pi(a)):
    the advantage times the size of the score, since d log pi(a) / d logit(a) = 1 - pi(a). c makes the q add up to the
    share wanted. Counting it share / q keeps the expected gradient that of all decisions (importance sampling), so
    the mean over those taken is to be read as the mean over all.
    Returns (index (n,) in random order, advantages (n,) times share / q). All are taken if share is 1.
    """
    if share >= 1:
        return np.argsort(draw_uniforms(rng, len(decisions))), advantages
    size = np.abs(advantages) * (1 - np.exp(decisions.log_p.astype(np.float64)))
    size += LEAST_SIZE * size.mean() + 1e-12
    chance = size * (share / size.mean())
    for _ in range(20):  # what is cut off at 1 is handed on to the others
        lacking = share * len(size) - np.minimum(chance, 1).sum()
        open_to_more = chance < 1
        if lacking <= 0.5 or not open_to_more.any():
            break
        chance[open_to_more] *= 1 + lacking / chance[open_to_more].sum()
    chance = np.minimum(chance, 1)
    taken = np.flatnonzero(draw_uniforms(rng, len(size)) < chance)
    taken = taken[np.argsort(draw_uniforms(rng, len(taken)))]
    weighted = advantages.copy()
    weighted[taken] *= share / chance[taken]
    return taken, weighted


def update(
    net: BoardNet,
    optimizer: Adam,
    decisions: Decisions,
    advantages: NDArray[np.float64],
    *,
    batch: int,
    temperature: float,
    entropy_weight: float,
    max_gradient_norm: float,
    rng: RandomSource,
    share: float = 1.0,
    masked: bool = True,
    pull: TeacherPull | None = None,
) -> UpdateStats:
    """One pass over the decisions, or a share of them, in random minibatches of about `batch`, a step each.

    The entropy bonus is taken at the decisions that are learnt from, each counting alike.
    """
    before = [parameter.value.copy() for parameter in net.parameters()]
    order, advantages = choose_lessons(decisions, advantages, share, rng)
    losses, entropies, norms, masses = [], [], [], []
    for index in np.array_split(order, max(1, round(len(order) / batch))):
        optimizer.zero_grad()
        planes, legal = decisions.planes[index], decisions.legal[index]
        loss, randomness, mass = policy_gradient(
            net,
            planes,
            legal,
            decisions.actions[index],
            decisions.log_p[index],
            advantages[index],
            temperature=temperature,
            entropy_weight=entropy_weight,
            masked=masked,
            pull=None if pull is None else (pull.targets(planes, legal, rng), pull.weight),
        )
        norms.append(clip_gradients(net.parameters(), max_gradient_norm))
        optimizer.step()
        losses.append(loss)
        entropies.append(randomness)
        masses.append(mass)
    moved = sum(float(((p.value - old) ** 2).sum()) for p, old in zip(net.parameters(), before, strict=True))
    size = sum(float((old**2).sum()) for old in before)
    return UpdateStats(
        loss=float(np.mean(losses)),
        entropy=float(np.mean(entropies)),
        gradient_norm=float(np.mean(norms)),
        illegal_mass=float(np.mean(masses)),
        parameter_change=float(np.sqrt(moved / size)),
    )
