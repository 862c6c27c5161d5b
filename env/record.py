"""A game that has been played: its settings, its moves, who played and who won.

One game is one line of text, which people can read and programs can compare:

      15x15 5 freestyle black=greedy white=policy:runs/a winner=black opening=2 h8 i9 h7 ...

A game that ended otherwise than on the board may say why: note=greedy%20forfeits:... after the opening.
"""

from dataclasses import dataclass
from urllib.parse import quote, unquote

from env.board import Board
from env.coords import CoordinateError, cell_name, parse_cell
from env.rules import BLACK, WHITE, IllegalMoveError, Rule, check_settings

_WINNER_WORDS = {BLACK: "black", WHITE: "white", 0: "none"}


class RecordError(ValueError):
    """A line of text is no game, or a game contradicts itself."""


@dataclass(frozen=True)
class GameRecord:
    """One game.

    moves    the cells played, black first
    black    the name of the agent with the black stones; white likewise
    winner   BLACK, WHITE, or 0 for a draw or a game that was broken off
    opening  how many of the first moves were given, not chosen by the agents
    note     why the game ended, if the board does not show it
    """

    height: int
    width: int
    win_length: int
    rule: Rule
    moves: tuple[int, ...]
    black: str
    white: str
    winner: int
    opening: int = 0
    note: str = ""

    @classmethod
    def of(
        cls, board: Board, black: str, white: str, winner: int | None = None, opening: int = 0, note: str = ""
    ) -> "GameRecord":
        """The game that led to this board, won by who won on it unless `winner` says otherwise."""
        if winner is None:
            winner = board.outcome.winner if board.outcome else 0
        moves = tuple(board.moves)
        return cls(
            board.height, board.width, board.win_length, board.rule, moves, black, white, winner, opening, note
        )

    def __post_init__(self) -> None:
        """Raise RecordError if nobody can have won like that."""
        if self.winner not in _WINNER_WORDS:
            raise RecordError(f"winner {self.winner!r}: use 1 for black, -1 for white, 0 for nobody")

    def board(self, plies: int | None = None) -> Board:
        """The board after so many of the moves, or after all; `replay` also looks at what it says of the winner."""
        return Board.from_moves(self.moves[:plies], self.height, self.width, self.win_length, self.rule)

    def replay(self) -> Board:
        """The board at the end of the game.

        Raises RecordError when a move is illegal, or the game on the board was won by another than `winner`. A
        board whose game is not over contradicts no winner: a player may have resigned or lost on time.
        """
        board = Board(self.height, self.width, self.win_length, self.rule)
        for ply, cell in enumerate(self.moves, start=1):
            try:
                board.play(cell)
            except IllegalMoveError as error:
                raise RecordError(f"move {ply} of the record is illegal: {error}") from error
        if board.outcome is not None and board.outcome.winner != self.winner:
            raise RecordError(
                f"the record says winner={_WINNER_WORDS[self.winner]},"
                f" its moves say winner={_WINNER_WORDS[board.outcome.winner]}"
            )
        return board

    def to_line(self) -> str:
        """The game as one line of text without a line end; spaces and odd letters in names become %20 and so on."""
        head = (
            f"{self.height}x{self.width} {self.win_length} {self.rule.value}"
            f" black={_quoted(self.black)} white={_quoted(self.white)}"
            f" winner={_WINNER_WORDS[self.winner]} opening={self.opening}"
            f"{' note=' * bool(self.note)}{_quoted(self.note)}"
        )
        return " ".join([head, *(cell_name(cell, self.height, self.width) for cell in self.moves)])

    @classmethod
    def from_line(cls, line: str) -> "GameRecord":
        """The game that `to_line` wrote; the moves are not replayed.

        Raises RecordError naming the word that is wrong.
        """
        words = line.split()
        if len(words) < 7:
            raise RecordError(
                f"{line.strip()[:60]!r} is no game: expected SIZE WIN_LENGTH RULE black= white= winner= opening="
            )
        try:
            height, width = _numbers(words[0])
            win_length = int(words[1])
            rule = Rule(words[2])
            check_settings(height, width, win_length, rule)
        except ValueError as error:
            raise RecordError(f"{' '.join(words[:3])[:60]!r} are no settings of a game: {error}") from error
        black = unquote(_value(words[3], "black"))
        white = unquote(_value(words[4], "white"))
        winners = {word: winner for winner, word in _WINNER_WORDS.items()}
        winner = winners.get(_value(words[5], "winner"))
        opening = _value(words[6], "opening")
        note = unquote(words.pop(7).partition("=")[2]) if words[7:] and words[7].startswith("note=") else ""
        if winner is None:
            raise RecordError(f"{words[5]!r}: the winner is black, white or none")
        if not (opening.isascii() and opening.isdigit()) or int(opening) > len(words) - 7:
            raise RecordError(f"{words[6]!r}: the opening is a number of moves, at most {len(words) - 7} here")
        try:
            moves = tuple(parse_cell(word, height, width) for word in words[7:])
        except CoordinateError as error:
            raise RecordError(f"move list: {error}") from error
        return cls(height, width, win_length, rule, moves, black, white, winner, int(opening), note)


def _quoted(name: str) -> str:
    return quote(name, safe=":/=,.+-_", errors="surrogateescape")  # a path that is no UTF-8, byte by byte


def _value(word: str, key: str) -> str:
    """The part of "key=value" after the first "="."""
    found, _, value = word.partition("=")
    if found != key:
        raise RecordError(f"{word!r}: expected {key}=...")
    return value


def _numbers(size: str) -> tuple[int, int]:
    """Height and width of a size like "15x15"."""
    height, x, width = size.partition("x")
    if not x:
        raise ValueError(f"{size!r} is no size, write HEIGHTxWIDTH")
    return int(height), int(width)
