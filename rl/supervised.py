"""Imitation: make the network's preferences those of a teacher.

    loss = -(1/sum w) sum_i w_i sum_a target_i(a) log pi(a | s_i),   pi = softmax of the logits over the legal cells

A target that is 1 on one cell is the usual cross-entropy with that move. A soft one spreads over the cells that the
teacher found about as good, so that the network is not asked to guess which of two equals was drawn. The weights w let
positions count for more in which a five is at stake: one block that is missed costs the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env.observation import Positions, shown
from nn import BoardNet
from nn.losses import MaskError, masked_log_softmax
from nn.optim import Adam, clip_gradients
from rl.agents.base import BatchAgent
from rl.agents.shapes import ShapeAgent
from rl.neighbourhood import Shape, over_lines, seen_by_other, shape_table
from rl.sampling import BoolArray, IntArray, RandomSource

Targets = NDArray[np.float32]


@dataclass(frozen=True)
class Lesson:
    """N positions and what the teacher thinks of their cells, as the network sees them.

    planes (N, 2, H, W) float32, legal (N, A) bool, targets (N, A) float32: 0 on illegal cells, each row summing to 1.
    weights (N,) float32 > 0, how much each position counts; None: all alike.
    """

    planes: NDArray[np.float32]
    legal: BoolArray
    targets: Targets
    weights: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.planes)


def soft_targets(values: NDArray[Any], power: float) -> Targets:
    """(value / best value) ** power, scaled so that a position's sum is 1.

    values (N, A), negative on illegal cells; returns (N, A). Where no cell is worth anything, all legal ones are alike.
    The larger the power, the less is left for anything but the best; 4 is about right for values in steps of ten.
    """
    legal = values >= 0
    best = values.max(axis=1, keepdims=True).astype(np.float32)
    share = np.where(best > 0, np.maximum(values, 0) / np.maximum(best, 1), legal).astype(np.float32)
    weight = share**power
    targets: Targets = weight / weight.sum(axis=1, keepdims=True)
    return targets


def hard_targets(cells: IntArray, area: int) -> Targets:
    """All on the cell chosen: cells (N,) -> (N, A)."""
    targets = np.zeros((len(cells), area), dtype=np.float32)
    targets[np.arange(len(cells)), cells] = 1
    return targets


def teach(teacher: BatchAgent, positions: Positions, power: float, rng: RandomSource) -> Targets:
    """What the teacher thinks of each cell, (N, A): soft if it values cells and power > 0, else the cell it plays."""
    if isinstance(teacher, ShapeAgent) and power > 0:
        return soft_targets(teacher.values(positions).T, power)
    return hard_targets(teacher.choose_positions(positions, rng), positions.legal.shape[1])


def seen_by(net: BoardNet, planes: NDArray[Any]) -> NDArray[Any]:
    """What the net is shown of planes (N, 2, H, W): those, or three with the turn, in its dtype."""
    return shown(planes, net.planes).astype(net.dtype, copy=False)


def is_urgent(positions: Positions) -> BoolArray:
    """Whether somebody could make a five with the next stone: (N,)."""
    five = shape_table(positions.win_length) == Shape.FIVE
    somebody = over_lines(positions.planes, positions.win_length, five | seen_by_other(five), np.logical_or)  # (A, N)
    urgent: BoolArray = np.any(somebody & positions.legal.T, axis=0)
    return urgent


def soft_cross_entropy(
    logits: NDArray[Any], targets: Targets, legal: BoolArray, weights: NDArray[np.float32] | None = None
) -> tuple[float, NDArray[Any]]:
    """The loss above and its slope: logits, targets, legal all (N, A), weights (N,) -> (loss, d_logits (N, A)).

    d_logits = w (pi - target) / sum w, as each row of targets sums to 1. Raises MaskError if a target lies on an
    illegal cell or a row has no legal one, NonFiniteError if a logit is not finite.
    """
    if (targets[~legal] != 0).any():
        raise MaskError("a target lies on a cell that is not legal")
    log_p = masked_log_softmax(logits, legal)
    share = np.ones(len(logits), dtype=np.float32) if weights is None else weights
    share = (share / share.sum())[:, None]  # (N, 1)
    loss = -float((share * targets * np.where(legal, log_p, 0)).sum())
    return loss, (share * (np.exp(log_p) - targets)).astype(logits.dtype)


def agreement(logits: NDArray[Any], lesson: Lesson) -> float:
    """Share of positions in which the largest legal logit is on a cell that the teacher thinks best."""
    chosen = np.where(lesson.legal, logits, -np.inf).argmax(axis=1)
    rows = np.arange(len(lesson))
    return float((lesson.targets[rows, chosen] >= lesson.targets.max(axis=1)).mean())


@dataclass(frozen=True)
class ImitationStats:
    """What one step did: the loss and accuracy (see `agreement`) before it, the gradient's length before clipping."""

    loss: float
    accuracy: float
    gradient_norm: float


def imitate(
    net: BoardNet, optimizer: Adam, lesson: Lesson, max_gradient_norm: float
) -> tuple[ImitationStats, NDArray[Any]]:
    """One optimizer step towards the teacher. Returns what it did, and the logits (N, A) the step began from."""
    logits = net.forward(seen_by(net, lesson.planes))
    loss, d_logits = soft_cross_entropy(logits, lesson.targets, lesson.legal, lesson.weights)
    optimizer.zero_grad()
    net.add_gradients(d_logits)
    norm = clip_gradients(net.parameters(), max_gradient_norm)
    optimizer.step()
    return ImitationStats(loss, agreement(logits, lesson), norm), logits


def validate(net: BoardNet, lesson: Lesson) -> tuple[float, float]:
    """(loss, accuracy) on a lesson that is not learnt from."""
    logits = net.predict(seen_by(net, lesson.planes))
    return soft_cross_entropy(logits, lesson.targets, lesson.legal, lesson.weights)[0], agreement(logits, lesson)
