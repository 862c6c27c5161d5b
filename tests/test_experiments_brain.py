"""The brain behind the Gomocup protocol: whole games with scripted managers, wrong commands, clocks, and goodbyes."""

import io
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from env import Board, IllegalMoveError, Rule
from env.gomocup import RULE_NUMBERS, parse_point, point_text
from experiments import brain as brain_module
from experiments.brain import NAP, PATIENCE, Brain, about
from experiments.playing import swap2
from experiments.playing.move_clock import LATENCY
from rl.agents import Agent, make_agent
from rl.agents.base import Thinker
from rl.sampling import RandomSource

ROOT = Path(__file__).resolve().parent.parent
MOVE = re.compile(r"[0-9]+,[0-9]+")
STONES = [(7, 7), (8, 8), (7, 8), (7, 6), (6, 9)]  # black first


class Patient(Thinker):
    """Uses all the time it has, then plays the first legal cell; when stopped, the last."""

    name = "patient"

    def choose(self, board: Board, rng: RandomSource) -> int:
        return self.think(board, rng, seconds=60, stopped=lambda: False)

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            if stopped():
                return int(np.flatnonzero(board.legal_mask())[-1])
            sum(range(200))
        return int(np.argmax(board.legal_mask()))


class Deaf(Agent):
    """Takes `seconds` over every move but the first, whatever the clock says, and then plays the first legal cell."""

    name = "deaf"

    def __init__(self, seconds: float) -> None:
        self.seconds, self.asked = seconds, 0

    def choose(self, board: Board, rng: RandomSource) -> int:
        self.asked += 1
        time.sleep(self.seconds if self.asked > 1 else 0)
        return int(np.argmax(board.legal_mask()))


class Faulty(Agent):
    """Once it has been tried, returns `result` or raises it."""

    name = "faulty"

    def __init__(self, result: int | Exception) -> None:
        self.result, self.asked = result, 0

    def choose(self, board: Board, rng: RandomSource) -> int:
        self.asked += 1
        if self.asked == 1:
            return 0
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Manager:
    """The other end of the pipes of a brain that plays in a thread of this process."""

    def __init__(self, agent: Agent, end: str = "\n") -> None:
        self.end = end
        commands, self.out = os.pipe()
        self.back, answers = os.pipe()
        self.log = io.StringIO()
        self.buffer = b""
        self.reader, writer = os.fdopen(commands, "rb"), os.fdopen(answers, "w")

        self.brain = Brain(agent, 1, self.reader, writer, self.log)

        def play() -> None:
            with writer:
                self.brain.play()

        self.thread = threading.Thread(target=play, daemon=True)
        self.thread.start()

    def send(self, *lines: str) -> None:
        os.write(self.out, "".join(f"{line}{self.end}" for line in lines).encode())

    def line(self) -> str:
        """The next line, or "" once the brain has gone."""
        while b"\n" not in self.buffer:
            data = os.read(self.back, 4096)
            if not data:
                return ""
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def ask(self, *lines: str) -> str:
        self.send(*lines)
        return self.line()

    def rest(self) -> list[str]:
        """Close our end, and return all that is still said."""
        os.close(self.out)
        self.out = -1
        return list(iter(self.line, ""))

    def close(self) -> None:
        for end in (self.out, self.back):
            if end >= 0:
                os.close(end)
        self.thread.join(10)
        self.reader.close()
        assert not self.thread.is_alive()


@pytest.fixture
def manager() -> Iterator[Callable[..., Manager]]:
    made: list[Manager] = []

    def make(agent: Agent | str = "greedy", end: str = "\n") -> Manager:
        made.append(Manager(make_agent(agent) if isinstance(agent, str) else agent, end))
        return made[-1]

    yield make
    for each in made:
        each.close()


def board_lines(stones: list[tuple[int, int]], own: int) -> list[str]:
    """BOARD and the lines after it; own = 0 if the stones of even number are the brain's."""
    return ["BOARD", *(f"{x},{y},{1 if i % 2 == own else 2}" for i, (x, y) in enumerate(stones)), "DONE"]


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize("size", [5, 15, 20])
@pytest.mark.parametrize(("begins", "end"), [(True, "\n"), (False, "\r\n")])
def test_whole_games(manager: Callable[..., Manager], end: str, rule: Rule, size: int, begins: bool) -> None:
    brain, board, rng = manager("greedy", end), Board(size, size, rule=rule), np.random.default_rng(size)
    assert brain.ask(f"START {size}") == "OK"
    brain.send(f"INFO rule {RULE_NUMBERS[rule]}", "INFO timeout_turn 1000", "INFO timeout_match 20000")
    said = brain.ask("INFO time_left 20000", "BEGIN") if begins else None
    greedy = make_agent("greedy")
    while True:
        if said is not None:
            assert MOVE.fullmatch(said)
            board.play(parse_point(said, size, size))
        if board.outcome is None:
            board.play(greedy.choose(board, rng))
        if board.outcome is not None:
            break
        said = brain.ask("INFO time_left 19000", f"TURN {point_text(board.moves[-1], size)}")
    assert brain.ask("START 15") == "OK"  # the process plays on
    assert MOVE.fullmatch(brain.ask("BEGIN"))
    brain.send("END")
    assert brain.rest() == []


def test_a_board_that_is_not_square(manager: Callable[..., Manager]) -> None:
    brain = manager("random")
    assert brain.ask("RECTSTART 6,9") == "OK"
    for _ in range(2):
        assert MOVE.fullmatch(brain.ask("TURN 0,8"))
        assert brain.ask("TURN 6,0") == "ERROR 6,0 is off the board: use column,row from 0,0 to 5,8"
        assert brain.ask("RESTART") == "OK"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("START 4", "ERROR size 4 is not supported: a board has 5 to 20 rows"),
        ("START 21", "ERROR size 21 is not supported: a board has 5 to 20 rows"),
        ("START", "ERROR START wants the size of the board, such as START 15, not ''"),
        ("START x", "ERROR START wants the size of the board, such as START 15, not 'x'"),
        ("RECTSTART 15", "ERROR RECTSTART wants width,height, such as RECTSTART 15,20"),
        ("RECTSTART 15,30", "ERROR size 30 is not supported: a board has 5 to 20 rows"),
        ("TURN 7,7", "ERROR h8 (cell 112) is occupied by black: play an empty cell"),
        ("TURN 15,0", "ERROR 15,0 is off the board: use column,row from 0,0 to 14,14"),
        ("TURN", "ERROR '' is no point: use column,row from 0,0 to 14,14"),
        ("TURN 7 7", "ERROR '7 7' is no point: use column,row from 0,0 to 14,14"),
        ("BEGIN", "ERROR BEGIN is for an empty board: send TURN or BOARD"),
        ("TAKEBACK 0,0", "ERROR TAKEBACK wants the last move"),
        ("PONDER", "UNKNOWN command PONDER"),
        ("X" * 10_000, f"UNKNOWN command {'X' * 57}..."),
        ("\x1b[2J\0é", "UNKNOWN command ?[2J???"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    manager: Callable[..., Manager], line: str, says: str
) -> None:
    brain = manager()
    assert brain.ask("START 15") == "OK"
    assert MOVE.fullmatch(brain.ask(*board_lines(STONES, own=1)))
    before = brain.ask("ABOUT") and [*STONES]
    assert brain.ask(line) == says
    for x, y in before:  # every stone is where it was
        assert "is occupied" in brain.ask(f"TURN {x},{y}")
    assert MOVE.fullmatch(brain.ask("TURN 0,0"))
    assert brain.rest() == []


@pytest.mark.parametrize("line", ["BEGIN", "TURN 7,7", "RESTART", "TAKEBACK 7,7"])
def test_before_start_there_is_no_game(manager: Callable[..., Manager], line: str) -> None:
    brain = manager()
    assert brain.ask(line) == "ERROR no game has begun: send START first"
    assert brain.ask("BOARD", "7,7,2", "DONE") == "ERROR no game has begun: send START first"
    assert brain.ask("START 15") == "OK"
    assert MOVE.fullmatch(brain.ask("BEGIN"))


def test_silence_is_kept(manager: Callable[..., Manager]) -> None:
    brain = manager()
    brain.send("", "  ", "INFO", "INFO rule", "INFO rule x", "INFO max_memory 1", "info folder /tmp/a b", "YXSTOP")
    assert brain.ask("INFO timeout_turn 99999999999999999999", "about ") == about("greedy")
    assert brain.ask("  start   15  ") == "OK"
    assert MOVE.fullmatch(brain.ask("Begin"))
    assert brain.rest() == []


def test_the_stones_of_a_board_come_in_any_order(manager: Callable[..., Manager]) -> None:
    brain = manager("greedy:java")
    brain.ask("START 15")
    moves = set()
    for seed in range(6):
        lines = board_lines(STONES, own=1)
        np.random.default_rng(seed).shuffle(stones := lines[1:-1])
        moves.add(brain.ask("BOARD", *stones, "DONE"))
    wanted = Board.from_moves([y * 15 + x for x, y in STONES])
    assert moves == {point_text(make_agent("greedy:java").choose(wanted, np.random.default_rng(0)), 15)}


def test_the_colour_follows_from_the_counts(manager: Callable[..., Manager]) -> None:
    """Under renju 7,4 is a double four of black's: as white the brain may be asked to answer it, as black never."""
    cross = [(4, 4), (0, 0), (5, 4), (0, 2), (6, 4), (14, 0), (7, 5), (14, 2), (7, 6), (0, 14), (7, 7), (14, 14)]
    brain = manager()
    brain.ask("START 15")
    brain.send("INFO rule 4")
    assert MOVE.fullmatch(brain.ask(*board_lines(cross, own=0)))  # six each: the brain is black, and to move
    brain.ask("START 15")
    assert MOVE.fullmatch(brain.ask(*board_lines(cross[:-1], own=1)))  # six to five: white
    brain.ask("START 15")
    assert MOVE.fullmatch(brain.ask(*board_lines(cross[:-2], own=0)))
    brain.ask("START 15")
    assert MOVE.fullmatch(brain.ask(*board_lines([*cross[:-2], (1, 8), (9, 9)], own=0)))


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["7,7,1"], "1 own stones and 0 of the opponent"),
        (["7,7,2", "8,8,2"], "0 own stones and 2 of the opponent"),
        (["7,7,2", "7,7,1"], "7,7,1 in BOARD: a second stone on one point"),
        (["7,7,3"], "7,7,3 in BOARD: use column,row,1"),
        (["7,7"], "7,7 in BOARD: use column,row,1"),
        (["15,7,2"], "15,7 is off the board"),
        (["x,y,2"], "'x,y' is no point"),
        ([f"{x},0,2" for x in range(5)] + [f"{x},2,1" for x in range(4)], "the game is over in this position"),
        ([f"{x},0,2" for x in range(5)] + [f"{x},2,1" for x in range(5)], "no legal moves lead to this"),
        ([f"{i % 15},{i // 15},2" for i in range(400)], "off the board"),
    ],
)
def test_a_board_that_cannot_be_keeps_the_old_one(
    manager: Callable[..., Manager], lines: list[str], says: str
) -> None:
    brain = manager()
    brain.ask("START 15")
    brain.ask(*board_lines(STONES, own=1))
    said = brain.ask("BOARD", *lines, "DONE")
    assert said.startswith("ERROR ") and says in said
    assert "is occupied" in brain.ask("TURN 7,7")
    assert brain.rest() == []


GOOD_FOR_BLACK = ["7,7", "0,0", "8,7"]  # two in a row, and white far away
GOOD_FOR_WHITE = ["0,0", "7,7", "14,14"]


@pytest.mark.parametrize("rule", list(Rule))
def test_swap2_stones_are_laid_and_a_colour_chosen(manager: Callable[..., Manager], rule: Rule) -> None:
    brain = manager()
    brain.ask("START 15")
    brain.send(f"INFO rule {RULE_NUMBERS[rule]}", "INFO timeout_turn 400")
    laid = brain.ask("SWAP2BOARD", "DONE").split(" ")
    assert len(set(laid)) == 3 and all(MOVE.fullmatch(point) for point in laid)
    assert all("is occupied" in brain.ask(f"TURN {point}") for point in laid)
    assert MOVE.fullmatch(brain.ask("TURN 0,14"))  # white's first move: the brain has black
    for more in ([], ["14,0", "0,7"]):
        assert brain.ask("SWAP2BOARD", *GOOD_FOR_BLACK, *more, "DONE") == "SWAP"
        assert MOVE.fullmatch(brain.ask("TURN 7,8"))
        kept = brain.ask("SWAP2BOARD", *GOOD_FOR_WHITE, *more, "DONE")
        assert MOVE.fullmatch(kept)
        assert "is occupied" in brain.ask(f"TURN {kept}")
        assert MOVE.fullmatch(brain.ask("TURN 7,8"))
    assert brain.rest() == []


def test_swap2_openings_differ_and_favour_neither_side_much(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    monkeypatch.setattr(swap2, "worth", lambda board, seconds: asked.append(sum(board.moves)) or asked[-1] - 330)
    first, second = (swap2.proposal(Board(), np.random.default_rng(seed), 1) for seed in (1, 2))
    assert first != second and len(asked) == 2 * swap2.PROPOSED
    assert abs(sum(first) - 330) == min(abs(moves - 330) for moves in asked[: swap2.PROPOSED])
    small = swap2.proposal(Board(5, 5), np.random.default_rng(1), 1)
    assert len({*small}) == 3 and all(cell in range(25) for cell in small)


@pytest.mark.parametrize(
    ("stones", "says"),
    [
        (["7,7"], "1 stones in SWAP2BOARD"),
        (["7,7", "7,7", "8,8"], "is occupied by black"),
        (["7,7", "15,7", "8,8"], "15,7 is off the board"),
        (["7,7,1", "8,7,2", "8,8,1"], "'7,7,1' is no point"),
        (["7,7"] * 999, "in SWAP2BOARD"),
    ],
)
def test_swap2_stones_that_cannot_be_change_nothing(
    manager: Callable[..., Manager], stones: list[str], says: str
) -> None:
    brain = manager()
    assert brain.ask("SWAP2BOARD", "DONE") == "ERROR no game has begun: send START first"
    brain.ask("START 15")
    brain.ask(*board_lines(STONES, own=1))
    said = brain.ask("SWAP2BOARD", *stones, "DONE")
    assert said.startswith("ERROR ") and says in said
    assert "is occupied" in brain.ask("TURN 7,6")
    assert brain.rest() == []


def test_a_whole_game_after_swap2(manager: Callable[..., Manager]) -> None:
    """Two brains: the first lays stones, the second chooses; then they play on as a manager lets them."""
    brains, board = [manager(), manager()], Board()
    for brain in brains:
        brain.ask("START 15")
        brain.send("INFO timeout_turn 400")
    laid = brains[0].ask("SWAP2BOARD", "DONE").split(" ")
    said = brains[1].ask("SWAP2BOARD", *laid, "DONE")
    turn = 1  # who has said it
    if said == "SWAP":
        said, turn = brains[0].ask("BOARD", *(f"{point},{2 - i % 2}" for i, point in enumerate(laid)), "DONE"), 0
    for point in laid:
        board.play(parse_point(point, 15, 15))
    while True:
        assert MOVE.fullmatch(said)
        board.play(parse_point(said, 15, 15))
        if board.is_over:
            return
        turn = 1 - turn
        said = brains[turn].ask(f"TURN {said}")


def test_a_board_without_an_end_is_broken_off(manager: Callable[..., Manager]) -> None:
    brain = manager()
    brain.ask("START 15")
    assert brain.ask("BOARD", "7,7,2", "START 15") == "ERROR a list of stones must be ended by DONE before START"
    assert brain.ask("START 15") == "OK"
    assert MOVE.fullmatch(brain.ask("BOARD", "DONE"))  # no stones: the first move
    brain.send("BOARD", "7,7,2", "END")
    assert brain.rest() == []


@pytest.mark.parametrize(
    ("number", "says"), [(0, "ends the game"), (1, "6,0"), (4, "forbidden to black: overline"), (8, "ends the game")]
)
def test_a_rule_after_start_counts_for_the_empty_board(
    manager: Callable[..., Manager], number: int, says: str
) -> None:
    brain = manager(Deaf(0))
    assert brain.ask("START 15") == "OK"
    brain.send(f"INFO rule {number}")
    said = [brain.ask(f"TURN 2,{y}") for y in (0, 1, 2, 4, 5, 3)]  # at last six in the column
    assert said[:5] == ["0,0", "1,0", "3,0", "4,0", "5,0"] and says in said[5]


def test_a_rule_that_comes_later_counts_for_the_next_game(manager: Callable[..., Manager]) -> None:
    brain = manager(Deaf(0))
    brain.ask("START 15")
    for number, says in ((1, "ends the game"), (0, "6,0")):
        said = [brain.ask(f"TURN 2,{y}") for y in (0, 1, 2, 4, 5)]
        brain.send(f"INFO rule {number}")
        assert said == ["0,0", "1,0", "3,0", "4,0", "5,0"] and says in brain.ask("TURN 2,3")
        assert brain.ask("RESTART") == "OK"


def test_stones_are_taken_back(manager: Callable[..., Manager]) -> None:
    brain = manager("greedy:java")
    brain.ask("START 15")
    reply = brain.ask("TURN 7,7")
    assert brain.ask(f"TAKEBACK {reply}") == "OK"
    assert brain.ask("TAKEBACK 7,7") == "OK"
    assert brain.ask("TURN 7,7") == reply
    brain.ask(*board_lines(STONES, own=1))
    assert brain.ask("TAKEBACK 0,0").startswith("ERROR")


def test_a_stone_of_a_board_is_taken_back_whatever_the_order(manager: Callable[..., Manager]) -> None:
    brain = manager()
    brain.ask("START 15")
    answer = brain.ask("BOARD", *board_lines(STONES, own=1)[-2:0:-1], "DONE")
    assert brain.ask(f"TAKEBACK {answer}") == "OK"
    assert brain.ask("TAKEBACK 7,6").startswith("ERROR TAKEBACK wants the last move")  # white's, black moved last
    assert brain.ask("TAKEBACK 7,7") == "OK"
    assert MOVE.fullmatch(brain.ask("TURN 7,7"))


def test_a_move_that_ends_the_game_is_not_answered(manager: Callable[..., Manager]) -> None:
    brain = manager()
    brain.ask("START 15")
    said = brain.ask(*board_lines([(5, 7), (0, 5), (6, 7), (2, 5), (7, 7), (4, 0), (8, 7)], own=1))
    five = {"4,7": "9,7", "9,7": "4,7"}[said]  # it stops one end of the four
    for _ in range(2):  # the stone is not on the board, so the second time is like the first
        assert brain.ask(f"TURN {five}") == "ERROR that move ends the game: there is nothing to answer"


def test_a_fault_of_the_agent_is_no_fault_of_the_protocol(manager: Callable[..., Manager]) -> None:
    for result in (-1, 7 * 15 + 7, 225, RuntimeError("a bug"), IllegalMoveError("lost")):
        brain = manager(Faulty(result))
        assert brain.ask("START 15") == "OK"
        assert MOVE.fullmatch(brain.ask("TURN 7,7"))
        assert ("a bug" in brain.log.getvalue()) is isinstance(result, RuntimeError)
        assert "!" in brain.log.getvalue()


def test_an_agent_for_another_size_says_so_at_start(manager: Callable[..., Manager], tmp_path: Path) -> None:
    from nn import PolicyNet

    PolicyNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(0)).save(tmp_path / "six.npz")
    brain = manager(f"policy:{tmp_path / 'six.npz'}")
    assert brain.ask("START 6") == "OK"
    assert brain.ask("START 15").startswith("ERROR ")
    assert MOVE.fullmatch(brain.ask("BEGIN"))  # the small board is still there
    assert brain.ask("TURN 6,6").startswith("ERROR 6,6 is off the board")


def test_a_machine_that_oversleeps_is_noticed_during_the_move(manager: Callable[..., Manager]) -> None:
    """Whoever holds Python for long keeps the clock from being read: the next limits leave time for that."""

    class Hog(Deaf):
        def choose(self, board: Board, rng: RandomSource) -> int:
            self.asked += 1
            for _ in range(3 if self.asked == 2 else 0):
                time.sleep(NAP / 2)
                sum(range(5_000_000))  # one call, in which no other thread runs
            return int(np.argmax(board.legal_mask()))

    brain = manager(Hog(0))
    brain.ask("START 15")
    brain.send("INFO timeout_turn 10000")
    brain.ask("TURN 7,7")
    clock = brain.brain.game.clock
    assert clock.late > NAP and clock.limits().answer < 10 - LATENCY - NAP


def test_yxstop_is_answered_with_the_best_move_so_far(
    manager: Callable[..., Manager], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brain_module, "PATIENCE", 5)  # however busy the machine is
    brain = manager(Patient())
    brain.ask("START 15")
    brain.send("TURN 7,7")
    time.sleep(0.05)
    assert brain.ask("YXSTOP") == "14,14"
    assert brain.ask("ABOUT").startswith("name=")


def test_yxstop_is_answered_for_an_agent_that_does_not_hear(manager: Callable[..., Manager]) -> None:
    brain = manager(Deaf(1.5))
    brain.ask("START 15")
    brain.send("TURN 7,7")
    began = time.perf_counter()
    assert MOVE.fullmatch(brain.ask("YXSTOP")) and time.perf_counter() - began < 1.4
    brain.send("YXSTOP")  # nothing to stop
    time.sleep(1.5)
    assert brain.ask("ABOUT").startswith("name=")  # and the late answer was for nobody


def test_an_answer_that_comes_too_late_is_for_nobody(manager: Callable[..., Manager]) -> None:
    class Numbered(Deaf):
        """Plays the cell 10 when it is asked first, 20 then, and so on; only the second time it takes long."""

        def choose(self, board: Board, rng: RandomSource) -> int:
            self.asked += 1
            number = self.asked
            time.sleep(self.seconds if number == 2 else 0)
            return 10 * number

    brain = manager(Numbered(0.5))
    brain.ask("START 15")
    brain.send("INFO timeout_turn 100")
    assert brain.ask("TURN 7,7") != "5,1"  # cell 20 comes later
    brain.send("INFO timeout_turn 60000")
    assert brain.ask("TURN 14,14") == "0,2"


def test_lines_wait_while_a_move_is_thought_about(manager: Callable[..., Manager]) -> None:
    brain = manager(Patient())
    brain.ask("START 15")
    brain.send("INFO timeout_turn 200", "BEGIN", "ABOUT", "TURN 7,7", "TURN 7,7")
    said = [brain.line() for _ in range(4)]
    assert MOVE.fullmatch(said[0]) and said[1].startswith("name=")
    assert MOVE.fullmatch(said[2]) and "occupied" in said[3]


def test_the_time_of_a_line_that_waited_begins_with_its_turn(manager: Callable[..., Manager]) -> None:
    brain = manager(Deaf(1.2))
    brain.ask("START 15")
    brain.send("INFO timeout_turn 2000", "TURN 7,7", "TURN 8,8")
    assert [brain.line(), brain.line()] == ["0,0", "1,0"]


def test_end_stops_a_thought_without_a_word(manager: Callable[..., Manager]) -> None:
    brain = manager(Patient())
    brain.ask("START 15")
    brain.send("BEGIN")
    time.sleep(PATIENCE + 0.1)
    brain.send("END")
    brain.thread.join(5)
    assert not brain.thread.is_alive()  # it would have thought for a minute
    assert brain.rest() == []


def test_a_script_through_a_pipe_gets_its_answers(
    manager: Callable[..., Manager], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brain_module, "PATIENCE", 5)
    brain = manager()
    brain.send("START 15", "BEGIN", "TURN 0,0", "TURN 14,14", "END", "ABOUT")
    said = brain.rest()
    assert said[0] == "OK" and len(said) == 4 and all(map(MOVE.fullmatch, said[1:]))


def test_a_closed_pipe_ends_it(manager: Callable[..., Manager], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brain_module, "LAST_WORDS", 5)
    brain = manager(Patient())
    brain.ask("START 15")
    brain.send("BEGIN")
    assert brain.rest() == ["14,14"]  # stopped, and said for whoever may still read


def test_an_answer_is_given_in_time_without_the_agent(manager: Callable[..., Manager]) -> None:
    brain = manager(Deaf(1.5))
    brain.ask("START 15")
    brain.send("INFO timeout_turn 150")
    for x in range(3):  # the second and third question wait for an agent that is still busy with the first
        began = time.perf_counter()
        assert MOVE.fullmatch(brain.ask(f"TURN {3 * x},{2 * x}"))
        assert time.perf_counter() - began < 1


def start(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "experiments", "brain", *words]
    return subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, cwd=ROOT, text=True, bufsize=1)


def cpu_seconds(pid: int) -> float:
    """What a process has used of a processor; 0 on systems that do not say so in /proc."""
    stat = Path(f"/proc/{pid}/stat")
    return sum(map(int, stat.read_text().split()[13:15])) / os.sysconf("SC_CLK_TCK") if stat.exists() else 0.0


def test_the_command_plays_and_writes_its_log(tmp_path: Path) -> None:
    log = tmp_path / "brain.log"
    with start("--agent", "greedy:java", "--log", str(log)) as brain:
        assert brain.stdin is not None and brain.stdout is not None and brain.stderr is not None
        brain.stdin.write("ABOUT\r\n")
        assert brain.stdout.readline().startswith('name="gomoku-lab greedy:java", version="')
        assert cpu_seconds(brain.pid) < 1.5  # of the machine's time, not of the clock: others may be using it
        brain.stdin.write("START 15\r\nTURN 7,7\r\n")
        assert brain.stdout.readline() == "OK\n" and MOVE.fullmatch(brain.stdout.readline().strip())
        brain.stdin.write("END\r\n")
        assert brain.wait(10) == 0
        assert (brain.stdout.read(), brain.stderr.read()) == ("", "")
    assert [line.split()[1] for line in log.read_text().splitlines()] == list("<><><><")


def test_a_closed_pipe_and_ctrl_c_end_the_command() -> None:
    with start() as brain:
        assert brain.stdin is not None and brain.stdout is not None and brain.stderr is not None
        assert brain.stdin.write("START 15\n") and brain.stdout.readline() == "OK\n"
        brain.send_signal(signal.SIGINT)
        assert brain.wait(10) == 130 and brain.stderr.read() == ""
    with start() as brain:
        assert brain.stdin is not None and brain.stdout is not None and brain.stderr is not None
        brain.stdin.close()
        assert brain.wait(10) == 0 and brain.stdout.read() + brain.stderr.read() == ""


def test_an_agent_that_is_none_is_one_line() -> None:
    with start("--agent", "gredy") as brain:
        said, fault = brain.communicate()
    assert brain.returncode == 2 and said == "" and "did you mean 'greedy'?" in fault and fault.count("\n") == 1
