"""Checkpoints: bit for bit, whole or not there, the last three kept, the one before taken if the last is damaged."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from experiments.checkpoint import (
    CheckpointError,
    checkpoint_paths,
    load_checkpoint,
    load_latest,
    save_checkpoint,
)
from experiments.run_dir import RunDir
from nn.weights import WeightsError, save_arrays


@pytest.fixture
def run(tmp_path: Path) -> Iterator[RunDir]:
    with RunDir.create(tmp_path / "run", {}, []) as made:
        yield made


def arrays_of(update: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(update)
    return {
        "net.conv1.weight": rng.standard_normal((4, 2, 3, 3)).astype(np.float32),
        "optimizer.first.conv1.weight": rng.standard_normal((4, 2, 3, 3)),
        "pool": rng.integers(0, 9, (2, 5)),
    }


def test_no_checkpoint_is_none(run: RunDir) -> None:
    assert load_latest(run) is None


def test_everything_comes_back_bit_for_bit_and_the_generator_continues(run: RunDir) -> None:
    rng = np.random.default_rng(5)
    rng.standard_normal(7)
    meta = {"rng": rng.bit_generator.state, "games": 1280, "rows": 10}
    save_checkpoint(run, 10, arrays_of(10), meta)
    wanted = rng.random(3)

    loaded = load_latest(run)
    assert loaded is not None
    update, arrays, read_meta = loaded
    assert update == 10
    assert read_meta == json.loads(json.dumps(meta)) == meta
    assert list(arrays) == list(arrays_of(10))
    for name, array in arrays_of(10).items():
        assert arrays[name].dtype == array.dtype and arrays[name].tobytes() == array.tobytes()
    other = np.random.default_rng()
    other.bit_generator.state = read_meta["rng"]
    assert other.random(3).tolist() == wanted.tolist()


def test_the_last_three_are_kept(run: RunDir) -> None:
    for update in (1, 2, 9, 10, 100):
        save_checkpoint(run, update, arrays_of(update), {})
    assert [path.name for path in checkpoint_paths(run)] == [
        "update_00000009.npz",
        "update_00000010.npz",
        "update_00000100.npz",
    ]
    loaded = load_latest(run)
    assert loaded is not None and loaded.update == 100


@pytest.mark.parametrize("left", [0.0, 0.1, 0.5, 0.999])
def test_a_torn_newest_falls_back_to_the_one_before(
    run: RunDir, capsys: pytest.CaptureFixture[str], left: float
) -> None:
    save_checkpoint(run, 1, arrays_of(1), {"rows": 1})
    newest = save_checkpoint(run, 2, arrays_of(2), {"rows": 2})
    torn = newest.read_bytes()[: int(left * newest.stat().st_size)]
    newest.write_bytes(torn)
    loaded = load_latest(run)
    assert loaded is not None and (loaded.update, loaded.meta) == (1, {"rows": 1})
    said = capsys.readouterr().err
    assert str(newest) in said and "trying the checkpoint before it" in said
    assert newest.read_bytes() == torn  # nothing overwritten


def test_a_flipped_bit_is_noticed(run: RunDir) -> None:
    save_checkpoint(run, 1, arrays_of(1), {})
    newest = save_checkpoint(run, 2, arrays_of(2), {})
    data = bytearray(newest.read_bytes())
    data[len(data) // 3] ^= 4
    newest.write_bytes(data)
    loaded = load_latest(run)
    assert loaded is not None and loaded.update == 1


def test_none_readable_is_one_error_and_nothing_else(run: RunDir, capsys: pytest.CaptureFixture[str]) -> None:
    for update in (1, 2):
        save_checkpoint(run, update, arrays_of(update), {}).write_bytes(b"not a zip")
    with pytest.raises(CheckpointError, match=r"none of the 2 checkpoints can be read: .*update_00000002"):
        load_latest(run)
    assert capsys.readouterr().err == ""


def test_half_written_temporaries_are_no_checkpoints(run: RunDir) -> None:
    path = save_checkpoint(run, 1, arrays_of(1), {})
    path.with_name("update_00000002.npz.tmp").write_bytes(b"half")
    path.with_name(".update_00000003.npz.1234.tmp").write_bytes(b"half")
    loaded = load_latest(run)
    assert loaded is not None and loaded.update == 1


def test_other_files_are_told_apart(run: RunDir) -> None:
    path = run.checkpoints / "update_00000001.npz"
    save_arrays(path, arrays_of(1), {"kind": "weights"})
    with pytest.raises(CheckpointError, match="not a checkpoint of format 1"):
        load_checkpoint(path)
    save_arrays(path, arrays_of(1), {"format": 2, "update": 1, "content": {}})
    with pytest.raises(CheckpointError, match="not a checkpoint of format 1"):
        load_checkpoint(path)
    moved = save_checkpoint(run, 2, arrays_of(2), {}).rename(run.checkpoints / "update_00000007.npz")
    with pytest.raises(CheckpointError, match="holds update 2"):
        load_checkpoint(moved)
    with pytest.raises(WeightsError, match="missing"):
        load_checkpoint(run.checkpoints / "missing.npz")


def test_nothing_of_a_non_finite_checkpoint_is_used(run: RunDir) -> None:
    save_checkpoint(run, 1, arrays_of(1), {})
    with pytest.raises(WeightsError, match="fc1_weight"):
        save_checkpoint(run, 2, {"fc1_weight": np.array([1.0, np.nan])}, {})
        load_checkpoint(run.checkpoints / "update_00000002.npz")
    loaded = load_latest(run)
    assert loaded is not None and loaded.update == 1
