"""Files of examples to learn from: an .npz of positions and moves, or recorded games of people and programs.

The .npz has `states` and `actions`, and, if they are known, `shares` (how good the teacher found each cell) and `games`
(which game a position is from). States are (N, H, W) int8, or (N, H, W, C) with own and other stones in the first two
of C channels, as other programs write them. `numpy.load` opens it, and any .npz with these names is read.
"""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from env import GameRecord, Rule
from experiments.errors import UserError
from experiments.files.game_files import read_games
from nn.weights import save_arrays
from rl.examples import Examples, as_states, from_records

MOST_BYTES = 1 << 31
GAME_ENDINGS = (".sgf", ".psq", ".txt")


def save_examples(path: Path, examples: Examples, meta: dict[str, Any], *, channels_last: bool) -> None:
    """Write examples; `channels_last` writes states as (N, H, W, 3) float32: own, other, empty. Raises WeightsError."""
    states: NDArray[Any] = examples.states
    if channels_last:
        states = np.stack([states == 1, states == -1, states == 0], axis=-1).astype(np.float32)
    arrays = {"states": states, "actions": examples.actions, "games": examples.games}
    if examples.shares is not None:
        arrays["shares"] = examples.shares
    save_arrays(path, arrays, meta)


def load_examples(path: Path) -> Examples:
    """The examples in an .npz. Raises UserError saying what is missing or contradictory."""
    try:
        arrays = dict(_arrays(path))
    except Exception as error:  # whatever zipfile and NumPy's reader of headers may stumble over
        raise UserError(f"{path}: cannot be read as examples: {error or type(error).__name__}") from None
    if not {"states", "actions"} <= set(arrays):
        raise UserError(f"{path}: wanted the arrays 'states' and 'actions', found {sorted(arrays)}")
    states, actions = arrays["states"], arrays["actions"]
    if states.ndim == 4:  # channels last
        states = as_states(np.moveaxis(states, -1, 1)) if states.shape[-1] >= 2 else states
    if states.ndim != 3 or not len(states):
        raise UserError(f"{path}: states are {arrays['states'].shape}; wanted (N, H, W) or (N, H, W, channels)")
    area = states.shape[1] * states.shape[2]
    games = arrays.get("games", np.arange(len(states)))
    for name, array, shape in (("actions", actions, (len(states),)), ("games", games, (len(states),))):
        if array.shape != shape or array.dtype.kind not in "iu":
            raise UserError(f"{path}: {name} are {array.dtype} {array.shape}; wanted whole numbers {shape}")
    if not np.isin(states, (-1, 0, 1)).all():
        raise UserError(f"{path}: a state holds more than -1, 0 and 1")
    if not ((actions >= 0) & (actions < area)).all():
        raise UserError(f"{path}: an action lies off the {states.shape[1]}x{states.shape[2]} board")
    if states.reshape(len(states), -1)[np.arange(len(states)), actions].any():
        raise UserError(f"{path}: an action lies on a stone; are the states those before the moves?")
    shares = arrays.get("shares")
    if shares is not None and (shares.shape != (len(states), area) or shares.dtype != np.uint8):
        raise UserError(f"{path}: shares are {shares.dtype} {shares.shape}; wanted uint8 {(len(states), area)}")
    return Examples(states.astype(np.int8), actions.astype(np.int64), games.astype(np.int64), shares)


def _arrays(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """(name, array) for each that is there; none is made that is larger than its entry in the file, or MOST_BYTES."""
    with zipfile.ZipFile(path) as archive:
        entries = set(archive.namelist())
        for name in ("states", "actions", "shares", "games"):
            if f"{name}.npy" not in entries:
                continue
            info = archive.getinfo(f"{name}.npy")
            if info.file_size > MOST_BYTES:
                raise ValueError(f"{name} has {info.file_size:,} bytes; {MOST_BYTES:,} are the most")
            with archive.open(info) as entry:
                version = np.lib.format.read_magic(entry)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(entry)
                left = info.file_size - entry.tell()
                if dtype.hasobject or math.prod(shape) * dtype.itemsize != left:
                    raise ValueError(f"{name} claims shape {shape} of {dtype}, but {left} bytes follow")
            with archive.open(info) as entry:
                yield name, np.lib.format.read_array(entry, allow_pickle=False)


def examples_from(paths: Sequence[Path], height: int, width: int, win_length: int, rule: Rule) -> Examples:
    """The examples in one .npz, or in files and folders of recorded games (SGF, .psq, lines of text).

    Games of another board, files that hold no game and games without a move of their own are left out and counted on
    stderr; `rule` is taken whatever a file says. Raises UserError if nothing is left.
    """
    if len(paths) == 1 and paths[0].suffix == ".npz":
        examples = load_examples(paths[0])
        if examples.states.shape[1:] != (height, width):
            found = "{}x{}".format(*examples.states.shape[1:])
            raise UserError(f"{paths[0]}: its boards are {found}; the network's is {height}x{width}")
        return examples
    games: list[GameRecord] = []
    unreadable: list[str] = []
    other = 0
    files = [file for path in paths for file in game_files(path)]
    for file in files:
        try:
            found_games = read_games(file, rule)
        except UserError as error:
            unreadable.append(str(error))
            continue
        for game in found_games:
            fits = (game.height, game.width, game.win_length) == (height, width, win_length)
            if fits and len(game.moves) > game.opening:
                games.append(game)
            else:
                other += 1
    if unreadable:
        left_out = f"{len(unreadable)} of {len(files)} files left out, the first: {unreadable[0]}"
        print(f"gomoku: note: {left_out}", file=sys.stderr)
    if other:
        print(f"gomoku: note: {other} games of another board or without moves left out", file=sys.stderr)
    if not games:
        asked = f"{height}x{width}, {win_length} in a row"
        raise UserError(f"{', '.join(map(str, paths))}: no game of {asked} in {len(files)} files")
    return from_records(games)


def game_files(path: Path) -> list[Path]:
    """The path itself, or all files of games anywhere below a folder, in order. Raises UserError if it is not there."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in GAME_ENDINGS and file.is_file())
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    return [path]
