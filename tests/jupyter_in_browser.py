"""The board and the rules panel in a real JupyterLab, clicked by a mouse in a Chromium that reaches this machine alone.

`make jupyter-test` runs it; it needs the extras `notebook` and `browser`, and Chromium or Chrome on the machine. It is
too slow for `make test`. A picture of each step stays in runs/jupyter, to be looked at.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import jupytext
import pytest
from playwright.sync_api import Page, expect, sync_playwright

from experiments.notebook_files import KERNEL
from rl.search.rule_file import load_rules

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "runs" / "jupyter"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 240  # for whatever is waited for: a machine may be busy
# Every name but that of this machine leads nowhere, so what is fetched from elsewhere fails, as without a network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
UNIT, LEFT, TOP = 40, 46, 26  # of the SVG: between two lines, and of the crossing of the top left cell
LESSON = """\
# %%
from experiments.playing.session import GameSession
from experiments.rules_widget import show_rules
from experiments.widget import show_board
from env import Board

board = show_board(GameSession(Board(9, 9), "human", "greedy"))
board
# %%
print("the kernel has", board.face.session.game.board.moves)
# %%
show_rules("mine.json")
# %%
show_board("game.sgf")
"""
GAME = "(;GM[4]FF[4]SZ[9]PB[Anna]PW[Ben];B[ee];W[ed];B[de])"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where Jupyter is started: a notebook and a recorded game."""
    made = tmp_path_factory.mktemp("jupyter")
    notebook = jupytext.reads(LESSON, "py:percent")
    notebook.metadata.kernelspec = KERNEL  # or else JupyterLab asks which
    jupytext.write(notebook, made / "board.ipynb")
    (made / "game.sgf").write_text(GAME)
    return made


@pytest.fixture(scope="module")
def lab(folder):
    """The address of a JupyterLab of our own, with settings of nobody."""
    own = {f"JUPYTER_{name}_DIR": str(folder / ".jupyter" / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "IPYTHONDIR": str(folder / ".ipython"), "PYTHONPATH": str(ROOT)}
    words = ["lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--ServerApp.port=0"]
    with open(folder / "lab.log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", *words], cwd=folder, env=environment, stdout=log, stderr=log
        )
    try:
        limit, found = time.monotonic() + SECONDS, []
        while not found:
            assert server.poll() is None and time.monotonic() < limit, (folder / "lab.log").read_text()[-3000:]
            time.sleep(0.2)
            found = list((folder / ".jupyter" / "RUNTIME").glob("jpserver-*.json"))
        said = json.loads(found[0].read_text())
        yield f"http://127.0.0.1:{said['port']}/lab/tree/board.ipynb?token={said['token']}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def asked():
    """Every address the browser asked for."""
    return []


@pytest.fixture(scope="module")
def page(lab, asked):
    """The notebook in the browser, all its cells run."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert browser_path, f"none of {', '.join(BROWSERS)} is installed"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=[OFFLINE, "--no-sandbox"])
        page = browser.new_page(viewport={"width": 1300, "height": 1900})
        page.set_default_timeout(1000 * SECONDS)
        expect.set_options(timeout=1000 * SECONDS)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(lab)
        expect(page.get_by_text("Python 3 (ipykernel) | Idle")).to_be_visible()  # keys pressed before that are lost
        page.locator(".jp-Notebook .jp-Cell .jp-InputArea-editor").first.click()
        for _ in LESSON.split("# %%")[1:]:
            page.keyboard.press("Shift+Enter")
        expect(page.get_by_text("Move 0: black (human) to move.")).to_be_visible()
        yield page
        browser.close()


def picture(page: Page, name: str) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")


def output(page: Page, cell: int):
    """What a cell shows."""
    return page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-Cell-outputArea")


def stones(page: Page, cell: int):
    """The circles filled as stones in the board that a cell shows."""
    return output(page, cell).locator("svg circle[fill^='url(']")


def click(page: Page, name: str) -> None:
    """Press the mouse's button over a crossing of the 9x9 board, wherever and however large the page draws it."""
    svg = output(page, 0).locator("svg[font-family]")
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    scale = box["width"] / (9 * UNIT + 1.1 * UNIT)
    col, row = ord(name[0]) - ord("a"), 9 - int(name[1:])
    page.mouse.click(box["x"] + scale * (LEFT + col * UNIT), box["y"] + scale * (TOP + row * UNIT))


def run_again(page: Page, cell: int) -> None:
    page.locator(".jp-Notebook .jp-Cell").nth(cell).locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")


def test_a_click_reaches_the_agent_and_both_stones_are_drawn(page):
    picture(page, "1_begun")
    click(page, "e5")
    expect(output(page, 0).get_by_text("Move 2: black (human) to move.")).to_be_visible()
    expect(stones(page, 0)).to_have_count(2)
    at = stones(page, 0).first
    assert (at.get_attribute("cx"), at.get_attribute("cy")) == (str(4 * UNIT), str(4 * UNIT))
    click(page, "e5")  # a stone stands there
    click(page, "d5")
    expect(stones(page, 0)).to_have_count(4)
    picture(page, "2_played")
    run_again(page, 1)  # what the kernel knows of it
    expect(output(page, 1).get_by_text("the kernel has [40,")).to_be_visible()


def test_the_buttons_reach_the_session(page):
    before = output(page, 0).locator("svg[font-family]").bounding_box()
    for name, said in (("Hint", "Perhaps"), ("Undo", "Move 2"), ("Resign", "has resigned"), ("New game", "Move 0")):
        output(page, 0).get_by_role("button", name=name, exact=True).click()
        expect(output(page, 0).get_by_text(said)).to_be_visible()
        picture(page, f"3_{name.split()[0].lower()}")
        assert output(page, 0).locator("svg[font-family]").bounding_box() == before  # it does not jump below a pointer
    expect(stones(page, 0)).to_have_count(0)


def test_rules_are_switched_and_slid_and_stand_in_the_file(page, folder):
    panel = output(page, 2)
    panel.scroll_into_view_if_needed()
    panel.get_by_role("checkbox").nth(0).uncheck()
    expect(panel.get_by_text("saved in mine.json")).to_be_visible()
    handle = panel.locator(".noUi-handle").nth(1)
    box = handle.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 60, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    limit = time.monotonic() + SECONDS
    while load_rules(folder / "mine.json").rules[1].weight == 1:
        assert time.monotonic() < limit
        page.wait_for_timeout(50)
    first, second, third, *_ = load_rules(folder / "mine.json").rules
    assert (first.enabled, first.weight) == (False, 1) and second.enabled and 0.2 < second.weight < 0.9
    assert (third.enabled, third.weight) == (True, 1)
    panel.get_by_role("button", name="Match new against old").click()
    expect(panel.get_by_text("95 % interval")).to_be_visible()
    said = panel.get_by_text("95 % interval").bounding_box()
    assert said["x"] + said["width"] <= panel.bounding_box()["x"] + panel.bounding_box()["width"]  # not cut off
    picture(page, "4_rules")
    panel.get_by_role("button", name="Stop the match").click()
    expect(panel.get_by_role("button", name="Match new against old")).to_be_visible()


def test_a_recorded_game_is_stepped_through(page):
    output(page, 3).scroll_into_view_if_needed()
    expect(output(page, 3).get_by_text("Anna against Ben: move 3 of 3")).to_be_visible()
    expect(stones(page, 3)).to_have_count(3)
    output(page, 3).get_by_role("button", name="<", exact=True).click()
    expect(stones(page, 3)).to_have_count(2)
    picture(page, "5_recorded")


def test_nothing_was_fetched_from_elsewhere(page, asked):
    far = [address for address in asked if not address.startswith(("http://127.0.0.1:", "data:", "blob:"))]
    assert len(asked) > 20 and far == []
