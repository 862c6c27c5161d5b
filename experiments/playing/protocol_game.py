"""The game a match manager plays with us through the Gomocup protocol: its board, and what its commands do to it.

A command is answered with lines of text, or it asks for a move, which is then thought about elsewhere; only the stones
of SWAP2BOARD are judged here, in a share of the move's time. What cannot be done is answered ERROR and changes nothing;
what is no command is answered UNKNOWN.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from env import BLACK, WHITE, Board, IllegalMoveError, Rule
from env.gomocup import WIN_LENGTH, ProtocolError, parse_point, point_text, rule_of
from env.setup_stones import play_setup
from experiments.playing import swap2
from experiments.playing.move_clock import MoveClock
from rl.sampling import RandomSource

SIZES = range(5, 21)
OWN, OPPONENT = "1", "2"  # the third word of a line of BOARD
MOST_SHOWN = 60
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)


class Reply(NamedTuple):
    """Lines to send now, and whether a move of ours is to follow."""

    lines: Sequence[str] = ()
    move_wanted: bool = False


OK, NOTHING, MOVE = Reply(["OK"]), Reply(), Reply(move_wanted=True)


class ProtocolGame:
    """One game after another, each begun by START, RECTSTART or RESTART.

    about  the answer to ABOUT
    ready  called with a new, empty board; raises a ValueError that says why the agent cannot play on it
    rng    what the openings of SWAP2BOARD are drawn by
    board  the position, or None before the first START
    """

    def __init__(self, about: str, ready: Callable[[Board], None], rng: RandomSource) -> None:
        self.about, self.ready, self.rng = about, ready, rng
        self.board: Board | None = None
        self.rule = Rule.FREESTYLE
        self.clock = MoveClock()
        self._stones: list[str] | None = None  # the lines of a BOARD or SWAP2BOARD that DONE has not ended yet
        self._ended: Callable[[list[str]], Reply] = self._board_ended  # what DONE does with them
        self._commands: dict[str, Callable[[str], Reply]] = {
            "ABOUT": lambda _: Reply([self.about]),
            "BEGIN": self._begin,
            "BOARD": self._open_board,
            "INFO": self._info,
            "RECTSTART": self._rectstart,
            "RESTART": self._restart,
            "START": self._start,
            "SWAP2BOARD": self._open_swap2,
            "TAKEBACK": self._takeback,
            "TURN": self._turn,
            "YXSTOP": lambda _: NOTHING,  # nothing is being thought about
        }

    def obey(self, line: str) -> Reply:
        """Do what a line says: at once, but for SWAP2BOARD.

        If the answer wants a move, `answer_with` is to be called before the next line.
        """
        words = line.strip()
        name, _, argument = words.partition(" ")
        command = self._commands.get(name.upper())
        try:
            if command is None and self._stones is not None:
                return self._add_stone(words)
            unended, self._stones = self._stones, None
            if not words:
                return NOTHING
            if command is None:
                return Reply([f"UNKNOWN command {_shown(words)}"])
            if unended is not None:
                raise ProtocolError(f"a list of stones must be ended by DONE before {_shown(name)}")
            return command(argument.strip())
        except (ProtocolError, IllegalMoveError) as error:
            return Reply([f"ERROR {_shown(str(error), 200)}"])

    def answer_with(self, cell: int) -> str:
        """Play our move and return it as an answer. Raises IllegalMoveError."""
        board = self._begun()
        board.play(cell)
        return point_text(cell, board.width)

    def _begun(self) -> Board:
        if self.board is None:
            raise ProtocolError("no game has begun: send START first")
        return self.board

    def _start(self, argument: str) -> Reply:
        size = _whole(argument, "START wants the size of the board, such as START 15")
        return self._new_game(size, size)

    def _rectstart(self, argument: str) -> Reply:
        width, comma, height = argument.partition(",")
        wants = "RECTSTART wants width,height, such as RECTSTART 15,20"
        if not comma:
            raise ProtocolError(wants)
        return self._new_game(_whole(height.strip(), wants), _whole(width.strip(), wants))

    def _restart(self, _: str) -> Reply:
        board = self._begun()
        return self._new_game(board.height, board.width)

    def _new_game(self, height: int, width: int) -> Reply:
        for size in (height, width):
            if size not in SIZES:
                raise ProtocolError(f"size {size} is not supported: a board has {SIZES[0]} to {SIZES[-1]} rows")
        self._set_up(Board(height, width, WIN_LENGTH, self.rule))
        self.clock.new_game()
        return OK

    def _set_up(self, board: Board) -> None:
        try:
            self.ready(board.copy())
        except ValueError as error:
            raise ProtocolError(str(error)) from error
        self.board = board

    def _begin(self, _: str) -> Reply:
        if self._begun().moves:
            raise ProtocolError("BEGIN is for an empty board: send TURN or BOARD")
        return MOVE

    def _turn(self, argument: str) -> Reply:
        board = self._begun()
        board.play(parse_point(argument, board.height, board.width))
        if board.outcome is not None:
            board.undo()
            raise ProtocolError("that move ends the game: there is nothing to answer")
        return MOVE

    def _takeback(self, argument: str) -> Reply:
        board = self._begun()
        cell = parse_point(argument, board.height, board.width)
        if board.moves and board.moves[-1] == cell:
            board.undo()
            return OK
        # After BOARD the order of the stones is ours, so any stone of the side that moved last may be meant.
        if int(board.cells.flat[cell]) != -board.to_move:
            raise ProtocolError("TAKEBACK wants the last move")
        left = [at for at in board.moves if at != cell]
        black, white = ([at for at in left if board.cells.flat[at] == colour] for colour in (BLACK, WHITE))
        self.board = self._position(black, white)
        return OK

    def _info(self, argument: str) -> Reply:
        """Never answered, so what makes no sense is passed over."""
        key, _, value = argument.partition(" ")
        key, value = key.lower(), value.strip()
        if not _NUMBER.fullmatch(value):
            return NOTHING
        self.clock.inform(key, int(value))
        if key == "rule":
            self.rule = rule_of(int(value))
            board = self.board
            if board is not None and not board.moves and board.rule is not self.rule:
                with suppress(ProtocolError):
                    self._set_up(Board(board.height, board.width, WIN_LENGTH, self.rule))
        return NOTHING

    def _open_board(self, _: str) -> Reply:
        self._stones, self._ended = [], self._board_ended
        return NOTHING

    def _open_swap2(self, _: str) -> Reply:
        self._stones, self._ended = [], self._swap2_ended
        return NOTHING

    def _add_stone(self, line: str) -> Reply:
        """Note a line of BOARD or SWAP2BOARD; at DONE do what they ask for."""
        assert self._stones is not None
        if line.upper() != "DONE":
            if line and len(self._stones) <= SIZES[-1] ** 2:  # one more than fit is already a fault
                self._stones.append(line)
            return NOTHING
        stones, self._stones = self._stones, None
        return self._ended(stones)

    def _board_ended(self, stones: Sequence[str]) -> Reply:
        """Set the position up, and ask for a move."""
        own, opponent = self._read_stones(stones)
        position = self._position(*((own, opponent) if len(own) == len(opponent) else (opponent, own)))
        if position.outcome is not None:
            raise ProtocolError("the game is over in this position")
        self.board = position
        return MOVE

    def _swap2_ended(self, stones: Sequence[str]) -> Reply:
        """Lay three stones on the empty board, or choose a colour: SWAP for black, a move for white."""
        was = self._begun()
        if len(stones) not in swap2.STONES:
            raise ProtocolError(f"{len(stones)} stones in SWAP2BOARD: it wants 0, 3 or 5, as column,row, black first")
        board = Board(was.height, was.width, WIN_LENGTH, self.rule)
        for line in stones:
            board.play(parse_point(line, board.height, board.width))
        began = time.perf_counter()
        seconds = min(swap2.MOST, swap2.SHARE * self.clock.limits().think)
        laid = swap2.proposal(board, self.rng, seconds) if not stones else ()
        keeps = bool(stones) and swap2.worth(board, seconds) >= 0  # white, who is to move
        for cell in laid:
            board.play(cell)
        self.board = board
        if keeps:
            return MOVE
        self.clock.spend(time.perf_counter() - began)
        return Reply([" ".join(point_text(cell, board.width) for cell in laid) or "SWAP"])

    def _read_stones(self, stones: Sequence[str]) -> tuple[list[int], list[int]]:
        """The cells of our stones and of the opponent's, each in the order sent. Raises ProtocolError."""
        board = self._begun()
        cells: dict[str, list[int]] = {OWN: [], OPPONENT: []}
        for line in stones:
            point, _, owner = line.rpartition(",")
            if owner.strip() not in cells:
                raise ProtocolError(f"{_shown(line)} in BOARD: use column,row,1 (my stone) or column,row,2 (yours)")
            cell = parse_point(point, board.height, board.width)
            if cell in cells[OWN] or cell in cells[OPPONENT]:
                raise ProtocolError(f"{_shown(line)} in BOARD: a second stone on one point")
            cells[owner.strip()].append(cell)
        own, opponent = cells[OWN], cells[OPPONENT]
        if len(opponent) - len(own) not in (0, 1):
            raise ProtocolError(
                f"{len(own)} own stones and {len(opponent)} of the opponent: it is nobody's turn, or not ours"
            )
        return own, opponent

    def _position(self, black: Sequence[int], white: Sequence[int]) -> Board:
        """The board with these stones. Raises ProtocolError if no legal moves lead there."""
        was = self._begun()
        board = Board(was.height, was.width, WIN_LENGTH, self.rule)
        if (black or white) and not play_setup(board, black, white):
            raise ProtocolError("no legal moves lead to this position: it was over before, or a stone was forbidden")
        return board


def _whole(text: str, wants: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ProtocolError(f"{wants}, not {_shown(text)!r}")
    return int(text)


def _shown(text: str, most: int = MOST_SHOWN) -> str:
    """A text of the other side on one line of plain letters, shortened."""
    plain = "".join(letter if " " <= letter <= "~" else "?" for letter in text[: most + 1])
    return plain if len(plain) <= most else f"{plain[: most - 3]}..."
