"""Drills: one position, many tries. The policy gradient at the two moments that decide games, with little noise.

Whole games teach a policy to take its wins, since every game won ends with an example of it, but not to block: a block
is one cell in many, found by luck, and pays only if the rest goes well. A drill starts where it matters (exploring
starts), tries several moves of the policy's own, lets an opponent answer each, and stops:

    puzzle ---+--- a1  b1   result  0      advantage of a try = its result - mean of the others' results
              +--- a2  b2   result -1
              +--- a3       result +1      the others' mean is the expected result of the same position: a baseline
              +--- ...                     that needs no estimate (leave-one-out; Kool et al. 2019)

    loss = -(1/PK) sum_p sum_k A_pk log pi(a_pk | s_p)  -  beta H(pi),      A_pk = z_pk - mean of the other z_pj

The tries are the policy's own draws, so this is REINFORCE, and nobody tells it which move was right. The positions are
the puzzles of rl/tactics, or such as the policy has just met in its games. ("Exploring starts": episodes that begin
where there is something to find out.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from env import BLACK, Rule
from env.lockstep import Lockstep
from env.observation import Positions
from nn import BoardNet
from nn.losses import entropy, masked_log_softmax, masked_log_softmax_backward
from nn.optim import Adam, clip_gradients
from rl.agents.base import BatchAgent
from rl.sampling import IntArray, RandomSource, draw_uniforms, inverse_cdf
from rl.selfplay import Decisions
from rl.tactics import winning_cells
from rl.views import Views


@dataclass(frozen=True)
class DrillStats:
    """Means over the minibatches: result of a try (-1..1), entropy of the policy, gradient norm before clipping."""

    result: float
    entropy: float
    gradient_norm: float


def at_stake(decisions: Decisions, win_length: int, rule: Rule, count: int, rng: RandomSource) -> IntArray:
    """At most `count` of the decisions that were made where either side could make five, (n,) indices.

    Of 16 times as many drawn at random, those that qualify are taken in a weighted draw, weight 1 - pi(a) + 0.02: a
    move the policy was sure of teaches little.
    """
    some = np.argsort(draw_uniforms(rng, len(decisions)))[: 16 * count]
    positions = Positions(decisions.planes[some], decisions.legal[some], win_length, rule)
    stake = winning_cells(positions, of_mover=True).any(axis=1) | winning_cells(positions, of_mover=False).any(axis=1)
    some = some[stake]
    weights = 1.02 - np.exp(decisions.log_p[some].astype(np.float64))
    return some[np.argsort(-np.log1p(-draw_uniforms(rng, len(some))) / weights)[:count]]


def set_up(games: Lockstep, planes: NDArray[np.float32], colours: NDArray[np.int8]) -> None:
    """Put these positions on empty games: planes (E, 2, H, W) as seen by the colours (E,) to move.

    The stones are put in any order that takes turns; in a game that went on no order makes five too early.
    """
    mine, theirs = planes.reshape(len(planes), 2, -1).transpose(1, 0, 2) > 0
    is_black = (colours == BLACK)[:, None]
    order = [np.argsort(~np.where(is_black, *pair), axis=1, kind="stable") for pair in ((mine, theirs), (theirs, mine))]
    stones = (mine | theirs).sum(axis=1)
    for ply in range(int(stones.max(initial=0))):
        which = np.flatnonzero(stones > ply)
        games.play(order[ply % 2][which, ply // 2], which)


def leave_one_out(results: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each result less the mean of the other tries' at the same puzzle: results (P, K), returns (P, K).

    z_k - (sum of z - z_k) / (K - 1) = (z_k - mean of all z) K / (K - 1).
    """
    tries = results.shape[1]
    centred: NDArray[np.float64] = (results - results.mean(axis=1, keepdims=True)) * (tries / (tries - 1))
    return centred


def try_moves(games: Lockstep, cells: IntArray, opponent: BatchAgent, rng: RandomSource) -> NDArray[np.float64]:
    """Play cells[p, k] in the k-th copy of game p, then the opponent's answer.

    Returns (P, K): +1 where the move won, -1 where the answer did, else 0. The games themselves are left as they are.
    """
    count, tries = cells.shape
    copies = games.take(np.repeat(np.arange(count), tries))
    mover = copies.to_move.copy()
    copies.play(cells.ravel())
    running = np.flatnonzero(~copies.over)
    if len(running):
        copies.play(opponent.choose_positions(copies.positions(running), rng), running)
    return (copies.winner * mover).astype(np.float64).reshape(count, tries)


def drill(
    net: BoardNet,
    optimizer: Adam,
    games: Lockstep,
    opponent: BatchAgent,
    *,
    tries: int,
    batch: int,
    temperature: float,
    symmetric: bool,
    entropy_weight: float,
    max_gradient_norm: float,
    rng: RandomSource,
) -> DrillStats:
    """Drill every position that `games` holds, in random minibatches of about `batch`, one optimizer step each.

    Each position is seen through a random view if `symmetric`, and `tries` moves (at least 2) are drawn for it from
    softmax(logits / temperature).
    """
    views = Views(games.height, games.width)
    order = np.argsort(draw_uniforms(rng, games.games))
    report = []
    for which in np.array_split(order, max(1, round(games.games / batch))):
        view = views.draw(len(which), symmetric, rng)
        planes, legal = views.see(games.positions(which), view)
        logits = net.forward(planes.astype(net.dtype, copy=False)) / temperature
        log_p = masked_log_softmax(logits, legal)
        rows = np.repeat(np.arange(len(which)), tries)  # (P * K,)
        actions = inverse_cdf(np.exp(log_p)[rows], draw_uniforms(rng, len(rows)))
        cells = views.cells(actions, view[rows]).reshape(len(which), -1)  # (P, K)
        results = try_moves(games.take(which), cells, opponent, rng)
        advantages = leave_one_out(results)

        d_log_p = np.zeros_like(log_p)
        np.add.at(d_log_p, (rows, actions), -advantages.ravel().astype(log_p.dtype) / len(rows))
        randomness, d_randomness = entropy(logits, legal)
        optimizer.zero_grad()
        d_logits = masked_log_softmax_backward(d_log_p, log_p) - entropy_weight * d_randomness
        net.add_gradients(d_logits / temperature)
        norm = clip_gradients(net.parameters(), max_gradient_norm)
        optimizer.step()
        report.append((float(results.mean()), randomness, norm))
    result, randomness, norm = np.mean(report, axis=0)
    return DrillStats(float(result), float(randomness), float(norm))
