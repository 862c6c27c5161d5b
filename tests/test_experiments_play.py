"""A game in the terminal: what is typed, what is said to it, and both ends of a pipe."""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, WHITE, Rule
from experiments import play
from experiments.errors import UserError
from experiments.files.game_files import read_games
from experiments.playing.player import STAND_IN
from nn import PolicyNet
from rl.agents import AgentSpecError

ROOT = Path(__file__).resolve().parent.parent


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    play.add_arguments(parser)
    return parser.parse_args(words)


def talk(*lines: str, args: tuple[str, ...] = ("--size", "9", "--agent", "greedy:java")) -> list[str]:
    """Type these lines and return all that is said."""
    said: list[str] = []
    typed: Iterator[str] = iter(lines)
    play.Dialogue(play.new_session(parsed(*args)), lambda: next(typed, None), said.append).run()
    return said


def test_a_move_is_answered_and_the_board_is_shown() -> None:
    said = talk("e5")
    assert said[0] == "human X and greedy:java O. Type a crossing such as h8, or help."
    assert said[2] == "Move 0: black (human) to move."
    answer = said[3].removeprefix("white (greedy:java) plays ").removesuffix(".")
    assert len(answer) == 2
    assert said[4].splitlines()[4].split()[5] == "X" and "(O)" in said[4]
    assert said[5] == "Move 2: black (human) to move."


def test_white_waits_for_black() -> None:
    said = talk(args=("--size", "9", "--colour", "white", "--agent", "greedy:java"))
    assert said[1].startswith("black (greedy:java) plays ")
    assert said[3] == "Move 1: white (human) to move."


def test_a_game_is_played_to_its_end() -> None:
    args = ("--size", "3", "--win-length", "2", "--agent", "random")
    said = talk("b2", "a1", "a2", "a3", "b1", "b3", "c1", "c2", "c3", "new", args=args)
    won = next(line for line in said if "has won" in line)
    assert won.startswith("Move ") and "black (human) has won with" in won
    assert any(line.startswith("the game is over: black (human) has won with") for line in said)
    assert said[-1] == "Move 0: black (human) to move."


def test_moves_are_taken_back() -> None:
    said = talk("undo", "e5", "UNDO")
    assert said[3] == "there is no move of yours to take back."
    assert said[-3] == "2 moves taken back." and said[-1] == "Move 0: black (human) to move."
    said = talk("e5", "resign", "resign", "undo")
    assert "Move 2: black (human) has resigned: white (greedy:java) has won." in said
    assert said[-4].startswith("there is nothing to resign: black (human) has resigned")
    assert said[-3] == "The game goes on." and said[-1] == "Move 2: black (human) to move."


def test_hints_are_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "ADVISER", "threat")
    said = talk("hint", "e5", "hint")
    hints = [line for line in said if line.startswith("Perhaps ")]
    assert len(hints) == 2 and all(len(hint) == len("Perhaps e5.") for hint in hints)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("e5", "e5 (cell 40) is occupied by black: play an empty cell."),
        ("j1", "'j1' is off the 9x9 board: use a1 to i9."),
        ("hnt", "'hnt' is no crossing and no command; did you mean 'hint'?."),
        ("\x1b[2J", "'\ufffd[2J' is no crossing and no command; choose from board,"),
        ("save", "name a file, such as: save game.sgf."),
        ("load", "name a file, such as: load game.sgf."),
        ("save x.png", "x.png: games are written as .sgf, .psq, .txt."),
        ("save /no/such/folder/x.sgf", "/no/such/folder/x.sgf: No such file or directory."),
        ("load /no/such/file.sgf", "/no/such/file.sgf: No such file or directory."),
    ],
)
def test_mistakes_are_told_and_the_game_goes_on(line: str, says: str) -> None:
    said = talk("e5", line, "board")
    assert said[6].startswith(says.replace("?.", "?"))
    assert said[-1] == "Move 2: black (human) to move."


def test_the_rest_is_help_and_silence() -> None:
    assert talk("", "   ") == talk() and talk("help")[-1] == play.HELP
    assert all(f"\n  {word} " in f"\n{play.HELP} " for word in ("undo", "hint", "resign", "new", "save", "load"))
    assert talk("quit", "e5") == talk("Exit") == talk()


def test_forbidden_points_are_marked() -> None:
    session = play.new_session(parsed("--size", "9", "--rule", "renju", "--agent", "random"))
    said: list[str] = []
    names = ["e5", "f5", "g5", "h4", "h3", "h2"]  # h5 makes two fours
    board = session.game.board
    from env.coords import parse_cell

    for ours, theirs in zip(names, ["a1", "c1", "a3", "c3", "a7", "a9"], strict=True):
        board.play(parse_cell(ours, 9, 9))
        board.play(parse_cell(theirs, 9, 9))
    play.Dialogue(session, iter(["h5", None]).__next__, said.append).run()
    assert said[1].splitlines()[4] == " 5  .  .  .  .  X  X  X  !  ."
    assert said[3].startswith("h5 (cell 43) is forbidden to black: double four")


def test_games_are_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "a game.sgf"
    assert talk("e5", f"save {path}")[-1] == f"Saved as {path}."
    (game,) = read_games(path)
    assert (game.black, game.white, game.moves[0]) == ("human", "greedy:java", 40)
    said = talk(f"load {path}", args=("--agent", "random", "--colour", "white"))
    assert said[-1] == "Move 3: white (human) to move."  # the agent has black, and went on


def test_the_board_is_the_networks_own(tmp_path: Path) -> None:
    net = PolicyNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(0))
    net.save(tmp_path / "policy.npz")
    spec = f"policy:{tmp_path / 'policy.npz'}"
    board = play.new_session(parsed("--agent", spec)).game.board
    assert (board.height, board.width, board.win_length, board.rule) == (6, 6, 5, Rule.FREESTYLE)


def test_a_network_that_cannot_play_is_told(tmp_path: Path) -> None:
    net = PolicyNet(6, 6, filters=(2, 2), hidden=4, rng=np.random.default_rng(0))
    net.save(tmp_path / "policy.npz")
    spec = f"policy:{tmp_path / 'policy.npz'}"
    said = talk("e5", args=("--agent", spec, "--size", "9"))
    assert said[1] == f"Note: {spec} plays on 6x6 only; this board is 9x9; {STAND_IN} plays instead."
    assert sum(line.startswith("Note") for line in said) == 1
    said = talk("e5", args=("--agent", "policy:none.npz"))
    assert said[1].startswith("Note: none.npz: ") and said[1].endswith(f"{STAND_IN} plays instead.")
    assert said[4].startswith(f"white ({STAND_IN}) plays ")


@pytest.mark.parametrize(
    ("words", "error", "says"),
    [
        (["--size", "2"], UserError, "3 to 25"),
        (["--win-length", "9", "--size", "5"], UserError, "win_length 9"),
        (["--rule", "renju", "--win-length", "4"], UserError, "renju"),
        (["--seed", "-1"], UserError, "--seed -1"),
        (["--agent", "gredy"], AgentSpecError, "did you mean 'greedy'"),
    ],
)
def test_what_makes_no_game(words: list[str], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        play.new_session(parsed(*words))


def test_the_sides() -> None:
    players = play.new_session(parsed("--colour", "white", "--agent", "random")).game.players
    assert (players[BLACK].name, players[WHITE].name) == ("random", "human")


def test_it_works_in_a_pipe_and_ctrl_c_leaves() -> None:
    command = [sys.executable, "-m", "experiments", "play", "--agent", "greedy:java", "--size", "9"]
    strict = os.environ | {"PYTHONIOENCODING": "utf-8:strict"}
    typed = b"e5\nhint\n\xff\n"
    done = subprocess.run(command, input=typed, capture_output=True, cwd=ROOT, env=strict, check=False)
    assert done.returncode == 0 and done.stderr == b""
    assert done.stdout.count(b"\n") > 20 and b"Perhaps " in done.stdout and b"> " not in done.stdout
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, cwd=ROOT, text=True) as process:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        while not process.stdout.readline().startswith("Move 0"):
            pass
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130 and process.stderr.read() == ""
