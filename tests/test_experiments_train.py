"""A run repeats bit for bit, stops and goes on as if never stopped, and survives being killed at any moment."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tiny_run import without_times

from experiments.__main__ import main
from experiments.errors import UserError
from experiments.metrics import read_metrics
from experiments.training import verdict
from nn import PolicyNet, load_net, make_net
from rl import watched_play
from rl.watched_play import play_watched

TINY = (
    "name=tiny", "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games=640",
    "games_per_update=64", "batch=64", "pool_every=128", "evaluate_every=320", "evaluation_games=4", "final_games=4",
    "evaluation_plies=2", "opening_plies=2", "checkpoint_every=64",
    "drills=64", "drills_per_update=20", "drill_batch=16", "puzzles=50",
)  # fmt: skip
OWN_SIZES = ("filters=[16, 32]", "hidden=256")  # as if nothing had been said of them


def command(*words, games=640, settings=()):
    sets = [word for setting in (*TINY, f"games={games}", *settings) for word in ("--set", setting)]
    return ["train", *sets, *words]


def weights(run):
    return (run / "policy.npz").read_bytes()


@pytest.fixture(autouse=True, scope="module")
def _blank_curve():
    """Drawing takes as long as these runs do; those that are spawned draw."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("experiments.plots.learning_curve", lambda ax, *rows: ax)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One uninterrupted run of ten updates."""
    path = tmp_path_factory.mktemp("whole") / "run"
    assert main(command("--run-dir", str(path))) == 0
    return path


def spawn(*words):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def wait_for_rows(process, run, rows):
    metrics = run / "metrics.jsonl"
    while process.poll() is None and (not metrics.exists() or metrics.read_bytes().count(b"\n") < rows):
        time.sleep(0.005)


def test_a_run_leaves_what_the_readme_promises(whole):
    names = {path.name for path in whole.iterdir()}
    assert {"config.json", "command.txt", "version.json", "metrics.jsonl", "checkpoints", "games", "curve.png",
            "policy.npz", "result.json"} <= names  # fmt: skip
    rows = read_metrics(whole / "metrics.jsonl")
    assert [row["update"] for row in rows] == list(range(11)) and rows[-1]["games"] == 640
    assert [row["update"] for row in rows if "evaluation" in row] == [0, 5, 10]
    for key in ("positions", "loss", "entropy", "gradient_norm", "parameter_change", "illegal_mass", "game_length"):
        assert all(np.isfinite(row[key]) for row in rows[2:])
    assert all(row["parameter_change"] > 0 for row in rows[2:])
    assert "loss" not in rows[1] and all(-1 <= row["drill"]["result"] <= 1 for row in rows[1:])
    result = json.loads((whole / "result.json").read_text())
    assert result["trained"]["greedy"]["games"] == result["untrained"]["random"]["games"] == 4
    assert len((whole / "games" / "greedy.txt").read_text().splitlines()) == 4


def test_the_same_seed_gives_the_same_bytes_and_another_seed_does_not(whole, tmp_path):
    assert main(command("--run-dir", str(tmp_path / "again"))) == 0
    assert without_times(tmp_path / "again") == without_times(whole)
    assert weights(tmp_path / "again") == weights(whole)
    assert main(command("--run-dir", str(tmp_path / "other"), "--seed", "2")) == 0
    assert weights(tmp_path / "other") != weights(whole)


@pytest.mark.parametrize("baseline", ["tactics", "none", "leave-one-out", "value"])
def test_other_baselines_run(baseline, tmp_path):
    run = tmp_path / "run"
    assert main(command("--run-dir", str(run), games=320, settings=(f"baseline={baseline}", "trace=0.7"))) == 0
    rows, bits = without_times(run), weights(run)
    assert len(rows) == 6
    for newest in sorted((run / "checkpoints").iterdir())[-2:]:
        newest.unlink()
    assert main(["train", "--resume", str(run)]) == 0
    assert without_times(run) == rows and weights(run) == bits


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_resume_ends_with_the_bytes_of_an_uninterrupted_run(whole, tmp_path, number, code):
    run = tmp_path / "run"
    process = spawn(*command("--run-dir", str(run)))
    wait_for_rows(process, run, 3)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert b"--resume" in out and b"Traceback" not in err
    PolicyNet.load(run / "policy.npz")
    assert 3 <= len(read_metrics(run / "metrics.jsonl")) < 11
    assert main(["train", "--resume", str(run)]) == 0
    assert without_times(run) == without_times(whole)
    assert weights(run) == weights(whole)


def test_killed_at_random_moments_it_goes_on_and_ends_the_same(whole, tmp_path):
    run, chance = tmp_path / "run", random.Random(0)
    process = spawn(*command("--run-dir", str(run)))
    for _ in range(4):
        wait_for_rows(process, run, 1)
        time.sleep(chance.random() * 0.5)
        process.kill()
        process.communicate()
        process = spawn("train", "--resume", str(run))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert without_times(run) == without_times(whole)
    assert weights(run) == weights(whole)


def test_a_truncated_checkpoint_costs_only_what_came_after_the_one_before(whole, tmp_path, capsys):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    newest = sorted((run / "checkpoints").iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-1000])
    assert main(["train", "--resume", str(run)]) == 0
    assert newest.name in capsys.readouterr().err
    assert without_times(run) == without_times(whole)
    assert weights(run) == weights(whole)


def test_resuming_a_finished_run_changes_nothing(whole, tmp_path):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    assert main(["train", "--resume", str(run)]) == 0
    assert without_times(run) == without_times(whole) and weights(run) == weights(whole)


def test_what_cannot_be_is_refused_in_one_line(whole, tmp_path, capsys):
    def refused(*words):
        assert main(["train", *words]) == 2
        err = capsys.readouterr().err.strip()
        assert err.count("\n") == 0 and "Traceback" not in err
        return err

    before = {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    assert "games" in refused("--set", "gmaes=5")
    assert "quick" in refused("--preset", "quik")
    assert "not empty" in refused("--preset", "quick", "--run-dir", str(whole))
    assert "--resume" in refused("--resume", str(whole), "--seed", "4")
    assert "nowhere" in refused("--resume", str(tmp_path / "nowhere"))
    assert "greedy" in refused("--set", "evaluate_against=['gredy']", "--run-dir", str(tmp_path / "a"))
    assert "greedy" in refused("--set", "opponents={gredy = 1}", "--run-dir", str(tmp_path / "b"))
    assert "win_length 9" in refused("--set", "win_length=9", "--run-dir", str(tmp_path / "c"))
    policy = f"policy:{whole / 'policy.npz'}"
    for setting in (f"evaluate_against=['{policy}']", f"opponents={{'{policy}' = 1}}", f"drill_opponent={policy}"):
        assert "plays on 4x4 only; the board is 6x6" in refused("--set", setting, "--run-dir", str(tmp_path / "d"))
    assert "ended the game" in refused("--set", "evaluation_plies=36", "--run-dir", str(tmp_path / "e"))
    assert before == {path: path.read_bytes() for path in whole.rglob("*") if path.is_file()}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [("hidden", 9, "config.json asks for"), ("dtype", "float64", "config.json asks for"),
     ("baseline", "tactics", "baseline: sums has shape"), ("baseline", "none", "baseline: missing"),
     ("opponents", {"self": 1.0}, "baseline: sums has shape")],
)  # fmt: skip
def test_a_config_that_was_changed_beneath_its_checkpoints_is_refused(whole, tmp_path, capsys, key, value, says):
    shutil.copytree(whole, tmp_path / "run")
    path = tmp_path / "run" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"games": 1280, key: value}))
    assert main(["train", "--resume", str(tmp_path / "run")]) == 2
    err = capsys.readouterr().err
    assert says in err and err.count("\n") == 1
    assert weights(tmp_path / "run") == weights(whole)


@pytest.mark.parametrize("setting", ["learning_rate=1e30", "entropy_weight=1e300"])
@pytest.mark.filterwarnings("error")
def test_learning_that_explodes_is_one_line(tmp_path, capsys, setting):
    assert main(command("--run-dir", str(tmp_path / "run"), settings=("drills=0", setting))) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and ("finite" in err or "nan" in err)


def test_openings_that_leave_nothing_to_learn_are_one_line(tmp_path, capsys):
    settings = ("opening_plies=16", "games_per_update=1", "drills=0", "drills_per_update=0")
    assert main(command("--run-dir", str(tmp_path / "run"), games=64, settings=settings)) == 2
    assert "the learner made no decision in 1 games" in capsys.readouterr().err


def test_java_weights_are_where_training_begins(tmp_path):
    from experiments.config_source import load_config
    from experiments.training.beginning import initial_net

    net = initial_net(load_config("java", None, []))
    java = PolicyNet.java()
    assert net.dtype == np.float64
    for mine, its in zip(net.parameters(), java.parameters(), strict=True):
        assert np.array_equal(mine.value, its.value)


WATCHED = (
    "watched=true", "learnt_share=0.5", "average=0.9", "gate_drop=0.1", "gate_entropy=0.01", "pool_by_difficulty=true",
    "baseline=features", "trace=1.0", "warm_up=128", "imitation_epochs=2", "imitation_lessons=20", "drills=0",
    "games=256", "imitation_weight=0.1", "drill_opponent=self", "pool_temperature=0.3",
    "drills_from_games=8",
    "opponents={greedy = 0.4, pool = 0.4, self = 0.2}",
)  # fmt: skip


@pytest.fixture(scope="module")
def full_recipe(tmp_path_factory):
    """A run of everything the preset full asks for, in small: imitation, then REINFORCE on watching networks."""
    path = tmp_path_factory.mktemp("full") / "run"
    assert main(command("--run-dir", str(path), settings=WATCHED)) == 0
    return path


def test_both_stages_stand_in_one_log(full_recipe):
    rows = read_metrics(full_recipe / "metrics.jsonl")
    assert [("imitation" in row, "loss" in row) for row in rows[1:]] == [(True, False)] * 2 + [(False, True)] * 4
    assert rows[-1]["games"] == rows[2]["games"] + 256
    assert all(np.isfinite(row["explained"]) and set(row["won"]) <= {"greedy", "pool"} for row in rows[3:])
    assert [row["learning_rate"] for row in rows[3:5]] == [pytest.approx(5e-4), pytest.approx(0.775e-3)]


@pytest.mark.parametrize("rows", [2, 4])
def test_the_full_recipe_resumes_in_either_stage_as_if_never_stopped(full_recipe, tmp_path, rows):
    run = tmp_path / "run"
    process = spawn(*command("--run-dir", str(run), settings=WATCHED))
    wait_for_rows(process, run, rows)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 143, err
    assert main(["train", "--resume", str(run)]) == 0
    assert without_times(run) == without_times(full_recipe)
    assert weights(run) == weights(full_recipe)


def test_training_starts_from_a_file_of_weights(full_recipe, tmp_path, capsys):
    from experiments.config_source import load_config
    from experiments.training.beginning import initial_net

    start = full_recipe / "policy.npz"
    settings = [*TINY, f"start={start}"]
    net, there = initial_net(load_config(None, None, settings)), PolicyNet.load(start)
    pairs = zip(net.parameters(), there.parameters(), strict=True)
    assert all(np.array_equal(a.value, b.value) for a, b in pairs)
    with pytest.raises(UserError, match=r"hidden = 9: .* holds a PolicyNet, which has hidden 8; leave it out"):
        initial_net(load_config(None, None, [*settings, "hidden=9"]))
    assert main(command("--run-dir", str(tmp_path / "a"), settings=(f"start={start}", "width=5"))) == 2
    assert "for 4x4 does not fit a board of 4x5: fc1.weight" in capsys.readouterr().err


def test_known_wins_are_told_beside_the_suite(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(verdict, "SUITE_SIZE", 10)  # on 15x15 the usual ones take seconds to find
    wins = Path(__file__).parent / "data" / "tactics" / "wins.json"
    few = json.loads(wins.read_text())
    few["positions"] = few["positions"][::50]
    (tmp_path / "few.json").write_text(json.dumps(few))
    large = ["height=15", "width=15", "win_length=5", "net=line", "games=20", "drills=0", "drills_per_update=0"]
    large += OWN_SIZES
    large.append(f"known_wins={tmp_path / 'few.json'}")
    assert main(command("--run-dir", str(tmp_path / "a"), settings=tuple(large))) == 0
    said = capsys.readouterr().out
    assert "known wins begun, all" in said
    assert said.endswith(f"gomoku gui --agent policy:{tmp_path / 'a' / 'policy.npz'} --size 15 --win-length 5\n")
    told = read_metrics(tmp_path / "a" / "metrics.jsonl")[0]["evaluation"]["known_wins"]
    assert 0 <= told["all"] <= 1 and set(told) >= {"all", "5 to 9"}
    assert main(command("--run-dir", str(tmp_path / "b"), settings=(f"known_wins={tmp_path / 'few.json'}",))) == 2
    assert "its positions are on 15x15" in capsys.readouterr().err
    four = [*large, "win_length=4"]
    assert main(command("--run-dir", str(tmp_path / "b"), settings=tuple(four))) == 2
    assert "five in a row" in capsys.readouterr().err
    large[-1] = f"known_wins={tmp_path / 'none.json'}"
    assert main(command("--run-dir", str(tmp_path / "b"), settings=tuple(large))) == 2
    assert "none.json: no such file" in capsys.readouterr().err and not (tmp_path / "b").exists()


@pytest.mark.parametrize("kind", ["conv", "line"])
def test_what_convolutions_learnt_on_a_small_board_begins_on_a_large_one(kind, tmp_path):
    from experiments.config_source import load_config
    from experiments.training.beginning import initial_net

    small = make_net(kind, 4, 5, rng=np.random.default_rng(1))
    small.save(tmp_path / "small.npz")
    begun = [*TINY, *OWN_SIZES, f"start={tmp_path / 'small.npz'}"]
    net = initial_net(load_config(None, None, [*begun, "height=7", "width=9"]))
    assert type(net) is type(small) and (net.height, net.width) == (7, 9)
    pairs = zip(net.arrays().values(), small.arrays().values(), strict=True)
    assert all(np.array_equal(mine, its) and not np.shares_memory(mine, its) for mine, its in pairs)
    other = "line" if kind == "conv" else "conv"
    with pytest.raises(UserError, match=f"not the net {other}"):
        initial_net(load_config(None, None, [*begun, f"net={other}"]))
    with pytest.raises(UserError, match=r"filters = \(2, 2\): .* which has sizes of its own"):
        initial_net(load_config(None, None, [*begun, "filters=[2, 2]"]))


def test_a_network_of_convolutions_alone_watches_and_is_trained_and_resumed_alike(tmp_path, monkeypatch):
    one, two, watched = tmp_path / "one", tmp_path / "two", []
    monkeypatch.setattr(watched_play, "play_watched", lambda *a, **k: watched.append(a[0]) or play_watched(*a, **k))
    settings = (
        "net=conv", "imitation_epochs=1", "imitation_lessons=5", "drills=0", "drills_from_games=8", "watched=true",
        *OWN_SIZES,
    )  # fmt: skip
    assert main(command("--run-dir", str(one), games=192, settings=settings)) == 0
    assert len(watched) == 3
    assert type(load_net(one / "policy.npz")).__name__ == "ConvPolicyNet"
    process = spawn(*command("--run-dir", str(two), games=192, settings=settings))
    wait_for_rows(process, two, 3)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert main(["train", "--resume", str(two)]) == 0
    assert weights(one) == weights(two)
