"""What a board in a notebook shows and does, without the notebook: a game against an agent, or a recorded one in steps.

`experiments/widget.py` puts it into Jupyter; here are a picture, a line of text, buttons, and what a click means.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path

from env import Board, GameRecord, IllegalMoveError
from env.coords import cell_name
from env.svg import board_svg
from experiments.faces.board_grid import svg_grid
from experiments.files.game_files import read_games
from experiments.playing.question import Question
from experiments.playing.session import GameSession, SessionError

MATCH_BUTTONS = ("New game", "Undo", "Hint", "Resign", "Chances")
STEP_BUTTONS = ("|<", "<", ">", ">|")
FARTHEST = 1e6  # units of the picture from its corner, at which nobody clicks


class Face(ABC):
    """Something that is looked at: `show` is called whenever it looks different."""

    buttons: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.show: Callable[[], None] = lambda: None

    @property
    @abstractmethod
    def picture(self) -> str:
        """An <svg> element."""

    @property
    @abstractmethod
    def status(self) -> str:
        """What is said beside the picture."""

    @abstractmethod
    def press(self, button: str) -> None:
        """Do what a button says; an unknown one does nothing."""

    def click(self, x: float, y: float) -> None:  # noqa: B027 - not every face can be clicked into
        """A click into the picture, in its units."""

    def take(self, message: object) -> None:
        """Do what a message from a browser says; one that makes no sense is dropped."""
        if not isinstance(message, Mapping):
            return
        if message.get("kind") == "button":
            self.press(str(message.get("name")))
        elif message.get("kind") == "click":
            x, y = message.get("x"), message.get("y")
            if isinstance(x, int | float) and isinstance(y, int | float) and max(abs(x), abs(y)) < FARTHEST:
                self.click(x, y)


class LiveGame(Face):
    """A session, played by clicks; agents think in threads, so that the notebook stays alive."""

    buttons = MATCH_BUTTONS

    def __init__(self, session: GameSession, *, chances: bool = False) -> None:
        super().__init__()
        self.session, self.shows_chances = session, chances
        self._mistake = ""
        self._lock = threading.RLock()  # whatever changes the game or shows it, one at a time
        self._threads: list[threading.Thread] = []
        session.listen(self._changed)
        self._go_on()

    @property
    def picture(self) -> str:
        """The board, and on it a hint that was asked for, and chances if they are wanted and a network plays."""
        heat = self.session.chances if self.shows_chances else None
        return board_svg(self.session.game.board, numbers=False, heat=heat, hint=self.session.hint_cell)

    @property
    def status(self) -> str:
        """Whose turn it is, a hint, what went wrong."""
        game, hint = self.session.game, self.session.hint_cell
        lines = [f"Move {len(game.board.moves)}: {game.status}.", self.session.note, self._mistake]
        if hint is not None:
            lines.append(f"Perhaps {cell_name(hint, game.board.height, game.board.width)}.")
        if self.shows_chances and self.session.chances is None and not game.is_over:
            lines.append("No network plays that could say how likely it finds each move.")
        return "\n".join(line for line in lines if line)

    def click(self, x: float, y: float) -> None:
        """Put a person's stone on the nearest crossing; on a stone, out of turn or off the board it means nothing."""
        game = self.session.game
        cell = svg_grid(game.board).nearest(x, y)
        if cell is not None and game.player.mind is None and not game.is_over and not game.board.cells.flat[cell]:
            self._try(lambda: self.session.play(cell))

    def press(self, button: str) -> None:
        """Do what a button says."""
        actions: dict[str, Callable[[], object]] = {
            "New game": self.session.new,
            "Undo": self.session.undo,
            "Hint": lambda: self._answer(self.session.ask_hint()),
            "Resign": self.session.resign,
            "Chances": self._turn_chances,
        }
        if button in actions:
            self._try(actions[button])

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until nobody thinks any more, or so long for each thought."""
        while self._threads:
            self._threads.pop().join(seconds)

    def _turn_chances(self) -> None:
        self.shows_chances = not self.shows_chances

    def _try(self, action: Callable[[], object]) -> None:
        with self._lock:
            self._mistake = ""
            try:
                action()
            except (SessionError, IllegalMoveError) as error:
                self._mistake = f"{error}."
            self.show()

    def _changed(self) -> None:
        self.show()
        self._go_on()

    def _go_on(self) -> None:
        """Have an agent that is on turn think."""
        question = self.session.question()
        if question is not None:
            self._answer(question)

    def _answer(self, question: Question) -> None:
        def work() -> None:
            answer = question.answer()
            with self._lock:
                self.session.accept(answer)

        thread = threading.Thread(target=work, daemon=True)
        self._threads.append(thread)
        thread.start()


class RecordedGame(Face):
    """A recorded game, step by step."""

    buttons = STEP_BUTTONS

    def __init__(self, record: GameRecord) -> None:
        super().__init__()
        self.record, self.ply = record, len(record.moves)

    @property
    def board(self) -> Board:
        """The position after `ply` moves."""
        game = self.record
        return game.board(self.ply)

    @property
    def picture(self) -> str:
        """The position, with the numbers of the moves."""
        return board_svg(self.board)

    @property
    def status(self) -> str:
        """Who plays, and how far the game has been stepped through."""
        players = f"{self.record.black or 'black'} against {self.record.white or 'white'}"
        return f"{players}: move {self.ply} of {len(self.record.moves)}"

    def press(self, button: str) -> None:
        """Step."""
        last = len(self.record.moves)
        to = {"|<": 0, "<": max(0, self.ply - 1), ">": min(last, self.ply + 1), ">|": last}.get(button, self.ply)
        if to != self.ply:
            self.ply = to
            self.show()


def face_of(game: GameSession | GameRecord | Path | str, *, chances: bool = False) -> Face:
    """Return the face of a session, of a recorded game, or of the first game of a file. Raises UserError."""
    if isinstance(game, GameSession):
        return LiveGame(game, chances=chances)
    if not isinstance(game, GameRecord):
        game = read_games(Path(game))[0]
    return RecordedGame(game)
