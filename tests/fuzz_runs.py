"""Readers of networks, of run directories with all that lies in them, and of what asks for a run."""

import json
import shutil
import signal
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import numpy as np
from fuzz_reader import ROOT, Reader, all_of, lines_of, unchanged
from matplotlib.figure import Figure

from env import Board, Rule
from env.record import GameRecord
from experiments import train
from experiments.checkpoint import load_checkpoint, save_checkpoint
from experiments.config import config_from
from experiments.config_source import load_config
from experiments.draw import OF_RUNS
from experiments.errors import UserError
from experiments.files.example_files import load_examples
from experiments.files.run_rows import checked_rows, csv_text
from experiments.info import net_text
from experiments.metrics import MetricsLog, read_metrics
from experiments.plots import curves
from experiments.run_dir import RunDir, read_json
from experiments.strength.seeds import group_by_config
from experiments.strength.standings import standings_of
from experiments.strength.tournament_plan import plan_from as tournament_from
from experiments.tournament import read_pairs
from experiments.training import sweep_plan
from experiments.training.learner import Learner
from experiments.training.learner_state import arrays_of, meta_of, restore
from experiments.training.pretrain_plan import Plan, plan_from
from experiments.training.pupil import Pupil
from experiments.training.sweep_results import final_rates, table
from nn import load_net, make_net
from nn.weights import load_arrays, save_arrays
from rl.q_table import QTable

TINY = {"height": 4, "width": 4, "win_length": 3, "filters": [1, 1], "hidden": 2, "games_per_update": 8, "games": 8,
        "evaluation_games": 2}  # fmt: skip
RATE = {"win_rate": 0.5, "low": 0.4, "high": 0.6}
ROW = {
    "update": 1, "games": 8, "seconds": 1.5, "entropy": 1.0, "gradient_norm": 0.5, "parameter_change": 0.1,
    "game_length": 9.0, "win_rate": {"black": 0.5, "white": 0.25}, "drill": {"win": 0.5, "block": 0.5},
    "evaluation": {"greedy": RATE | {"as_black": RATE}, "tactics": {"win": 0.5}},
}  # fmt: skip
TOURNAMENT = {
    "players": ["greedy", "random"], "games": 2, "height": 6, "width": 6, "win_length": 4, "rule": "freestyle",
    "openings": [], "openings_from": "", "opening_plies": 2, "seed": 1, "anchor": "", "sprt": [0, 50, 0.05, 0.05],
    "files": {},
}  # fmt: skip
SIZES = {
    "policy": {"filters": (1, 2), "hidden": 3}, "conv": {"kernels": (3, 1), "filters": 2},
    "line": {"reach": 2, "hidden": 3, "features": 2}, "three_plane": {"filters": (1, 2), "hidden": 3},
    "residual": {"filters": 2, "blocks": 1}, "value": {"filters": (1, 2), "hidden": 3},
    "conv_value": {"kernels": (3, 1), "filters": 2, "hidden": 3},
    "line_value": {"reach": 2, "hidden": 3, "features": 2, "dense": 3},
    "policy_value": {"filters": 2, "blocks": 1, "hidden": 3},
}  # fmt: skip


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a directory but its lock, which names whoever looked last."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items() if name != "lock"}


def of_networks(folder: Path) -> list[Reader]:
    """Weights of every kind, tables of Q-learning, examples to imitate."""
    nets = []
    for name, sizes in SIZES.items():
        make_net(name, 4, 5, rng=np.random.default_rng(1), **sizes).save(folder / "net.npz")
        nets.append((folder / "net.npz").read_bytes())
    table = QTable(Board(3, 3, 3))
    table.learn(Board.from_moves([4, 0], 3, 3, 3))
    save_arrays(folder / "table.npz", table.arrays(), table.meta())
    states = np.zeros((3, 4, 5), np.int8)
    plain = {"states": states, "actions": np.arange(3), "games": np.zeros(3, np.int64)}
    np.savez(folder / "examples1.npz", **plain)
    np.savez(folder / "examples2.npz", **plain, shares=np.full((3, 20), 7, np.uint8))
    seen = np.stack([states == 1, states == -1, states == 0], axis=-1).astype(np.float32)
    np.savez(folder / "examples3.npz", states=seen, actions=np.arange(3))

    def weights(path: Path) -> None:
        net = load_net(path)
        net.predict(np.zeros((1, net.planes, net.height, net.width), net.dtype))
        net_text(net, "x")

    return [
        Reader("weights", ".npz", nets, weights),
        Reader("table", ".npz", all_of(folder, "table.npz"), lambda p: QTable.from_arrays(*load_arrays(p), p) and None),
        Reader("examples", ".npz", all_of(folder, "examples*.npz"), lambda path: load_examples(path) and None),
    ]


def of_settings(folder: Path) -> list[Reader]:
    """What asks for a run, a sweep, pretraining or a tournament, on a command line or in a file."""
    config = config_from(TINY).as_dict()
    pretraining = json.loads(json.dumps(asdict(Plan(height=4, width=4, win_length=3, epochs=1, filters=(1, 2)))))
    sweep = {"runs": {f"games=8__s{seed}": config for seed in (1, 2)}}
    lines = [b"games=100\nname=x y\nopponents={ self = 0.5, greedy = 1 }\nfilters=[1, 2]"]
    varied = [b"learning_rate=1e-3,3e-4\nfilters=[1,2],[2,3]\nname='a,b',c", b"rule=freestyle,standard\nhidden=1,2"]

    def vary(path: Path) -> None:
        sweep_plan.check_run = lambda config: None  # a run is not to begin
        sweep_plan.planned(None, None, [], lines_of(path, 3), 2)

    def written(*values: object) -> list[bytes]:
        return [json.dumps(value).encode() for value in values]

    return [
        Reader("config", ".toml", all_of(ROOT / "experiments" / "presets", "*.toml"),
               lambda path: load_config(None, path, []) and None),
        Reader("--set", ".txt", lines, lambda path: load_config(None, None, lines_of(path, 20)) and None),
        Reader("--vary", ".txt", varied, vary),
        Reader("config.json", ".json", written(config), lambda path: config_from(read_json(path)) and None),
        Reader("pretraining", ".json", written(pretraining), lambda path: plan_from(read_json(path)) and None),
        Reader("sweep", ".json", written(sweep), lambda path: sweep_plan.plan_from(read_json(path), path) and None),
        Reader("tournament", ".json", written(TOURNAMENT, TOURNAMENT | {"sprt": [], "openings": ["a1b2"]}),
               lambda path: tournament_from(read_json(path), "x") and None),
    ]  # fmt: skip


def of_runs(folder: Path) -> list[Reader]:
    """What runs have left behind, which is gone on from."""
    config = config_from(TINY)
    learner = Learner(config)
    learner.league.remember(learner.net)
    home, scratch = folder / "run", folder / "resumed"
    with RunDir.create(home, config.as_dict(), ["train"]) as run:
        checkpoint = save_checkpoint(run, 3, arrays_of(learner), meta_of(learner, 2)).read_bytes()
    rows = b"".join(json.dumps(ROW | {"games": 8 * n}).encode() + b"\n" for n in range(4))
    (home / "metrics.jsonl").write_bytes(rows)
    versions = all_of(home, "version.json")

    def the_learner(asked: object) -> Learner:
        if asked != config:
            raise UserError("a run of other settings, which may take all day")
        return Learner(config)

    def resumed(name: str) -> Callable[[Path], str | None]:
        """Go on with a run one of whose files is mutated, and stop at once."""

        def read(path: Path) -> str | None:
            shutil.rmtree(scratch, ignore_errors=True)
            shutil.copytree(home, scratch)
            (scratch / name).write_bytes(path.read_bytes())
            return unchanged(lambda: contents(scratch), go_on)

        return read

    def go_on() -> None:
        asked = Namespace(resume=scratch, preset=None, config=None, set=[], seed=None, run_dir=None)
        with (
            patch.multiple(train, Learner=the_learner, tactical_suite=lambda learner: None),
            redirect_stdout(StringIO()),
            redirect_stderr(StringIO()),
            suppress(train.Stopped),
            train.open_run(asked) as (run, its),
        ):
            train.continue_run(its, run, [signal.SIGTERM])

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

    def metrics_file(path: Path) -> str | None:
        read_metrics(path)
        return unchanged(path.read_bytes, lambda: MetricsLog(path, 3).close())

    return [
        Reader("checkpoint", ".npz", [checkpoint], checkpoint_file),
        Reader("metrics", ".jsonl", [rows], metrics_file),
        Reader("resumed config", ".json", all_of(home, "config.json"), resumed("config.json")),
        Reader("resumed versions", ".json", versions, resumed("version.json")),
        Reader("resumed metrics", ".jsonl", [rows], resumed("metrics.jsonl")),
        Reader("resumed checkpoint", ".npz", [checkpoint], resumed("checkpoints/update_00000003.npz")),
    ]


def of_pretraining(folder: Path) -> list[Reader]:
    """What pretraining goes on from."""
    pupil = Pupil(Plan(height=4, width=4, win_length=3, filters=(1, 2), hidden=2, games_at_once=4), None)
    save_arrays(folder / "pupil.npz", pupil.arrays(), pupil.meta(1))

    def pupil_file(path: Path) -> None:
        arrays, meta = load_arrays(path)
        pupil.restore(1, arrays, meta, str(path))

    return [Reader("pupil", ".npz", all_of(folder, "pupil.npz"), pupil_file)]


def of_results(folder: Path) -> list[Reader]:
    """What runs, sweeps and tournaments have written down and is told or drawn."""
    run, one = folder / "drawn", folder / "sweep" / "x__s1"
    for made in (run, one):
        made.mkdir(parents=True)
    config = config_from(TINY)
    written = json.dumps(config.as_dict()).encode()
    rows = b"".join(json.dumps(ROW | {"games": 8 * n}).encode() + b"\n" for n in range(4))
    plan = tournament_from(TOURNAMENT, "x")
    line = GameRecord(6, 6, 4, Rule.FREESTYLE, (0, 6, 1, 7, 2, 8, 3), "a", "b", 1).to_line()
    games = [line.replace("=a ", f"={black} ").replace("=b ", f"={white} ")
             for black, white in (("greedy", "random"), ("random", "greedy"))]  # fmt: skip
    pair = json.dumps({"match": 0, "first": 0, "games": games}).encode() + b"\n"

    def drawn(path: Path) -> None:
        (run / "metrics.jsonl").write_bytes(path.read_bytes())
        (run / "config.json").write_bytes(written)
        rows = {run: checked_rows(run, "evaluation")}
        csv_text(rows)
        pictures = [lambda: curves(group_by_config([run]), rows)]
        pictures += [lambda kind=kind: kind.draw(Figure(), rows[run]) for kind in OF_RUNS.values()]
        pictures[path.stat().st_size % len(pictures)]()  # each takes its time

    def named(path: Path) -> None:
        (run / "config.json").write_bytes(path.read_bytes())
        group_by_config([run, run])

    def result(path: Path) -> None:
        (one / "curve.png").touch()
        (one / "result.json").write_bytes(path.read_bytes())
        table(final_rates(one.parent, {one.name: config}))

    def pairs(path: Path) -> None:
        finished = read_pairs(path, plan)
        if finished:
            games = [record for match in plan.by_match(finished).values() for record in match]
            standings_of(games, plan.players, plan.anchor)

    return [
        Reader("drawn metrics", ".jsonl", [rows], drawn),
        Reader("drawn config", ".json", [written], named),
        Reader("result", ".json", all_of(ROOT / "experiments" / "results" / "quick", "*/result.json"), result),
        Reader("pairs", ".jsonl", [pair], pairs),
    ]


def readers(folder: Path) -> list[Reader]:
    """All of these, with examples made in `folder`."""
    return [made for of in (of_networks, of_settings, of_runs, of_pretraining, of_results) for made in of(folder)]
