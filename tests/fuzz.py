"""Mutated files and lines, given to everything that reads: no traceback, no hang, nothing changed by what is refused.

    make fuzz                                      100,000 cases, some minutes
    python tests/fuzz.py --cases 3000 --seed 7     others
    python tests/fuzz.py --only 1234               one case again

A case is a number: it says which reader, which of its examples, and which mutations.
"""

import argparse
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import fuzz_games
import fuzz_runs
from fuzz_reader import Reader
from mutations import mutated

from experiments.__main__ import is_named_error
from experiments.errors import UserError
from experiments.java.golden import Damaged

HANG = 5.0  # seconds
MEMORY = 4 << 30  # bytes of address space beyond which an array is refused by the machine, which counts as a fault


class Hang(BaseException):
    """A case took longer than HANG."""


def told(error: BaseException) -> bool:
    """Whether the program tells this in one line: see `main` in experiments/__main__.py; `parity` tells Damaged."""
    return isinstance(error, UserError | OSError | Damaged) or (isinstance(error, ValueError) and is_named_error(error))


def readers(folder: Path) -> list[Reader]:
    """Everything that reads, with examples, made in `folder`."""
    return [*fuzz_runs.readers(folder), *fuzz_games.readers(folder)]


@contextmanager
def alarm() -> Iterator[None]:
    """Raise Hang within this block once it has taken HANG seconds of the processor."""

    def ring(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_case(number: int, seed: int, known: list[Reader], folder: Path) -> tuple[str, str | None]:
    """(what came of it, what was wrong): "read", "refused", or a fault."""
    chance = random.Random(f"{seed}:{number}")
    reader = known[number % len(known)]
    other = chance.choice(known)
    data = mutated(chance.choice(reader.examples), chance, chance.choice(other.examples))
    path = folder / f"case{reader.suffix}"
    path.write_bytes(data)
    try:
        with alarm():
            fault = reader.read(path)
        outcome = "read"
    except Hang:
        outcome, fault = "hang", f"more than {HANG} s"
    except Exception as error:
        outcome, fault = "refused", None
        if not told(error):
            fault = f"{type(error).__name__}: {error}\n" + "".join(traceback.format_tb(error.__traceback__)[-3:])
    return outcome, fault and f"case {number} of seed {seed}, {reader.name}: {fault}"


def fuzz(cases: range, seed: int, show: Callable[[str], Any] = print) -> tuple[dict[str, int], list[str]]:
    """All these cases: how many of each outcome by reader, and the faults."""
    counts: dict[str, int] = {}
    faults = []
    with tempfile.TemporaryDirectory() as name:
        known = readers(Path(name))
        for number in cases:
            outcome, fault = run_case(number, seed, known, Path(name))
            key = f"{known[number % len(known)].name}: {outcome}"
            counts[key] = counts.get(key, 0) + 1
            if fault:
                faults.append(fault)
                show(fault)
    return counts, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cases = range(args.cases) if args.only is None else range(args.only, args.only + 1)
    counts, faults = fuzz(cases, args.seed)
    for key in sorted(counts):
        print(f"{counts[key]:>8,}  {key}")
    print(f"{len(cases):,} cases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
