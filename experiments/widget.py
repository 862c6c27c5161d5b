"""A board in Jupyter: `show_board("threat")` plays against an agent by clicks, `show_board("game.sgf")` steps through a
recorded game. It needs no network; without anywidget (`pip install -e '.[notebook]'`) it is a picture.
"""

from pathlib import Path
from typing import Any

from env import Board, GameRecord
from experiments.faces.notebook_game import Face, face_of
from experiments.playing.player import HUMAN
from experiments.playing.session import GameSession

SCRIPT = Path(__file__).with_suffix(".js")


class Picture:
    """What a notebook shows of a face where there is no anywidget: as it is now, without buttons."""

    def __init__(self, face: Face) -> None:
        self.face = face

    def _repr_svg_(self) -> str:
        return self.face.picture


def show_board(
    game: str | Path | GameRecord | GameSession = "alphabeta:time=0.5",
    *,
    colour: str = "black",
    board: Board | None = None,
    chances: bool = False,
    seed: int = 1,
) -> Any:
    """Return what Jupyter shows as a board.

    game     an agent's spec to play against; or a GameSession; or a GameRecord or the path of a file of games (one that
             exists) to step through
    colour   whose stones are yours: "black", "white", or "both" for two people
    board    the position to begin from (default: an empty 15x15 board)
    chances  show how likely the player's network finds each move, if a network plays

    Raises AgentSpecError for an agent that does not exist, UserError for a file that holds no game.
    """
    if isinstance(game, str) and not Path(game).is_file():
        mine = {"black": (HUMAN, game), "white": (game, HUMAN), "both": (HUMAN, HUMAN)}
        if colour not in mine:
            raise ValueError(f"colour {colour!r}: use 'black', 'white' or 'both'")
        game = GameSession(board, *mine[colour], seed=seed)
    face = face_of(game, chances=chances)
    try:
        return board_widget(face)
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        return Picture(face)


def board_widget(face: Face) -> Any:
    """Return the widget of a face. Raises ModuleNotFoundError without anywidget."""
    import anywidget
    import traitlets

    class BoardWidget(anywidget.AnyWidget):
        """The browser's side stands in experiments/widget.js."""

        _esm = SCRIPT.read_text(encoding="utf-8")
        picture = traitlets.Unicode().tag(sync=True)
        status = traitlets.Unicode().tag(sync=True)
        buttons = traitlets.List(traitlets.Unicode()).tag(sync=True)

        def __init__(self) -> None:
            super().__init__(picture=face.picture, status=face.status, buttons=list(face.buttons))
            self.face = face
            self.on_msg(lambda _, message, __: face.take(message))
            face.show = self.refresh

        def refresh(self) -> None:
            """Show the face as it is now."""
            self.picture, self.status = self.face.picture, self.face.status

    return BoardWidget()
