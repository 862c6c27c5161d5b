"""One game as it stands: the board, who plays, who has given up; and what can be said about it.

`experiments/playing/session.py` plays it; nothing here changes anything.
"""

from collections.abc import Mapping

from env import BLACK, WHITE, Board, Forbidden, GameRecord
from env.coords import cell_name
from env.render import COLOUR_NAMES
from experiments.playing.player import Player


class Game:
    """One game.

    board     the position; the first `opening` stones were given
    players   BLACK and WHITE -> Player
    resigned  the colour that has given up, or 0
    """

    def __init__(self, board: Board, players: Mapping[int, Player], opening: int, resigned: int = 0) -> None:
        self.board, self.players = board, dict(players)
        self.opening, self.resigned = opening, resigned

    @property
    def player(self) -> Player:
        """Who is to move."""
        return self.players[self.board.to_move]

    @property
    def people(self) -> list[int]:
        """The colours that people play."""
        return [colour for colour, player in self.players.items() if player.mind is None]

    @property
    def is_over(self) -> bool:
        """Whether it has been won, drawn or given up."""
        return self.board.is_over or self.resigned != 0

    @property
    def winner(self) -> int | None:
        """BLACK, WHITE, 0 for a draw, or None while it goes on."""
        if self.board.outcome is not None:
            return self.board.outcome.winner
        return -self.resigned if self.resigned else None

    @property
    def win_line(self) -> tuple[int, ...]:
        """The cells of the winning line, if there is one."""
        return self.board.outcome.line if self.board.outcome else ()

    @property
    def forbidden(self) -> dict[int, Forbidden]:
        """The points that renju forbids to black now."""
        return {} if self.resigned else self.board.forbidden()

    @property
    def status(self) -> str:
        """Whose turn it is, or how it ended, as a sentence without its full stop."""
        board, outcome = self.board, self.board.outcome
        if outcome is None and self.resigned:
            return f"{self.called(self.resigned)} has resigned: {self.called(-self.resigned)} has won"
        if outcome is None:
            return f"{self.called(board.to_move)} {'to move' if self.player.mind is None else 'is thinking'}"
        if outcome.winner:
            line = " ".join(cell_name(cell, board.height, board.width) for cell in outcome.line)
            return f"{self.called(outcome.winner)} has won with {line}"
        full = len(board.moves) == board.cells.size
        return "a draw: " + ("the board is full" if full else "every point left is forbidden to black")

    def called(self, colour: int) -> str:
        """A colour and who plays it, such as "black (human)"."""
        return f"{COLOUR_NAMES[colour]} ({self.players[colour].name})"

    def last_ply_by_people(self) -> int | None:
        """The last ply after the opening that a person played; that anybody did, if nobody here is a person."""
        people = self.people or [BLACK, WHITE]
        plies = range(self.opening, len(self.board.moves))
        return max((ply for ply in plies if (BLACK, WHITE)[ply % 2] in people), default=None)

    def record(self) -> GameRecord:
        """The game so far."""
        black, white = (self.players[colour].name for colour in (BLACK, WHITE))
        note = self.status if self.resigned else ""
        return GameRecord.of(self.board, black, white, self.winner or 0, self.opening, note)
