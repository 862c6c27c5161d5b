"""What `make fuzz` tries: something that reads, with whole examples of what it reads.

Which there are stands in fuzz_runs.py (networks, runs, sweeps) and fuzz_games.py (games, positions, what is said).
"""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"


class Reader(NamedTuple):
    """Something that reads: whole examples of what it reads, and what to do with a mutated one.

    `read` returns None, or what was wrong (state changed by something refused) and raises what the reader raises.
    """

    name: str
    suffix: str
    examples: list[bytes]
    read: Callable[[Path], str | None]


def unchanged(state: Callable[[], object], read: Callable[[], object]) -> str | None:
    """Read; if that is refused, say so if `state` is not what it was before."""
    before = state()
    try:
        read()
    except Exception:
        if state() != before:
            traceback.print_exc()
            return "refused, and the state is another"
        raise
    return None


def all_of(folder: Path, pattern: str) -> list[bytes]:
    """The contents of all such files."""
    return [path.read_bytes() for path in sorted(folder.glob(pattern))]


def lines_of(path: Path, most: int = 30) -> list[str]:
    """The first lines of a mutated file, as a terminal or a pipe gives them."""
    return path.read_bytes().decode(errors="replace").split("\n")[:most]
