"""`gomoku brain`: any agent as a program for match managers that speak the Gomocup protocol, commands in, moves out.

A thread reads commands and a thread thinks; between them this loop writes every line, so that an answer is never late,
never twice and never for a game that is over.
"""

import argparse
import gc
import math
import os
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import BinaryIO, NamedTuple, TextIO

import numpy as np

from env import Board
from experiments.errors import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, EXIT_OK, UserError
from experiments.playing.player import DEFAULT_AGENT, STAND_IN
from experiments.playing.protocol_game import ProtocolGame
from experiments.playing.thought import Mind, Thought
from nn import __version__
from rl.agents import Agent, make_agent

LONGEST_LINE = 4096  # bytes; the rest of a longer line is passed over
TRIAL = 0.1  # seconds for a first move in START, which fills tables outside the clock, and shows how busy it is here
NAP = 0.02  # seconds between two looks at the clock while a move is thought about
PATIENCE = 0.1  # seconds in which a move is still given to a manager that has said END, or wants it at once
LAST_WORDS = 0.3  # the same for a manager whose end of the pipe is closed


class Line(NamedTuple):
    """A command, and when it came; no text means that the pipe is closed."""

    text: str | None
    at: float


class Done(NamedTuple):
    """What came of a thought, a cell or what was raised, and when."""

    thought: Thought
    result: int | Exception
    at: float


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--agent", default=DEFAULT_AGENT, metavar="SPEC", help=f"who plays (default: {DEFAULT_AGENT})")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="same seed, same draws (default: 1)")
    parser.add_argument("--log", type=Path, metavar="FILE", help="write down every line, when it came, and every fault")


def run(args: argparse.Namespace) -> int:
    """Speak the protocol until END, or until nobody is there any more."""
    if args.seed < 0:
        raise UserError(f"--seed {args.seed}: a seed is 0 or larger")
    agent = make_agent(args.agent)
    warnings.simplefilter("ignore")  # some managers take what stands on stderr for a move
    code = EXIT_OK
    gc.disable()  # a look for garbage stops every thread for up to 0.1 s: START has time for one, a move has not
    with open(args.log or os.devnull, "w", encoding="utf-8") as log:
        try:
            Brain(agent, args.seed, sys.stdin.buffer, sys.stdout, log).play()
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
        except BrokenPipeError:
            code = EXIT_BROKEN_PIPE
    os._exit(code)  # a thought may be under way, and END means at once; every answer has been flushed


class Brain:
    """An agent that answers the lines of one stream on another."""

    def __init__(self, agent: Agent, seed: int, commands: BinaryIO, answers: TextIO, log: TextIO) -> None:
        self.mind = Mind(agent)
        self.rng = np.random.default_rng(seed)
        self.game = ProtocolGame(about(agent.name), self._try_out, self.rng)
        self.stopgap = make_agent(STAND_IN)
        self._commands, self._answers, self._log = commands, answers, log
        self._events: SimpleQueue[Line | Done] = SimpleQueue()
        self._waiting: deque[Line] = deque()  # lines that came while a move was thought about
        self._began = self._answered = time.perf_counter()

    def play(self) -> None:
        """Obey until END or the end of the stream."""
        threading.Thread(target=read_lines, args=(self._commands, self._events.put), daemon=True).start()
        while True:
            line = self._next_line()
            self._note("<", line.text)
            if line.text is None or is_word("END", line.text):
                return
            answer = self.game.obey(line.text)
            for text in answer.lines:
                self._send(text)
            if answer.move_wanted and not self._move(max(line.at, self._answered)):
                return

    def _next_line(self) -> Line:
        while not self._waiting:
            event = self._events.get()
            if isinstance(event, Line):
                return event  # an answer that comes now is one that nobody waits for
        return self._waiting.popleft()

    def _move(self, asked: float) -> bool:
        """Think, and send the move in time. False if the manager went away meanwhile."""
        board = self.game.board
        assert board is not None
        limits = self.game.clock.limits()
        stopgap = self.stopgap.choose(board, self.rng)
        thought = self.mind.ask(board, self.rng.spawn(1)[0], asked + limits.think - time.perf_counter())
        self._begin(thought)
        cell = self._await(thought, asked, stopgap)
        thought.stop()
        if cell is None:
            return False
        self._send(self.game.answer_with(cell))
        self._answered = time.perf_counter()
        self.game.clock.spend(self._answered - asked)
        return True

    def _begin(self, thought: Thought) -> None:
        """Let another thread think."""

        def think() -> None:
            result: int | Exception
            try:
                result = thought.answer()
            except Exception as error:
                result = error
            self._events.put(Done(thought, result, time.perf_counter()))

        threading.Thread(target=think, daemon=True).start()

    def _await(self, thought: Thought, asked: float, stopgap: int) -> int | None:
        """Return the thought's cell, or `stopgap` if it is no legal one or not there in time; None to leave.

        YXSTOP and a closed pipe ask for the best move so far, END for none. All other lines wait for their turn. The
        limits are asked for again after every nap, which may have shown that the machine has become busy.
        """
        leaving, deadline, came_before = False, math.inf, iter(list(self._waiting))
        while True:
            limits = self.game.clock.limits()
            due = min(deadline, asked + limits.answer)
            if time.perf_counter() >= asked + limits.think:
                thought.stop()
            event = next(came_before, None) or self._nap(due)
            if event is None:
                if time.perf_counter() >= due:
                    return None if leaving else stopgap
            elif isinstance(event, Done):
                if event.thought is thought:
                    return self._checked(event.result, stopgap)
            elif event.text is None:
                thought.stop()
                leaving, deadline = True, min(deadline, max(event.at, asked) + LAST_WORDS)
            elif is_word("END", event.text):
                leaving, deadline = True, min(deadline, asked + PATIENCE)
            elif is_word("YXSTOP", event.text):
                thought.stop()
                deadline = min(deadline, max(event.at, asked) + PATIENCE)

    def _nap(self, due: float) -> Line | Done | None:
        """Wait for what comes next, no longer than until `due`, and tell the clock if waking up takes long."""
        until = max(time.perf_counter(), min(time.perf_counter() + NAP, due))
        try:
            event: Line | Done = self._events.get(timeout=max(0.0, until - time.perf_counter()))
        except Empty:
            self.game.clock.overslept(time.perf_counter() - until)
            return None
        self.game.clock.overslept(time.perf_counter() - event.at)
        if isinstance(event, Line):
            self._waiting.append(event)
        return event

    def _checked(self, result: int | Exception, stopgap: int) -> int:
        """The agent's cell if it is a legal one: an agent at fault must not lose by a rule of the protocol."""
        board = self.game.board
        assert board is not None
        if isinstance(result, Exception):
            self._note("!", "".join(traceback.format_exception(result)))
        elif 0 <= result < board.cells.size and board.legal_mask()[result]:
            return result
        else:
            self._note("!", f"{self.mind.agent.name} chose the illegal cell {result}")
        return stopgap

    def _try_out(self, board: Board) -> None:
        """Ask for an answer to one stone, so that a network of another size says so now. Raises what it raises."""
        board.play(board.cells.size // 2)
        gc.collect()
        thought = self.mind.ask(board, np.random.default_rng(0), TRIAL)
        self._begin(thought)
        while not isinstance(event := self._nap(math.inf), Done) or event.thought is not thought:
            pass
        if isinstance(event.result, Exception):
            raise event.result
        self.stopgap.choose(board, np.random.default_rng(0))

    def _send(self, text: str) -> None:
        self._answers.write(f"{text}\n")
        self._answers.flush()
        self._note(">", text)

    def _note(self, mark: str, text: str | None) -> None:
        self._log.write(f"{time.perf_counter() - self._began:9.3f} {mark} {text!r}\n")
        self._log.flush()


def about(name: str) -> str:
    """Return the answer to ABOUT; the agent's name loses what would break the line."""
    plain = "".join(letter for letter in name if " " <= letter <= "~" and letter != '"')
    return f'name="gomoku-lab {plain}", version="{__version__}", author="gomoku-lab", country="-"'


def is_word(word: str, text: str) -> bool:
    """Return whether a line is this one word."""
    return text.strip().upper() == word


def read_lines(stream: BinaryIO, put: Callable[[Line], None]) -> None:
    """Put every line of a stream, ended by LF or CR LF and cut at LONGEST_LINE; at last that it is closed."""
    while data := stream.readline(LONGEST_LINE):
        at = time.perf_counter()
        rest = data
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        put(Line(data.decode("ascii", errors="replace"), at))
    put(Line(None, time.perf_counter()))
