"""The model of learner and workers against its simulation, with known costs; the command that measures them."""

import json
import math

import numpy as np
import pytest

from experiments.__main__ import main
from experiments.config_source import load_config
from experiments.scale import as_json, here_text, jobs_from, many_text, thousand_text
from experiments.speed.scale_costs import Findings, measured_costs
from experiments.speed.scale_model import Costs, Layout, games_per_second, saturation, simulate

KNOWN = Costs(play=0.01, learn=0.002, receive=0.0005, fixed=0.1, weights=1e6, result=2e3)
TINY = (
    "height=4", "width=4", "win_length=3", "filters=[2, 3]", "hidden=8", "games_per_update=32", "batch=64",
    "drills_per_update=8", "drill_batch=8", "puzzles=20", "evaluation_games=2", "opening_plies=2",
)  # fmt: skip


def simulated(costs, layout, updates=40):
    return simulate(costs, layout, updates, np.random.default_rng(1))


def test_one_update_by_hand():
    """8 shares of 10 games on 3 workers: rounds of 3, 3 and 2, each 0.1 s."""
    layout = Layout(workers=3, games=80, shares=8)
    seconds = 0.3 + 2 * 10 * 0.0005 + 80 * 0.002 + 0.1
    assert games_per_second(KNOWN, layout) == pytest.approx(80 / seconds)
    # weights of 1 MB over 10 MB/s: to one worker, then to two more; a share's results of 20 kB take 2 ms more
    slow = Layout(workers=3, games=80, shares=8, bandwidth=1e7)
    assert games_per_second(KNOWN, slow) == pytest.approx(80 / (seconds + 2 * 0.1 + 2 * 0.002))


@pytest.mark.parametrize("bandwidth", [math.inf, 1e8, 1e6, 1e5])
@pytest.mark.parametrize("workers", [1, 2, 3, 5, 8, 13, 100])
def test_a_learner_that_waits_is_as_fast_as_its_formula_says(workers, bandwidth):
    for shares in (1, 8, 30):
        layout = Layout(workers, games=120, shares=shares, bandwidth=bandwidth)
        seen = simulated(KNOWN, layout, updates=5)
        assert games_per_second(KNOWN, layout) == pytest.approx(seen.games_per_second, rel=1e-9)
        assert (seen.staleness, seen.most, seen.dropped) == (0, 0, 0)


@pytest.mark.parametrize(("cores", "workers"), [(1, 1), (2, 2), (2, 4), (2, 8), (4, 6)])
def test_processes_that_share_cores_slow_each_other_down(cores, workers):
    costs = Costs(play=0.01, learn=0.002)  # nothing but play goes on beside play
    layout = Layout(workers, games=120, shares=8, cores=cores)
    assert games_per_second(costs, layout) == pytest.approx(simulated(costs, layout, 5).games_per_second, rel=1e-9)
    assert games_per_second(costs, layout) <= cores / costs.play


@pytest.mark.parametrize(
    ("workers", "bound"),
    [
        (1, 1 / 0.01),  # the workers are the narrow place ...
        (2, 2 / 0.01),
        (20, 120 / (0.1 + 120 * 0.0025)),  # ... and then the learner
        (500, 120 / (0.1 + 120 * 0.0025)),
    ],
)
@pytest.mark.parametrize("staleness", [1, 2])
def test_a_learner_that_goes_on_is_as_fast_as_the_narrowest_place(workers, bound, staleness):
    layout = Layout(workers, games=120, shares=8, staleness=staleness)
    assert games_per_second(KNOWN, layout) == pytest.approx(bound)
    seen = simulated(KNOWN, layout)
    assert seen.games_per_second == pytest.approx(bound, rel=0.02)
    assert 0 <= seen.staleness <= seen.most <= staleness
    assert max(seen.learner_busy, seen.workers_busy) == pytest.approx(1, abs=0.02)


def test_too_few_shares_out_leave_both_waiting():
    costs = Costs(play=0.01, learn=0.005)
    layout = Layout(workers=100, games=100, shares=1, staleness=1)  # two shares are out, each for 1 s, and 0.5 s learnt
    assert games_per_second(costs, layout) == pytest.approx(200 / 1.5)
    assert simulated(costs, layout).games_per_second == pytest.approx(200 / 1.5, rel=0.02)


def test_the_formulas_bound_what_chance_leaves():
    uneven = Costs(play=0.01, learn=0.002, spread=0.5)
    waits, ahead = Layout(8, 80, 8), Layout(8, 80, 8, staleness=2)
    assert simulated(uneven, waits).games_per_second < 0.9 * games_per_second(uneven, waits)
    assert 0.8 * games_per_second(uneven, ahead) < simulated(uneven, ahead).games_per_second
    assert simulated(uneven, ahead).games_per_second <= games_per_second(uneven, ahead)


def test_a_result_that_is_too_old_is_dropped_and_played_again():
    wild = Costs(play=0.01, learn=0.0001, spread=3.0)
    seen = simulated(wild, Layout(8, 80, 8, staleness=1), updates=200)
    assert seen.dropped > 0 and seen.most == 1


def test_saturation_is_where_workers_and_learner_are_alike():
    layout = Layout(1, games=120, shares=8, staleness=2)
    workers = saturation(KNOWN, layout)
    assert workers == pytest.approx(1.2 / 0.4)
    below, above = (Layout(count, 120, 8, 2) for count in (math.floor(workers) - 1, math.ceil(workers) + 1))
    assert simulated(KNOWN, below).learner_busy < 0.9 and simulated(KNOWN, above).learner_busy > 0.98


def test_costs_are_those_of_the_parts():
    config = load_config(None, None, [*TINY, "shares=4"])
    costs = measured_costs(config, 2)
    assert costs.play > 0 and costs.learn > 0 and costs.receive > 0 and costs.fixed > 0
    heavier = measured_costs(load_config(None, None, [*TINY, "shares=4", "drills_per_update=800"]), 2)
    assert heavier.learn > 3 * costs.learn  # learner's work, and not the workers'
    assert heavier.weights == costs.weights and abs(heavier.result / costs.result - 1) < 0.5


def test_what_a_thousand_workers_need_by_hand(monkeypatch):
    monkeypatch.setattr("experiments.scale.MANY", (1, 2, 16))
    config = load_config(None, None, ["games_per_update=512", "shares=8"])
    text = thousand_text(config, Costs(play=0.002, learn=0.001, weights=1e6, result=1e3), 125e6)
    assert text.startswith("2.0 workers") and "500,000 games/s" in text
    assert "  500 cores" in text and "  500 MB/s of results, 4 such lines" in text
    assert "500 games for a second" in text and "1,000 MB of weights" in text
    assert "166,667 games at 2 updates" in text
    assert len(many_text(config, Costs(play=0.002, learn=0.001), 125e6).splitlines()) == 6


def test_the_command_measures_and_tells(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("experiments.scale.MANY", (1, 2, 16))
    words = ["scale", *(word for setting in TINY for word in ("--set", setting)), "--config", str(tmp_path / "c.toml")]
    (tmp_path / "c.toml").write_text('name = "tiny"\n')
    words += ["--jobs", "1", "--seconds", "0.05", "--rounds", "1", "--updates", "2"]
    assert main([*words, "--json", str(tmp_path / "s.json"), "--picture", str(tmp_path / "s.png")]) == 0
    out = capsys.readouterr().out
    for part in ("games/s a core", "load before", "play alone", "measured", "simulated", "workers keep this learner"):
        assert part in out
    told = json.loads((tmp_path / "s.json").read_text())
    assert list(told["play_alone"]) == ["1"] and len(told["training"]) == 2
    assert all(row["games_per_second"] > 0 for row in told["training"])
    assert (tmp_path / "s.png").stat().st_size > 10_000


def test_processes_are_compared_in_turns():
    config = load_config(None, None, ["games_per_update=80", "shares=8"])
    found = Findings(Costs(play=0.1, learn=0.05), {1: [10, 12, 8], 2: [19, 24, 12]}, {})
    found.training = {(1, 0): 6.5, (1, 2): 9.5, (2, 0): 9.7, (2, 2): 13.1}
    lines = here_text(config, found, cores=2).splitlines()[2:]
    # one process: a game takes 0.15 s when one waits for the other; two: 0.1 s, in which cores may lie idle
    assert lines[0].split() == ["1", "10", "(8..12)", "1.00", "6", "7", "7", "10", "10", "10"]
    assert lines[1].split() == ["2", "19", "(12..24)", "1.90", "10", "10", "10", "13", "13", "13"]
    assert as_json(config, found, 2, 0.1)["training"][0] == {"processes": 1, "staleness": 0, "games_per_second": 6.5}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--jobs", "1,x"], "--jobs 1,x"),
        (["--jobs", "0"], "--jobs 0"),
        (["--rounds", "0"], "--rounds 0"),
        (["--bandwidth", "nan"], "--bandwidth nan"),
        (["--picture", "scale.gif"], "cannot draw .gif"),
        (["--json", "/nowhere/x"], "nothing could be written there"),
        (["--set", "gams=3"], "did you mean"),
        (["--preset", "quik"], "did you mean 'quick'"),
    ],
)
def test_what_cannot_be_measured_is_one_line(words, says, capsys):
    assert main(["scale", *words]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and says in lines[0]
    assert jobs_from("2,1,2") == [2, 1]
