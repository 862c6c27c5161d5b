"""Who may import whom: the order in which the files are read, held by walking every import of every file.

A new file fails here until it is given its place in ORDER.
"""

import ast
import sys
from itertools import groupby
from pathlib import Path

import pytest

from experiments.commands import COMMANDS

ROOT = Path(__file__).resolve().parent.parent

# A file imports only files to its left. A package's __init__ only re-exports; `agents` is rl's table of agents. In
# experiments the rooms stand one after the other, left of every command: none imports a command.
ORDER = {
    "nn": "init layers conv losses network norm residual branches pool java_random weights workspace rows "
    "whole_boards fast conv_fast board_net conv_policy_net policy_net conv_value_net value_net lines line_tables "
    "line_net line_policy_net line_value_net three_plane_net residual_net registry cost incremental conv_incremental "
    "line_incremental optim gradcheck exact",
    "env": "coords lines rules windows patterns renju board bitboard symmetry record record_text render "
    "sgf_tree setup_stones sgf_game sgf psq gomocup observation svg lockstep gomoku_env vector_env aec",
    "rl": "sampling neighbourhood features search search.line_codes search.evaluation search.account "
    "search.rule_file search.threats search.prospects search.budget search.threat_tables "
    "search.threat_board search.fours search.threes search.forced_wins search.defence search.tree search.stretches "
    "search.line_values search.minimax search.places search.lookahead search.calm search.ceilings search.ordering "
    "search.transposition search.search "
    "search.insights agents.base agents.random agents.greedy_bits agents.greedy agents.shapes "
    "agents.summed agents.priority agents.threat agents.alphabeta agents.policy agents.judges "
    "agents.mcts q_table agents.qlearning agents.outside agents match middle views supervised lessons "
    "demonstrations examples value_learning watch selfplay watched_play league returns baseline "
    "value_regression value_net_baseline weight_average gate teacher_pull reinforce tactics drill tactical_suite arena "
    "elo sprt fleet_worker fleet dask_fleet parcel shares flow openings pairs",
    "experiments": "errors config config_source run_dir metrics checkpoint "
    "files files.output_place files.game_files files.position files.run_rows files.event_file files.onnx_file "
    "files.example_files "
    "java java.border java.demo_game java.golden java.tally java.game_stages java.stages "
    "strength strength.seeds strength.pairing strength.standings strength.tournament_plan strength.known_wins "
    "strength.rule_trials "
    "playing playing.thought playing.player playing.outlook playing.question playing.game playing.session "
    "playing.move_clock playing.swap2 playing.protocol_game "
    "pictures pictures.figures pictures.boards pictures.arena_plots pictures.game_plots pictures.net_plots "
    "pictures.seed_plots "
    "plots training training.pretrain_plan training.beginning training.lesson_sources training.pupil training.casting "
    "training.fleets training.learner training.learner_state training.verdict training.progress training.sweep_plan "
    "training.sweep_results "
    "speed speed.race speed.torch_twin speed.contests speed.loop_cost speed.scale_model speed.scale_costs "
    "speed.quiet_trials "
    "faces faces.board_grid faces.board_canvas faces.curve_canvas faces.rule_desk faces.rules_window faces.captions "
    "faces.window faces.notebook_game "
    "train sweep pretrain generate train_value train_q evaluate tournament rules analyse show draw info export demo "
    "parity play gui brain bench scale tactics_report notebook_files widget rules_widget commands __main__",
}
PACKAGES = tuple(ORDER)
MAY_IMPORT = {"nn": {"nn"}, "env": {"env"}, "rl": {"rl", "nn", "env"}, "experiments": set(PACKAGES)}
# The world outside: what each package may import that is neither ours nor of the standard library ...
OUTSIDE = {"nn": {"numpy"}, "env": {"numpy"}, "rl": {"numpy"}}
# ... the files of env that face Gymnasium and PettingZoo ...
FACES: dict[str, set[str]] = {
    "env.gomoku_env": {"gymnasium"},
    "env.vector_env": {"gymnasium"},
    "env.aec": {"gymnasium", "pettingzoo"},
    "rl.dask_fleet": {"distributed"},  # asked for only by who names such a fleet
}
# ... and what of the standard library belongs to experiments: files, argv, clock, screen, chance.
WORLDLY = {"argparse", "time", "datetime", "random", "subprocess", "shutil", "tempfile", "socket", "multiprocessing"}
PURE: dict[str, set[str]] = {
    "nn": WORLDLY,
    "env": WORLDLY,
    "rl": {*WORLDLY, "os", "sys", "io", "pathlib", "json", "csv"},
}
FILES = {
    "nn.weights": {"tempfile"},  # the one file below experiments that writes files
    "rl.search.rule_file": {"json", "os", "pathlib"},  # rules that are edited while a player runs: it reads them again
    "rl.search.budget": {"time"},  # and the one that reads a clock
    "rl.agents.outside": {"subprocess", "time"},  # an agent that is a program of somebody else, under a clock
    "rl.fleet": {"multiprocessing"},  # the one place where processes are started ...
    "rl.fleet_worker": {"multiprocessing", "os"},  # ... and what these do, and are told of threads
}
RANDOM_TYPES = {"Generator", "SeedSequence", "BitGenerator"}


def module_name(path: Path) -> str:
    """`rl/agents/base.py` -> `rl.agents.base`; a package's `__init__.py` is the package."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def sources() -> dict[str, str]:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {module_name(path.relative_to(ROOT)): path.read_text() for path in paths}


def imports(tree: ast.AST) -> list[tuple[int, str]]:
    """(line, module) of every import anywhere in a file; `from env.rules import Rule` counts as env.rules.Rule."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found += [(node.lineno, f"{base}.{alias.name}") for alias in node.names]
    return found


def place(module: str) -> int | None:
    """Where a module of ours, or a name inside one, stands in its package's order."""
    package, _, rest = module.partition(".")
    order = ORDER[package].split()
    while rest and rest not in order:
        rest = rest.rpartition(".")[0]
    return order.index(rest) if rest else None


def violations(module: str, source: str) -> list[str]:
    """What a file does that it may not, one line each."""
    package, _, rest = module.partition(".")
    is_init = module in (*PACKAGES, "rl.agents")
    tree = ast.parse(source)
    found = []
    if rest and rest not in ORDER[package].split():
        found.append(f"{module} has no place in the reading order; give it one in tests/test_layering.py")
    for line, target in imports(tree):
        top = target.partition(".")[0]
        if not top:
            found.append(f"line {line}: {target} is relative; name the package")
        elif top in PACKAGES:
            if top not in MAY_IMPORT[package]:
                found.append(f"line {line}: {package} must not import {top}")
            elif top == package and not (is_init and not rest):
                there, here = place(target), place(module)
                if there is None:
                    found.append(f"line {line}: {target} is taken from the package; name the file it stands in")
                elif here is not None and there >= here:
                    found.append(f"line {line}: {target} comes after {module} in the reading order")
        elif top in sys.stdlib_module_names:
            if top in PURE.get(package, set()) - FILES.get(module, set()):
                found.append(f"line {line}: {top} belongs to experiments/")
        elif package in OUTSIDE and top not in OUTSIDE[package] | FACES.get(module, set()):
            found.append(f"line {line}: {package} must not import {top}")
    return found + (impurities(package, tree) if package != "experiments" else [])


def impurities(package: str, tree: ast.AST) -> list[str]:
    """Calls that open files (in rl) and uses of NumPy's random functions (a generator is always handed in)."""
    found = []
    for node in ast.walk(tree):
        if package == "rl" and isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("open", "print", "input"):
                found.append(f"line {node.lineno}: {node.func.id}() belongs to experiments/")
        elif isinstance(node, ast.Attribute) and node.attr not in RANDOM_TYPES:
            if ast.unparse(node.value) in ("np.random", "numpy.random"):
                found.append(f"line {node.lineno}: {ast.unparse(node)}; randomness is an argument")
        elif isinstance(node, ast.ImportFrom) and node.module == "numpy.random":
            found += [f"line {node.lineno}: {name.name}" for name in node.names if name.name not in RANDOM_TYPES]
    return found


def test_each_room_of_experiments_stands_together_and_before_every_command() -> None:
    order = ORDER["experiments"].split()
    folders = {place: ROOT / "experiments" / name.partition(".")[0] for place, name in enumerate(order)}
    rooms = {place: folder.name for place, folder in folders.items() if folder.is_dir()}
    assert [room for room, _ in groupby(rooms.values())] == list(dict.fromkeys(rooms.values())) != []
    assert max(rooms) < min(order.index(command.module.partition(".")[2]) for command in COMMANDS.values())


@pytest.mark.parametrize("module", sorted(sources()))
def test_every_file_keeps_to_its_layer(module: str) -> None:
    assert violations(module, sources()[module]) == []


@pytest.mark.parametrize(
    ("module", "planted", "complaint"),
    [
        ("nn.layers", "import env", "must not import env"),
        ("nn.layers", "from rl.match import play_game", "must not import rl"),
        ("nn.conv", "def f():\n    from experiments.errors import UserError", "must not import experiments"),
        ("nn.conv", "import scipy.signal", "must not import scipy"),
        ("nn.conv", "import time", "belongs to experiments"),
        ("env.board", "from nn import PolicyNet", "must not import nn"),
        ("env.board", "import gymnasium", "must not import gymnasium"),
        ("env.gomoku_env", "import pettingzoo", "must not import pettingzoo"),
        ("rl.arena", "import matplotlib.pyplot as plt", "must not import matplotlib"),
        ("rl.arena", "import argparse", "belongs to experiments"),
        ("rl.arena", "from pathlib import Path", "belongs to experiments"),
        ("rl.arena", "games = open('games.txt')", "open() belongs to experiments"),
        ("rl.arena", "import experiments.metrics", "must not import experiments"),
        ("nn.layers", "from nn.conv import Conv2D", "comes after nn.layers"),
        ("nn.layers", "import nn.optim", "comes after nn.layers"),
        ("nn.layers", "from nn.layers import Dense", "comes after nn.layers"),
        ("nn.conv", "from nn import Dense", "name the file"),
        ("nn.conv", "from .layers import Dense", "is relative"),
        ("rl.agents.base", "from rl.agents import make_agent", "comes after rl.agents.base"),
        ("rl.sampling", "from rl.agents.random import RandomAgent", "comes after rl.sampling"),
        ("rl.agents", "from rl.match import play_game", "comes after rl.agents"),
        ("nn.quantum", "", "no place in the reading order"),
        ("rl.selfplay", "rng = np.random.default_rng(3)", "np.random.default_rng"),
        ("env.lockstep", "numpy.random.seed(3)", "numpy.random.seed"),
        ("nn.init", "from numpy.random import standard_normal", "standard_normal"),
        ("env.board", "import random", "belongs to experiments"),
    ],
)
def test_a_broken_rule_is_found(module: str, planted: str, complaint: str) -> None:
    assert any(complaint in found for found in violations(module, planted))


def test_what_is_allowed_passes() -> None:
    fine = {
        "nn.layers": "import numpy as np\nfrom nn.init import he\nr: np.random.Generator",
        "env.gomoku_env": "import gymnasium\nfrom env.board import Board",
        "env": "from env.board import Board\nfrom env.coords import cell_at",
        "rl.match": "from env import Board\nfrom nn import PolicyNet\nfrom rl.agents.base import Agent",
        "rl.agents": "from rl.agents.policy import PolicyAgent",
        "rl.selfplay": "from rl.agents import make_agent",
        "experiments.train": "import time\nrng = np.random.default_rng(1)\nfrom experiments.plots import x",
    }
    assert {module: violations(module, source) for module, source in fine.items()} == {module: [] for module in fine}
