"""Programs of somebody else as agents: whole games, clocks, and every way in which one can go wrong."""

import gc
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, Board, IllegalMoveError, Rule
from rl.agents import AgentSpecError, make_agent, outside
from rl.agents.outside import GRACE, EngineError, OutsideAgent, command_words
from rl.match import play_game, play_games

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable

# A whole program: it notes what it hears, plays the first empty cell, and goes wrong in the way it is told.
ENGINE = r"""
import pathlib, sys, time
log, fault = open(sys.argv[1], "a"), sys.argv[2] if len(sys.argv) > 2 else ""
size, stones = 0, []
def say(text):
    print(text, flush=True)
def move():
    x, y = next((x, y) for y in range(size) for x in range(size) if (x, y) not in stones)
    if fault == "dies":
        sys.exit(3)
    died = pathlib.Path(sys.argv[1] + ".died")
    if fault == "dies once" and not died.exists():
        died.touch()
        sys.exit(4)
    if fault == "slow":
        time.sleep(60)
    if fault == "waits for YXSTOP":
        while next(sys.stdin).strip() != "YXSTOP":
            pass
    if fault == "talks":
        say("MESSAGE depth 3 7,7"); say("DEBUG 1,1"); say("UNKNOWN command INFO"); say("")
    if fault.startswith("says "):
        return say(fault[5:])
    stones.append((x, y))
    say(f"{x},{y}")
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    print(line.strip(), file=log, flush=True)
    if word == "ABOUT":
        say('MESSAGE hello'); say('name="first"')
    elif word == "START":
        size, stones = int(rest), []
        say("OK" if fault != "no start" else "ERROR too small")
    elif word == "RECTSTART":
        say("ERROR no rectangles")
    elif word == "BEGIN":
        move()
    elif word == "TURN":
        stones.append(tuple(map(int, rest.split(","))))
        move()
    elif word == "BOARD":
        stones = []
        while (line := next(sys.stdin).strip()) != "DONE":
            print(line, file=log, flush=True)
            stones.append(tuple(map(int, line.split(",")[:2])))
        move()
    elif word == "END" and fault != "stays":
        break
"""


@pytest.fixture
def engine(tmp_path: Path) -> Callable[..., OutsideAgent]:
    (tmp_path / "engine.py").write_text(textwrap.dedent(ENGINE))

    def make(fault: str = "", seconds: float = 5) -> OutsideAgent:
        return OutsideAgent([PYTHON, str(tmp_path / "engine.py"), str(tmp_path / "log"), fault], seconds, "first")

    return make


def heard(tmp_path: Path) -> list[str]:
    """What the engine was told, without what is said of the time."""
    lines = (tmp_path / "log").read_text().splitlines()
    return [line for line in lines if not line.startswith("INFO t") and not line.startswith("INFO g")]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_it_is_told_a_game_move_by_move(engine: Callable[..., OutsideAgent], tmp_path: Path) -> None:
    agent, board = engine(), Board(9, 9, rule=Rule.STANDARD)
    for reply in (40, 50):
        board.play(agent.choose(board, rng()))
        board.play(reply)
    assert board.moves == [0, 40, 1, 50]
    assert agent.choose(board, rng()) == 2
    assert heard(tmp_path) == ["ABOUT", "START 9", "INFO rule 1", "BEGIN", "TURN 4,4", "TURN 5,5"]
    log = (tmp_path / "log").read_text().splitlines()
    assert log.count("INFO timeout_turn 5000") == 1 and log.count("INFO time_left 2147483647") == 3


def test_any_other_position_is_sent_whole(engine: Callable[..., OutsideAgent], tmp_path: Path) -> None:
    agent = engine()
    assert agent.choose(Board.from_moves([0, 40, 1], 9, 9), rng()) == 2
    assert agent.choose(Board.from_moves([40], 9, 9), rng()) == 0
    assert agent.choose(Board.from_moves([40, 0, 1], 9, 9), rng()) == 2  # one move later: that game goes on
    assert agent.choose(Board.from_moves([40, 0], 15, 15, rule=Rule.RENJU), rng()) == 1
    assert heard(tmp_path) == [
        "ABOUT", "START 9", "INFO rule 0", "BOARD", "0,0,2", "4,4,1", "1,0,2", "BOARD", "4,4,2", "TURN 1,0",
        "START 15", "INFO rule 4", "BOARD", "10,2,1", "0,0,2",
    ]  # fmt: skip


def test_what_is_said_beside_the_move_is_passed_over(engine: Callable[..., OutsideAgent]) -> None:
    assert engine("talks").choose(Board(9, 9), rng()) == 0


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("says pass", "first answered 'pass': 'pass' is no point"),
        ("says 4", "first answered '4': '4' is no point"),
        ("says 9,0", "first answered '9,0': 9,0 is off the board"),
        ("says 4,4", "first answered 4,4, which is occupied in <Board 9x9"),
        ("says ERROR I am lost", "first answered TURN 4,4 with 'ERROR I am lost'|DONE with 'ERROR I am lost'"),
        ("dies", "first ended with exit code 3 instead of answering DONE"),
        ("no start", "first answered START 9 with 'ERROR too small'"),
    ],
)
def test_a_fault_is_named(engine: Callable[..., OutsideAgent], fault: str, says: str) -> None:
    agent = engine(fault)
    for _ in range(2):  # it is started again, and fails again
        with pytest.raises(EngineError, match=says):
            agent.choose(Board.from_moves([40], 9, 9), rng())


def test_after_a_fault_it_is_started_again(engine: Callable[..., OutsideAgent], tmp_path: Path) -> None:
    agent = engine("says 4,4")
    for _ in range(2):
        with pytest.raises(EngineError, match="occupied"):
            agent.choose(Board.from_moves([40], 9, 9), rng())
    assert heard(tmp_path) == ["ABOUT", *(["START 9", "INFO rule 0", "BOARD", "4,4,2", "END"] * 2)]


def test_a_forbidden_point_is_a_fault(engine: Callable[..., OutsideAgent]) -> None:
    names = ["e5", "a1", "f5", "c1", "g5", "e1", "h4", "g1", "h3", "i1", "h2", "a9"]  # h5: two fours
    board = Board(9, 9, rule=Rule.RENJU)
    from env.coords import parse_cell

    for name in names:
        board.play(parse_cell(name, 9, 9))
    with pytest.raises(EngineError, match="answered 7,4, which is forbidden"):
        engine("says 7,4").choose(board, rng())


def test_a_late_answer_is_a_fault(engine: Callable[..., OutsideAgent]) -> None:
    agent, began = engine("slow", 0.1), time.perf_counter()
    with pytest.raises(EngineError, match="first did not answer BEGIN in time"):
        agent.choose(Board(9, 9), rng())
    assert 0.1 + GRACE <= time.perf_counter() - began < 30


def test_one_that_has_died_is_started_again(engine: Callable[..., OutsideAgent]) -> None:
    agent = engine("dies once")
    with pytest.raises(EngineError, match="exit code 4"):
        agent.choose(Board(9, 9), rng())
    assert agent.choose(Board(9, 9), rng()) == 0


def test_one_that_died_between_two_moves_is_started_again(
    engine: Callable[..., OutsideAgent], tmp_path: Path
) -> None:
    agent, board = engine(), Board(9, 9)
    board.play(agent.choose(board, rng()))
    agent._program._process.kill()
    agent._program._process.wait()
    board.play(40)
    assert agent.choose(board, rng()) == 1
    assert heard(tmp_path)[-5:] == ["START 9", "INFO rule 0", "BOARD", "0,0,1", "4,4,2"]


def test_it_can_be_told_to_answer_now(
    engine: Callable[..., OutsideAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, began = engine("waits for YXSTOP", 60), time.perf_counter()
    with monkeypatch.context() as patch:
        patch.setattr(outside, "GRACE", 10)  # however busy the machine is
        assert agent.think(Board(9, 9), rng(), seconds=60, stopped=lambda: time.perf_counter() > began + 0.1) == 0
    with pytest.raises(EngineError, match="in time"):
        engine("slow", 60).think(Board(9, 9), rng(), seconds=60, stopped=lambda: True)
    assert time.perf_counter() - began < 30


def test_only_the_time_given_is_told(engine: Callable[..., OutsideAgent], tmp_path: Path) -> None:
    agent = engine()
    agent.think(Board(9, 9), rng(), seconds=2.5, stopped=lambda: False)
    agent.think(Board(9, 9), rng(), seconds=99, stopped=lambda: False)
    log = (tmp_path / "log").read_text()
    assert "timeout_turn 2500\n" in log and "timeout_turn 5000\n" in log


def test_games_it_cannot_play_are_refused(engine: Callable[..., OutsideAgent]) -> None:
    with pytest.raises(EngineError, match="plays five in a row only, not 4"):
        engine().choose(Board(9, 9, win_length=4), rng())
    with pytest.raises(EngineError, match="RECTSTART 9,8 with 'ERROR no rectangles'"):
        engine().choose(Board(8, 9), rng())
    board = Board.from_moves([0, 9, 1, 10, 2, 11, 3, 12, 4], 9, 9)
    with pytest.raises(IllegalMoveError, match="the game is over"):
        engine().choose(board, rng())


@pytest.mark.parametrize("fault", ["", "stays"])
def test_the_process_ends_with_the_agent(engine: Callable[..., OutsideAgent], tmp_path: Path, fault: str) -> None:
    agent = engine(fault)
    agent.choose(Board(9, 9), rng())
    process = agent._program._process
    del agent
    gc.collect()
    assert process.poll() is not None
    assert heard(tmp_path)[-1] == "END"


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        ("brain:", EngineError, "names no program"),
        ("brain:/no/such/program", EngineError, "'/no/such/program' cannot be started: No such file"),
        ("brain:'a", EngineError, "no command line: No closing quotation"),
        ("brain:true", EngineError, "ended with exit code 0 instead of answering ABOUT"),
        ("brain:true,time=0", AgentSpecError, "more than 0"),
        ("brain:true,tme=1", AgentSpecError, "did you mean 'time'"),
        ("brain:true -x 1,2", AgentSpecError, "'2' in 'brain:true -x 1,2' is no key=value"),
        ("brain:'true -x 1,2',time=x", AgentSpecError, "is no number"),
    ],
)
def test_a_spec_that_is_wrong(spec: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        make_agent(spec)


def test_command_lines_are_quoted_as_for_a_shell() -> None:
    assert command_words("./engine -x 'a b'") == ["./engine", "-x", "a b"]
    assert command_words("'./engine -x \"a b\"'") == ["./engine", "-x", "a b"]
    assert command_words('"./engine" -x') == ["./engine", "-x"]


def test_quotes_keep_the_commas_of_a_command(tmp_path: Path) -> None:
    (tmp_path / "an engine.py").write_text(ENGINE)
    engine, log = f"'{tmp_path}/an engine.py'", f"{tmp_path}/log,1"
    for quoted in (f"{PYTHON} {engine} '{log}'", f'"{PYTHON} {engine} {log}"'):
        agent = make_agent(f"brain:{quoted},time=2")
        assert isinstance(agent, OutsideAgent) and agent.seconds == 2
        assert agent.choose(Board(9, 9), rng()) == 0
        assert (tmp_path / "log,1").is_file()
        (tmp_path / "log,1").unlink()


def test_our_own_brain_is_an_outside_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ours = make_agent(f"brain:{PYTHON} -m experiments brain --agent greedy:java,time=2")
    inside = make_agent("greedy:java")
    random = make_agent("random")
    for rule in Rule:
        board = Board(11, 11, rule=rule)
        games = [play_game(*pair, board, rng()) for pair in ((ours, random), (inside, random))]
        assert games[0].moves == games[1].moves and games[0].winner == games[1].winner == BLACK
    side_by_side = play_games([(ours, random), (random, ours)], [Board(7, 9), Board(7, 9)], rng())
    assert [game.winner for game in side_by_side] == [1, -1]
