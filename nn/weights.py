"""Files of arrays: a named set of arrays and a little text about them, written whole or not at all, trusted never.

The file is an ordinary ``.npz`` (``numpy.load`` opens it) with uncompressed arrays and one entry ``meta.json``. It ends
with a checksum, so a file that was cut short or changed by a single bit is refused before anything in it is used.
"""

import hashlib
import io
import json
import math
import os
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

AnyArray = NDArray[Any]
META = "meta.json"
SEAL = b"sha256:"  # the archive comment is this word and the hex digest of every byte before the digest
DIGITS = 64


class WeightsError(ValueError):
    """A file of arrays cannot be written, read or used; the one-line message names file, fault and remedy."""


class WriteError(WeightsError, OSError):
    """The machine refuses to write a file of arrays: no such directory, no permission, no room."""


def save_arrays(path: str | os.PathLike[str], arrays: Mapping[str, AnyArray], meta: Mapping[str, Any]) -> None:
    """Write arrays (any shapes; bool, integer or float) and JSON-able ``meta`` to ``path``, atomically.

    The bytes depend on nothing but the arguments. Until the new file is complete and on the disk, an old file of
    that name stays what it was. Raises WriteError if the file cannot be written, WeightsError for other dtypes.
    """
    try:
        replace_file(path, _to_bytes(arrays, meta))
    except OSError as error:
        raise WriteError(f"{path}: cannot be written: {error.strerror or error}") from error


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put ``data`` into the file ``path``, whole or not at all.

    It goes to a temporary name beside it, is forced to the disk, and then takes the place of the old file in one
    step: whoever reads at any moment, or after a crash, finds the old bytes or the new. A link stays, and what it
    points to is replaced; what is no file, such as /dev/stdout or a pipe, is simply written to. Raises OSError.
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    real = Path(os.path.realpath(path))
    try:
        with tempfile.NamedTemporaryFile(dir=real.parent, prefix=f".{real.name}.", suffix=".tmp", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, 0o644)
                os.replace(file.name, real)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None  # what the caller asked for, not the temporary name
        raise


def load_arrays(path: str | os.PathLike[str]) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Read what ``save_arrays`` wrote: (arrays by name, meta).

    Raises WeightsError if the file is missing, cut short, changed, of another kind, or holds a number that is not
    finite. Nothing in the file is executed, and no array is made that is larger than the file.
    """
    path = Path(path)
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise WeightsError(f"{path}: the file is missing") from error
    except (OSError, ValueError) as error:  # ValueError: the name has a NUL in it
        raise WeightsError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from error
    if not data.startswith(b"PK"):
        raise WeightsError(f"{path}: is no .npz file; wanted one written by save_arrays")
    sealed, digest = data[:-DIGITS], data[-DIGITS:]
    if not sealed.endswith(SEAL) or hashlib.sha256(sealed).hexdigest().encode() != digest:
        raise WeightsError(f"{path}: is cut short, damaged or not written by save_arrays: its checksum does not fit")
    try:
        return _from_bytes(data)
    except (ValueError, KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        raise WeightsError(f"{path}: {str(error).splitlines()[0] if str(error) else type(error).__name__}") from error


def check_names(path: object, arrays: Mapping[str, AnyArray], wanted: Sequence[str]) -> None:
    """Raise WeightsError, naming ``path``, unless ``arrays`` has exactly the ``wanted`` names."""
    missing, unknown = sorted(set(wanted) - set(arrays)), sorted(set(arrays) - set(wanted))
    if missing or unknown:
        raise WeightsError(f"{path}: missing arrays {missing}, unknown arrays {unknown}; wanted {sorted(wanted)}")


def check_array(path: object, name: str, array: AnyArray, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise WeightsError, naming ``path``, unless ``array`` has this shape and dtype and is finite."""
    if array.shape != shape:
        raise WeightsError(f"{path}: {name} has shape {array.shape}, wanted {shape}")
    if array.dtype != dtype:
        raise WeightsError(f"{path}: {name} has dtype {array.dtype}, wanted {dtype}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        where = [int(index) for index in np.argwhere(~np.isfinite(array))[0]]
        raise WeightsError(f"{path}: {name}{where} is {array[tuple(where)]}, wanted a finite number")


def _to_bytes(arrays: Mapping[str, AnyArray], meta: Mapping[str, Any]) -> bytes:
    """Make the file's bytes; every entry carries the same date, so that equal contents are equal bytes."""
    entries = {META: json.dumps(dict(meta), sort_keys=True, allow_nan=False).encode()}
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype.kind not in "biuf":
            raise WeightsError(f"array {name} has dtype {array.dtype}, wanted bool, integers or floats")
        member = io.BytesIO()
        np.lib.format.write_array(member, np.ascontiguousarray(array).reshape(array.shape), allow_pickle=False)
        entries[f"{name}.npy"] = member.getvalue()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for entry, content in entries.items():
            archive.writestr(zipfile.ZipInfo(entry, date_time=(1980, 1, 1, 0, 0, 0)), content)
        archive.comment = SEAL + b"0" * DIGITS
    sealed = buffer.getvalue()[:-DIGITS]
    return sealed + hashlib.sha256(sealed).hexdigest().encode()


def _from_bytes(data: bytes) -> tuple[dict[str, AnyArray], dict[str, Any]]:
    """Read the archive entry by entry; any fault raises ValueError or what zipfile raises."""
    arrays: dict[str, AnyArray] = {}
    meta: dict[str, Any] | None = None
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if info.compress_type != zipfile.ZIP_STORED or info.file_size > len(data):
                raise ValueError(f"entry {info.filename} is compressed or larger than the file; wanted it stored as is")
            content = archive.read(info)
            name = info.filename.removesuffix(".npy")
            if name in arrays or (info.filename == META and meta is not None):
                raise ValueError(f"entry {info.filename} stands there twice")
            if info.filename == META:
                meta = json.loads(content)
            else:
                arrays[name] = _array(name, content)
    if not isinstance(meta, dict):
        raise ValueError(f"entry {META} is missing or no JSON object")
    return arrays, meta


def _array(name: str, content: bytes) -> AnyArray:
    """Read one ``.npy``, looking at its header before any memory is asked for."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"array {name} has .npy version {version}, wanted (1, 0)")
    try:
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    except Exception as error:  # whatever a parser may stumble over
        raise ValueError(f"array {name} has a header that cannot be read") from error
    if dtype.kind not in "biuf" or fortran:
        what = f"array {name} has dtype {dtype}, Fortran order {fortran}"
        raise ValueError(f"{what}; wanted bool, integers or floats in C order")
    rest = len(content) - stream.tell()
    if math.prod(shape) * dtype.itemsize != rest:
        raise ValueError(f"array {name} claims shape {shape} of {dtype}, but {rest} bytes follow")
    array = np.frombuffer(content, dtype, offset=stream.tell()).reshape(shape).copy()
    if dtype.kind == "f" and not np.isfinite(array).all():
        where = [int(index) for index in np.argwhere(~np.isfinite(array))[0]]
        raise ValueError(f"array {name}{where} is {array[tuple(where)]}, wanted a finite number")
    return array
