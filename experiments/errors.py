"""Mistakes a user can make, told in one line, and what a process says with its exit code.

Whatever is raised here ends as `gomoku: <message>` on stderr; a traceback is kept for faults of the program.
"""

import difflib
from collections.abc import Iterable

EXIT_OK = 0
EXIT_FAILED = 1  # the command ran and the answer is no, or the machine refused (disk full, no permission)
EXIT_USAGE = 2  # a wrong command line, configuration or file
EXIT_INTERRUPTED = 130  # Ctrl-C: 128 + SIGINT
EXIT_BROKEN_PIPE = 141  # whoever read our output has gone: 128 + SIGPIPE


class UserError(Exception):
    """A wrong command line, configuration or file: what was wrong, where, what would be right, in one line."""


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """Return the end of an error message: the choice closest to `name`, or all of them if none is close.

    >>> did_you_mean("trian", ["train", "plot"])
    "did you mean 'train'?"
    >>> did_you_mean("xyz", ["train", "plot"])
    'choose from plot, train'
    """
    known = sorted(choices)
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}?" if close else f"choose from {', '.join(known)}"
