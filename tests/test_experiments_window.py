"""The window, driven by clicks on a virtual display. Where there is none (Xvfb or tkinter is missing), every test of
the window asserts instead that `gomoku gui` says so in its one line.
"""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from env import BLACK, WHITE, Board, IllegalMoveError, Rule
from env.coords import cell_name, parse_cell
from experiments import __main__ as cli
from experiments.faces import rule_desk
from experiments.files.game_files import read_games
from experiments.playing import player as player_module
from experiments.playing.session import GameSession
from experiments.playing.thought import Mind, Thought
from nn import PolicyNet
from rl.agents import make_agent
from rl.agents.base import Agent, Thinker
from rl.arena import result_of
from rl.sampling import RandomSource
from rl.search.minimax import WIN
from rl.search.rule_file import load_rules
from rl.search.search import Insight

KEPT: list[object] = []  # windows live as long as the tests do: Tk must not be taken apart by another thread


class Scripted(Agent):
    """Plays the cells it is given."""

    name = "scripted"

    def __init__(self, cells: list[int]) -> None:
        self.cells = cells

    def choose(self, board: Board, rng: RandomSource) -> int:
        return self.cells.pop(0)


class Waiting(Thinker):
    """Thinks until it is stopped."""

    name = "waiting"
    is_thinking = False

    def choose(self, board: Board, rng: RandomSource) -> int:
        raise NotImplementedError

    def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
        self.is_thinking = True
        while not stopped():
            time.sleep(0.001)
        self.is_thinking = False
        return int(np.argmax(board.legal_mask()))


@pytest.fixture(scope="module")
def display() -> Iterator[str | None]:
    """A virtual display of our own, or None."""
    if shutil.which("Xvfb") is None or find_spec("_tkinter") is None:
        yield None
        return
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as pipe:
        number = pipe.readline().strip()
    try:
        yield f":{number}" if number else None
    finally:
        server.terminate()
        server.wait()


class Screen:
    """A window that is looked at and clicked."""

    def __init__(self, session: GameSession, rules: Path | None = None) -> None:
        import tkinter

        from experiments.faces.window import Window

        self.session = session
        self.window = Window(tkinter.Tk(), session, rules)
        self.window.curve.set(False)  # looking ahead takes time; the test of the curve turns it on
        self.window.root.geometry("720x520+0+0")
        KEPT.append(self.window)
        self.wait(lambda: self.board.winfo_width() > 300 and self.board.grid_now.height > 0)

    @property
    def board(self) -> Any:
        return self.window.board

    def wait(self, until: Callable[[], object], seconds: float = 20.0) -> None:
        """Let the window live until something is so."""
        end = time.monotonic() + seconds
        while not until():
            assert time.monotonic() < end, "what was waited for did not happen"
            self.window.root.update()
            time.sleep(0.002)

    def click(self, x: float, y: float) -> None:
        """Press the mouse's button there: through the display itself if xdotool is installed."""
        pressed: list[object] = []
        self.board.bind("<ButtonRelease-1>", pressed.append)
        if shutil.which("xdotool"):
            at = [str(round(self.board.winfo_rootx() + x)), str(round(self.board.winfo_rooty() + y))]
            subprocess.run(["xdotool", "mousemove", *at, "click", "1"], check=True)
        else:
            for event in ("<Button-1>", "<ButtonRelease-1>"):
                self.board.event_generate(event, x=round(x), y=round(y))
        self.wait(lambda: pressed)

    def click_on(self, name: str, across: float = 0, down: float = 0) -> None:
        """Click a crossing, or so many squares beside it."""
        game, grid = self.session.game, self.board.grid_now
        x, y = grid.point(parse_cell(name, game.board.height, game.board.width))
        self.click(x + across * grid.unit, y + down * grid.unit)

    def mouse(self, widget: Any, x: float, y: float, *, drag: float = 0) -> None:
        """Press the button over a widget, pull it so many pixels to the right, let go."""
        at = [round(widget.winfo_rootx() + x), round(widget.winfo_rooty() + y)]
        over: list[object] = []
        widget.bind("<ButtonRelease-1>", over.append, add="+")
        if shutil.which("xdotool"):
            for words in (("mousemove", *at), ("mousedown", 1), ("mousemove", at[0] + drag, at[1]), ("mouseup", 1)):
                subprocess.run(["xdotool", *map(str, words)], check=True)
                self.window.root.update()
        else:
            for event, right in (("<Enter>", 0), ("<Button-1>", 0), ("<B1-Motion>", drag), ("<ButtonRelease-1>", drag)):
                widget.event_generate(event, x=round(x + right), y=round(y))
        self.wait(lambda: over)

    def press(self, name: str) -> None:
        self.window.buttons[name]()
        self.window.root.update()

    def cells_of(self, tag: str) -> list[int]:
        """The cells under the items with this tag."""
        found = []
        for item in self.board.find_withtag(tag):
            x0, y0, x1, y1 = self.board.bbox(item)
            found.append(self.board.grid_now.nearest((x0 + x1) / 2, (y0 + y1) / 2))
        return found

    def colour_at(self, name: str) -> int:
        """BLACK, WHITE or 0, by the pixels of the picture near a crossing."""
        board, unit = self.session.game.board, int(self.board.grid_now.unit)
        row, col = divmod(parse_cell(name, board.height, board.width), board.width)
        pixel = self.board._picture.get(col * unit + unit // 2 + unit // 4, row * unit + unit // 2 + unit // 4)
        red, _, blue = pixel
        return WHITE if blue > 180 else BLACK if red < 80 else 0


@pytest.fixture
def screen(
    display: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Screen | None]]:
    """Opens windows, on sessions that are made from the arguments; None where that cannot be."""
    opened: list[Screen] = []

    def open_window(*args: Any, rules: Path | None = None, **more: Any) -> Screen | None:
        if display is None:
            assert_no_window(monkeypatch, capsys)
            return None
        monkeypatch.setenv("DISPLAY", display)
        opened.append(Screen(GameSession(*args, **more), rules))
        return opened[-1]

    yield open_window
    for each in opened:
        if not each.window._closed:
            each.window.close()


@pytest.fixture
def with_agent(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agent], None]:
    """Have the spec "x" mean an agent of the test."""

    def use(agent: Agent) -> None:
        monkeypatch.setattr(player_module, "make_agent", lambda spec: agent if spec == "x" else make_agent(spec))

    return use


def assert_no_window(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    assert cli.main(["gui", "--agent", "random", "--size", "5"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("gomoku: ") and said.count("\n") == 1
    assert "play in the terminal with: gomoku play" in said and "Traceback" not in said


def cells(names: str, size: int = 9) -> list[int]:
    return [parse_cell(name, size, size) for name in names.split()]


def test_without_a_display_there_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert_no_window(monkeypatch, capsys)


def test_a_python_without_tkinter_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("experiments.gui.find_spec", lambda _: None)
    assert cli.main(["gui", "--agent", "random"]) == 2
    assert "this Python has no tkinter" in capsys.readouterr().err


def test_a_game_that_cannot_be_opened_is_said_before_any_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["gui", "--agent", "random", "--game", str(tmp_path / "none.sgf")]) == 2
    assert capsys.readouterr().err == f"gomoku: {tmp_path / 'none.sgf'}: No such file or directory\n"


def test_the_board_fits_a_window_of_another_size(screen: Callable[..., Any]) -> None:
    seen = screen(Board(9, 9), white="human")
    if seen is None:
        return
    seen.click_on("c3")
    unit = seen.board.grid_now.unit
    seen.window.root.geometry("1000x760")
    seen.wait(lambda: seen.board.grid_now.unit > unit + 5)
    seen.click_on("g7")
    assert seen.session.game.board.moves == cells("c3 g7")
    assert (seen.colour_at("c3"), seen.colour_at("g7"), seen.colour_at("e5")) == (BLACK, WHITE, 0)


def test_nothing_of_the_panel_is_cut_off_in_the_smallest_window(screen: Callable[..., Any]) -> None:
    seen = screen(Board(15, 15), white="policy:none.npz")  # with a message
    if seen is None:
        return
    window = seen.window
    thought = Thought(Mind(Waiting()), seen.session.game.board, np.random.default_rng(1), 1)
    thought.insight = Insight(12, -1234, tuple(range(100, 130)), 123_456, 0)
    seen.session.thought = thought
    seen.wait(lambda: window.search.get().endswith("f8 g8 ..."))
    width, height = window.root.minsize()
    window.root.geometry(f"{width}x{height}")
    seen.wait(lambda: (window.root.winfo_width(), window.root.winfo_height()) == (width, height))
    for _ in range(5):
        window.root.update()
    panel = window.curve_canvas.master.master
    shown = [child for frame in (panel, *panel.winfo_children()) for child in frame.winfo_children()]
    assert len(shown) > 20
    for widget in shown:
        right = widget.winfo_rootx() - window.root.winfo_rootx() + widget.winfo_width()
        bottom = widget.winfo_rooty() - window.root.winfo_rooty() + widget.winfo_height()
        assert right <= width and bottom <= height and widget.winfo_width() >= min(widget.winfo_reqwidth(), 280)
        if widget not in (window.curve_canvas, window.curve_canvas.master):  # they give way
            assert widget.winfo_height() >= widget.winfo_reqheight(), str(widget)
    assert window.curve_canvas.winfo_height() > 80 and seen.board.grid_now.unit >= 16
    seen.click_on("h8")
    assert seen.session.game.board.moves[:1] == [112]  # the answer may have come already


def test_a_whole_game_is_played_by_clicks(screen: Callable[..., Any], with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("a1 b2 c3 d4")))
    seen = screen(Board(9, 9), white="x")
    if seen is None:
        return
    for count, name in enumerate(["e5", "f5", "g5", "h5", "i5"], start=1):
        assert not seen.session.game.is_over
        seen.click_on(name, 0.3, -0.3)
        seen.wait(lambda count=count: len(seen.session.game.board.moves) == min(2 * count, 9))
        assert seen.colour_at(name) == BLACK
    assert seen.session.game.board.moves == cells("e5 a1 f5 b2 g5 c3 h5 d4 i5")
    assert [seen.colour_at(name) for name in ["a1", "b2", "c3", "d4", "e4"]] == [WHITE] * 4 + [0]
    assert seen.window.status.get() == "You have won.\nblack (human) has won with e5 f5 g5 h5 i5."
    assert sorted(seen.cells_of("line")) == cells("e5 f5 g5 h5 i5")
    assert seen.cells_of("last") == cells("i5")
    seen.click_on("a9")  # it is over
    assert len(seen.session.game.board.moves) == 9


def test_lost_and_drawn_games_are_told(screen: Callable[..., Any], with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("a3 c3 b1 c2", 3)))
    seen = screen(Board(3, 3, 3), white="x")
    if seen is None:
        return
    for ply, name in enumerate(["b2", "b3", "c1", "a2", "a1"]):  # the middle, and then a draw
        seen.click_on(name)
        seen.wait(lambda ply=ply: len(seen.session.game.board.moves) >= min(2 * ply + 2, 9))
    assert seen.window.status.get() == "A draw.\na draw: the board is full."
    seen.press("New game")
    seen.press("Resign")
    assert seen.window.status.get().startswith("You have lost.\nblack (human) has resigned")


def test_clicks_beside_a_crossing_on_stones_and_off_the_board(
    screen: Callable[..., Any], with_agent: Callable[[Agent], None]
) -> None:
    with_agent(waiting := Waiting())
    seen = screen(Board(9, 9), white="human")
    if seen is None:
        return
    moves, grid = seen.session.game.board.moves, seen.board.grid_now
    seen.click_on("c4", 0.45, 0.45)
    assert moves == cells("c4")
    seen.click_on("c4")  # a stone stands there
    seen.click_on("a9", -0.6, 0)
    seen.click_on("i1", 0, 0.6)
    seen.click(1, grid.top)
    assert moves == cells("c4") and seen.window.message.get() == ""
    seen.click_on("i1", 0.45, 0.45)  # beyond the last line, yet nearest to it
    assert moves == cells("c4 i1")
    seen.window.opponent.set("x")
    seen.window.side.set("white")
    seen.window.seat()
    seen.wait(lambda: waiting.is_thinking)
    seen.click_on("e5")  # not a person's turn
    assert moves == cells("c4 i1") and seen.window.message.get() == ""


def test_undo_reset_and_a_hint(screen: Callable[..., Any], with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("a1 b1 c1")))
    seen = screen(Board(9, 9), white="x", adviser="greedy:java")
    if seen is None:
        return
    for count, name in enumerate(("e5", "f5"), start=1):
        seen.click_on(name)
        seen.wait(lambda count=count: len(seen.session.game.board.moves) == 2 * count)
    seen.press("Hint")
    seen.wait(lambda: seen.session.hint_cell is not None)
    assert seen.cells_of("hint") == [seen.session.hint_cell]
    seen.press("Undo")
    assert seen.session.game.board.moves == cells("e5 a1")
    assert (seen.colour_at("f5"), seen.colour_at("b1"), seen.cells_of("hint")) == (0, 0, [])
    seen.window.rule.set("renju")
    seen.window.size.set("11")
    seen.window.side.set("both (two people)")
    seen.press("New game")
    assert (seen.session.game.board.width, seen.session.game.board.rule) == (11, Rule.RENJU)
    assert seen.session.game.people == [BLACK, WHITE] and seen.board.grid_now.width == 11
    seen.press("Undo")
    assert seen.window.message.get() == "there is no move of yours to take back"
    seen.press("Reset")
    assert (seen.session.game.board.width, seen.session.game.board.rule) == (9, Rule.FREESTYLE)
    assert seen.session.game.board.moves == [] and seen.session.game.people == [BLACK]


def test_weights_that_are_missing_or_do_not_fit_are_told_and_a_heuristic_plays(
    screen: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PolicyNet(5, 5, filters=(2, 2), hidden=4, rng=np.random.default_rng(1)).save(tmp_path / "small.npz")
    seen = screen(Board(9, 9), white=f"policy:{tmp_path / 'none.npz'}")
    if seen is None:
        return
    assert seen.window.message.get().endswith("none.npz: the file is missing; threat plays instead")
    seen.click_on("e5")
    seen.wait(lambda: len(seen.session.game.board.moves) == 2)
    monkeypatch.setattr("tkinter.filedialog.askopenfilename", lambda **_: str(tmp_path / "small.npz"))
    seen.press("Network ...")
    assert "small.npz plays on 5x5 only; this board is 9x9; threat plays instead" in seen.window.message.get()
    seen.window.opponent.set("greddy")
    seen.window.seat()
    assert "did you mean 'greedy'?" in seen.window.message.get()


def test_the_window_lives_and_closes_while_the_agent_thinks(
    screen: Callable[..., Any], with_agent: Callable[[Agent], None]
) -> None:
    with_agent(waiting := Waiting())
    seen = screen(Board(9, 9), white="x")
    if seen is None:
        return
    ticks: list[int] = []
    seen.click_on("e5")
    seen.wait(lambda: waiting.is_thinking)
    seen.window.root.after(1, lambda: ticks.append(1))
    seen.wait(lambda: ticks)
    assert waiting.is_thinking and seen.window.status.get() == "White (waiting) is thinking."
    began = time.monotonic()
    seen.window.root.tk.call(seen.window.root.protocol("WM_DELETE_WINDOW"))  # as a window manager's cross does
    assert time.monotonic() - began < 2
    while waiting.is_thinking:
        assert time.monotonic() - began < 5
        time.sleep(0.005)


def test_what_the_search_has_found_is_shown_while_it_thinks(
    screen: Callable[..., Any], with_agent: Callable[[Agent], None]
) -> None:
    class Telling(Waiting):
        def think(self, board: Board, rng: RandomSource, *, seconds: float, stopped: Callable[[], bool]) -> int:
            assert self.listener is not None
            self.listener(Insight(3, -150, tuple(cells("d4 e6")), 1234, 0))
            while not self.deeper and not stopped():
                time.sleep(0.001)
            self.listener(Insight(7, WIN - 9, tuple(cells("f4 e6 f5")), 56_789, 0))
            return super().think(board, rng, seconds=seconds, stopped=stopped)

        deeper = False

    with_agent(telling := Telling())
    seen = screen(Board(9, 9), white="x", adviser="alphabeta:nodes=30,time=20")
    if seen is None:
        return
    shown = seen.window.search
    seen.press("Hint")  # one that looks ahead, too: on an empty board it takes the middle without a thought
    seen.wait(lambda: seen.session.hint_cell is not None)
    assert shown.get() == ""
    seen.click_on("e5")
    seen.wait(lambda: shown.get())
    assert shown.get() == "Search for white, depth 3: -1.50 points\n1,234 positions; d4 e6"
    assert not telling.is_thinking
    telling.deeper = True
    seen.wait(lambda: "depth 7" in shown.get())
    assert shown.get() == "Search for white, depth 7: wins in 9\n56,789 positions; f4 e6 f5" and telling.is_thinking
    seen.press("Undo")
    seen.wait(lambda: not telling.is_thinking)
    assert telling.listener is None and seen.session.thought is None
    seen.wait(lambda: shown.get() == "")
    seen.window.side.set("both (two people)")
    seen.window.seat()
    for name in ("e5", "f5"):
        seen.click_on(name)
    seen.press("Hint")
    seen.wait(lambda: seen.session.hint_cell is not None)
    seen.wait(lambda: shown.get().startswith("Search for black, depth "))
    best = cell_name(seen.session.hint_cell, 9, 9)
    assert shown.get().partition("positions; ")[2].split()[0] == best  # what it plays is what it says


def test_ctrl_c_in_the_shell_closes_the_window(
    display: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if display is None:
        assert_no_window(monkeypatch, capsys)
        return
    import tkinter

    monkeypatch.setenv("DISPLAY", display)
    real = tkinter.Tk

    def kept(**options: Any) -> tkinter.Tk:
        KEPT.append(root := real(**options))
        return root

    monkeypatch.setattr("tkinter.Tk", kept)
    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        while signal.getsignal(signal.SIGINT) is before:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    assert cli.main(["gui", "--agent", "random", "--size", "5"]) == 130
    assert signal.getsignal(signal.SIGINT) is before and capsys.readouterr().err == ""


def test_black_sees_forbidden_points_and_may_not_play_them(screen: Callable[..., Any]) -> None:
    names = "h9 a1 h10 a15 g8 o1 i8 o15"
    seen = screen(Board.from_moves(cells(names, 15), rule=Rule.RENJU), white="human")
    if seen is None:
        return
    assert set(seen.session.game.forbidden) == set(cells("h8", 15))
    assert {cell for cell in seen.cells_of("forbidden")[:2]} == set(cells("h8", 15))
    seen.click_on("h8")
    assert "is forbidden to black: double three" in seen.window.message.get()
    assert len(seen.session.game.board.moves) == 8
    seen.click_on("a8")
    assert seen.cells_of("forbidden") == []  # it is white's turn


def test_the_heat_map_writes_the_networks_chances(screen: Callable[..., Any], tmp_path: Path) -> None:
    net = PolicyNet(5, 5, filters=(2, 2), hidden=4, rng=np.random.default_rng(1))
    net.parameters()[-1].value[:8] += 2
    net.save(tmp_path / "net.npz")
    seen = screen(Board(5, 5), white="greedy")
    if seen is None:
        return
    seen.window.heat.set(True)
    seen.window.show()
    assert "no network plays" in seen.window.message.get() and seen.cells_of("heat") == []
    seen.window.opponent.set(f"policy:{tmp_path / 'net.npz'}")
    seen.window.seat()
    chances = seen.session.chances
    shown = [seen.board.itemcget(item, "text") for item in seen.board.find_withtag("heat")[1::2]]
    assert shown == [f"{100 * chance:.0f}" for chance in chances if chance >= 0.01]
    assert seen.cells_of("heat")[::2] == np.flatnonzero(chances >= 0.01).tolist()
    seen.window.heat.set(False)
    seen.window.show()
    assert seen.cells_of("heat") == [] and seen.window.message.get() == ""


def test_games_are_saved_and_opened(
    screen: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.sgf"
    monkeypatch.setattr("tkinter.filedialog.asksaveasfilename", lambda **_: str(path))
    monkeypatch.setattr("tkinter.filedialog.askopenfilename", lambda **_: str(path))
    seen = screen(Board(9, 9, rule=Rule.STANDARD), white="human")
    if seen is None:
        return
    for name in ("e5", "f6", "d4"):
        seen.click_on(name)
    seen.press("Save ...")
    assert read_games(path)[0].moves == tuple(cells("e5 f6 d4"))
    seen.window.rule.set("freestyle")
    seen.window.size.set("15")
    seen.window.new()
    assert seen.session.game.board.width == 15
    seen.press("Open ...")
    assert seen.session.game.board.moves == cells("e5 f6 d4") and seen.colour_at("f6") == WHITE
    assert (seen.window.rule.get(), seen.window.size.get()) == ("standard", "9")
    path.write_text("(;GM[1]SZ[9];B[aa])")
    seen.press("Open ...")
    assert "another game" in seen.window.message.get() and len(seen.session.game.board.moves) == 3


def test_the_curve_shows_how_the_game_went(screen: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("experiments.playing.outlook.PLAYOUTS", 2)
    seen = screen(Board(5, 5, 4), white="human")
    if seen is None:
        return
    seen.window.curve.set(True)
    seen.window.show()
    curve = seen.window.curve_canvas
    for count, name in enumerate(["c3", "a1", "c2", "a2"], start=1):
        seen.wait(lambda count=count: len(seen.session.outlook) == count)
        seen.click_on(name)
    seen.wait(lambda: len(seen.session.outlook) == 5)
    points = [curve.bbox(item) for item in curve.find_withtag("point")]
    chances = [chance for _, chance in seen.session.outlook]
    assert len(points) == 5 and [box[0] for box in points] == sorted({box[0] for box in points})
    heights = [(box[1] + box[3]) / 2 for box in points]
    span = curve.winfo_height() - 24 - 32
    assert heights == pytest.approx([24 + span * (1 - chance) for chance in chances], abs=1.5)


def test_rules_are_edited_while_their_player_thinks(
    screen: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    seen = screen(Board(9, 9), white="alphabeta:nodes=20", rules=path)
    if seen is None:
        return
    seen.press("Rules ...")
    assert seen.window.opponent.get() == f"alphabeta:nodes=20,rules={path}"
    agent, panel = seen.session.game.players[WHITE].mind.agent, seen.window.panels[path]
    assert [rule.weight for rule in agent.rules().rules] == [1.0] * 8
    abandoned: list[int] = []
    seen.session.listen(lambda: abandoned.append(1))
    rows = panel.winfo_children()[0].winfo_children()
    switches, sliders = ([each for each in rows if each.winfo_class() == kind] for kind in ("TCheckbutton", "TScale"))
    order = [rule.id for rule in agent.rules().rules]
    seen.wait(lambda: sliders[-1].winfo_width() > 100 and sliders[-1].winfo_viewable())
    slider = sliders[order.index("open_three")]
    seen.mouse(slider, slider.winfo_width() - 10, slider.winfo_height() / 2, drag=-90)  # by its handle
    seen.wait(lambda: not panel._pending)
    seen.mouse(switches[order.index("centre")], 8, switches[0].winfo_height() / 2)
    by_id = {rule.id: rule for rule in agent.rules().rules}
    assert 0.2 < by_id["open_three"].weight < 0.8 and not by_id["centre"].enabled and by_id["four"].weight == 1
    assert load_rules(path) == agent.rules() and len(abandoned) == 2
    assert panel.message.get() == f"saved in {path}"
    monkeypatch.setattr(rule_desk, "play_match", lambda *_: iter([result_of([])]))
    panel.match()
    seen.wait(lambda: panel._match.is_over and "of 20 games" in panel.message.get())
    assert "95 % interval" in panel.message.get()
    path.write_text("{}")
    panel.switches["centre"].set(True)
    panel._switched("centre")
    assert 'the key "rules" is missing' in panel.message.get()


def test_a_click_that_is_drawn_is_a_move_the_board_allows(screen: Callable[..., Any]) -> None:
    """A hundred clicks anywhere: the board agrees with a board that is told the nearest crossing each time."""
    seen = screen(Board(6, 7, 5), white="human")
    if seen is None:
        return
    rng, twin = np.random.default_rng(5), Board(6, 7, 5)
    for x, y in rng.uniform(0, 500, (100, 2)):
        seen.board.event_generate("<Button-1>", x=int(x), y=int(y))
        cell = seen.board.grid_now.nearest(int(x), int(y))
        if cell is not None:
            try:
                twin.play(cell)
            except IllegalMoveError:
                continue
    assert seen.session.game.board.moves == twin.moves and len(twin.moves) > 20
