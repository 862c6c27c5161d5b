"""Mutations of files and lines: bits, pieces and numbers changed, one value of a JSON text made another, and archives
rebuilt with the checksums made right.

A mutation that only breaks a checksum or a bracket tests the checksum or the parser; what lies behind is reached by
making it fit again.
"""

import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from nn.weights import SEAL

WORDS = (
    b"999999999", b"1000000000", b"9" * 400, b"-1", b"0", b"1e400", b"-0.0", b"NaN", b"Infinity", b"null", b"true",
    b'""', b"[]", b"{}", b"[" * 2000, b'{"a":' * 1500, b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\n", b";",
    b"(" * 2000, b"\\", b'"', b"'", b",", b"=", b":", b"../../etc/passwd", b"/dev/null", b"\xe2\x80\xae", b"\xd9\xa3",
    b"a1", b"z99", b"o15", b" ",
)  # fmt: skip
VALUES = (
    None, True, False, 0, 1, -1, 2, 7, 1000, 10**9, 2**63, -(10**400), 0.5, -0.5, 1e308, -0.0, float("nan"),
    float("inf"), "", "x", "1", "greedy", "../../etc/passwd", "a\x00b", "\ud800", "h8", "\n", "9" * 400, [], {}, [[]],
    [1, 2], ["x"], [None], {"x": 1}, {"x": None},
)  # fmt: skip


def mutated(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """The data with one to four things done to it."""
    if data.startswith(b"PK") and chance.random() < 0.9:
        return rebuilt(data, chance, other)
    if data.startswith(b"{") and chance.random() < 0.5:
        return other_json(data, chance)
    for _ in range(chance.choice((1, 1, 2, 4))):
        data = once_mutated(data, chance, other)
    return data


def once_mutated(data: bytes, chance: random.Random, other: bytes) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 2, 8, 64)))
    numbers = list(re.finditer(rb"-?\d+", data))
    match chance.randrange(8):
        case 0:  # one bit
            return data[:start] + bytes(b ^ 1 << chance.randrange(8) for b in data[start:end][:1]) + data[start + 1 :]
        case 1:
            return data[:start] + data[end:]
        case 2:
            return data[:end] + data[start:end] * chance.choice((1, 1, 50)) + data[end:]
        case 3:
            return data[:start] + chance.randbytes(end - start) + data[end:]
        case 4:
            return data[:start]
        case 5 if numbers:
            number = chance.choice(numbers)
            return data[: number.start()] + chance.choice(WORDS) + data[number.end() :]
        case 6 if other:
            at = chance.randrange(len(other))
            return data[:start] + other[at : at + chance.choice((4, 40, 400))] + data[end:]
        case _:
            return data[:start] + chance.choice(WORDS) + data[chance.choice((start, end)) :]


def other_json(data: bytes, chance: random.Random) -> bytes:
    """JSON, or one line of several, with one value replaced, taken away, doubled, or under another name."""
    lines = data.splitlines() if data.count(b"\n{") else [data]
    which = chance.randrange(len(lines))
    try:
        whole = json.loads(lines[which])
    except ValueError:
        return once_mutated(data, chance, b"")
    places = list(places_in(whole))
    holder, key = chance.choice(places) if places else ([whole], 0)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder.insert(key, holder[key])
        case 1:
            holder[str(chance.choice(VALUES))] = holder.pop(key)
        case 2:
            holder[key] = [holder[key]]
        case 3 if type(holder[key]) in (int, float):
            holder[key] = chance.choice((-1, 2, 0.5, 1000)) * holder[key]
        case _:
            holder[key] = chance.choice(VALUES)
    lines[which] = json.dumps(whole).encode()
    return b"\n".join(lines) + b"\n" * data.endswith(b"\n")


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (list or object, index or name) at which a value stands, at any depth."""
    if isinstance(value, dict | list):
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from places_in(item)


def rebuilt(data: bytes, chance: random.Random, other: bytes) -> bytes:
    """An archive with one entry changed, renamed, dropped or doubled, and every checksum made right again."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
        is_sealed = archive.comment.startswith(SEAL)
    which = chance.randrange(len(entries))
    if "meta.json" in dict(entries) and chance.random() < 0.5:
        which = [name for name, _ in entries].index("meta.json")
    name, content = entries[which]
    match chance.randrange(6):
        case 0:
            entries[which] = (chance.choice(("file.npy", "../x.npy", "", "a" * 300, name.upper())), content)
        case 1:
            entries.pop(which)
        case 2:  # an array that claims to be enormous, of another type, or another shape
            begin = content[:128]
            claim = chance.choice((b"(1000000000,), ", b"(99999, 99999), ", b"(), ", b"(-1,), ", b"(0, 5), "))
            begin = re.sub(rb"\([\d, ]*\), ?", claim, begin)[:127].ljust(127) + b"\n"
            if chance.random() < 0.3:
                begin = begin.replace(b"<f4", chance.choice((b"|O", b"<f8", b"<c8", b"<i4", b"<U9")))
            entries[which] = (name, begin + content[128:])
        case _:
            deep = content.startswith(b"{") and chance.random() < 0.7
            entries[which] = (name, other_json(content, chance) if deep else once_mutated(content, chance, other))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry, content in entries:
            archive.writestr(zipfile.ZipInfo(entry or "x", (1980, 1, 1, 0, 0, 0)), content)
        archive.comment = SEAL + b"0" * 64 if is_sealed else b""
    return sealed(buffer.getvalue()) if is_sealed else buffer.getvalue()


def sealed(data: bytes) -> bytes:
    """The data with the checksum at its end that fits the rest."""
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()
