"""A program of somebody else as an agent: it speaks the Gomocup protocol through its standard input and output.

This is the one file of rl that starts a process. Whatever the program does wrong is an `EngineError`; after one, and
whenever it has died, the next question starts it anew.
"""

from __future__ import annotations

import math
import shlex
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from threading import Thread
from time import perf_counter
from typing import IO, NamedTuple

from env import Board, IllegalMoveError, Rule
from env.gomocup import NO_LIMIT, RULE_NUMBERS, WIN_LENGTH, ProtocolError, parse_point, point_text
from rl.agents.base import Thinker
from rl.sampling import RandomSource

GRACE = 0.5  # seconds that an answer may come after its time
READY = 10.0  # seconds for anything but a move: to start, to clear the board
GOODBYE = 0.7  # seconds between END and the end
TICK = 0.02  # seconds between two looks at whether the thinking is to stop
LONGEST_LINE = 4096
ASIDE = ("MESSAGE", "DEBUG", "UNKNOWN", "SUGGEST")  # lines that are no answer


class EngineError(ValueError):
    """An outside program cannot be started, has died, or answers late, wrongly or against the rules."""


class Game(NamedTuple):
    """What a program must be told before the first move."""

    height: int
    width: int
    rule: Rule


def command_words(text: str) -> list[str]:
    """The words of a command line, quoted as for a shell; quotes around the whole line are taken off first.

    Raises EngineError if there are none, or a quote is not closed.
    """
    try:
        words = shlex.split(text)
        if len(words) == 1 and text.strip()[0] in "\"'":
            words = shlex.split(words[0])
    except ValueError as error:
        raise EngineError(f"{text!r} is no command line: {error}") from None
    if not words:
        raise EngineError("brain names no program; write brain:COMMAND, such as brain:./engine or brain:'./engine -x'")
    return words


class OutsideAgent(Thinker):
    """Plays what a program answers, which is given `seconds` a move. Five in a row only."""

    def __init__(self, command: Sequence[str], seconds: float = 1.0, name: str = "brain") -> None:
        """Start the program. Raises EngineError if that fails or it does not say who it is."""
        self.command, self.seconds, self.name = list(command), seconds, name
        self._program = _Program(self.command)
        self._ask(["ABOUT"], perf_counter() + READY)

    def choose(self, board: Board, rng: RandomSource) -> int:
        """A legal cell for the side to move. Raises EngineError if the program does not name one in time."""
        return self.think(board, rng, seconds=math.inf, stopped=lambda: False)

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        """The same within `seconds`, or `GRACE` after YXSTOP, which not every program knows."""
        if board.is_over:
            raise IllegalMoveError(f"{self.name} has nothing to choose: the game is over in {board!r}")
        if board.win_length != WIN_LENGTH:
            raise EngineError(f"{self.name} plays five in a row only, not {board.win_length}")
        try:
            return self._answer(board, min(seconds, self.seconds), stopped)
        except BaseException:
            self.close()  # who knows what it believes the position to be
            raise

    def close(self) -> None:
        """End the program. It starts again when it is asked again."""
        self._program.end()

    def _answer(self, board: Board, seconds: float, stopped: Callable[[], bool]) -> int:
        if not self._program.is_alive:
            self._program = _Program(self.command)
        program, moves = self._program, list(board.moves)
        game = Game(board.height, board.width, board.rule)
        if game != program.game or not moves:
            self._begin(game)
        lines = []
        if program.milliseconds != (milliseconds := max(1, round(1000 * seconds))):
            lines.append(f"INFO timeout_turn {milliseconds}")
            program.milliseconds = milliseconds
        lines.append(f"INFO time_left {NO_LIMIT}")
        if not moves:
            lines.append("BEGIN")
        elif moves[:-1] == program.moves:
            lines.append(f"TURN {point_text(moves[-1], board.width)}")
        else:
            lines += ["BOARD", *_stones(board), "DONE"]
        said = self._ask(lines, perf_counter() + seconds + GRACE, stopped)
        try:
            cell = parse_point(said, board.height, board.width)
        except ProtocolError as error:
            raise EngineError(f"{self.name} answered {said[:40]!r}: {error}") from None
        if not board.legal_mask()[cell]:
            taken = board.cells.flat[cell]
            why = "which is occupied" if taken else "which is forbidden"
            raise EngineError(f"{self.name} answered {said}, {why} in {board!r}")
        program.moves = [*moves, cell]
        return cell

    def _begin(self, game: Game) -> None:
        """Have the program clear a board of this size for this rule."""
        square = game.height == game.width
        start = f"START {game.width}" if square else f"RECTSTART {game.width},{game.height}"
        said = self._ask([start], perf_counter() + READY)
        if not said.upper().startswith("OK"):
            raise EngineError(f"{self.name} answered {said[:40]!r} to {start}, where OK was wanted")
        self._program.send([f"INFO rule {RULE_NUMBERS[game.rule]}", "INFO timeout_match 0", "INFO game_type 1"])
        self._program.game, self._program.moves = game, None

    def _ask(self, lines: Sequence[str], deadline: float, stopped: Callable[[], bool] | None = None) -> str:
        """Send lines and return the answer. Raises EngineError if it is an error, or there is none at `deadline`."""
        program = self._program
        program.send(lines)
        while True:
            left = deadline - perf_counter()
            try:
                said = program.said.get(timeout=max(0.0, left if stopped is None else min(left, TICK)))
            except Empty:
                if left <= 0:
                    raise EngineError(f"{self.name} did not answer {lines[-1]} in time") from None
                if stopped is not None and stopped():
                    program.send(["YXSTOP"])
                    deadline, stopped = min(deadline, perf_counter() + GRACE), None
                continue
            if said is None:
                raise EngineError(f"{self.name} ended {program.exit_code()} instead of answering {lines[-1]}")
            if said.upper().startswith("ERROR"):
                raise EngineError(f"{self.name} answered {lines[-1]} with {said[:200]!r}")
            if said and not said.upper().startswith(ASIDE):
                return said


class _Program:
    """The process, what it has been told, and a thread that reads what it says."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            # A session of its own, so that Ctrl-C reaches us alone and it is told END.
            process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True)
        except OSError as error:
            raise EngineError(f"{command[0]!r} cannot be started: {error.strerror}") from None
        self.game: Game | None = None
        self.moves: list[int] | None = None  # the position it has, its own last move included
        self.milliseconds: int | None = None
        self.said: SimpleQueue[str | None] = SimpleQueue()  # None once it has ended
        assert process.stdout is not None
        Thread(target=_read, args=(process.stdout, self.said.put), daemon=True).start()
        self._process = process
        self.end = weakref.finalize(self, _end, process)  # at the latest when this program ends

    @property
    def is_alive(self) -> bool:
        return self.end.alive and self._process.poll() is None

    def exit_code(self) -> str:
        try:
            return f"with exit code {self._process.wait(GOODBYE)}"
        except TimeoutExpired:
            return "its output"

    def send(self, lines: Sequence[str]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(f"{line}\r\n" for line in lines).encode())
            self._process.stdin.flush()
        except OSError:
            self.said.put(None)  # it has ended; whoever waits for an answer will hear


def _stones(board: Board) -> list[str]:
    """The lines between BOARD and DONE, in order of play; the stones of the side to move are the program's own."""
    own = len(board.moves) % 2
    return [f"{point_text(cell, board.width)},{1 if ply % 2 == own else 2}" for ply, cell in enumerate(board.moves)]


def _read(stream: IO[bytes], put: Callable[[str | None], None]) -> None:
    with stream:
        while line := stream.readline(LONGEST_LINE):
            put(line.decode("utf-8", errors="replace").strip())
    put(None)


def _end(process: Popen[bytes]) -> None:
    """Say END, and see to it."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.write(b"END\r\n")
        process.stdin.flush()
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(GOODBYE)
    except TimeoutExpired:
        process.kill()
        process.wait()
