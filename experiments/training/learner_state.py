"""A learner as arrays and counters, and back: what a checkpoint holds, so that a run goes on as if never stopped.

Whatever a later update depends on is here; a test compares the bytes of a stopped and of an uninterrupted run.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.checkpoint import check_counts, check_like, part
from experiments.errors import UserError
from experiments.training.learner import Learner
from nn.weights import WeightsError, check_array
from rl.weight_average import WeightAverage


def arrays_of(learner: Learner) -> dict[str, NDArray[Any]]:
    """Weights, moments, past selves, baseline and what else there is."""
    out = {f"net.{name}": array for name, array in learner.net.arrays().items()}
    out |= {f"optimizer.{name}": array for name, array in learner.optimizer.state().items()}
    out |= {f"baseline.{name}": array for name, array in learner.baseline.state().items()}
    for i, snapshot in enumerate(learner.league.snapshots):
        out |= {f"past{i}.{name}": array for name, array in snapshot.arrays().items()}
    out["league.rates"] = learner.league.rates
    if learner.average is not None:
        out |= {f"average.{name}": array for name, array in learner.average.net.arrays().items()}
    if learner.gate is not None:
        out |= {f"gate.{name}": array for name, array in learner.gate.state().items()}
    if learner.pupil is not None:
        out |= {f"pupil.{name}": array for name, array in learner.pupil.arrays().items()}
    return out


def meta_of(learner: Learner, rows: int) -> dict[str, Any]:
    """Counters and the generator's state, for a checkpoint written after `rows` rows of metrics."""
    return {
        "rows": rows,
        "games": learner.games,
        "positions": learner.positions,
        "imitated": learner.imitated,
        "pupil": None if learner.pupil is None else learner.pupil.meta(rows) | {"epochs": learner.pupil.epochs},
        "snapshots": len(learner.league.snapshots),
        "net": learner.net.meta(),
        "generator": learner.rng.bit_generator.state,
    }


def restore(
    learner: Learner, updates: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str
) -> None:
    """Continue from a checkpoint. Raises WeightsError, and changes nothing, if it is another configuration's."""
    twin = copy.copy(learner)
    twin.league = copy.copy(learner.league)
    twin.baseline, twin.rng = copy.deepcopy(learner.baseline), copy.deepcopy(learner.rng)
    try:
        _restore(twin, updates, arrays, meta, where)
    except (WeightsError, UserError):
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise WeightsError(f"{where}: not a checkpoint of such a run: {type(error).__name__}: {error}") from None
    vars(learner).update(vars(twin))


def _restore(
    learner: Learner, updates: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any], where: str
) -> None:
    wanted = learner.net.meta()
    if meta["net"] != wanted:
        raise WeightsError(f"{where}: the checkpoints hold {meta['net']}, but config.json asks for {wanted}")
    check_counts(where, meta, ("rows", "games", "positions", "imitated", "snapshots"))
    baseline = part(arrays, "baseline.")
    check_like(f"{where}, baseline", baseline, learner.baseline.state())
    kind = type(learner.net)
    net = kind.from_arrays(part(arrays, "net."), wanted, where)
    snapshots = [kind.from_arrays(part(arrays, f"past{i}."), wanted, where) for i in range(meta["snapshots"])]
    learner.start_from(net)
    learner.optimizer.load_state(part(arrays, "optimizer."))
    learner.baseline.load_state(baseline)
    check_array(where, "league.rates", arrays["league.rates"], (len(snapshots),), np.dtype(np.float64))
    learner.league.snapshots, learner.league.rates = snapshots, arrays["league.rates"]
    if learner.average is not None:
        mean = kind.from_arrays(part(arrays, "average."), wanted, where)
        learner.average = WeightAverage(mean, learner.average.decay)
    if learner.gate is not None:
        learner.gate.load_state(part(arrays, "gate."))
    learner.rng.bit_generator.state = meta["generator"]
    learner.updates, learner.games, learner.positions = updates, meta["games"], meta["positions"]
    learner.imitated = meta["imitated"]
    if meta["pupil"] is None:
        learner.pupil = None
    elif learner.pupil is not None:  # last, for it is changed where it stands
        learner.pupil.restore(meta["pupil"]["epochs"], part(arrays, "pupil."), meta["pupil"], where)
