"""The file of rules: what it holds, every fault told in one line with its place, and read again while it changes."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rl.search.account import RULE_IDS
from rl.search.rule_file import DEFAULT, RuleFile, RuleFileError, default_rules, load_rules

Change = Callable[[dict[str, Any]], Any]


def rules_with(change: Change) -> str:
    """The default file as text, after a change to what it holds."""
    value = json.loads(DEFAULT.read_text())
    change(value)
    return json.dumps(value)


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_default_rules_are_the_seven_and_a_five() -> None:
    scores = {rule.id: rule.base_score for rule in default_rules().rules}
    assert scores == {
        "five": 100000, "open_four": 10000, "four": 1000, "open_three": 100, "closed_three": 10,
        "double_open_two": 50, "split_two": 5, "centre": 10,
    }  # fmt: skip
    assert all(rule.enabled and rule.weight == 1 for rule in default_rules().rules)


def test_rules_may_stand_in_any_order_and_the_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    text = rules_with(lambda value: value["rules"].reverse())
    rules = load_rules(put(tmp_path / "r.json", b"\xef\xbb\xbf" + text.encode()))
    assert tuple(rule.id for rule in rules.rules) == RULE_IDS
    assert rules == default_rules()


FAULTS: list[tuple[Change, str]] = [
    (lambda v: v["rules"].append(v["rules"][2]), 'rule 9: the id "four" stands already at rule 3'),
    (lambda v: v["rules"][3].update(weight=1.2), 'rule 4 ("open_three"): weight 1.2; use a number from 0 to 1'),
    (lambda v: v["rules"][3].update(weight=-0.1), 'rule 4 ("open_three"): weight -0.1'),
    (lambda v: v["rules"][3].update(weight="1"), 'rule 4 ("open_three"): weight "1"'),
    (lambda v: v["rules"][3].update(weight=True), 'rule 4 ("open_three"): weight true'),
    (lambda v: v["rules"][3].update(base_score=-5), "base_score -5; use a number from 0 to 1,000,000"),
    (lambda v: v["rules"][3].update(base_score=None), "base_score null"),
    (lambda v: v["rules"][3].update(enabled=1), 'rule 4 ("open_three"): enabled 1; use true or false'),
    (lambda v: v["rules"][3].update(is_immediate="yes"), 'is_immediate "yes"; use true or false'),
    (lambda v: v["rules"][3].update(name=" "), 'rule 4 ("open_three"): name " "; use a text'),
    (lambda v: v["rules"][3].update(id="open_thre"), 'rule 4: unknown id "open_thre"; did you mean "open_three"?'),
    (lambda v: v["rules"][3].update(id=["four"]), "rule 4: unknown id"),
    (lambda v: v["rules"][3].update(wieght=1), 'rule 4 ("open_three"): unknown key "wieght"; did you mean "weight"?'),
    (lambda v: v["rules"][3].pop("weight"), 'rule 4 ("open_three"): the key "weight" is missing'),
    (lambda v: v["rules"].pop(0), 'the rule "five" is missing'),
    (lambda v: v["rules"].append(7), "rule 9: 7 is no object"),
    (lambda v: v.update(rules={}), '"rules" is no list'),
    (lambda v: v.update(decai={}), 'the file: unknown key "decai"; did you mean "decay"?'),
    (lambda v: v.pop("decay"), 'the file: the key "decay" is missing'),
    (lambda v: v["decay"].update(start_move=200), "decay: start_move 200 comes after end_move 100"),
    (lambda v: v["decay"].update(start_move=1.5), "decay: start_move 1.5; use a whole number"),
    (lambda v: v["decay"].update(min_weight=2), "decay: min_weight 2; use a number from 0 to 1"),
    (lambda v: v["decay"].update(enabled=None), "decay: enabled null; use true or false"),
]


@pytest.mark.parametrize(("change", "said"), FAULTS, ids=[said for _, said in FAULTS])
def test_a_fault_is_told_in_one_line_with_its_place(tmp_path: Path, change: Change, said: str) -> None:
    path = put(tmp_path / "rules.json", rules_with(change))
    with pytest.raises(RuleFileError) as caught:
        load_rules(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "line 1, column 1: broken JSON"),
        (b'{"rules": [\n  {"id": "five",}\n]}', "line 2, column 17: broken JSON"),
        (DEFAULT.read_bytes()[:700], "broken JSON"),
        (b"[]", "the file: [] is no object"),
        (b"\xff\xfe", "byte 0 is no UTF-8"),
        (b'{"rules": [], "rules": []}', 'the key "rules" stands twice'),
        (b'{"rules": [{"id": "five", "weight": 1, "weight": 0}]}', 'the key "weight" of the rule "five" stands twice'),
        (DEFAULT.read_bytes().replace(b"100000", b"NaN"), "NaN is no number"),
        (DEFAULT.read_bytes().replace(b"100000", b"1e999"), 'rule 1 ("five"): base_score Infinity'),
        (DEFAULT.read_bytes().replace(b"100000", b"9" * 5000), "a number that cannot be read"),
        (b"[" * 200_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_told_with_line_and_column(tmp_path: Path, text: bytes, said: str) -> None:
    with pytest.raises(RuleFileError) as caught:
        load_rules(put(tmp_path / "rules.json", text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_or_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RuleFileError, match="nowhere.json: cannot be read: No such file"):
        RuleFile(tmp_path / "nowhere.json")
    with pytest.raises(RuleFileError, match="no file; name a JSON file"):
        load_rules(tmp_path)


HALF = rules_with(lambda value: value["rules"][3].update(weight=0.5))


def test_a_change_is_taken_up_and_no_change_keeps_the_very_rules(tmp_path: Path) -> None:
    file = RuleFile(put(tmp_path / "r.json", DEFAULT.read_bytes()))
    before = file.current()
    assert before == default_rules()
    assert file.current() is before
    put(file.path, json.dumps(json.loads(DEFAULT.read_text()), indent=4))  # other spaces, the same rules
    assert file.current() is before
    put(file.path, HALF)
    assert file.current().worths(0)["open_three"] == 50
    assert file.error is None


def test_a_change_of_the_same_length_at_the_same_time_is_seen(tmp_path: Path) -> None:
    file = RuleFile(put(tmp_path / "r.json", DEFAULT.read_bytes()))
    stamp = os.stat(file.path)
    put(file.path, DEFAULT.read_bytes().replace(b'"base_score": 1000,', b'"base_score": 2000,'))
    os.utime(file.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert file.current().worths(0)["four"] == 2000


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (rules_with(lambda value: value["rules"].append(value["rules"][0])), "stands already at rule 1"),
        (rules_with(lambda value: value["rules"][3].update(weight=1.2)), "weight 1.2"),
        (rules_with(lambda value: value["rules"][0].update(id="fife")), 'did you mean "five"'),
        (HALF[: len(HALF) // 2], "broken JSON"),
        ("", "line 1, column 1: broken JSON"),
        (None, "cannot be read: No such file"),
    ],
    ids=["repeated id", "weight", "unknown id", "half written", "empty", "vanished"],
)
def test_a_bad_file_leaves_the_old_rules_in_force_and_is_told_once(tmp_path: Path, bad: str | None, said: str) -> None:
    told: list[str] = []
    file = RuleFile(put(tmp_path / "r.json", HALF), told.append)
    before = file.current()
    file.path.unlink() if bad is None else put(file.path, bad)
    for _ in range(3):
        assert file.current() is before
    assert file.error is not None
    assert said in file.error
    assert [said in line and line.endswith("the rules read before stay in force") for line in told] == [True]
    put(file.path, HALF)  # the very bytes it had before
    assert file.current() is before
    assert file.error is None
    assert told[1:] == [f"{file.path}: in force"]
    put(file.path, DEFAULT.read_bytes())
    assert file.current() == default_rules()
    assert len(told) == 2
