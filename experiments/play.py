"""`gomoku play`: a game against an agent in the terminal, or through a pipe: crossings are typed as h8.

It is a thin view of `GameSession`; what is typed is read a line at a time, and everything goes to standard output.
"""

import argparse
import io
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from env import BLACK, WHITE, IllegalMoveError, Rule
from env.coords import CoordinateError, cell_name, parse_cell
from env.record_text import printable
from env.render import STONE_LETTERS, position_text
from experiments.errors import EXIT_OK, UserError, did_you_mean
from experiments.playing.player import ADVISER, DEFAULT_AGENT, HUMAN
from experiments.playing.session import GameSession, SessionError
from experiments.strength.pairing import NETWORKS, setting_for
from nn.weights import WeightsError
from rl.agents import make_agent

COLOURS = {"black": BLACK, "white": WHITE}
FORBIDDEN_MARK = "!"
HELP = """\
  h8         put your stone on h8: the column's letter, the row's number
  undo       take your last move back, and the answer to it
  hint       ask what to play
  resign     give the game up
  new        begin a new game
  board      show the board again
  save FILE  write the game, as .sgf, .psq or .txt
  load FILE  go on with a game from a file
  help       show this
  quit       leave"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--agent", default=DEFAULT_AGENT, metavar="SPEC", help=f"who plays against you (default: {DEFAULT_AGENT})"
    )
    parser.add_argument("--colour", choices=list(COLOURS), default="black", help="yours (default: black, who begins)")
    parser.add_argument("--size", type=int, metavar="S", help="a square board (default: a network's own size, else 15)")
    parser.add_argument(
        "--win-length", type=int, metavar="L", help="stones in a row that win (default: as a network's run, else 5)"
    )
    parser.add_argument(
        "--rule", choices=[rule.value for rule in Rule], help="default: as a network's run, else freestyle"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same answers (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Play until somebody quits, or nothing more is typed."""
    session = new_session(args)
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    Dialogue(session, read_line, lambda text: print(text, flush=True)).run()
    return EXIT_OK


def new_session(args: argparse.Namespace) -> GameSession:
    """Return the session that was asked for. Raises `UserError`, or AgentSpecError, EngineError."""
    if args.seed < 0:
        raise UserError(f"--seed {args.seed}: a seed is 0 or larger")
    agents = []
    if args.size is None and args.agent.partition(":")[0] in NETWORKS:
        with suppress(WeightsError):  # the session will say so, and find a stand-in
            agents = [make_agent(args.agent)]
    wanted = argparse.Namespace(**vars(args), height=None, width=None)
    board = setting_for(wanted, [args.agent], agents).board()
    players = {colour: HUMAN if colour == args.colour else args.agent for colour in COLOURS}
    return GameSession(board, **players, seed=args.seed, adviser=ADVISER)


def read_line() -> str | None:
    """Return the next line that was typed, or None after the last. A prompt is for people only."""
    if sys.stdin is None:
        return None
    try:
        return input("> " if sys.stdin.isatty() and sys.stdout.isatty() else "")
    except EOFError:
        return None


class Dialogue:
    """What is typed, and what is said to it; `read` returns a line or None, `say` takes a text."""

    def __init__(self, session: GameSession, read: Callable[[], str | None], say: Callable[[str], None]) -> None:
        self.session, self.read, self.say = session, read, say
        self._told = ""  # the session's note, once it has been passed on
        self._commands: dict[str, Callable[[str], None]] = {
            "undo": self._undo,
            "hint": self._hint,
            "resign": lambda _: self._show_after(session.resign),
            "new": lambda _: self._show_after(session.new),
            "board": lambda _: self._show_after(lambda: None),
            "save": self._save,
            "load": self._load,
            "help": lambda _: say(HELP),
        }

    def run(self) -> None:
        """Talk until "quit" or the last line."""
        players = self.session.game.players.items()
        names = " and ".join(f"{printable(each.name)} {STONE_LETTERS[colour]}" for colour, each in players)
        self.say(f"{names}. Type a crossing such as h8, or help.")
        self._show_after(lambda: None)
        while (line := self.read()) is not None:
            word, _, rest = line.strip().partition(" ")
            if word.lower() in ("quit", "exit"):
                return
            if not word:
                continue
            try:
                self._obey(word, rest.strip())
            except (SessionError, IllegalMoveError, CoordinateError, UserError) as error:
                self.say(f"{error}.")
            except OSError as error:
                self.say(f"{error.filename or rest}: {error.strerror}.")

    def _obey(self, word: str, rest: str) -> None:
        command = self._commands.get(word.lower())
        if command is not None:
            command(rest)
            return
        board = self.session.game.board
        try:
            cell = parse_cell(word, board.height, board.width)
        except CoordinateError as error:
            if word[1:].isdigit():
                raise  # a crossing, but off the board
            known = did_you_mean(word.lower(), [*self._commands, "quit"])
            raise UserError(f"{printable(word[:40])!r} is no crossing and no command; {known}") from error
        self._show_after(lambda: self.session.play(cell))

    def _show_after(self, change: Callable[[], object]) -> None:
        """Make a change, let the agent answer it, and show the board."""
        change()
        self._tell_note()
        while (question := self.session.question()) is not None:
            mover = self.session.game.called(self.session.game.board.to_move)
            if self.session.accept(question.answer()):
                board = self.session.game.board
                self.say(f"{printable(mover)} plays {cell_name(board.moves[-1], board.height, board.width)}.")
            self._tell_note()
        game = self.session.game
        moves, marks = game.board.moves, dict.fromkeys(game.forbidden, FORBIDDEN_MARK)
        self.say(position_text(game.board.cells, moves[-1] if moves else None, marks))
        self.say(f"Move {len(moves)}: {printable(game.status)}.")

    def _tell_note(self) -> None:
        note = self.session.note
        if note and note != self._told:
            self.say(f"Note: {printable(note)}.")
        self._told = note

    def _undo(self, _: str) -> None:
        count = self.session.undo()
        self.say(f"{count} {'move' if count == 1 else 'moves'} taken back." if count else "The game goes on.")
        self._show_after(lambda: None)

    def _hint(self, _: str) -> None:
        self.session.accept(self.session.ask_hint().answer())
        self._tell_note()
        cell, board = self.session.hint_cell, self.session.game.board
        if cell is not None:
            self.say(f"Perhaps {cell_name(cell, board.height, board.width)}.")

    def _save(self, file: str) -> None:
        if not file:
            raise UserError("name a file, such as: save game.sgf")
        self.session.save(Path(file))
        self.say(f"Saved as {printable(file)}.")

    def _load(self, file: str) -> None:
        if not file:
            raise UserError("name a file, such as: load game.sgf")
        self._show_after(lambda: self.session.load(Path(file)))
