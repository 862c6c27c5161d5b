"""Rules being edited: what is in the file at every moment, what the running player plays by, and the match."""

import json
import time
from pathlib import Path

import pytest

from experiments.errors import UserError
from experiments.faces import rule_desk
from experiments.faces.rule_desk import RuleDesk, rules_player, rules_text
from rl.agents import make_agent
from rl.search.account import RULE_IDS
from rl.search.rule_file import RuleFileError, default_rules, load_rules


def test_rules_written_are_the_rules_read(tmp_path: Path) -> None:
    (tmp_path / "rules.json").write_text(rules_text(default_rules()))
    assert load_rules(tmp_path / "rules.json") == default_rules()


def test_a_change_is_in_the_file_and_in_the_running_player_at_once(tmp_path: Path) -> None:
    desk = RuleDesk(tmp_path / "mine.json")
    assert desk.rules == desk.old == load_rules(desk.path) == default_rules()
    player = make_agent(f"alphabeta,rules={desk.path}")
    for rule_id in RULE_IDS:
        assert desk.change(rule_id, weight=0.5)
        assert desk.change(rule_id, enabled=False)
        assert not desk.change(rule_id, weight=0.5, enabled=False)
        assert (desk.rule(rule_id).weight, desk.rule(rule_id).enabled) == (0.5, False)
        assert player.rules() == desk.rules == load_rules(desk.path)  # type: ignore[attr-defined]
    assert desk.old == default_rules()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]  # no temporary file is left


def test_what_somebody_else_has_written_stays(tmp_path: Path) -> None:
    desk = RuleDesk(tmp_path / "mine.json")
    data = json.loads(desk.path.read_text())
    data["rules"][2]["base_score"] = 777
    desk.path.write_text(json.dumps(data))
    assert desk.change("centre", enabled=False)
    assert desk.rule("four").base_score == 777 == load_rules(desk.path).rules[2].base_score


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan"), float("inf")])
def test_a_weight_out_of_range_changes_nothing(weight: float, tmp_path: Path) -> None:
    desk = RuleDesk(tmp_path / "mine.json")
    before = desk.path.read_bytes()
    with pytest.raises(UserError, match="use a number from 0 to 1"):
        desk.change("four", weight=weight)
    assert desk.path.read_bytes() == before and desk.rules == desk.old


def test_a_spoilt_file_is_not_written_over(tmp_path: Path) -> None:
    desk = RuleDesk(tmp_path / "mine.json")
    desk.path.write_text("{")
    with pytest.raises(RuleFileError, match="broken JSON"):
        desk.change("four", enabled=False)
    assert desk.path.read_text() == "{" and desk.rules == desk.old
    with pytest.raises(RuleFileError):
        RuleDesk(desk.path)


@pytest.mark.parametrize(
    ("spec", "path", "wanted"),
    [
        ("alphabeta", "r.json", ("r.json", "alphabeta,rules=r.json")),
        ("alphabeta:time=0.3", "r.json", ("r.json", "alphabeta:time=0.3,rules=r.json")),
        ("threat", "r.json", ("r.json", "alphabeta,rules=r.json")),
        ("alphabeta,nodes=9,rules=own.json", "r.json", ("own.json", "alphabeta,nodes=9,rules=own.json")),
        ("alphabeta:rules=own.json", None, ("own.json", "alphabeta:rules=own.json")),
        ("alphabeta", None, (None, "alphabeta")),
    ],
)
def test_which_file_a_player_plays_by(spec: str, path: str | None, wanted: tuple[str | None, str]) -> None:
    found, said = rules_player(spec, None if path is None else Path(path))
    assert (None if found is None else str(found), said) == wanted


def test_a_path_that_no_spec_can_name() -> None:
    with pytest.raises(UserError, match="without one"):
        rules_player("alphabeta", Path("a,b.json"))


def test_the_match_of_new_against_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_desk, "PLIES", 8)
    desk = RuleDesk(tmp_path / "mine.json")
    with pytest.raises(UserError, match="change one first"):
        desk.match()
    for rule_id in ("open_four", "four", "open_three"):
        desk.change(rule_id, enabled=False)
    match = desk.match(games=2, nodes=1)
    match.join(120)
    assert match.is_over and match.text.startswith("2 of 2 games: ") and "95 % interval" in match.text
    won, drawn, lost = (int(part.split()[0]) for part in match.text.partition(": ")[2].partition(";")[0].split(", "))
    assert won + drawn + lost == 2


def test_a_match_that_is_stopped_or_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object) -> object:
        while True:
            time.sleep(0.01)
            yield rule_desk_result

    from rl.arena import result_of

    rule_desk_result = result_of([])
    desk = RuleDesk(tmp_path / "mine.json")
    desk.change("four", weight=0.5)
    monkeypatch.setattr(rule_desk, "play_match", endless)
    match = desk.match()
    assert not match.is_over
    match.stop()
    match.join(10)
    assert match.is_over

    def broken(*_: object) -> object:
        raise RuntimeError("no more memory")

    monkeypatch.setattr(rule_desk, "play_match", broken)
    match = desk.match()
    match.join(10)
    assert match.text == "the match broke off: no more memory"
