"""The directory of one run: what was asked for, under which versions, and everything it produced.

    runs/quick__s1__20261129T201500Z/
        config.json     every setting, defaults included        metrics.jsonl   one row an update
        command.txt     the command lines, newest last          checkpoints/    what `--resume` continues from
        version.json    Python, NumPy, BLAS, platform, git      games/          games of the final evaluation
        lock            held while a process uses the run       curve.png       the learning curve
"""

import argparse
import fcntl
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from experiments.errors import UserError
from nn.weights import replace_file

LET_GO = 1.0  # seconds that a process may go on holding a run directory before it is said to be in use
# What a creation stopped half-way leaves behind; the hidden ones are files about to take over their names.
BEGINNINGS = re.compile(r"lock|command\.txt|version\.json|\.(command\.txt|version\.json|config\.json)\..*")


class RunDirError(UserError):
    """A directory that cannot be used as a new run, or is not the run it should be."""


class RunDir:
    """One run's directory, locked for this process until `close`.

    Made by `create` or `open`, never directly.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metrics = path / "metrics.jsonl"
        self.checkpoints = path / "checkpoints"
        self.games = path / "games"
        self.curve = path / "curve.png"
        self._lock = _take_lock(path)
        self._asked: Sequence[str] | None = None  # the command line that opened an existing run, until it is accepted

    @classmethod
    def create(cls, path: Path, config: Mapping[str, Any], argv: Sequence[str]) -> Self:
        """Make a new run directory at `path` (see `new_run_path`) and write down what was asked for.

        `config.json` is written last: a directory that holds one is a run, whatever happens later.
        Raises `RunDirError` if the directory holds anything already, or another process is using it.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise RunDirError(f"{path}: a file stands in the way of this run directory") from None
        _refuse_unless_empty(path)
        run = cls(path)
        try:
            _refuse_unless_empty(path)  # again, now that nobody else can be filling it
            run._note_command(argv, previous=b"")
            _write_json(path / "version.json", versions())
            _write_json(path / "config.json", config)
            run._make_folders()
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: Path, argv: Sequence[str]) -> Self:
        """Open an existing run to continue it.

        The command line is added to command.txt by `accept`, once nothing about it is refused any more. Where the
        versions differ from those the run began under, a note on stderr says so: it continues, but no longer bit for
        bit as if never stopped.
        Raises `RunDirError` if there is no run at `path`, or another process is using it.
        """
        if not path.is_dir():
            raise RunDirError(f"{path}: no such run directory")
        if not (path / "config.json").is_file():
            raise RunDirError(f"{path}: not a run directory (no config.json), or stopped before it began")
        run = cls(path)
        try:
            run._asked = argv
            run._make_folders()
            for difference in run.version_differences():
                print(f"gomoku: note: {difference}; the run may not continue bit for bit", file=sys.stderr)
        except BaseException:
            run.close()
            raise
        return run

    def accept(self) -> None:
        """Add the command line that opened the run to command.txt: all that could be refused has been looked at."""
        if self._asked is not None:
            command = self.path / "command.txt"
            self._note_command(self._asked, previous=command.read_bytes() if command.exists() else b"")
            self._asked = None

    def config(self) -> dict[str, Any]:
        """Return what config.json says. Raises `RunDirError` if it is no JSON object."""
        return read_json(self.path / "config.json")

    def version_differences(self) -> list[str]:
        """Return one line for each of Python, NumPy, BLAS and machine that changed since the run began."""
        began, now = read_json(self.path / "version.json"), versions()
        return [
            f"the run began under {name} {began.get(name)}, this is {now[name]}"
            for name in ("python", "numpy", "blas", "machine")
            if began.get(name) != now[name]
        ]

    def close(self) -> None:
        """Let other processes use the directory."""
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def _note_command(self, argv: Sequence[str], previous: bytes) -> None:
        line = shlex.join(["gomoku", *argv]) + "\n"
        replace_file(self.path / "command.txt", previous + line.encode(errors="surrogateescape"))

    def _make_folders(self) -> None:
        self.checkpoints.mkdir(exist_ok=True)
        self.games.mkdir(exist_ok=True)


def add_run_dir_arguments(parser: argparse.ArgumentParser, resume: str) -> None:
    """Declare --run-dir and --resume; `resume` is the help of the latter."""
    parser.add_argument("--run-dir", type=Path, metavar="DIR", help="where to write (default: a new one in runs/)")
    parser.add_argument("--resume", type=Path, metavar="DIR", help=resume)


def new_run_path(name: str, seed: int, root: Path = Path("runs")) -> Path:
    """Return a path nothing stands at yet: `runs/<name>__s<seed>__<UTC time>`, `-2` added in a busy second."""
    stem = f"{name}__s{seed}__{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    path, count = root / stem, 1
    while path.exists():
        count += 1
        path = root / f"{stem}-{count}"
    return path


def versions() -> dict[str, Any]:
    """Return what the bits of a run depend on: Python, NumPy, BLAS, machine, threads, the program's commit."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    threads = {name: os.environ.get(name) for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": f"{blas.get('name')} {blas.get('version')}",
        "machine": platform.machine(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "threads": threads,
        "git": _git_commit(),
    }


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file. Raises `RunDirError` naming the file if there is none."""
    try:
        value = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RunDirError(f"{path}: no such file, though every run directory holds one") from None
    except (ValueError, RecursionError) as error:
        raise RunDirError(f"{path}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RunDirError(f"{path}: wanted a JSON object, found {type(value).__name__}")
    return value


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    replace_file(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def _refuse_unless_empty(path: Path) -> None:
    held = sorted(entry.name for entry in path.iterdir() if not BEGINNINGS.fullmatch(entry.name))
    if held:
        raise RunDirError(
            f"{path}: not empty (it holds {held[0]}); name a new directory, or continue it with --resume {path}"
        )


def _take_lock(path: Path) -> int:
    """Return the descriptor of the lock file, which frees the lock when closed, by a crash too.

    A sweep that is killed leaves processes that take a moment to notice: they are waited for.
    """
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    until = time.monotonic() + LET_GO
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(0.02)
                continue
        holder = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
        os.close(lock)
        raise RunDirError(f"{path}: in use by another process ({holder})")
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"pid {os.getpid()}\n".encode(), 0)
    return lock


def _git_commit() -> str | None:
    """Return the commit of this program, `-dirty` added if files were changed, or None outside a checkout."""
    here = Path(__file__)
    try:
        for command in (
            ["ls-files", "--error-unmatch", here.name],  # not some other repository around an installed copy
            ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        ):
            done = subprocess.run(
                ["git", "-C", here.parent, *command], capture_output=True, text=True, timeout=10, check=True
            )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
