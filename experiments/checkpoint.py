"""Checkpoints: everything a run needs to continue, in one file an update, the last three kept.

A file is written whole or not at all, and read with every check of `nn.weights` before anything is changed.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from experiments.errors import UserError
from experiments.run_dir import RunDir
from nn.weights import WeightsError, check_array, check_names, load_arrays, save_arrays

KEPT = 3
FORMAT = 1


class CheckpointError(UserError):
    """A run whose checkpoints cannot be read."""


class Checkpoint(NamedTuple):
    """What a run looked like after `update` updates.

    `arrays` holds weights, optimizer state and whatever else the training loop put there, `meta` the generator's
    state, the counters and other JSON.
    """

    update: int
    arrays: dict[str, NDArray[Any]]
    meta: dict[str, Any]


def save_checkpoint(
    run: RunDir, update: int, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
) -> Path:
    """Write `checkpoints/update_<update>.npz`, then remove all but the newest three. Returns the path."""
    path = run.checkpoints / _name(update)
    save_arrays(path, arrays, {"format": FORMAT, "update": update, "content": dict(meta)})
    for old in checkpoint_paths(run)[:-KEPT]:
        old.unlink()
    return path


def load_latest(run: RunDir) -> Checkpoint | None:
    """Return the newest checkpoint that can be read, or None if the run has not written any.

    A damaged one is named on stderr, left where it is, and the one before it is taken.
    Raises `CheckpointError` if there are checkpoints and none can be read.
    """
    reasons: list[str] = []
    for path in reversed(checkpoint_paths(run)):
        try:
            checkpoint = load_checkpoint(path)
        except (WeightsError, CheckpointError) as error:
            reasons.append(str(error))
            continue
        for reason in reasons:
            print(f"gomoku: note: {reason}; trying the checkpoint before it", file=sys.stderr)
        return checkpoint
    if reasons:
        raise CheckpointError(f"{run.path}: none of the {len(reasons)} checkpoints can be read: {reasons[0]}")
    return None


def load_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint in one file.

    Raises `WeightsError` if the file is damaged, `CheckpointError` if it is sound but no checkpoint.
    """
    arrays, meta = load_arrays(path)
    if meta.get("format") != FORMAT or not isinstance(meta.get("content"), dict):
        raise CheckpointError(f"{path}: not a checkpoint of format {FORMAT} (its meta: {sorted(meta)})")
    update = meta.get("update")
    if type(update) is not int or path.name != _name(update):
        raise CheckpointError(f"{path}: holds update {update!r}, which its name does not say")
    return Checkpoint(update, dict(arrays), meta["content"])


def _name(update: int) -> str:
    return f"update_{update:08d}.npz"


def checkpoint_paths(run: RunDir) -> list[Path]:
    """Return the checkpoint files of a run, oldest first."""
    return sorted(run.checkpoints.glob("update_*.npz"))


def part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with this prefix, without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def check_like(where: str, given: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]]) -> None:
    """Raise WeightsError unless the arrays have the names, shapes and types of those wanted."""
    check_names(where, given, list(wanted))
    for name, array in wanted.items():
        check_array(where, name, given[name], array.shape, array.dtype)


def check_counts(where: str, meta: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise WeightsError unless these are whole numbers, 0 or more, that a float would hold too."""
    for name in names:
        if type(meta[name]) is not int or not 0 <= meta[name] < 2**53:
            raise WeightsError(f"{where}: the checkpoint has {name} {meta[name]!r}, wanted a whole number, 0 or more")
