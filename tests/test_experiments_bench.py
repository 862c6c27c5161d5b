"""gomoku bench: turns are fair, ratios are what they say, and table, JSON and picture tell the same."""

import json
from pathlib import Path

import numpy as np
import pytest

from experiments import bench
from experiments.__main__ import main
from experiments.bench import ONE_THREAD, report, table
from experiments.speed import contests
from experiments.speed.contests import OURS, READABLE, TORCH, Contests, Line, forward_flop, held_after, peak_memory
from experiments.speed.race import Race, race
from nn import PolicyNet


def test_contenders_take_turns() -> None:
    order: list[str] = []
    contenders = {name: (lambda name=name: order.append(name)) for name in "abc"}
    found = race("letters", "letter", 2, contenders, rounds=4, seconds=0)
    assert "".join(order[-12:]) == "abc" * 4
    assert {name: len(times) for name, times in found.seconds.items()} == {"a": 4, "b": 4, "c": 4}


def test_times_are_per_unit_and_more_work_takes_longer() -> None:
    x = np.ones(1 << 18)
    contenders = {"ten": lambda: [x.sum() for _ in range(10)], "one": x.sum}
    found = race("sums", "sum", 10, contenders, rounds=5, seconds=0.005)
    assert 3 < found.ratio("ten", to="one") < 30


def test_ratio_is_the_median_of_the_rounds_ratios() -> None:
    found = Race("what", "unit", {OURS: [1.0, 2.0, 30.0], TORCH: [2.0, 2.0, 10.0]})
    assert found.ratio(OURS, to=TORCH) == 1.0 and found.median(OURS) == 2.0


def test_flop_of_the_default_net() -> None:
    by_hand = 225 * (2 * 18 * 16 + 2 * 144 * 32) + 2 * 7200 * 256 + 2 * 256 * 225
    assert forward_flop(PolicyNet(rng=np.random.default_rng(0))) == by_hand


def test_table_and_json_tell_the_same() -> None:
    found = Race("forward, batch 8", "position", {OURS: [1e-4] * 3, TORCH: [2e-4] * 3, READABLE: [4e-4] * 3})
    lines = [Line("layers", found, flop=2e6, note="a note", peak=3_000_000)]
    row = table(lines, roof=4e10).splitlines()[1]
    assert " ".join(row.split()) == "forward, batch 8 100.0 (100.0 .. 100.0) 0.50 0.25 50% 3.0 a note"
    told = json.loads(json.dumps(report(lines, 4e10)))["lines"][0]
    assert (told["ours_over_pytorch"], told["ours_over_readable"], told["fraction_of_roof"]) == (0.5, 0.25, 0.5)
    assert told["peak_bytes"] == 3_000_000


def test_peak_memory_counts_what_is_held_at_once() -> None:
    def work() -> None:
        for _ in range(3):
            np.zeros(1_000_000)

    assert 8e6 <= peak_memory(work) < 12e6


def test_what_is_held_after_the_first_round_is_growth() -> None:
    kept: list[np.ndarray] = []
    assert 8e6 <= held_after(lambda: kept.append(np.zeros(250_000)), 4) < 9e6
    assert held_after(lambda: np.zeros(250_000), 4) < 1e5


def test_every_part_runs_small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"GAMES": 512, "PLIES": 1, "UNTIL_NEW": 1, "SIZES": (5,), "BATCHES": (1, 3)}.items():
        monkeypatch.setattr(contests, name, value)
    monkeypatch.setattr(contests, "race", lambda *args: race(*args[:4], rounds=3, seconds=0))
    every = Contests(3, with_torch=False)
    found = [line for part in bench.PARTS for line in getattr(every, part)()]
    assert {line.part for line in found} == set(bench.PARTS)
    assert all(line.race.median(OURS) > 0 for line in found)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(bench, "find_spec", lambda name: None)
    written, picture = tmp_path / "b.json", tmp_path / "b.png"
    assert main(["bench", "greedy", "--rounds", "3", "--json", str(written), "--picture", str(picture)]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("PyTorch is not installed") and "boards/s" in out
    assert json.loads(written.read_text())["threads"] == 1 and picture.read_bytes()[1:4] == b"PNG"
    assert main(["bench", "greedy", "--rounds", "2"]) == 2
    assert main(["bench", "loop", "--json", str(written)]) == 2
    assert main(["bench", "greedy", "--picture", str(tmp_path / "b.gif")]) == 2
