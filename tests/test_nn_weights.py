"""Files of weights: read back as written, and nothing damaged, foreign or hostile gets through."""

import hashlib
import io
import json
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from nn import PolicyNet, WeightsError
from nn.weights import SEAL, load_arrays, replace_file, save_arrays

ARRAYS = {
    "a.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
    "file": np.array([True, False]),
    "count": np.array(7),
    "empty": np.zeros((0, 3)),
    "turned": np.arange(6.0).reshape(2, 3).T,
}
META = {"kind": "test", "seeds": [1, 2], "name": "Gomoku 五"}


def small_net() -> PolicyNet:
    return PolicyNet(3, 4, filters=(2, 3), hidden=5, rng=np.random.default_rng(0))


def write_sealed(path: Path, entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    """Write an archive whose checksum fits, as an attacker could."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        archive.comment = SEAL + b"0" * 64
    sealed = buffer.getvalue()[:-64]
    path.write_bytes(sealed + hashlib.sha256(sealed).hexdigest().encode())


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def entries_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def refusal(path: Path, load=load_arrays) -> str:
    with pytest.raises(WeightsError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message and str(path) in message
    return message


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS, META)
    arrays, meta = load_arrays(path)
    assert meta == META
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype and np.array_equal(arrays[name], array)
        assert arrays[name].flags.writeable
    assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_numpy_opens_it_and_equal_contents_are_equal_bytes(tmp_path: Path) -> None:
    save_arrays(tmp_path / "a.npz", ARRAYS, META)
    save_arrays(str(tmp_path / "b.npz"), ARRAYS, META)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as opened:
        assert np.array_equal(opened["a.weight"], ARRAYS["a.weight"])
        assert json.loads(opened["meta.json"]) == META


def test_truncated_at_any_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS, META)
    data = path.read_bytes()
    for length in range(len(data)):
        path.write_bytes(data[:length])
        refusal(path)
    path.write_bytes(data + b"\0")
    refusal(path)


def test_any_flipped_bit(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS, META)
    data = bytearray(path.read_bytes())
    for i in range(len(data)):
        data[i] ^= 1 << i % 8
        path.write_bytes(data)
        refusal(path)
        data[i] ^= 1 << i % 8


def test_missing_file_directory_and_other_kinds(tmp_path: Path) -> None:
    assert "missing" in refusal(tmp_path / "none.npz")
    assert "directory" in refusal(tmp_path)
    assert "null byte" in refusal(tmp_path / "a\0b")
    (tmp_path / "text").write_text("not a zip")
    assert "no .npz" in refusal(tmp_path / "text")
    (tmp_path / "nothing").write_bytes(b"")
    refusal(tmp_path / "nothing")
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    assert "not written by save_arrays" in refusal(tmp_path / "foreign.npz")


def test_hostile_files_with_a_fitting_checksum(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    good = {"meta.json": b"{}", "a.npy": npy(np.zeros(3))}
    write_sealed(path, good)
    load_arrays(path)

    write_sealed(path, {**good, "a.npy": npy(np.array([print], dtype=object), allow_pickle=True)})
    assert "object" in refusal(path)
    write_sealed(path, {**good, "a.npy": npy(np.zeros(3)).replace(b"}", b"(")})
    assert "header that cannot be read" in refusal(path)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    write_sealed(path, {**good, "a.npy": header.getvalue() + bytes(24)})
    assert "claims shape (1000000000000000,)" in refusal(path)
    write_sealed(path, {**good, "a.npy": npy(np.array([1.0, np.nan]))})
    assert "a[1] is nan" in refusal(path)
    write_sealed(path, {**good, "a.npy": npy(np.array([[1, -np.inf]], np.float32))})
    assert "a[0, 1] is -inf" in refusal(path)
    write_sealed(path, {**good, "a.npy": npy(np.asfortranarray(np.ones((2, 3))))})
    assert "Fortran" in refusal(path)
    write_sealed(path, {**good, "a.npy": b"\x93NUMPY"})
    refusal(path)
    write_sealed(path, {**good, "a.npy": b""})
    refusal(path)
    write_sealed(path, {"a.npy": good["a.npy"]})
    assert "meta.json is missing" in refusal(path)
    for text in (b"[]", b"{", b"\xff", b"7"):
        write_sealed(path, {**good, "meta.json": text})
        refusal(path)
    write_sealed(path, good, zipfile.ZIP_DEFLATED)
    assert "compressed" in refusal(path)
    with pytest.warns(UserWarning, match="Duplicate"):
        write_sealed_twice(path, good)
    assert "twice" in refusal(path)


def write_sealed_twice(path: Path, entries: dict[str, bytes]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in [*entries.items(), *entries.items()]:
            archive.writestr(name, content)
        archive.comment = SEAL + b"0" * 64
    sealed = buffer.getvalue()[:-64]
    path.write_bytes(sealed + hashlib.sha256(sealed).hexdigest().encode())


def test_writing_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.npz"
    save_arrays(path, ARRAYS, META)
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(WeightsError, match="No space left"):
                save_arrays(path, {"other": np.zeros(3)}, {})
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["a.npz"]
    with pytest.raises(WeightsError, match=r"no/a\.npz: cannot be written: No such file"):
        save_arrays(tmp_path / "no" / "a.npz", ARRAYS, META)
    with pytest.raises(WeightsError, match="object"):
        save_arrays(path, {"o": np.array([print], dtype=object)}, META)
    assert path.read_bytes() == before


def test_net_round_trip(tmp_path: Path) -> None:
    net = small_net()
    net.save(tmp_path / "n.npz")
    other = PolicyNet.load(tmp_path / "n.npz")
    x = np.random.default_rng(1).standard_normal((2, 2, 3, 4)).astype(np.float32)
    assert other.dtype == net.dtype and other.meta() == net.meta()
    assert other.predict(x).tobytes() == net.predict(x).tobytes()
    wide = PolicyNet.load(tmp_path / "n.npz", dtype=np.float64)
    assert wide.dtype == np.float64 and wide.predict(x).dtype == np.float64
    wide.save(tmp_path / "w.npz")
    assert PolicyNet.load(tmp_path / "w.npz").dtype == np.float64


def test_damaged_nets(tmp_path: Path) -> None:
    net, path = small_net(), tmp_path / "n.npz"
    arrays = {p.name: p.value for p in net.parameters()}
    for changed, text in [
        ({"fc1.weight": arrays["fc1.weight"][:-1]}, "fc1.weight has shape (35, 5), wanted (36, 5)"),
        ({"fc2.bias": arrays["fc2.bias"].astype(np.float64)}, "fc2.bias has dtype float64"),
        ({"conv3.bias": np.zeros(2)}, "unknown arrays ['conv3.bias']"),
        ({"conv1.bias": np.array([0, np.nan], np.float32)}, "conv1.bias[1] is nan"),
    ]:
        save_arrays(path, {**arrays, **changed}, net.meta())
        assert text in refusal(path, PolicyNet.load)
    del arrays["fc1.bias"]
    save_arrays(path, arrays, net.meta())
    assert "missing arrays ['fc1.bias']" in refusal(path, PolicyNet.load)
    net.save(path)
    entries = entries_of(path)
    for key, value in [
        ("height", 10**9), ("height", 0), ("height", 3.0), ("width", True), ("planes", "2"), ("hidden", None),
        ("filters", [2]), ("filters", 2), ("filters", [2, 3, 4]), ("filters", [2, -3]), ("filters", {}),
        ("dtype", "float16"), ("dtype", ["float32"]), ("net", "ValueNet"), ("more", 1),
    ]:  # fmt: skip
        write_sealed(path, {**entries, "meta.json": json.dumps({**net.meta(), key: value}).encode()})
        refusal(path, PolicyNet.load)
    write_sealed(path, {**entries, "meta.json": b"{}"})
    refusal(path, PolicyNet.load)


def test_a_net_with_nan_is_not_saved(tmp_path: Path) -> None:
    net = small_net()
    net.save(tmp_path / "n.npz")
    before = (tmp_path / "n.npz").read_bytes()
    net.fc1.weight.value[3, 2] = np.nan
    with pytest.raises(WeightsError, match=r"fc1\.weight\[3, 2\] is nan"):
        net.save(tmp_path / "n.npz")
    assert (tmp_path / "n.npz").read_bytes() == before


def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path):
    path = tmp_path / "nowhere" / "file.txt"
    with pytest.raises(OSError) as caught:
        replace_file(path, b"x")
    assert caught.value.filename == str(path)


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(b"old")
    for name, target in (("link", "there/file"), ("dangling", "there/new")):
        (tmp_path / name).symlink_to(target)
        replace_file(tmp_path / name, b"new")
        assert (tmp_path / name).is_symlink() and (tmp_path / target).read_bytes() == b"new"
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["file", "new"]


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace_file(pipe, b"through the pipe")
    assert os.read(reader, 100) == b"through the pipe" and pipe.is_fifo()
    os.close(reader)
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, b"")
