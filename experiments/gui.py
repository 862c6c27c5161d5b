"""`gomoku gui`: play in a window, by clicks. What the window shows and does stands in experiments/faces/window.py.

Nothing here needs a display, nor Python's tkinter, until the window is opened.
"""

import argparse
import signal
from importlib.util import find_spec
from pathlib import Path
from types import FrameType

from experiments import play
from experiments.errors import EXIT_OK, UserError
from experiments.playing.session import GameSession

INSTEAD = "play in the terminal with: gomoku play"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments: those of `gomoku play`, and two of its own."""
    play.add_arguments(parser)
    parser.add_argument("--game", type=Path, metavar="FILE", help="go on with a recorded game: .sgf, .psq or .txt")
    parser.add_argument(
        "--rules", type=Path, metavar="FILE", help="the evaluation rules that the rules panel edits; made if missing"
    )


def run(args: argparse.Namespace) -> int:
    """Show the window until it is closed. Raises `UserError` where there is no display, KeyboardInterrupt at Ctrl-C."""
    session = play.new_session(args)
    if args.game is not None:
        session.load(args.game)
    show(session, args.rules)
    return EXIT_OK


def show(session: GameSession, rules: Path | None = None) -> None:
    """Open a window on a session and return when it has been closed."""
    if find_spec("_tkinter") is None:
        raise UserError(f"this Python has no tkinter, which windows need; install it, or {INSTEAD}")
    import tkinter

    from experiments.faces.window import Window

    try:
        root = tkinter.Tk(className="Gomoku")
    except tkinter.TclError as error:
        raise UserError(f"no window can be opened: {error}; {INSTEAD}") from None
    window = Window(root, session, rules)

    def interrupt(_: int, __: FrameType | None) -> None:
        window.interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        root.mainloop()
    finally:
        signal.signal(signal.SIGINT, before)
    if window.interrupted:
        raise KeyboardInterrupt
