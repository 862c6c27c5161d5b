"""A game without a window: what people and agents can do, answers that come too late, and agents that cannot play."""

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, WHITE, Board, Forbidden, IllegalMoveError, Rule
from env.coords import parse_cell
from experiments.errors import UserError
from experiments.playing import player as player_module
from experiments.playing.outlook import black_chance
from experiments.playing.player import DEFAULT_AGENT, HUMAN, STAND_IN, seat
from experiments.playing.question import Kind
from experiments.playing.session import GameSession, SessionError
from nn import PolicyNet
from rl.agents import AgentSpecError, make_agent
from rl.agents.base import Agent, Thinker
from rl.sampling import RandomSource


class Scripted(Agent):
    """Plays the cells it is given, or raises what it is given."""

    name = "scripted"

    def __init__(self, *script: int | Exception) -> None:
        self.script = list(script)

    def choose(self, board: Board, rng: RandomSource) -> int:
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


class Waiting(Thinker):
    """Thinks until it is stopped, and counts how many think at once."""

    name = "waiting"

    def __init__(self) -> None:
        self.at_once = self.most = 0

    def choose(self, board: Board, rng: RandomSource) -> int:
        raise NotImplementedError

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        while not stopped():
            time.sleep(0.001)
        time.sleep(0.02)  # nobody stops in no time
        self.at_once -= 1
        return int(np.argmax(board.legal_mask()))


@pytest.fixture
def with_agent(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agent], None]:
    """Have the spec "x" mean an agent of the test."""

    def use(agent: Agent) -> None:
        real = make_agent
        monkeypatch.setattr(player_module, "make_agent", lambda spec: agent if spec == "x" else real(spec))

    return use


def answer(session: GameSession) -> bool:
    question = session.question()
    return question is not None and session.accept(question.answer())


def cells(names: str, size: int = 15) -> list[int]:
    return [parse_cell(name, size, size) for name in names.split()]


def test_a_person_and_an_agent_play_a_game() -> None:
    session = GameSession(Board(9, 9), white="greedy:java")
    changes: list[str] = []
    session.listen(lambda: changes.append(session.game.status))
    session.play(40)
    assert session.game.status == "white (greedy:java) is thinking"
    assert answer(session)
    assert session.game.status == "black (human) to move"
    assert changes == ["white (greedy:java) is thinking", "black (human) to move"]
    assert session.game.board.moves[0] == 40 and len(session.game.board.moves) == 2
    assert session.question() is None  # the person is on turn


def test_two_people_play_to_the_end() -> None:
    session = GameSession(Board(9, 9), white=HUMAN)
    for cell in cells("a1 a9 b1 b9 c1 c9 d1 d9 e1", 9):
        assert session.game.winner is None and not session.game.win_line
        session.play(cell)
    game = session.game
    assert game.is_over and game.winner == BLACK and list(game.win_line) == cells("a1 b1 c1 d1 e1", 9)
    assert game.status == "black (human) has won with a1 b1 c1 d1 e1"
    with pytest.raises(SessionError, match="the game is over: black"):
        session.play(50)
    assert session.undo() == 1 and session.game.winner is None


def test_draws_say_why() -> None:
    session = GameSession(Board(3, 3, win_length=3), white=HUMAN)
    for cell in (0, 1, 2, 4, 3, 5, 7, 6, 8):
        session.play(cell)
    assert (session.game.winner, session.game.status) == (0, "a draw: the board is full")


def test_what_may_not_be_done_changes_nothing() -> None:
    session = GameSession(Board(9, 9), black="greedy", white=HUMAN)
    changes: list[None] = []
    session.listen(lambda: changes.append(None))
    with pytest.raises(SessionError, match=r"not your turn: black \(greedy\) is thinking"):
        session.play(40)
    with pytest.raises(SessionError, match="nothing to advise"):
        session.ask_hint()
    with pytest.raises(SessionError, match="no move of yours"):
        session.undo()
    assert answer(session) and len(changes) == 1
    with pytest.raises(IllegalMoveError, match="occupied"):
        session.play(session.game.board.moves[0])
    with pytest.raises(SessionError, match="no move of yours"):
        session.undo()  # the only stone is the agent's
    with pytest.raises(AgentSpecError):
        session.new(black="gredy")
    with pytest.raises(AgentSpecError):
        session.set_player(WHITE, "gredy")
    assert len(changes) == 1 and len(session.game.board.moves) == 1
    assert session.game.players[WHITE].spec == HUMAN


def test_undo_gives_the_person_the_move_again() -> None:
    session = GameSession(Board(9, 9), white="greedy")
    session.play(40)
    answer(session)
    session.play(int(np.argmax(session.game.board.legal_mask())))
    assert session.undo() == 1  # the agent was about to think
    assert session.undo() == 2 and session.game.board.moves == []


def test_undo_stops_at_the_opening() -> None:
    session = GameSession(Board.from_moves([40, 41, 42], 9, 9), white=HUMAN)
    with pytest.raises(SessionError):
        session.undo()
    session.play(50)
    assert session.undo() == 1
    assert session.game.record().opening == 3


def test_undo_between_agents_is_one_move() -> None:
    session = GameSession(Board(9, 9), black="random", white="random")
    for _ in range(4):
        answer(session)
    assert session.undo() == 1 and answer(session)


def test_giving_up() -> None:
    session = GameSession(Board(9, 9), black=HUMAN, white="greedy")
    session.play(40)
    session.resign()  # while the agent is about to think
    game = session.game
    assert game.is_over and game.winner == WHITE and session.question() is None
    assert game.status == "black (human) has resigned: white (greedy) has won" == game.record().note
    assert game.record().winner == WHITE
    with pytest.raises(SessionError, match="nothing to resign"):
        session.resign()
    assert session.undo() == 0 and not session.game.is_over and session.question() is not None
    nobody = GameSession(Board(9, 9), black="random", white="random")
    with pytest.raises(SessionError):
        nobody.resign()


def test_a_question_is_asked_once_and_its_answer_is_taken_once() -> None:
    session = GameSession(Board(9, 9), black="greedy", white="greedy")
    question = session.question()
    assert question is not None and question.kind is Kind.MOVE
    assert session.question() is None
    done = question.answer()
    assert session.accept(done)
    assert not session.accept(done)
    assert len(session.game.board.moves) == 1


@pytest.mark.parametrize(
    "move_on",
    [
        lambda session: session.undo(),
        lambda session: session.new(),
        lambda session: session.resign(),
        lambda session: session.set_player(WHITE, "random"),
        lambda session: session.abandon(),
    ],
)
def test_an_answer_that_comes_too_late_is_dropped(
    move_on: Callable[[GameSession], object], with_agent: Callable[[Agent], None]
) -> None:
    agent = Waiting()
    with_agent(agent)
    session = GameSession(Board(9, 9), white="x")
    session.play(40)
    question = session.question()
    assert question is not None
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(session.accept(question.answer())), daemon=True)
    thread.start()
    while not agent.at_once:
        time.sleep(0.001)
    move_on(session)  # which also tells the agent to stop
    before = list(session.game.board.moves)
    thread.join(5)
    assert answers == [False] and session.game.board.moves == before


def test_an_agent_answers_one_question_at_a_time(with_agent: Callable[[Agent], None]) -> None:
    agent = Waiting()
    with_agent(agent)
    session = GameSession(Board(9, 9), white="x")
    threads = []
    for _ in range(5):
        session.play(40)
        question = session.question()
        assert question is not None
        threads.append(threading.Thread(target=question.answer, daemon=True))
        threads[-1].start()
        time.sleep(0.005)
        session.undo()
    for thread in threads:
        thread.join(5)
    assert agent.most == 1


def test_an_agent_thinks_about_the_position_it_was_asked_about(with_agent: Callable[[Agent], None]) -> None:
    class Counting(Scripted):
        def choose(self, board: Board, rng: RandomSource) -> int:
            return len(board.moves)

    with_agent(Counting())
    session = GameSession(Board(9, 9), white="x")
    session.play(40)
    question = session.question()
    assert question is not None
    session.undo()
    assert question.answer().value == 1


def test_listeners_may_use_the_session() -> None:
    session = GameSession(Board(9, 9), white="greedy")
    seen: list[object] = []
    session.listen(lambda: seen.append((session.outlook, session.chances, session.note)))
    session.play(40)
    assert seen == [([], None, "")]


@pytest.mark.parametrize("step", [-1, 40, 81, ValueError("no idea"), RuntimeError("")])
def test_after_a_fault_a_stand_in_plays_on(step: int | Exception, with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(step))
    session = GameSession(Board(9, 9), white="x")
    session.play(40)
    assert not answer(session)
    what = f"chose the illegal cell {step}" if isinstance(step, int) else "no idea|RuntimeError"
    assert re.fullmatch(f"scripted:? ({what}); {STAND_IN} plays instead", session.note)
    assert answer(session) and session.game.players[WHITE].name == STAND_IN
    session.new()
    assert session.note  # the agent does not come back by itself
    session.set_player(WHITE, "greedy")
    assert session.note == ""


def test_a_fault_of_the_stand_in_is_raised(
    with_agent: Callable[[Agent], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    with_agent(Scripted(ValueError("first"), ValueError("second")))
    monkeypatch.setattr(player_module, "STAND_IN", "x")
    session = GameSession(Board(9, 9), black="x")
    assert not answer(session)
    with pytest.raises(ValueError, match="second"):
        answer(session)


def test_a_missing_or_damaged_weights_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"no weights")
    for name in ("none.npz", "bad.npz"):
        session = GameSession(Board(9, 9), black=f"policy:{tmp_path / name}")
        assert f"{tmp_path / name}: " in session.note and session.note.endswith(f"; {STAND_IN} plays instead")
        assert answer(session)


def net(size: int) -> PolicyNet:
    return PolicyNet(size, size, filters=(2, 2), hidden=4, rng=np.random.default_rng(0))


def test_a_network_for_another_board_is_told_and_comes_back(tmp_path: Path) -> None:
    net(9).save(tmp_path / "nine.npz")
    spec = f"policy:{tmp_path / 'nine.npz'}"
    session = GameSession(Board(9, 9), black=spec)
    assert session.note == "" and session.game.players[BLACK].name == spec
    session.new(Board(11, 11))
    assert session.note == f"{spec} plays on 9x9 only; this board is 11x11; {STAND_IN} plays instead"
    session.new(Board(9, 9, rule=Rule.RENJU), white="greedy")
    assert session.note == "" and session.game.players[BLACK].name == spec
    assert session.game.board.rule is Rule.RENJU and session.game.players[WHITE].name == "greedy"


def test_the_policy_can_be_looked_at(tmp_path: Path) -> None:
    net(9).save(tmp_path / "nine.npz")
    session = GameSession(Board(9, 9), white=f"policy:{tmp_path / 'nine.npz'}")
    session.play(40)
    chances = session.chances
    assert chances is not None and chances.shape == (81,) and chances[40] == 0
    assert chances.sum() == pytest.approx(1)
    question = session.question()
    assert question is not None and question.answer().value == int(np.argmax(chances))
    assert session.game.players[WHITE].net is not session.game.players[WHITE].mind.agent.net  # type: ignore[union-attr]
    session.resign()
    assert session.chances is None


def test_hints() -> None:
    session = GameSession(Board.from_moves(cells("a1 a9 b1 b9 c1 c9 d1", 9), 9, 9), white=HUMAN, adviser="greedy:sharp")
    question = session.ask_hint()
    assert session.accept(question.answer()) and session.hint_cell == parse_cell("e1", 9, 9)
    assert not session.accept(question.answer())
    session.play(session.hint_cell)
    assert session.hint_cell is None
    late = session.ask_hint()
    session.undo()
    assert not session.accept(late.answer()) and session.hint_cell is None


def test_a_fault_of_the_adviser_is_told(with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(ValueError("no idea")))
    session = GameSession(Board(9, 9), adviser="x")
    assert not session.accept(session.ask_hint().answer())
    assert session.note == f"scripted: no idea; {STAND_IN} plays instead"
    assert session.accept(session.ask_hint().answer()) and session.hint_cell is not None
    with pytest.raises(SessionError, match="a person gives no hints"):
        GameSession(Board(9, 9), adviser=HUMAN).ask_hint()


def test_the_outlook_of_a_game() -> None:
    session = GameSession(Board(9, 9), white=HUMAN)
    asked = [session.ask_outlook()]
    for cell in cells("a1 a9 b1 b9 c1 c9 d1 i9", 9):
        session.play(cell)
    asked.append(session.ask_outlook())
    done = [question.answer() for question in asked]
    assert [session.accept(each) for each in done] == [True, True]
    (first, even), (last, won) = session.outlook
    assert (first, last) == (0, 8) and 0.2 < even < 0.8 and won > 0.9  # black is about to make five
    session.undo()
    assert [ply for ply, _ in session.outlook] == [0]
    assert not session.accept(done[1])  # those moves are gone
    session.new()
    assert not session.accept(done[0]) and session.outlook == []


def test_blacks_chance() -> None:
    rng = np.random.default_rng(0)
    won = Board.from_moves(cells("a1 a9 b1 b9 c1 c9 d1 d9 e1", 9), 9, 9)
    assert black_chance(won, rng) == 1
    white = Board.from_moves(cells("i1 a9 b1 b9 c1 c9 g5 d9 h3", 9), 9, 9)  # white to move has four
    assert black_chance(white, rng) < 0.1


def test_blacks_chance_by_a_network_with_values() -> None:
    class Values:
        planes, HAS_VALUE = 2, True

        def values(self, x: object) -> np.ndarray:
            return np.array([0.5])

    board = Board(9, 9)
    assert black_chance(board, np.random.default_rng(0), Values()) == 0.75  # type: ignore[arg-type]
    board.play(40)
    assert black_chance(board, np.random.default_rng(0), Values()) == 0.25  # type: ignore[arg-type]


def test_forbidden_points_are_shown_to_black_only() -> None:
    names = "e5 a1 f5 c1 g5 e1 h4 g1 h3 i1 h2 a9"  # h5 makes two fours
    session = GameSession(Board.from_moves(cells(names, 9), 9, 9, rule=Rule.RENJU), white=HUMAN)
    assert session.game.forbidden == {parse_cell("h5", 9, 9): Forbidden.DOUBLE_FOUR}
    with pytest.raises(IllegalMoveError, match="double four"):
        session.play(parse_cell("h5", 9, 9))
    session.play(0 if not session.game.board.cells.flat[0] else 1)
    assert session.game.forbidden == {}


@pytest.mark.parametrize("ending", [".sgf", ".txt"])
def test_games_are_saved_and_loaded(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"game{ending}"
    session = GameSession(Board(9, 8, win_length=4, rule=Rule.STANDARD), white=HUMAN)
    for cell in (10, 20, 30):
        session.play(cell)
    session.resign()
    session.save(path)
    other = GameSession(Board(9, 9), black="greedy", white=HUMAN)
    other.load(path)
    board = other.game.board
    assert (board.height, board.width, board.win_length, board.rule) == (9, 8, 4, Rule.STANDARD)
    assert board.moves == [10, 20, 30] and other.game.winner == BLACK and other.game.resigned == WHITE
    assert other.game.players[BLACK].name == "greedy"
    assert other.undo() == 0 and other.game.status == "white (human) to move"
    with pytest.raises(UserError):
        other.load(tmp_path / "none.sgf")
    with pytest.raises(UserError):
        other.save(tmp_path / "game.png")
    assert other.game.board.moves == [10, 20, 30]


def test_the_opening_of_a_loaded_game_stays(tmp_path: Path) -> None:
    session = GameSession(Board.from_moves([40, 41], 9, 9), white=HUMAN)
    session.play(42)
    session.save(tmp_path / "game.sgf")
    session.load(tmp_path / "game.sgf")
    assert session.game.opening == 2 and session.undo() == 1
    with pytest.raises(SessionError, match="no move of yours"):
        session.undo()


def test_on_another_board_the_adviser_is_another(tmp_path: Path) -> None:
    net(9).save(tmp_path / "nine.npz")
    session = GameSession(Board(9, 9), white=HUMAN, adviser=f"policy:{tmp_path / 'nine.npz'}")
    assert session.accept(session.ask_hint().answer()) and session.note == ""
    session.new(Board(11, 11))
    assert session.accept(session.ask_hint().answer()) and "plays on 9x9 only" in session.note
    session.new(Board(9, 9))
    assert session.accept(session.ask_hint().answer()) and session.note == ""


def test_the_same_seed_is_the_same_game_whoever_waits() -> None:
    def game(seed: int, patience: float) -> list[int]:
        session = GameSession(Board(7, 7), black="random", white="random", seed=seed)
        while not session.game.is_over:
            question = session.question()
            assert question is not None
            session.ask_outlook()
            time.sleep(patience)
            session.accept(question.answer())
        return session.game.board.moves

    assert game(1, 0) == game(1, 0.001) != game(2, 0)


def test_the_agents_that_play_unless_others_are_named() -> None:
    session = GameSession(Board(9, 9))
    assert session.game.players[WHITE].name == DEFAULT_AGENT
    assert session.accept(session.ask_hint().answer()) and session.hint_cell == 40


def test_a_seat_for_nobody() -> None:
    with pytest.raises(AgentSpecError, match="did you mean 'greedy'"):
        seat("gredy", Board())
