"""Mutated files and lines, given to everything that reads: no traceback, no hang, nothing changed by what is refused.

    make fuzz                                      100,000 cases, some minutes
    python tests/fuzz.py --cases 3000 --seed 7     others
    python tests/fuzz.py --only 1234               one case again

A case is a number: it says which reader, which of its examples, and which mutations.
"""

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mutations import mutated  # noqa: E402

from env import Board, Rule  # noqa: E402
from env.record import GameRecord  # noqa: E402
from experiments.__main__ import is_named_error  # noqa: E402
from experiments.checkpoint import load_checkpoint, save_checkpoint  # noqa: E402
from experiments.config import config_from, load_config  # noqa: E402
from experiments.errors import UserError  # noqa: E402
from experiments.example_files import load_examples  # noqa: E402
from experiments.game_files import read_games  # noqa: E402
from experiments.golden import Damaged, read_golden  # noqa: E402
from experiments.known_wins import load_known_wins  # noqa: E402
from experiments.learner import Learner  # noqa: E402
from experiments.learner_state import arrays_of, meta_of, restore  # noqa: E402
from experiments.metrics import MetricsLog, read_metrics  # noqa: E402
from experiments.pairing import read_openings  # noqa: E402
from experiments.protocol_game import ProtocolGame  # noqa: E402
from experiments.run_dir import RunDir, read_json  # noqa: E402
from experiments.session import GameSession  # noqa: E402
from experiments.sweep_plan import plan_from as sweep_from  # noqa: E402
from experiments.sweep_results import final_rates  # noqa: E402
from experiments.tournament import read_pairs  # noqa: E402
from experiments.tournament_plan import plan_from  # noqa: E402
from nn import load_net, make_net  # noqa: E402
from nn.weights import load_arrays, save_arrays  # noqa: E402
from rl.agents import make_agent  # noqa: E402
from rl.q_table import QTable  # noqa: E402
from rl.search.rule_file import DEFAULT, RuleFile  # noqa: E402

HANG = 5.0  # seconds
MEMORY = 4 << 30  # bytes of address space beyond which an array is refused by the machine, which counts as a fault


class Reader(NamedTuple):
    """Something that reads: whole examples of what it reads, and what to do with a mutated one.

    `read` returns None, or what was wrong (state changed by something refused) and raises what the reader raises.
    """

    name: str
    suffix: str
    examples: list[bytes]
    read: Callable[[Path], str | None]


class Hang(BaseException):
    """A case took longer than HANG."""


def told(error: BaseException) -> bool:
    """Whether the program tells this in one line: see `main` in experiments/__main__.py; `parity` tells Damaged."""
    return isinstance(error, UserError | OSError | Damaged) or (isinstance(error, ValueError) and is_named_error(error))


def unchanged(state: Callable[[], object], read: Callable[[], object]) -> str | None:
    """Read; if that is refused, say so if `state` is not what it was before."""
    before = state()
    try:
        read()
    except Exception:
        if state() != before:
            traceback.print_exc()
            return "refused, and the state is another"
        raise
    return None


def readers(folder: Path) -> list[Reader]:
    """Everything that reads, with examples, made in `folder`."""
    rng = np.random.default_rng(1)
    nets = []
    for name in ("policy", "conv", "policy_value"):
        make_net(name, 4, 5, rng=rng, **({"hidden": 3} if name == "policy" else {})).save(folder / "net.npz")
        nets.append((folder / "net.npz").read_bytes())
    table = QTable(Board(3, 3, 3))
    table.learn(Board.from_moves([4, 0], 3, 3, 3))
    save_arrays(folder / "table.npz", table.arrays(), table.meta())
    states = np.zeros((3, 4, 5), np.int8)
    np.savez(folder / "examples.npz", states=states, actions=np.arange(3), games=np.zeros(3, np.int64))
    config = config_from(
        {"height": 4, "width": 4, "win_length": 3, "filters": [1, 1], "hidden": 2, "games_per_update": 8, "games": 8}
    )
    learner = Learner(config)
    learner.league.remember(learner.net)
    run = RunDir.create(folder / "run", config.as_dict(), ["train"])
    checkpoint = save_checkpoint(run, 3, arrays_of(learner), meta_of(learner, 2)).read_bytes()
    run.close()
    tests = ROOT / "tests" / "data"
    row = {"update": 1, "games": 8, "evaluation": {"greedy": {"win_rate": 0.5}}}
    rows = 4 * (json.dumps(row).encode() + b"\n")
    line = GameRecord(3, 3, 3, Rule.FREESTYLE, (0, 3, 1, 4, 2), "a", "b", 1).to_line()
    wins = json.loads((tests / "tactics" / "wins.json").read_text())
    wins["positions"] = wins["positions"][:2]
    rules = RuleFile(DEFAULT)
    default = DEFAULT.read_bytes()
    brain = ProtocolGame("about", lambda board: None, np.random.default_rng(0))
    session = GameSession(Board(9, 9), "human", "human")
    settings = {
        "players": ["greedy", "random"], "games": 2, "height": 6, "width": 6, "win_length": 4, "rule": "freestyle",
        "openings": [], "openings_from": "", "opening_plies": 2, "seed": 1, "anchor": "", "sprt": [], "files": {},
    }  # fmt: skip

    def lines_of_protocol(path: Path) -> str | None:
        for text in path.read_bytes().decode("ascii", errors="replace").split("\n")[:30]:
            def state() -> object:
                board = brain.board
                game = board and (board.moves, board.height, board.width, board.rule)
                return game, brain.rule, vars(brain.clock).copy()

            before = state()
            answer = brain.obey(text[:4096])
            if any("\n" in word for word in answer.lines):
                return f"{text!r} is answered by a line with a line end: {answer}"
            if answer.lines and answer.lines[0].startswith(("ERROR", "UNKNOWN")) and state() != before:
                return f"{text!r} is answered {answer.lines[0]!r} and changes {before} to {state()}"
            if answer.move_wanted and brain.board is not None:
                brain.answer_with(int(np.flatnonzero(brain.board.legal_mask())[0]))
        return None

    def rule_file(path: Path) -> str | None:
        before, rules.path = rules._rules, path
        after = rules.current()
        return "rules that cannot be used replace those in force" if rules.error and after is not before else None

    def checkpoint_file(path: Path) -> str | None:
        named = path.with_name("update_00000003.npz")
        path.rename(named)
        try:
            found = load_checkpoint(named)

            def state() -> object:
                return {k: v.tobytes() for k, v in arrays_of(learner).items()}, repr(meta_of(learner, 0))

            return unchanged(state, lambda: restore(learner, found.update, found.arrays, found.meta, "run"))
        finally:
            named.rename(path)

    def session_file(path: Path) -> str | None:
        return unchanged(lambda: (session.game, list(session.game.board.moves)), lambda: session.load(path))

    def metrics_file(path: Path) -> str | None:
        read_metrics(path)
        return unchanged(path.read_bytes, lambda: MetricsLog(path, 3).close())

    def result_file(path: Path) -> None:
        (folder / "sweep" / "x__s1").mkdir(parents=True, exist_ok=True)
        (folder / "sweep" / "x__s1" / "curve.png").touch()
        (folder / "sweep" / "x__s1" / "result.json").write_bytes(path.read_bytes())
        final_rates(folder / "sweep", {"x__s1": config})

    def agent(path: Path) -> None:
        spec = path.read_bytes().decode(errors="replace")
        if not spec.strip().startswith("brain"):  # which is a command to be run
            make_agent(spec)

    def toml(path: Path) -> None:
        load_config(None, path, [])

    def settings_of_a_line(path: Path) -> None:
        load_config(None, None, path.read_bytes().decode(errors="replace").splitlines()[:20])

    def all_of(folder: Path, pattern: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted(folder.glob(pattern))]

    games = tests / "records"
    openings = (ROOT / "experiments" / "openings" / "renju.txt").read_bytes()
    commands = [
        b"START 15\nBEGIN\nTURN 3,4\nTAKEBACK 3,4\nINFO rule 4\nINFO timeout_turn 1000\nRESTART\nTURN 0,0\nABOUT\nEND",
        b"RECTSTART 8,9\nBOARD\n1,1,1\n2,2,2\n3,3,1\nDONE\nYXSTOP\nINFO time_left 99\nINFO max_memory 0\nTURN 4,4",
    ]
    specs = [b"greedy:java", b"alphabeta:time=1.5,depth=3", b"mcts:net.npz,simulations=20", b"shapes:mixed",
             b"policy:x.npz,views=8", b"threat:rules=x.json", b"qlearning:q.npz"]  # fmt: skip
    toml_files = all_of(ROOT / "experiments" / "presets", "*.toml")
    lines = [b"games=100\nname=x y\nopponents={ self = 0.5, greedy = 1 }\nfilters=[1, 2]"]
    sweep = json.dumps({"runs": {f"games=8__s{seed}": config.as_dict() for seed in (1, 2)}}).encode()
    settings_file = [json.dumps(config.as_dict()).encode()]
    plan = plan_from(settings, "settings")
    pair_lines = [line.replace("=a ", f"={black} ").replace("=b ", f"={white} ")
                  for black, white in (("greedy", "random"), ("random", "greedy"))]  # fmt: skip
    pair = json.dumps({"match": 0, "first": 0, "games": pair_lines}).encode() + b"\n"
    return [
        Reader("weights", ".npz", nets, lambda path: load_net(path) and None),
        Reader("table", ".npz", all_of(folder, "table.npz"), lambda p: QTable.from_arrays(*load_arrays(p), p) and None),
        Reader("examples", ".npz", [(folder / "examples.npz").read_bytes()], lambda path: load_examples(path) and None),
        Reader("checkpoint", ".npz", [checkpoint], checkpoint_file),
        Reader("config", ".toml", toml_files, toml),
        Reader("--set", ".txt", lines, settings_of_a_line),
        Reader("config.json", ".json", settings_file, lambda path: config_from(read_json(path)) and None),
        Reader("sweep", ".json", [sweep], lambda path: sweep_from(read_json(path), path) and None),
        Reader("result", ".json", all_of(ROOT / "experiments" / "results" / "quick", "*/result.json"), result_file),
        Reader("plan", ".json", [json.dumps(settings).encode()], lambda path: plan_from(read_json(path), "x") and None),
        Reader("rules", ".json", [default], rule_file),
        Reader("sgf", ".sgf", all_of(games, "*.sgf"), lambda path: read_games(path) and None),
        Reader("psq", ".psq", all_of(games, "*.psq"), lambda path: read_games(path) and None),
        Reader("records", ".txt", [f"{line}\n{line}\n".encode()], lambda path: read_games(path) and None),
        Reader("session", ".sgf", all_of(games, "*.sgf"), session_file),
        Reader("openings", ".txt", [openings], lambda path: read_openings(path, Board(rule=Rule.RENJU)) and None),
        Reader("golden", ".json", [(tests / "parity" / name).read_bytes() for name in ("selfplay.json", "demos.json")],
               lambda path: read_golden(path) and None),
        Reader("known wins", ".json", [json.dumps(wins).encode()], lambda path: load_known_wins(path) and None),
        Reader("metrics", ".jsonl", [rows], metrics_file),
        Reader("pairs", ".jsonl", [pair], lambda path: read_pairs(path, plan) and None),
        Reader("protocol", ".txt", commands, lines_of_protocol),
        Reader("agents", ".txt", specs, agent),
    ]  # fmt: skip


@contextmanager
def alarm() -> Iterator[None]:
    """Raise Hang within this block once it has taken HANG seconds of the processor."""

    def ring(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, HANG)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run_case(number: int, seed: int, known: list[Reader], folder: Path) -> tuple[str, str | None]:
    """(what came of it, what was wrong): "read", "refused", or a fault."""
    chance = random.Random(f"{seed}:{number}")
    reader = known[number % len(known)]
    other = chance.choice(known)
    data = mutated(chance.choice(reader.examples), chance, chance.choice(other.examples))
    path = folder / f"case{reader.suffix}"
    path.write_bytes(data)
    try:
        with alarm():
            fault = reader.read(path)
        outcome = "read"
    except Hang:
        outcome, fault = "hang", f"more than {HANG} s"
    except Exception as error:
        outcome, fault = "refused", None
        if not told(error):
            fault = f"{type(error).__name__}: {error}\n" + "".join(traceback.format_tb(error.__traceback__)[-3:])
    return outcome, fault and f"case {number} of seed {seed}, {reader.name}: {fault}"


def fuzz(cases: range, seed: int, show: Callable[[str], Any] = print) -> tuple[dict[str, int], list[str]]:
    """All these cases: how many of each outcome by reader, and the faults."""
    counts: dict[str, int] = {}
    faults = []
    with tempfile.TemporaryDirectory() as name:
        known = readers(Path(name))
        for number in cases:
            outcome, fault = run_case(number, seed, known, Path(name))
            key = f"{known[number % len(known)].name}: {outcome}"
            counts[key] = counts.get(key, 0) + 1
            if fault:
                faults.append(fault)
                show(fault)
    return counts, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    cases = range(args.cases) if args.only is None else range(args.only, args.only + 1)
    counts, faults = fuzz(cases, args.seed)
    for key in sorted(counts):
        print(f"{counts[key]:>8,}  {key}")
    print(f"{len(cases):,} cases, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
