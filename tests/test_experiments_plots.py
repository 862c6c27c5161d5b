"""The figures say what the metrics say: points, bands, means over seeds, tables; drawn without a display."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from experiments import draw
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.files.run_rows import flatten, reached
from experiments.pictures.figures import save_figure
from experiments.pictures.seed_plots import comparison_figure
from experiments.plots import (
    COLOURS,
    change_curve,
    curves,
    learning_curve,
    opponent_chart,
    training_panel,
)
from experiments.strength.seeds import (
    evaluations,
    experiment_name,
    group_by_config,
    mean_interval,
    mean_over_runs,
    student_t,
)

Row = dict[str, Any]


def result(win_rate: float) -> Row:
    return {"games": 100, "win_rate": win_rate, "low": win_rate - 0.1, "high": win_rate + 0.05}


def run_rows(rates: list[float], games_between: int = 200) -> list[Row]:
    """Two rows an evaluation, the first of them without one."""
    rows: list[Row] = []
    for index, rate in enumerate(rates):
        if index:
            rows.append({"update": 2 * index - 1, "games": games_between * index - 50, "entropy": 3.0 / index})
        rows.append(
            {
                "update": 2 * index,
                "games": games_between * index,
                "gradient_norm": 0.5,
                "game_length": 20.0 - index,
                "win_rate": {"black": 0.6, "white": 0.3},
                "evaluation": {
                    "greedy": result(rate),
                    "random": result(rate / 2 + 0.45),
                    "tactics": {"win_in_one": rate, "block_in_one": rate / 2},
                },
            }
        )
    return rows


def write_run(path: Path, rows: list[Row], config: Row) -> Path:
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config))
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(ax: Any) -> dict[str, np.ndarray]:
    """Label -> (n, 2) points of every labelled line."""
    return {str(line.get_label()): line.get_xydata() for line in ax.get_lines() if line.get_label()[0] != "_"}


def band(ax: Any, index: int) -> np.ndarray:
    """(n, 3) games, low, high of a filled band."""
    collection = [found for found in ax.collections if isinstance(found, PolyCollection)][index]
    corners = {(round(float(x), 6), round(float(y), 9)) for x, y in collection.get_paths()[0].vertices}
    games = sorted({x for x, _ in corners})
    return np.array([[x, min(y for g, y in corners if g == x), max(y for g, y in corners if g == x)] for x in games])


def test_one_run_shows_its_evaluations_and_their_intervals() -> None:
    ax = Figure().subplots()
    assert learning_curve(ax, run_rows([0.2, 0.4, 0.7])) is ax
    assert lines(ax)["against greedy"].tolist() == [[0, 0.2], [200, 0.4], [400, 0.7]]
    assert lines(ax)["against random"][:, 1] == pytest.approx([0.55, 0.65, 0.8])
    assert band(ax, 0) == pytest.approx(np.array([[0, 0.1, 0.25], [200, 0.3, 0.45], [400, 0.6, 0.75]]))
    assert ax.get_xlabel() == "training games" and ax.get_ylabel() == "win rate"
    assert ax.get_legend().get_title().get_text() == "band: 95 % interval"
    assert ax.get_lines()[0].get_color() == COLOURS["greedy"]


def test_several_seeds_show_their_mean_its_interval_and_each_of_them() -> None:
    ax = Figure().subplots()
    learning_curve(ax, run_rows([0.2, 0.4]), run_rows([0.4, 0.8]), run_rows([0.3, 0.6]))
    assert lines(ax)["against greedy"] == pytest.approx(np.array([[0, 0.3], [200, 0.6]]))
    arms = 4.30265 * np.array([0.1, 0.2]) / np.sqrt(3)  # two degrees of freedom; deviations 0.1 and 0.2 by hand
    wanted = np.array([[0, 0.3 - arms[0], 0.3 + arms[0]], [200, 0.6 - arms[1], 1.0]])  # 0.6 + 0.497: no win rate
    assert band(ax, 0) == pytest.approx(wanted, abs=1e-5)
    assert ax.get_legend().get_title().get_text() == "band: 95 % interval of the mean of 3 runs"
    thin = [line.get_ydata().tolist() for line in ax.get_lines() if line.get_linewidth() == 0.7]
    assert thin[:3] == [[0.2, 0.4], [0.4, 0.8], [0.3, 0.6]] and len(thin) == 6  # three against each of two


def test_runs_evaluated_at_other_times_meet_where_all_have_been() -> None:
    slow = evaluations(run_rows([0.0, 0.4], games_between=400), "greedy")
    fast = evaluations(run_rows([0.0, 0.5, 0.5], games_between=100), "greedy")
    assert slow.T.tolist() == [[0, 0.0, -0.1, 0.05], [400, 0.4, 0.4 - 0.1, 0.4 + 0.05]]
    games, mean, low, high = mean_over_runs([slow, fast])
    assert games.tolist() == [0, 100, 200]
    assert mean.tolist() == pytest.approx([0, 0.3, 0.35])
    assert low.tolist() == [0, 0, 0]  # two runs that differ say next to nothing, and
    assert high.tolist() == [0, 1, 1]  # at the start, where they agree, their interval is a point


def test_the_interval_holds_the_true_mean_in_95_of_100_experiments() -> None:
    rng = np.random.default_rng(1)
    for runs in (2, 3, 8):
        middle, low, high = mean_interval(rng.normal(0.5, 0.02, (runs, 20_000)))
        assert np.mean((low <= 0.5) & (high >= 0.5)) == pytest.approx(0.95, abs=0.005)
        assert middle.std() == pytest.approx(0.02 / np.sqrt(runs), rel=0.03)


def test_students_t_is_that_of_the_tables() -> None:
    printed = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 30: 2.042, 120: 1.980}
    assert {degrees: round(student_t(degrees), 3) for degrees in printed} == printed
    assert student_t(5, 0.99) == pytest.approx(4.032, abs=5e-4)
    with pytest.raises(ValueError, match="two or more"):
        student_t(0)


def test_experiments_are_compared_by_where_their_runs_ended(tmp_path: Path) -> None:
    def run(*rates: float) -> Row:
        return reached(tmp_path, run_rows(list(rates)))

    experiments = {"all": [run(0.1, 0.8), run(0.1, 0.6)], "less": [run(0.1, 0.4)]}
    axes = comparison_figure(Figure(), experiments)
    titles = ["wins against greedy", "wins against random", "win in one taken", "threat blocked"]
    assert [ax.get_title() for ax in axes] == titles
    assert [text.get_text() for text in axes[0].get_yticklabels()] == ["all", "less"]
    rings = [line.get_xydata().tolist() for line in axes[3].get_lines() if line.get_fillstyle() == "none"]
    assert rings == [[[0.4, 0.25], [0.3, 0.25]], [[0.2, 1]]]
    (mean,) = axes[0].containers  # one run alone has no mean
    assert mean[0].get_xydata().tolist() == [[pytest.approx(0.7), 0]]
    (arm,) = mean[2][0].get_segments()
    assert arm[:, 0] == pytest.approx([0, 1])  # 0.7 -+ 12.7 * 0.1
    assert axes[0].get_xlim() == pytest.approx((0.4 - 0.15 * 0.4, 0.8 + 0.15 * 0.4))
    with pytest.raises(UserError, match="different ways"):
        comparison_figure(Figure(), {"a": [run(0.1)], "b": [{}]})
    with pytest.raises(UserError, match="not been evaluated"):
        reached(tmp_path, [{"games": 1}])


def test_a_verdict_counts_for_more_than_the_last_evaluation(tmp_path: Path) -> None:
    rows = run_rows([0.1, 0.4])
    verdict = {"greedy": {"win_rate": 0.55, "low": 0.5, "high": 0.6}}
    for name in ("trained", "evaluation"):  # of train, of pretrain
        (tmp_path / "result.json").write_text(json.dumps({name: verdict}))
        assert reached(tmp_path, rows) == verdict
    for text in ("{}", '{"trained": {"greedy": 3}}', '{"trained": {"greedy": {"win_rate": "much"}}}'):
        (tmp_path / "result.json").write_text(text)
        with pytest.raises(UserError, match=r"result\.json: wanted each opponent's"):
            reached(tmp_path, rows)


def test_a_run_without_evaluations_counts_for_nothing() -> None:
    ax = Figure().subplots()
    learning_curve(ax, run_rows([0.2, 0.4]), [{"update": 1, "games": 50}])
    assert lines(ax)["against greedy"].tolist() == [[0, 0.2], [200, 0.4]]
    assert ax.get_legend().get_title().get_text() == "band: 95 % interval"
    assert lines(learning_curve(Figure().subplots(), [])) == {}


def test_the_panel_shows_each_measure_and_passes_over_what_is_absent() -> None:
    axes = training_panel(Figure(), run_rows([0.2, 0.4, 0.7]))
    assert axes.shape == (2, 3)
    assert lines(axes[0, 0]).keys() == {"against greedy", "against random"}
    assert lines(axes[0, 1])["win in one taken"].tolist() == [[0, 0.2], [200, 0.4], [400, 0.7]]
    assert lines(axes[0, 1])["threat blocked"][:, 1].tolist() == [0.1, 0.2, 0.35]
    assert lines(axes[0, 2])["black"][:, 1].tolist() == [0.6, 0.6, 0.6]
    assert lines(axes[1, 0])["in games"].tolist() == [[150, 3.0], [350, 1.5]]
    assert lines(axes[1, 1])["in games"][:, 1].tolist() == [0.5, 0.5, 0.5]
    assert lines(axes[1, 2])["game length"][:, 1].tolist() == [20, 19, 18]
    labels = [ax.get_ylabel() for ax in axes.ravel()]
    assert all(labels) and len(set(labels)) == 6
    assert [bool(ax.get_xlabel()) for ax in axes.ravel()] == [False] * 3 + [True] * 3


def test_runs_are_grouped_by_all_that_they_learn_with(tmp_path: Path) -> None:
    configs = {
        "a1": {"seed": 1, "batch": 64}, "b1": {"seed": 1, "batch": 65},
        "a2": {"seed": 2, "batch": 64, "evaluate_every": 9},
        "a3": {"seed": 3, "batch": 64, "trace": 1.0, "filters": [16, 32]},  # as they are where nothing is said
    }  # fmt: skip
    a1, b1, a2, a3 = (write_run(tmp_path / name, [], config) for name, config in configs.items())
    assert group_by_config([a1, b1, a2, a3]) == [[a1, a2, a3], [b1]]
    names = ("quick__s1__20261129T201500Z", "quick/s12", "sweeps", "s")
    assert [experiment_name(tmp_path / name) for name in names] == ["quick", "quick", "sweeps", "s"]


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_every_format_is_drawn(tmp_path: Path, ending: str) -> None:
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    figure = Figure()
    learning_curve(figure.subplots(), run_rows([0.2, 0.4]))
    save_figure(figure, tmp_path / f"c{ending}")
    assert (tmp_path / f"c{ending}").read_bytes().startswith(starts[ending])
    assert [path.name for path in tmp_path.iterdir()] == [f"c{ending}"]


@pytest.mark.parametrize("name", ["curve.bmp", "curve"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"use \.pdf, \.png, \.svg"):
        save_figure(Figure(), tmp_path / name)


def test_flatten_joins_names_with_dots() -> None:
    assert dict(flatten({"a": 1, "b": {"c": {"d": 2}, "e": 3}})) == {"a": 1, "b.c.d": 2, "b.e": 3}


def test_the_command_draws_into_the_run_and_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "quick__s1__x", run_rows([0.2, 0.4]), {"seed": 1})
    assert main(["plot", str(path), "--csv", str(tmp_path / "m.csv")]) == 0
    assert capsys.readouterr().out == f"{path / 'curve.png'}\n{tmp_path / 'm.csv'}\n"
    assert (path / "curve.png").stat().st_size > 5000
    with open(tmp_path / "m.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["run"] for row in table] == ["quick__s1__x"] * 3
    assert [row["evaluation.greedy.win_rate"] for row in table] == ["0.2", "", "0.4"]


def test_every_run_of_a_group_is_drawn(tmp_path: Path) -> None:
    rows = {tmp_path / "a__s1": run_rows([0.2, 0.4]), tmp_path / "a__s2": run_rows([0.4, 0.8]), tmp_path / "b": []}
    a1, a2, b = rows
    left, right = curves([[a1, a2], [b]], rows).axes
    assert lines(left)["against greedy"][:, 1] == pytest.approx([0.3, 0.6])
    assert (left.get_title(), right.get_title()) == ("a", "b")


def test_the_command_draws_several_experiments_side_by_side(tmp_path: Path) -> None:
    paths = [
        write_run(tmp_path / f"{name}__s{seed}__x", run_rows([0.2, 0.4 + seed / 10]), {"seed": seed, "name": name})
        for name in ("a", "b")
        for seed in (1, 2)
    ]
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    assert main(["plot", *map(str, paths[:2]), "-o", str(one)]) == 0
    assert main(["plot", *map(str, paths), "-o", str(two)]) == 0
    assert png_width(two) > 1.5 * png_width(one)
    assert main(["plot", str(paths[0]), "--kind", "panel", "-o", str(one)]) == 0
    assert main(["plot", *map(str, paths), "--kind", "panel", "-o", str(one)]) == 2
    before = one.read_bytes()
    assert main(["plot", *map(str, paths), "--kind", "compare", "-o", str(one)]) == 0
    assert one.read_bytes() != before
    other = write_run(tmp_path / "elsewhere" / "a__s1__x", run_rows([0.2]), {"seed": 1, "name": "c"})
    assert main(["plot", *map(str, paths), str(other), "--kind", "compare", "-o", str(one)]) == 2


def png_width(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[16:20], "big")


def test_what_cannot_be_drawn_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(tmp_path / "young", [{"update": 1, "games": 5}], {"seed": 1})
    assert main(["plot", str(path)]) == 2
    assert "no evaluation in its 1 rows of metrics yet" in capsys.readouterr().err
    assert main(["plot", str(tmp_path / "missing")]) == 2
    assert "metrics.jsonl: no such file" in capsys.readouterr().err
    assert not (path / "curve.png").exists()


@pytest.mark.parametrize(
    "row",
    [
        {"games": 1, "evaluation": None},
        {"games": 1, "evaluation": {"random": 3}},
        {"games": 1, "evaluation": {"random": {"win_rate": 1.0, "low": "a", "high": 1.0}}},
        {"games": 1, "evaluation": {"random": {"win_rate": 1.0}}},
        {"evaluation": {"random": result(0.5)}},
    ],
)
def test_a_row_of_another_form_is_named(tmp_path: Path, row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(tmp_path / "odd", [*run_rows([0.5]), row], {"seed": 1})
    number = 1 + len(run_rows([0.5]))
    for more in ([], ["--kind", "panel"]):
        assert main(["plot", str(path), *more]) == 2
        said = capsys.readouterr().err
        assert f"metrics.jsonl, line {number}: wanted a number of games" in said and said.count("\n") == 1


def test_a_run_whose_name_is_no_utf_8_is_drawn(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run\udcff", run_rows([0.5]), {"seed": 1})
    assert main(["plot", str(path), "--csv", str(tmp_path / "all.csv")]) == 0
    assert b"\nrun\xff," in (tmp_path / "all.csv").read_bytes()


def test_the_metrics_are_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(tmp_path / "run", run_rows([0.5]), {"seed": 1})
    before = (path / "metrics.jsonl").read_bytes()
    assert main(["plot", str(path), "--csv", str(path / "metrics.jsonl")]) == 2
    assert "that is what the runs are read from" in capsys.readouterr().err
    assert (path / "metrics.jsonl").read_bytes() == before


def test_importing_the_module_does_not_import_matplotlib() -> None:
    check = "import sys, experiments.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_drills_are_drawn_and_a_line_stands_where_games_begin() -> None:
    stats = {"result": 0.1, "entropy": 2.0, "gradient_norm": 0.7}
    drills = [{"games": games, "drill": stats, "evaluation": {"greedy": result(0.3)}} for games in (100, 200)]
    games = [{"games": 300, "loss": 0.1, "drill": stats, "evaluation": {"greedy": result(0.5)}}]
    axes = training_panel(Figure(), [*drills, *games])
    assert lines(axes[1, 0])["in drills"].tolist() == [[100, 2.0], [200, 2.0], [300, 2.0]]
    assert lines(axes[1, 1])["in drills"][:, 1].tolist() == [0.7, 0.7, 0.7]
    for ax in axes.ravel():
        assert [line for line in ax.get_lines() if list(line.get_xdata()) == [200, 200]], "no line where games begin"
    without = learning_curve(Figure().subplots(), run_rows([0.2, 0.4]))
    assert not [line for line in without.get_lines() if len(set(line.get_xdata())) == 1]


def test_the_last_evaluation_is_charted_by_colour() -> None:
    rows = run_rows([0.2, 0.4])
    rows[-1]["evaluation"]["greedy"]["as_black"] = {"games": 50, "win_rate": 0.5, "low": 0.4, "high": 0.7}
    rows[-1]["evaluation"]["greedy"]["as_white"] = {"games": 0, "win_rate": 0.0, "low": 0.0, "high": 1.0}
    ax = opponent_chart(Figure().subplots(), rows)
    points = {bars.get_label(): bars[0].get_xydata().tolist() for bars in ax.containers}
    assert points == {"all games": [[0.4, 0], [pytest.approx(0.65), 1]], "as black": [[0.5, 0.2]], "as white": []}
    (arm,) = ax.containers[1][2][0].get_segments()
    assert arm[:, 0] == pytest.approx([0.4, 0.7])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["against greedy", "against random"]
    assert ax.get_title() == "after 200 training games"


def test_updates_are_drawn_over_the_weights() -> None:
    ax = change_curve(Figure().subplots(), [{"games": 5, "parameter_change": 0.02}, {"games": 9, "entropy": 1.0}])
    assert lines(ax)["change"].tolist() == [[5, 0.02]]
    assert ax.get_ylabel() == "update / weights"


@pytest.mark.parametrize("kind", ["opponents", "tactics", "entropy", "gradients", "length"])
def test_every_kind_of_a_run_is_drawn_or_says_what_is_lacking(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "run", run_rows([0.2, 0.4]), {"seed": 1})
    young = write_run(tmp_path / "young", [{"games": 5, "entropy_weight": 0.1}], {"seed": 1})
    assert main(["plot", str(path), "--kind", kind]) == 0
    assert capsys.readouterr().out == f"{path / kind}.png\n"
    assert main(["plot", str(young), "--kind", kind]) == 2
    assert f"{young}: no {draw.OF_RUNS[kind].needs} in its 1 rows" in capsys.readouterr().err
    assert main(["plot", str(path), str(path), "--kind", kind]) == 2
    assert f"--kind {kind} shows one run; 2 were named" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "value"), [("entropy", "much"), ("game_length", None), ("parameter_change", [1])])
def test_a_value_that_is_no_number_is_named(
    name: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "odd", [*run_rows([0.5]), {"games": 9, name: value}], {"seed": 1})
    assert main(["plot", str(path), "--kind", "panel"]) == 2
    assert f"metrics.jsonl, line 2: wanted a number of {name}, found {value!r}" in capsys.readouterr().err


def test_a_live_picture_waits_follows_and_ends_with_ctrl_c(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, *rest = run_rows([0.2, 0.4])
    path = write_run(tmp_path / "run", [{"games": 0}], {"seed": 1})
    later = [[first], rest]
    seen: list[bool] = []

    def time_passes(seconds: float) -> None:
        seen.append((path / "curve.png").exists())
        if not later:
            raise KeyboardInterrupt
        with (path / "metrics.jsonl").open("a") as file:
            file.write("".join(json.dumps(row) + "\n" for row in later.pop(0)))

    monkeypatch.setattr(draw.time, "sleep", time_passes)
    assert main(["plot", str(path), "--live"]) == 130
    said = capsys.readouterr().out.splitlines()
    assert said == [f"waiting: {path}: no evaluation in its 1 rows of metrics yet", *2 * [f"{path / 'curve.png'}"]]
    assert seen == [False, True, True]  # nothing yet; after the first evaluation; after the second
