"""From preferences to probabilities, and the numbers that training makes small.

One loss serves both kinds of learning: with weights = advantages it is REINFORCE, with weights = 1 it is imitation.

    logits (N, A) --mask, log-softmax--> log_p (N, A) --weighted cross-entropy--> loss
                  <------ d_logits ----               <------- d_log_p -------
"""

import numpy as np
from numpy.typing import NDArray

from nn.layers import FloatArray, NonFiniteError, ShapeError

Mask = NDArray[np.bool_]


class MaskError(ValueError):
    """A position has no legal move, or a move that was played is not legal."""


def masked_log_softmax(logits: FloatArray, mask: Mask) -> FloatArray:
    """Return log p (N, A) of the softmax over the legal moves; illegal moves get -inf, so their p is exactly 0.

    ``log p[a] = logits[a] - log(sum over legal b of exp(logits[b]))``, computed after subtracting the row's
    largest legal logit, so that nothing overflows. logits (N, A), mask (N, A) with True = legal.

    Raises ShapeError, MaskError if a row has no legal move, NonFiniteError if a logit is NaN or infinite.
    """
    shifted = masked_logits(logits, mask)
    log_p: FloatArray = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return log_p


def masked_logits(logits: FloatArray, mask: Mask) -> FloatArray:
    """Return the logits (N, A) less the largest legal one of their row, -inf where illegal; raises the same."""
    mask = np.asarray(mask, dtype=bool)
    if logits.ndim != 2 or mask.shape != logits.shape:
        raise ShapeError(f"got logits {logits.shape} and mask {mask.shape}, wanted (N, A) for both")
    if not np.isfinite(logits).all():
        row, move = np.argwhere(~np.isfinite(logits))[0]
        raise NonFiniteError(f"logits[{row}, {move}] is {logits[row, move]}: the weights or the input are damaged")
    if not mask.any(axis=1).all():
        raise MaskError(f"row {np.argmin(mask.any(axis=1))} of the mask has no legal move: the game is over there")
    # np.where(mask, logits, -inf) asks entry by entry; to be at most +inf or -inf is several times as fast.
    limit = mask.astype(np.result_type(logits, np.float32))  # (N, A) 1 legal, 0 not
    limit -= 0.5
    limit *= np.inf
    shifted: FloatArray = np.minimum(logits, limit, out=limit)
    shifted -= shifted.max(axis=1, keepdims=True)
    return shifted


def masked_log_softmax_backward(d_log_p: FloatArray, log_p: FloatArray) -> FloatArray:
    """Return d_logits (N, A) for d_log_p (N, A), which must be 0 on illegal moves.

    ``log p[a] = logits[a] - log(sum of exp)``: the first term passes the slope on, and the second, shared by all
    moves of the row, moves by p[b] when logits[b] moves. So ``d_logits[b] = d_log_p[b] - p[b] * sum(d_log_p)``.
    Each row of d_logits sums to 0, since adding the same number to all logits changes nothing.
    """
    d_logits: FloatArray = d_log_p - np.exp(log_p) * d_log_p.sum(axis=1, keepdims=True)
    return d_logits


def weighted_cross_entropy(
    logits: FloatArray, actions: NDArray[np.integer], weights: FloatArray, mask: Mask
) -> tuple[float, FloatArray]:
    """Return (loss, d_logits): ``loss = -sum over n of weights[n] * log p[n, actions[n]] / N``.

    logits (N, A), actions (N,) int, weights (N,), mask (N, A), d_logits (N, A). A step down this loss makes a move
    likelier if its weight is positive and rarer if it is negative, as strongly as the weight is large.

    Raises what masked_log_softmax raises, MaskError if an action is not legal, NonFiniteError for a bad weight.

    Source: Williams, "Simple statistical gradient-following algorithms" (1992), for weights = advantages.
    """
    log_p = masked_log_softmax(logits, mask)
    number = len(logits)
    actions, weights = np.asarray(actions), np.asarray(weights)
    if actions.shape != (number,) or weights.shape != (number,) or number == 0:
        got = f"logits {logits.shape}, actions {actions.shape} and weights {weights.shape}"
        raise ShapeError(f"got {got}, wanted (N, A), (N,) and (N,) with N > 0")
    if actions.dtype.kind not in "iu":
        raise MaskError(f"got actions of dtype {actions.dtype}, wanted whole numbers")
    if not np.isfinite(weights).all():
        raise NonFiniteError(f"weights[{np.argmin(np.isfinite(weights))}] is not finite")
    rows = np.arange(number)
    on_board = (actions >= 0) & (actions < logits.shape[1])
    legal = on_board & np.asarray(mask, dtype=bool)[rows, np.where(on_board, actions, 0)]  # (N,)
    if not legal.all():
        raise MaskError(f"action {actions[np.argmin(legal)]} of row {np.argmin(legal)} is not legal there")
    chosen = log_p[rows, actions]  # (N,)
    loss = -float(weights @ chosen) / number
    d_log_p = np.zeros_like(log_p)
    d_log_p[rows, actions] = -weights / number
    return loss, masked_log_softmax_backward(d_log_p, log_p)


def entropy(logits: FloatArray, mask: Mask) -> tuple[float, FloatArray]:
    """Return (H, d_logits): the mean over the rows of ``-sum over a of p[a] * log p[a]``, and its slope.

    logits (N, A), mask (N, A), d_logits (N, A). In nats: 0 when one move is certain, log of the number of legal
    moves when all are equally likely. Since p = exp(log p), the slope of -p log p by log p is -p log p - p; the -p at
    its end may be left out, because masked_log_softmax_backward makes 0 of it (the p of a row always sum to 1).

    Raises what masked_log_softmax raises.
    """
    log_p = masked_log_softmax(logits, mask)
    if len(log_p) == 0:
        raise ShapeError(f"got logits {logits.shape}, wanted (N, A) with N > 0")
    p = np.exp(log_p)
    log_p_or_0 = np.where(mask, log_p, 0)  # an illegal move has p = 0 and counts nothing; 0 * -inf would be NaN
    value = -float((p * log_p_or_0).sum()) / len(log_p)
    d_log_p = -p * log_p_or_0 / len(log_p)  # (N, A)
    return value, masked_log_softmax_backward(d_log_p, log_p)


def squared_error(values: FloatArray, targets: FloatArray) -> tuple[float, FloatArray]:
    """Return (loss, d_values): ``loss = sum of (value - target)^2 / N`` and its slope, ``2 (value - target) / N``.

    values, targets and d_values have one shape, with N entries. The values that make it least are the mean of the
    targets wherever equal positions came with different ones: with results as targets, the expected result.

    Raises ShapeError if the shapes differ or are empty, NonFiniteError for a target that is NaN or infinite.
    """
    targets = np.asarray(targets)
    if values.shape != targets.shape or values.size == 0:
        raise ShapeError(f"got values {values.shape} and targets {targets.shape}, wanted one shape that is not empty")
    if not np.isfinite(targets).all():
        raise NonFiniteError(f"targets{np.argwhere(~np.isfinite(targets))[0].tolist()} is not finite")
    away = values - targets
    return float((away * away).sum()) / values.size, (2 / values.size) * away
