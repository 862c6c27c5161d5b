"""The board in Jupyter without a browser: messages in, the state of the widget out; and its script, run by node."""

import builtins
import json
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from env import BLACK, WHITE, Board, Rule
from env.coords import parse_cell
from experiments.errors import UserError
from experiments.faces import rule_desk
from experiments.faces.board_grid import svg_grid
from experiments.files.game_files import read_games
from experiments.playing import player as player_module
from experiments.playing.session import GameSession
from experiments.rules_widget import show_rules
from experiments.widget import SCRIPT, show_board
from nn import PolicyNet
from rl.agents import AgentSpecError, make_agent
from rl.agents.base import Agent
from rl.arena import result_of
from rl.sampling import RandomSource
from rl.search.rule_file import load_rules

RECORDS = Path(__file__).parent / "data" / "records"


class Scripted(Agent):
    """Plays the cells it is given."""

    name = "scripted"

    def __init__(self, cells: list[int]) -> None:
        self.cells = cells

    def choose(self, board: Board, rng: RandomSource) -> int:
        return self.cells.pop(0)


@pytest.fixture
def with_agent(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agent], None]:
    """Have the spec "x" mean an agent of the test."""

    def use(agent: Agent) -> None:
        monkeypatch.setattr(player_module, "make_agent", lambda spec: agent if spec == "x" else make_agent(spec))

    return use


def cells(names: str, size: int = 9) -> list[int]:
    return [parse_cell(name, size, size) for name in names.split()]


def send(widget: Any, **message: Any) -> None:
    """What the browser's side sends."""
    widget._handle_custom_msg(message, [])


def click(widget: Any, name: str, across: float = 0, down: float = 0) -> None:
    board = widget.face.session.game.board
    grid = svg_grid(board)
    x, y = grid.point(parse_cell(name, board.height, board.width))
    send(widget, kind="click", x=x + across * grid.unit, y=y + down * grid.unit)


def stones(picture: str) -> tuple[int, int]:
    return picture.count('fill="url(#black)"'), picture.count('fill="url(#white)"')


def test_a_click_reaches_the_agent_and_the_stones_are_drawn(with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("a1 b2 c3 d4")))
    widget = show_board("x", board=Board(9, 9))
    assert stones(widget.picture) == (0, 0) and widget.status == "Move 0: black (human) to move."
    click(widget, "e5", 0.4, -0.4)
    widget.face.wait()
    assert widget.face.session.game.board.moves == cells("e5 a1")
    assert stones(widget.get_state()["picture"]) == (1, 1)  # what is sent to the browser
    assert widget.status == "Move 2: black (human) to move."
    for name in ("f5", "g5", "h5", "i5"):
        click(widget, name)
        widget.face.wait()
    assert widget.status == "Move 9: black (human) has won with e5 f5 g5 h5 i5."
    assert widget.picture.count("stroke-width=\"3.5\"") == 5
    click(widget, "a9")
    assert len(widget.face.session.game.board.moves) == 9


def test_clicks_that_mean_nothing_and_messages_that_make_no_sense() -> None:
    widget = show_board(GameSession(Board(9, 9), "human", "human"))
    click(widget, "e5")
    before = widget.get_state()
    click(widget, "e5")
    click(widget, "a9", -0.6)
    for message in ({}, {"kind": "click"}, {"kind": "click", "x": "1", "y": None}, {"kind": "button", "name": 7}):
        send(widget, **message)
    send(widget, kind="click", x=float("nan"), y=float("inf"))
    assert widget.get_state() == before


def test_a_click_out_of_turn_means_nothing(with_agent: Callable[[Agent], None]) -> None:
    may_answer = threading.Event()

    class Slow(Scripted):
        def choose(self, board: Board, rng: RandomSource) -> int:
            may_answer.wait(20)
            return super().choose(board, rng)

    with_agent(Slow(cells("a1")))
    widget = show_board("x", board=Board(9, 9))
    click(widget, "e5")
    before = widget.get_state()
    assert stones(widget.picture) == (1, 0) and "white (scripted) is thinking" in widget.status
    click(widget, "f5")
    assert widget.get_state() == before
    may_answer.set()
    widget.face.wait()
    assert stones(widget.picture) == (1, 1)


def test_the_buttons(with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("a1 c3")))
    widget = show_board(GameSession(Board(9, 9), "human", "x", adviser="greedy:java"))
    assert widget.buttons == ["New game", "Undo", "Hint", "Resign", "Chances"]
    send(widget, kind="button", name="Undo")
    assert "there is no move of yours to take back." in widget.status
    click(widget, "e5")
    widget.face.wait()
    send(widget, kind="button", name="Hint")
    widget.face.wait()
    assert re.search(r"^Perhaps [a-i][1-9]\.$", widget.status, flags=re.MULTILINE)
    hint = widget.face.session.hint_cell
    (ring,) = re.findall(r'cx="(\d+)" cy="(\d+)" r="16" fill="none" stroke="#1d6fd1"', widget.picture)
    assert ring == (str(40 * (hint % 9)), str(40 * (hint // 9)))
    send(widget, kind="button", name="Undo")
    assert stones(widget.picture) == (0, 0) and "Perhaps" not in widget.status and "#1d6fd1" not in widget.picture
    send(widget, kind="button", name="Resign")
    assert "black (human) has resigned" in widget.status
    send(widget, kind="button", name="New game")
    assert widget.status == "Move 0: black (human) to move."


def test_the_agent_begins_if_the_person_is_white(with_agent: Callable[[Agent], None]) -> None:
    with_agent(Scripted(cells("e5")))
    widget = show_board("x", colour="white", board=Board(9, 9))
    widget.face.wait()
    assert stones(widget.picture) == (1, 0) and widget.status == "Move 1: white (human) to move."


def test_the_chances_are_the_networks(tmp_path: Path) -> None:
    net = PolicyNet(5, 5, filters=(2, 2), hidden=4, rng=np.random.default_rng(1))
    net.save(tmp_path / "net.npz")
    widget = show_board(f"policy:{tmp_path / 'net.npz'}", board=Board(5, 5))
    assert "<rect x" not in widget.picture
    send(widget, kind="button", name="Chances")
    tints = re.findall(r'<rect x="([-\d.]+)"', widget.picture)
    assert len(tints) == 25
    percents = re.findall(r">(\d+)</text>", widget.picture)[5:]  # after the numbers of the rows
    chances = widget.face.session.chances
    assert percents == [f"{100 * chance:.0f}" for chance in chances if chance >= 0.01]
    assert "No network" in show_board("greedy", board=Board(5, 5), chances=True).status


def test_a_recorded_game_is_stepped_through() -> None:
    path = RECORDS / "editor.sgf"
    record = read_games(path)[0]
    for game in (str(path), path, record):
        widget = show_board(game)
        assert sum(stones(widget.picture)) == len(record.moves)
    seen = []
    for name in ("|<", "<", ">", ">", "<", ">|", ">"):
        send(widget, kind="button", name=name)
        seen.append(widget.face.ply)
        assert sum(stones(widget.picture)) == widget.face.ply
    last = len(record.moves)
    assert seen == [0, 0, 1, 2, 1, last, last]
    assert widget.status.endswith(f"move {last} of {last}") and record.black in widget.status


def test_mistakes_are_named_errors(tmp_path: Path) -> None:
    with pytest.raises(AgentSpecError, match="did you mean 'greedy'"):
        show_board("greddy")
    with pytest.raises(ValueError, match="'black', 'white' or 'both'"):
        show_board("greedy", colour="red")
    (tmp_path / "game.sgf").write_text("(;GM[1])")
    with pytest.raises(UserError):
        show_board(tmp_path / "game.sgf")


def test_without_anywidget_it_is_a_picture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **more: Any) -> Any:
        if name in ("anywidget", "ipywidgets"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    board = Board.from_moves(cells("e5 e6"), 9, 9, rule=Rule.STANDARD)
    picture = show_board(GameSession(board, "human", "human"))
    assert stones(picture._repr_svg_()) == (1, 1)
    table = show_rules(tmp_path / "rules.json")
    assert repr(table).splitlines()[2] == "four             1.00"


def test_the_rules_panel_writes_the_file_a_player_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rules.json"
    box = show_rules(path)
    panel, player = box.panel, make_agent(f"alphabeta,rules={path}")
    panel.weights["open_three"].value = 0.25
    panel.switches["centre"].value = False
    by_id = {rule.id: rule for rule in player.rules().rules}  # type: ignore[attr-defined]
    assert (by_id["open_three"].weight, by_id["centre"].enabled, by_id["four"].weight) == (0.25, False, 1.0)
    assert panel.message.value == f"saved in {path}" and load_rules(path) == panel.desk.rules
    monkeypatch.setattr(rule_desk, "play_match", lambda *_: iter([result_of([])]))
    panel.button.click()
    end = time.monotonic() + 20
    while panel.button.description != "Match new against old" or "interval" not in panel.message.value:
        assert time.monotonic() < end
        time.sleep(0.01)
    path.write_text("{")
    panel.switches["centre"].value = True
    assert "broken JSON" in panel.message.value


NODE = """
class Element {
  constructor(name) { this.name = name; this.style = {}; this.children = []; this.listeners = {}; }
  addEventListener(name, f) { this.listeners[name] = f; }
  append(...more) { this.children.push(...more); }
  replaceChildren(...all) { this.children = all; }
  querySelector() {
    if (!this.innerHTML) return null;
    this.svg ??= { style: {}, viewBox: { baseVal: { width: 400, height: 300 } },
      getBoundingClientRect: () => ({ left: 10, top: 20, width: 200, height: 150 }) };
    return this.svg;
  }
}
globalThis.document = { createElement: (name) => new Element(name) };
const state = { picture: "<svg/>", status: "hello", buttons: ["Undo", "Hint"] }, sent = [], on = {};
const model = { get: (name) => state[name], send: (message) => sent.push(message),
  on: (name, f) => { on[name] = f; }, off: (name) => { delete on[name]; } };
const { default: widget } = await import(process.argv[1]);
const el = new Element("div");
const stop = widget.render({ model, el });
const [status, row, picture] = el.children;
picture.listeners.click({ clientX: 60, clientY: 45 });
row.children[1].listeners.click();
state.picture = "<svg>2</svg>"; state.status = "bye";
on["change:picture"](); on["change:status"]();
const shown = [picture.innerHTML, status.textContent, row.children.map((each) => each.textContent)];
stop();
console.log(JSON.stringify({ sent, shown, left: Object.keys(on) }));
"""


def test_the_script_sends_what_python_understands(tmp_path: Path) -> None:
    text = SCRIPT.read_text()
    assert not re.search(r"https?:|\bimport\b", text)  # it works offline
    if shutil.which("node") is None:  # then at least what it sends and reads is what the other side knows
        assert set(re.findall(r'kind: "(\w+)"', text)) == {"click", "button"}
        assert set(re.findall(r'get\("(\w+)"\)', text)) == {"picture", "status", "buttons"}
        return
    (tmp_path / "widget.mjs").write_text(text)
    words = ["node", "--input-type=module", "-e", NODE, str(tmp_path / "widget.mjs")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["sent"] == [{"kind": "click", "x": 100, "y": 50}, {"kind": "button", "name": "Hint"}]
    assert said["shown"] == ["<svg>2</svg>", "bye", ["Undo", "Hint"]] and said["left"] == []


def test_people_and_agents_sit_where_they_were_told() -> None:
    session = show_board("greedy", colour="white", board=Board(5, 5)).face.session
    assert [session.game.players[colour].name for colour in (BLACK, WHITE)] == ["greedy", "human"]
    assert show_board("greedy", colour="both", board=Board(5, 5)).face.session.game.people == [BLACK, WHITE]
