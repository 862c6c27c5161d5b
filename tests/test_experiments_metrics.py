"""The metrics log: every row whole, no NaN, and a resumed run continues exactly where its checkpoint was."""

import json
import math
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.metrics import MetricsError, MetricsLog, read_metrics


def write_rows(path: Path, count: int) -> None:
    with MetricsLog(path) as log:
        for update in range(1, count + 1):
            log.append({"update": update, "loss": update / 3})


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [{"update": 1, "evaluation": {"greedy": {"win_rate": 0.1}}}, {"update": 2, "loss": -1e-300}]
    with MetricsLog(tmp_path / "m") as log:
        for row in rows:
            log.append(row)
        assert log.rows == 2
        assert read_metrics(tmp_path / "m") == rows  # already on the disk
    assert read_metrics(str(tmp_path / "m")) == rows


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_keeps_every_bit(value: float) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        with MetricsLog(Path(folder) / "m") as log:
            log.append({"x": value, "x64": np.float64(value)})
        (row,) = read_metrics(Path(folder) / "m")
    assert row["x"].hex() == row["x64"].hex() == value.hex()


def test_numpy_scalars_become_numbers(tmp_path: Path) -> None:
    with MetricsLog(tmp_path / "m") as log:
        log.append({"i": np.int64(3), "f": np.float32(0.1), "b": np.True_})
    (row,) = read_metrics(tmp_path / "m")
    assert row == {"i": 3, "f": float(np.float32(0.1)), "b": True}
    with MetricsLog(tmp_path / "m") as log, pytest.raises(TypeError, match="not ndarray"):
        log.append({"a": np.zeros(2)})


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, np.float32("nan"), np.float64("inf")])
def test_nan_is_refused_by_name_and_nothing_is_written(tmp_path: Path, bad: float) -> None:
    write_rows(tmp_path / "m", 2)
    with MetricsLog(tmp_path / "m", rows=2) as log:
        with pytest.raises(MetricsError, match=r"row 3 not written: evaluation\.greedy\[1\] is -?(nan|inf)"):
            log.append({"update": 3, "evaluation": {"greedy": [0.5, bad]}})
        log.append({"update": 3})
    assert [row["update"] for row in read_metrics(tmp_path / "m")] == [1, 2, 3]


def test_resuming_keeps_the_checkpoints_rows_and_drops_the_rest(tmp_path: Path) -> None:
    write_rows(tmp_path / "straight", 6)
    write_rows(tmp_path / "m", 5)
    with open(tmp_path / "m", "a") as file:
        file.write('{"update": 6, "lo')  # torn by the kill
    with MetricsLog(tmp_path / "m", rows=4) as log:
        for update in (5, 6):
            log.append({"update": update, "loss": update / 3})
    assert (tmp_path / "m").read_bytes() == (tmp_path / "straight").read_bytes()


def test_starting_anew_empties_the_file(tmp_path: Path) -> None:
    write_rows(tmp_path / "m", 3)
    MetricsLog(tmp_path / "m").close()
    assert read_metrics(tmp_path / "m") == []


@pytest.mark.parametrize("rows", [3, 4])
def test_fewer_rows_than_the_checkpoint_knows_is_an_error_that_changes_nothing(tmp_path: Path, rows: int) -> None:
    (tmp_path / "m").write_text('{"update": 1}\n{"update": 2}\n{"upda')
    before = (tmp_path / "m").read_bytes()
    with pytest.raises(MetricsError, match=f"holds 2 whole rows .* after {rows}"):
        MetricsLog(tmp_path / "m", rows=rows)
    assert (tmp_path / "m").read_bytes() == before
    with pytest.raises(MetricsError, match="holds 0 whole rows"):
        MetricsLog(tmp_path / "missing", rows=rows)
    assert not (tmp_path / "missing").exists()


def test_a_torn_last_line_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "m").write_text('{"update": 1}\n{"update": 2}')
    assert read_metrics(tmp_path / "m") == [{"update": 1}]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not one JSON"),
        ("[1]", "found list"),
        ('{"a": NaN}', "NaN is not JSON"),
        ("", "not one JSON"),
        ("\xff", "not one JSON"),
        ("[" * 100_000, "not one JSON"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "m").write_bytes(b'{"update": 1}\n' + line.encode("latin-1") + b'\n{"update": 3}\n')
    with pytest.raises(MetricsError, match=f"m, line 2: .*{complaint}"):
        read_metrics(tmp_path / "m")
    with pytest.raises(MetricsError, match="line 2"):
        MetricsLog(tmp_path / "m", rows=3)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricsError, match=r"missing\.jsonl: no such file"):
        read_metrics(tmp_path / "missing.jsonl")


WRITE = """
import pathlib, sys, itertools
from experiments.metrics import MetricsLog
log = MetricsLog(pathlib.Path(sys.argv[1]))
for update in itertools.count(1):
    log.append({"update": update, "text": "x" * 5000})
    print(update, flush=True)
"""


def test_a_killed_process_leaves_every_row_it_reported(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITE, str(tmp_path / "m")], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        reported = [int(writer.stdout.readline()) for _ in range(20)]
        writer.send_signal(signal.SIGKILL)
        reported += [int(line) for line in writer.stdout.read().split()]
    rows = read_metrics(tmp_path / "m")
    assert len(rows) - len(reported) in (0, 1)
    assert [row["update"] for row in rows] == list(range(1, len(rows) + 1))
    assert all(json.loads(json.dumps(row)) == row for row in rows)
