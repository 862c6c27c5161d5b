"""The program `gomoku`: finds the command asked for in the table, runs it, and says in one line what went wrong.

A command's module is imported only when that command is asked for, so that `gomoku --help` answers at once.
"""

import argparse
import io
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from experiments.commands import COMMANDS
from experiments.errors import (
    EXIT_BROKEN_PIPE,
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_USAGE,
    UserError,
    did_you_mean,
)

# Before NumPy is loaded: the products here are small, and a second thread costs them more than it gives.
for _threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_threads, "1")

PACKAGES = ("nn", "env", "rl", "experiments")
HOME = Path(__file__).resolve().parent.parent  # where the four packages of this program stand


class Parser(argparse.ArgumentParser):
    """A parser that tells a mistake as everything here does: in one line, as a `UserError`."""

    def error(self, message: str) -> NoReturn:
        """Raise UserError."""
        raise UserError(f"{message}; see {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; see `experiments.errors` for what the codes say."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_output()
    try:
        try:
            return _run(words)
        finally:
            sys.stdout.flush()  # here, where a reader that has gone is still caught
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return EXIT_BROKEN_PIPE
    except UserError as error:
        return _say(error, EXIT_USAGE)
    except MemoryError as error:
        return _say(f"not enough memory: {error}".removesuffix(": "), EXIT_FAILED)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", EXIT_FAILED)
    except ValueError as error:
        if not is_named_error(error):
            raise
        return _say(error, EXIT_USAGE)


def is_named_error(error: Exception) -> bool:
    """Return whether `error` is of a class this program defines, such as `WeightsError`: its message is for users."""
    return type(error).__module__.partition(".")[0] in PACKAGES


def check_packages(home: Path) -> None:
    """Check that `import env` and the others will find this program's packages.

    Raises `UserError` naming the folder or module that shadows one.
    """
    for name in PACKAGES:
        spec = find_spec(name)
        if spec is None:
            raise UserError(f"the package {name!r} is missing beside {home / 'experiments'}; install again: make test")
        if spec.origin is None or Path(spec.origin).resolve() != home / name / "__init__.py":
            found = spec.origin or ", ".join(spec.submodule_search_locations or ())
            raise UserError(
                f"{found} shadows this program's package {name!r} ({home / name}); "
                "rename it (a virtual environment is best named .venv) or run the command elsewhere"
            )


def _run(words: list[str]) -> int:
    name = words[0] if words else None
    if name is not None and not name.startswith("-") and name not in COMMANDS:
        raise UserError(f"there is no command {name!r}; {did_you_mean(name, COMMANDS)}")
    parser = Parser(
        prog="gomoku",
        description="A Gomoku laboratory: a neural network by hand in NumPy, trained by REINFORCE self-play.",
        epilog="`gomoku COMMAND --help` says more about each.",
    )
    parser.add_argument("--version", action="store_true", help="show the program's version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for each, command in COMMANDS.items():
        subparser = commands.add_parser(
            each,
            help=command.summary,
            description=command.description,
            epilog=f"example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if each == name:
            check_packages(HOME)
            module = _imported(command.module)
            module.add_arguments(subparser)
            chosen = subparser
    if name not in COMMANDS:
        if parser.parse_args(words).version:
            print(f"gomoku-lab {import_module('nn').__version__}")
        else:
            parser.print_help()
        return EXIT_OK
    args, unknown = parser.parse_known_args(words)
    if unknown:
        options = set(re.findall(r"--[a-z][a-z-]*", chosen.format_usage()))
        option = unknown[0].partition("=")[0]
        raise UserError(f"gomoku {name} takes no {option!r}; {did_you_mean(option, options)}")
    code: int = module.run(args)
    return code


def _imported(name: str) -> ModuleType:
    """Return the module. Ctrl-C is heard once it is there: to NumPy an import broken off is a broken installation."""
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return import_module(name)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _prepare_output() -> None:
    """See to it that printing never fails for a closed stream, nor for a letter that its encoding does not have."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - for as long as the process lives
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _say(message: object, code: int) -> int:
    print(f"gomoku: {' '.join(str(message).split())}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
