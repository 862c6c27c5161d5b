"""`gomoku sweep`: each run as gomoku train makes it, stopped and gone on with, told in one table and one picture."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import sweep
from experiments.__main__ import main
from experiments.config import config_from
from experiments.config_source import load_config
from experiments.errors import UserError
from experiments.metrics import read_metrics
from experiments.training.sweep_plan import groups, plan_from, planned, updates_in
from experiments.training.sweep_results import final_rates, table
from rl.fleet import FleetError, InProcess

ROOT = Path(__file__).resolve().parent.parent
TINY = (
    "name=tiny", "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games=128",
    "games_per_update=32", "batch=64", "pool_every=64", "evaluate_every=64", "evaluation_games=2", "final_games=4",
    "evaluation_plies=2", "opening_plies=2", "checkpoint_every=32", "puzzles=20", "evaluate_against=[\"random\"]",
)  # fmt: skip
SETS = [word for setting in TINY for word in ("--set", setting)]
VARIED = ["--vary", "learning_rate=1e-2,1e-3", "--seed", "4"]


def outcome(run):
    rows = read_metrics(run / "metrics.jsonl")
    for row in rows[1:]:
        del row["seconds"], row["games_per_second"]
    return rows, (run / "policy.npz").read_bytes(), (run / "result.json").read_bytes()


@pytest.fixture(autouse=True, scope="module")
def _here():
    """Runs happen in this process, and pictures are blank: both take their time elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "fleet_named", lambda name, prepare: InProcess(prepare))
        patch.setattr("experiments.plots.learning_curve", lambda ax, *rows: ax)
        yield


@pytest.fixture(scope="module")
def whole(_here, tmp_path_factory):
    """A sweep that nothing disturbed."""
    path = tmp_path_factory.mktemp("whole") / "sweep"
    assert main(["sweep", *SETS, *VARIED, "--seeds", "2", "--jobs", "2", "--run-dir", str(path)]) == 0
    return path


def test_every_run_is_what_train_makes_of_the_same_settings(whole, tmp_path):
    folders = ["learning_rate=1e-2__s4", "learning_rate=1e-2__s5", "learning_rate=1e-3__s4", "learning_rate=1e-3__s5"]
    assert sorted(path.name for path in whole.iterdir() if path.is_dir()) == folders
    assert main(["train", *SETS, "--set", "learning_rate=1e-3", "--seed", "5", "--run-dir", str(tmp_path / "run")]) == 0
    assert outcome(whole / folders[3]) == outcome(tmp_path / "run")
    assert outcome(whole / folders[3]) != outcome(whole / folders[2])
    assert json.loads((whole / folders[1] / "config.json").read_text())["learning_rate"] == 1e-2
    assert "learning curve" in (whole / folders[0] / "log.txt").read_text()


def test_results_are_mean_and_range_over_the_seeds(whole):
    of = json.loads((whole / "results.json").read_text())["learning_rate=1e-2"]["random"]
    runs = [json.loads((whole / f"learning_rate=1e-2__s{seed}" / "result.json").read_text()) for seed in (4, 5)]
    seeds = [run["trained"]["random"]["win_rate"] for run in runs]
    assert of == {"mean": sum(seeds) / 2, "lowest": min(seeds), "highest": max(seeds), "seeds": seeds}
    assert (whole / "curve.png").stat().st_size > 1_000
    text = table({"a=1": {"greedy": [0.2, 0.4]}, "a=2": {"random": [1.0]}}).splitlines()
    assert text[0].split()[-3:] == ["seeds", "greedy", "random"]
    assert text[1].split() == ["a=1", "2", "30.0%", "(20.0%..40.0%)"]
    assert text[2].split() == ["a=2", "1", "100.0%", "(100.0%..100.0%)"]


def test_finished_runs_are_kept_and_a_broken_one_goes_on(whole, tmp_path, monkeypatch):
    path = tmp_path / "sweep"
    save = sweep.continue_run
    counted = []

    def break_second(learner, run, asked):
        counted.append(run.path.name)
        if len(counted) == 2:
            asked.append(signal.SIGKILL)  # after its first update, with a checkpoint
        return save(learner, run, asked)

    monkeypatch.setattr(sweep, "continue_run", break_second)
    words = ["sweep", *SETS, *VARIED, "--seeds", "2", "--run-dir", str(path)]
    with pytest.raises(sweep.Stopped):  # as a kill would, it passes by everything that would tell
        sweep.train_all(path, *begun(words))
    first, second = (path / "learning_rate=1e-2__s4", path / "learning_rate=1e-2__s5")
    assert first.joinpath("result.json").exists() and not second.joinpath("result.json").exists()
    assert len(read_metrics(second / "metrics.jsonl")) == 1
    touched = first.joinpath("policy.npz").stat().st_mtime_ns
    assert main(["sweep", "--resume", str(path)]) == 0
    assert counted[2:] == ["learning_rate=1e-2__s5", "learning_rate=1e-3__s4", "learning_rate=1e-3__s5"]
    assert first.joinpath("policy.npz").stat().st_mtime_ns == touched
    assert (path / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    assert outcome(second) == outcome(whole / second.name)


def begun(words):
    """A sweep whose directory stands and whose runs do not."""
    parser = argparse.ArgumentParser()
    sweep.add_arguments(parser)
    with sweep.open_sweep(parser.parse_args(words[1:])) as (_, plan):
        return plan, "processes:1"


def test_killed_it_goes_on_at_once(whole, tmp_path):
    """Its processes notice a little later that it is gone, and hold their runs until then."""
    path = tmp_path / "sweep"
    words = ["sweep", *SETS, *VARIED, "--seeds", "2", "--jobs", "2", "--run-dir", str(path)]
    process = started(*words)
    logs = [path / f"learning_rate=1e-2__s{seed}" / "metrics.jsonl" for seed in (4, 5)]
    while process.poll() is None and not any(log.exists() and log.stat().st_size for log in logs):
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert main(["sweep", "--resume", str(path)]) == 0
    process.communicate()
    assert (path / "results.json").read_bytes() == (whole / "results.json").read_bytes()
    for run in (path, whole):
        assert len(list(run.glob("*/policy.npz"))) == 4
    assert all(outcome(path / run.parent.name) == outcome(run.parent) for run in whole.glob("*/policy.npz"))


def started(*words):
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code", "jobs"), [(signal.SIGINT, 130, 2), (signal.SIGTERM, 143, 1)])
def test_a_signal_stops_it_and_says_how_to_go_on(tmp_path, number, code, jobs):
    path = tmp_path / "sweep"
    words = ["sweep", *SETS, "--set", "games=1000000", "--seeds", "2", "--jobs", str(jobs), "--run-dir", str(path)]
    process = started(*words)
    logs = [path / f"tiny__s{seed}" / "metrics.jsonl" for seed in (1, 2)[:jobs]]
    while process.poll() is None and not all(log.exists() and log.stat().st_size for log in logs):
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "")  # no traceback, no warning of what was left behind
    assert out.rstrip().endswith(f"stopped; go on with: gomoku sweep --resume {path}")
    for log in logs:
        read_metrics(log)


def test_a_run_that_fails_is_told_and_the_others_are_done(tmp_path, capsys):
    words = ["sweep", *SETS, "--vary", "learning_rate=1e30,1e-3", "--run-dir", str(tmp_path / "sweep")]
    assert main(words) == 1
    seen = capsys.readouterr()
    assert "learning_rate=1e30__s1 failed: " in seen.err and "1 of 2 runs failed; go on with:" in seen.err
    assert "Traceback" not in seen.err and "learning_rate=1e-3 " in seen.out
    assert list(json.loads((tmp_path / "sweep" / "results.json").read_text())) == ["learning_rate=1e-3"]


def test_work_that_kills_every_worker_says_how_to_go_on(tmp_path, capsys, monkeypatch):
    class Deadly(InProcess):
        def take(self):
            raise FleetError("batch 0 has cost 3 worker processes")

    monkeypatch.setattr(sweep, "fleet_named", lambda name, prepare: Deadly(prepare))
    assert main(["sweep", *SETS, "--run-dir", str(tmp_path / "sweep")]) == 2
    assert f"go on with: gomoku sweep --resume {tmp_path / 'sweep'}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--vary", "learning_rat=1,2"], "did you mean 'learning_rate'?"),
        (["--vary", "learning_rate=1e-3,-1"], "learning_rate = -1"),
        (["--vary", "learning_rate"], "key=value,value"),
        (["--vary", "hidden=8,x"], "a whole number"),
        (["--vary", "hidden=8,8"], "twice"),
        (["--vary", "hidden=8", "--vary", "hidden=9"], "twice"),
        (["--vary", "seed=1,2"], "--seeds"),
        (["--vary", "hidden=8", "--seed", "9" * 21], "too long for a sweep"),
        (["--vary", "opponents={self=1},{gredy=1}"], "did you mean 'greedy'?"),
        (["--vary", "start=missing.npz"], "missing"),
        (["--vary", "height=2,4"], "height"),
        (["--seeds", "0"], "--seeds 0"),
        (["--seeds", "501", "--vary", "hidden=8,9"], "more than 1000 runs"),
        (["--jobs", "0"], "--jobs 0"),
        (["--preset", "quick", "--config", "x.toml"], "give one"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_before_the_first_run(words, says, tmp_path, capsys):
    path = tmp_path / "sweep"
    assert main(["sweep", *SETS, *words, "--run-dir", str(path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says in lines[0]
    assert not path.exists()


def test_values_are_split_at_the_commas_between_them():
    plan = planned(None, None, TINY, ["filters=[2,3],[3,4]", 'rule=freestyle,"standard"', "name='a,b'"], 1)
    assert list(plan) == [
        "filters=[2,3],rule=freestyle,name=_a,b___s1",
        "filters=[2,3],rule=_standard_,name=_a,b___s1",
        "filters=[3,4],rule=freestyle,name=_a,b___s1",
        "filters=[3,4],rule=_standard_,name=_a,b___s1",
    ]
    assert [config.filters for config in plan.values()] == [(2, 3), (2, 3), (3, 4), (3, 4)]
    assert {config.name for config in plan.values()} == {"a,b"}


def test_folders_stay_below_the_sweep_and_apart():
    plan = planned(None, None, TINY, ["name=..,.?.,.!.,a__s7"], 2)
    assert list(groups(plan)) == ["name=..", "name=._.", "name=._.,3", "name=a_s7"] and len(plan) == 8
    assert plan_from({"runs": {folder: config.as_dict() for folder, config in plan.items()}}, Path("c")) == plan


@pytest.mark.parametrize(
    "content",
    [{}, {"runs": []}, {"runs": {}}, {"runs": {"../x__s1": {}}}, {"runs": {"x__s1": 3}}, {"runs": {"x": {}}},
     {"runs": {"x__s1": {"games": "many"}}}, {"runs": {"x__s1": {}}, "more": 1}],
)  # fmt: skip
def test_a_directory_that_is_no_sweep_is_refused(content, tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps(content))
    (tmp_path / "version.json").write_text("{}")
    before = {path.name for path in tmp_path.iterdir()}
    assert main(["sweep", "--resume", str(tmp_path)]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} - before == {"lock"}
    with pytest.raises(UserError):
        plan_from(content, tmp_path)


def test_resume_goes_with_nothing_else(tmp_path, capsys):
    assert main(["sweep", "--resume", str(tmp_path), "--seeds", "3"]) == 2
    assert "nothing but --jobs" in capsys.readouterr().err


def test_a_run_of_other_settings_in_its_folder_is_refused(whole, tmp_path):
    run = whole / "learning_rate=1e-2__s4"
    other = {**json.loads((run / "config.json").read_text()), "hidden": 9}
    before = outcome(run)
    assert "not the one of this sweep" in sweep.train_one(sweep.Task(run, other, ("sweep",)))
    assert outcome(run) == before


def test_a_result_that_says_nothing_is_one_line(tmp_path):
    run = tmp_path / "x__s1"
    run.mkdir()
    (run / "curve.png").touch()
    (run / "result.json").write_text('{"trained": {"random": {}}}')
    with pytest.raises(UserError, match="no win rate against random"):
        final_rates(tmp_path, {"x__s1": config_from({"evaluate_against": ["random"]})})


def test_the_rows_of_a_run_are_known_beforehand(whole):
    for settings in (TINY, (*TINY, "games=150", "drills=40", "imitation_epochs=3")):
        config = load_config(None, None, settings)
        expected = config.imitation_epochs
        games = 0
        while games < config.games:
            drills = min(1024, config.drills - games)
            games += drills if drills > 0 else min(config.games_per_update, config.games - games)
            expected += 1
        assert updates_in(config) == expected
    rows = read_metrics(whole / "learning_rate=1e-2__s4" / "metrics.jsonl")
    assert len(rows) == 1 + updates_in(load_config(None, None, TINY))
