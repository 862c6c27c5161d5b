"""Readers of games, positions, rules and golden data, and of every line that is typed or said by another program."""

import json
from argparse import Namespace
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from fuzz_reader import DATA, ROOT, Reader, all_of, lines_of, unchanged

from env import Board, Rule
from env.record import GameRecord
from experiments.faces.notebook_game import LiveGame
from experiments.files.game_files import read_games, write_games
from experiments.files.position import read_position
from experiments.java.golden import read_golden
from experiments.parity import run_stage
from experiments.play import Dialogue
from experiments.playing import swap2
from experiments.playing.protocol_game import ProtocolGame
from experiments.playing.session import GameSession
from experiments.strength.known_wins import load_known_wins
from experiments.strength.pairing import read_openings
from rl.agents import make_agent
from rl.agents.outside import OutsideAgent
from rl.search.rule_file import DEFAULT, RuleFile


def of_games(folder: Path) -> list[Reader]:
    """Recorded games, openings, and positions on a command line."""
    games = DATA / "records"
    line = GameRecord(3, 3, 3, Rule.FREESTYLE, (0, 3, 1, 4, 2), "a", "b", 1).to_line()
    openings = (ROOT / "experiments" / "openings" / "renju.txt").read_bytes()
    session = GameSession(Board(9, 9), "human", "human")
    positions = [b"h8h9i9", b"h8, h9 i9 a1 o15", b"-"]

    def games_file(path: Path) -> None:
        games = read_games(path)  # what is read can be written
        for ending, some in ((".sgf", games), (".psq", games[:1]), (".txt", games)):
            write_games(folder / f"written{ending}", some)

    def position(path: Path) -> None:
        text = path.read_bytes().decode(errors="replace").replace("/", "")  # which may name a file
        for rule in (None, "renju"):
            read_position(Namespace(position=text, rule=rule, size=None, win_length=None, game=None, ply=None))

    return [
        Reader("sgf", ".sgf", all_of(games, "*.sgf"), games_file),
        Reader("psq", ".psq", all_of(games, "*.psq"), games_file),
        Reader("records", ".txt", [f"{line}\n{line}\n".encode()], games_file),
        Reader("session", ".sgf", all_of(games, "*.sgf"),
               lambda p: unchanged(lambda: (session.game, list(session.game.board.moves)), lambda: session.load(p))),
        Reader("openings", ".txt", [openings], lambda path: read_openings(path, Board(rule=Rule.RENJU)) and None),
        Reader("position", ".txt", positions, position),
    ]  # fmt: skip


def of_data(folder: Path) -> list[Reader]:
    """Rules of evaluation, golden data of the Java program, positions with known wins."""
    rules = RuleFile(DEFAULT)
    wins = json.loads((DATA / "tactics" / "wins.json").read_text())
    wins["positions"] = wins["positions"][:2]
    parity = DATA / "parity"

    def rule_file(path: Path) -> str | None:
        before, rules.path = rules._rules, path
        after = rules.current()
        return "rules that cannot be used replace those in force" if rules.error and after is not before else None

    return [
        Reader("rules", ".json", [DEFAULT.read_bytes()], rule_file),
        Reader("golden", ".json", [(parity / name).read_bytes() for name in ("selfplay.json", "demos.json")],
               lambda path: read_golden(path) and None),
        Reader("parity", ".json", [shortened(parity / "env.json")], lambda path: run_stage("env", path) and None),
        Reader("known wins", ".json", [json.dumps(wins).encode()], lambda path: load_known_wins(path) and None),
    ]  # fmt: skip


def shortened(path: Path) -> bytes:
    """A golden file with the first entry of each of its lists."""
    return json.dumps({key: value[:1] for key, value in json.loads(path.read_bytes()).items()}).encode()


def of_talk(folder: Path) -> list[Reader]:
    """Lines of the Gomocup protocol, from a manager and from an engine; what is typed; what a browser says."""
    brain = ProtocolGame("about", lambda board: None, np.random.default_rng(0))
    commands = [
        b"START 15\nBEGIN\nTURN 3,4\nTAKEBACK 3,4\nINFO rule 4\nINFO timeout_turn 1000\nRESTART\nTURN 0,0\nABOUT\nEND",
        b"RECTSTART 8,9\nBOARD\n1,1,1\n2,2,2\n3,3,1\nDONE\nYXSTOP\nINFO time_left 99\nINFO max_memory 0\nTURN 4,4",
        b"START 15\nSWAP2BOARD\nDONE\nSWAP2BOARD\n7,7\n8,8\n9,9\nDONE\nSWAP2BOARD\n1,1\n2,2\n3,3\n4,4\n5,5\nDONE",
    ]
    answers = [
        b"OK\n7,7\n8,8",
        b"OK - ready\nDEBUG thinking\nMESSAGE hello\n 3 , 4 \nUNKNOWN\nSUGGEST 0,0\n\n9,9\nERROR late",
    ]
    typed = [
        b"h8\nundo\nhint\nresign\nnew\na1\nboard\nhelp\nload x.sgf\nquit",
        b"a1\nb2\nundo\nundo\nundo\ni9\nj10\nresign\nh8",
    ]
    clicks = [b'{"kind": "click", "x": 50, "y": 50.5}', b'{"kind": "button", "name": "Undo"}']
    specs = [b"greedy:java", b"alphabeta:time=1.5,depth=3", b"mcts:net.npz,simulations=20", b"shapes:mixed",
             b"policy:x.npz,views=8", b"threat:rules=x.json", b"qlearning:q.npz"]  # fmt: skip
    live = LiveGame(GameSession(Board(9, 9), "human", "human", adviser="greedy"))

    def lines_of_protocol(path: Path) -> str | None:
        for text in path.read_bytes().decode("ascii", errors="replace").split("\n")[:30]:

            def state() -> object:
                board = brain.board
                game = board and (board.moves, board.height, board.width, board.rule)
                return game, brain.rule, vars(brain.clock).copy()

            before = state()
            with patch.object(swap2, "worth", lambda board, seconds: 0.0):  # which would take its time
                answer = brain.obey(text[:4096])
            if any("\n" in word for word in answer.lines):
                return f"{text!r} is answered by a line with a line end: {answer}"
            if answer.lines and answer.lines[0].startswith(("ERROR", "UNKNOWN")) and state() != before:
                return f"{text!r} is answered {answer.lines[0]!r} and changes {before} to {state()}"
            if answer.move_wanted and brain.board is not None:
                brain.answer_with(int(np.flatnonzero(brain.board.legal_mask())[0]))
        return None

    def answers_of_engine(path: Path) -> str | None:
        queue: SimpleQueue[str | None] = SimpleQueue()
        for text in [*lines_of(path), None]:
            queue.put(text if text is None else text.strip())
        engine = OutsideAgent.__new__(OutsideAgent)
        engine.command, engine.seconds, engine.name = ["x"], 1.0, "x"
        engine._program = SimpleNamespace(
            said=queue, game=None, moves=None, milliseconds=None, is_alive=True, send=lambda lines: None,
            exit_code=lambda: "with exit code 1", end=lambda: None,
        )  # fmt: skip
        board = Board(rule=Rule.RENJU)
        for _ in range(2):
            board.play(engine.choose(board, np.random.default_rng(1)))
        return None

    def typed_lines(path: Path) -> None:
        session = GameSession(Board(9, 9), "human", "human", adviser="greedy")
        session.save = lambda file: None  # no file is written where a mutation says
        lines = iter(lines_of(path))
        Dialogue(session, lambda: next(lines, None), lambda text: None).run()

    def message(path: Path) -> None:
        try:
            said = json.loads(path.read_bytes())
        except (ValueError, RecursionError):
            return  # nothing that a notebook passes on
        live.take(said)
        live.wait()

    def agent(path: Path) -> None:
        spec = path.read_bytes().decode(errors="replace")
        if not spec.strip().startswith("brain"):  # which is a command to be run
            make_agent(spec)

    return [
        Reader("protocol", ".txt", commands, lines_of_protocol),
        Reader("engine", ".txt", answers, answers_of_engine),
        Reader("typed", ".txt", typed, typed_lines),
        Reader("browser", ".json", clicks, message),
        Reader("agents", ".txt", specs, agent),
    ]


def readers(folder: Path) -> list[Reader]:
    """All of these, with examples made in `folder`."""
    return [made for of in (of_games, of_data, of_talk) for made in of(folder)]
