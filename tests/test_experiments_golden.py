"""Golden files are read strictly, and what is compared is counted."""

from pathlib import Path

import numpy as np
import pytest

from experiments.java.golden import Damaged, Entry, checksum, doubles, read_golden, to_hex
from experiments.java.tally import Row


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}', "[1e5, 1E-5]", "[0.30000000000000001]", "[-0]", "[NaN]", "[Infinity]", "[01]", "[1,]", "",
        "\xff", "[1] 2", "[" * 100000, "[123456789012345678901234567890]", "{'a': 1}", "[tru]",
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_what_is_not_plain_json_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(Damaged, match="wanted"):
        read_golden(tmp_path / "x.json")


def test_decimals_of_python_and_of_java_are_both_shortest(tmp_path: Path) -> None:
    for text in ("[1.0E300, 4.9E-324, -7.8E-18]", "[1e+300, 5e-324, -7.8e-18]", "[0.1, -0.0, 2.0]"):
        (tmp_path / "x.json").write_text(text)
        assert len(read_golden(tmp_path / "x.json").entries()) == 3


def test_hex_and_decimal_must_agree() -> None:
    def record(digits: object, decimal: object) -> dict[str, Entry]:
        return {"x_hex": Entry("x_hex", [digits]), "x_dec": Entry("x_dec", [decimal])}

    assert doubles(record("3ff0000000000000", 1.0), "x").tolist() == [1.0]
    assert np.isnan(doubles(record("7ff8000000000000", "NaN"), "x")).all()
    for digits, decimal in [
        ("3ff0000000000000", 1), ("3ff0000000000000", -1.0), ("3FF0000000000000", 1.0), ("3ff", 1.0), (1.0, 1.0),
        ("7ff8000000000001", "NaN"), ("7ff0000000000000", "NaN"), ("7ff0000000000000", "infinity"),
        ("8000000000000000", 0.0), ("3ff0000000000000", True), ("3ff0000000000000", None),
    ]:  # fmt: skip
        with pytest.raises(Damaged):
            doubles(record(digits, decimal), "x")


def test_hex_and_checksum_of_any_nan_are_those_of_the_one() -> None:
    other = np.array([0xFFF8000000000123], np.uint64).view(np.float64)
    assert to_hex(float(other[0])) == to_hex(float("nan")) == "7ff8000000000000"
    assert checksum(other) == checksum(np.array([np.nan])) != checksum(np.array([1.0]))
    assert to_hex(-0.0) == "8000000000000000"


def test_rows_count_and_compare() -> None:
    row = Row("r")
    a = np.array([1.0, 0.0, np.nan, np.inf])
    row.numbers("a", a, a.copy())
    assert (row.compared, row.mismatches, row.largest) == (4, 0, 0)
    row.numbers("b", a, np.array([1 + 2**-52, 0.0, np.nan, np.inf]), tolerance=1e-15)
    assert (row.mismatches, row.largest) == (0, 2**-52)
    for i, other in enumerate([1 + 1e-14, -0.0, 1.0, -np.inf]):
        changed = a.copy()
        changed[i] = other
        row = Row("r")
        row.numbers("c", a, changed, tolerance=1e-15)
        assert row.mismatches == 1 and row.first.startswith(f"c[{i}]: wanted ")
    row = Row("r")
    row.numbers("d", a, a[:3])
    assert row.mismatches == 1
    for value, got in [(1, True), (True, 1), (1, 2), (None, 0), ("1", 1), ([1], [1, 2]), ([1, 2], [1, 3]), (1.0, 1)]:
        row = Row("r")
        row.same(Entry("e", value), got)
        assert row.mismatches == 1, (value, got)
    row.same(Entry("e", [1, [2, "x"], None]), [1, [2, "x"], None])
    assert row.mismatches == 1
