"""`gomoku rules`: what each action says, what it refuses in one line, and what a trial of new rules measures."""

import dataclasses
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from env import BLACK, WHITE, Board
from experiments.__main__ import main
from experiments.speed.quiet_trials import Look, look, looks_text, quiet_board
from experiments.strength import rule_trials
from experiments.strength.rule_trials import NEW, OLD, Effort, Rival, bench_text, play_match, verdict
from rl.arena import Tally
from rl.search.rule_file import DEFAULT, default_rules, load_rules
from rl.search.threat_board import ThreatBoard


def edited(path: Path, rule_id: str, **fields: object) -> Path:
    """The default rules with some fields of one rule changed, in a file."""
    value = json.loads(DEFAULT.read_text())
    next(rule for rule in value["rules"] if rule["id"] == rule_id).update(fields)
    path.write_text(json.dumps(value))
    return path


def test_default_prints_the_file_that_comes_along(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "default"]) == 0
    mine = tmp_path / "mine.json"
    mine.write_text(capsys.readouterr().out)
    assert load_rules(mine) == default_rules()


def test_check_says_what_each_rule_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = edited(tmp_path / "r.json", "closed_three", weight=0.5)
    edited(tmp_path / "off.json", "four", enabled=False)
    assert main(["rules", "check", str(path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{path}: 8 rules, nothing wrong\n")
    assert re.search(r"^closed_three +10 +0\.5 +1\.5 +not immediate: 0\.3 of it$", said, re.M)
    assert re.search(r"^open_four +10,000 +1 +10,000$", said, re.M)
    assert main(["rules", "check", str(tmp_path / "off.json")]) == 0
    assert re.search(r"^four +1,000 +1 +0 +not enabled$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize("action", ["check", "bench", "compare", "explain"])
def test_a_bad_file_is_one_line_with_the_place_and_exit_2(
    action: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = str(edited(tmp_path / "bad.json", "open_three", weight=1.2))
    words = {"compare": ["default", bad], "explain": ["-", "--rules", bad]}.get(action, [bad])
    assert main(["rules", action, *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f'gomoku: {bad}: rule 4 ("open_three"): weight 1.2; use a number from 0 to 1\n'


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench", "default", "--openings", "0"], "--openings 0: name a number from 1"),
        (["bench", "default", "--time", "nan"], "--time nan: use a number of seconds above 0"),
        (["bench", "default", "--time", "0"], "--time 0: use a number of seconds above 0"),
        (["bench", "default", "--depth", "0"], "--depth 0: use 1 to"),
        (["bench", "default", "--opening-plies", "-1"], "--opening-plies -1"),
        (["compare", "default", "default", "--games", "3"], "--games 3: games come in pairs"),
        (["compare", "default", "default", "--nodes", "0"], "--nodes 0"),
        (["compare", "default", "default", "--seed", "-1"], "--seed -1"),
        (["compare", "default", "default"], "hold the same rules"),
        (["check", "nowhere.json"], "nowhere.json: cannot be read: No such file"),
        (["explain", "h8h8"], "move 2 of the position, h8"),
        (["weigh"], "invalid choice: 'weigh'"),
        ([], "required: ACTION"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_2(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", *words]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_explain_draws_the_board_and_says_which_rule_which_cells_how_much(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "explain", "h8h9i9g9i8i10j8g8k8"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[7] == " 8   .  .  .  .  .  . O2 X1 X1 X1 X1  .  .  .  ."
    assert lines[15] == "     a  b  c  d  e  f  g  h  i  j  k  l  m  n  o"
    assert lines[16] == "white (O) to move; + is good for that side"
    rows = [line.split() for line in lines[18:]]
    assert rows[0] == ["1", "four", "black", "h8", "i8", "j8", "k8", "-1,000.00"]
    assert rows[1] == ["2", "open_three", "white", "i10", "h9", "g8", "+100.00"]
    assert ["4", "double_open_two", "black", "i9", "j8", "-7.50"] in rows
    assert rows[-1][:2] == ["in", "all"]
    amounts = [float(row[-1].replace(",", "")) for row in rows]
    assert amounts[-1] == pytest.approx(sum(amounts[:-1]), abs=0.03)


def test_explain_takes_other_rules_and_a_position_without_stones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = edited(tmp_path / "r.json", "four", weight=0.5)
    assert main(["rules", "explain", "h8h9i9g9i8i10j8g8k8", "--rules", str(path)]) == 0
    assert "-500.00" in capsys.readouterr().out
    assert main(["rules", "explain", "-", "--size", "9"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["in", "all", "+0.00"]


def test_bench_times_each_opening(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "bench", "default", "--openings", "3", "--depth", "1", "--time", "5"]) == 0
    said = capsys.readouterr().out
    assert "default: alphabeta, 5 s a move or depth 1, 4 random opening plies, seed 1" in said
    assert re.search(r"^openings +3$", said, re.M)
    assert re.search(r"^nodes a second +[1-9]", said, re.M)
    assert re.search(r"^depth, average +1\.0$", said, re.M)


def test_bench_of_quiet_positions(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["rules", "bench", "default", "--quiet", "--openings", "2", "--depth", "2", "--time", "5"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert re.search(r"^quiet positions +2 ", out, re.M) and re.search(r"^children a second +[1-9][0-9,]+ ", out, re.M)
    assert re.search(r"^depth, average +2\.0 +\(2 to 2, all candidates\)", out, re.M) and "yardstick" in out


def test_quiet_positions_are_quiet_and_differ() -> None:
    rules = default_rules()
    boards = [quiet_board([[112, 113]], rules, np.random.default_rng(seed)) for seed in range(4)]
    for board in boards:
        assert 12 <= len(board.moves) <= 20 and board.moves[:2] == [112, 113]
        for colour in (BLACK, WHITE):
            assert not ThreatBoard(board).fours(colour)
    assert len({tuple(board.moves) for board in boards}) == 4


def test_a_look_ends_with_its_processor_time() -> None:
    seen = look(Board.from_moves([112, 97]), default_rules(), 0.2)
    assert seen is not None and 0.2 <= seen.seconds < 0.5 and seen.depth >= 2
    won = Board.from_moves([112, 0, 113, 2, 114, 4])
    assert look(won, default_rules(), 60) is None


def test_the_averages_of_quiet_positions() -> None:
    said = looks_text([Look(1.0, 1000, 50_000, 4), Look(3.0, 7000, 70_000, 7)], 3)
    assert "positions                 2   (and 3" in said and "nodes a second              2,000" in said
    assert "30,000" in said and "5.5   (4 to 7" in said


def test_the_averages_of_a_bench() -> None:
    said = bench_text([Effort(1.0, 1000, 50_000, 4), Effort(3.0, 7000, 70_000, 7)])
    numbers = [line.rsplit("   ", 1)[0].split()[-1] if "(" in line else line.split()[-1] for line in said.splitlines()]
    assert numbers == ["2", "2,000.0", "3,000.0", "2,000", "30,000", "5.5"]


def test_bench_that_is_interrupted_says_what_it_has(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    efforts = iter([Effort(1.0, 10, 20, 3)])

    def think(*_: object) -> Effort:
        try:
            return next(efforts)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(rule_trials, "think", think)
    assert main(["rules", "bench", "default"]) == 130
    assert re.search(r"^openings +1$", capsys.readouterr().out, re.M)


def test_compare_finds_that_blind_rules_are_weaker_and_plays_the_same_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rules that see nothing but the centre lose, where no proof decides; every game twice is the same."""
    value = json.loads(DEFAULT.read_text())
    for rule in value["rules"]:
        rule["enabled"] = rule["id"] == "centre"
    blind = tmp_path / "blind.json"
    blind.write_text(json.dumps(value))
    words = ["rules", "compare", "default", str(blind), "--games", "40", "--nodes", "10"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{blind} against default: alphabeta with 10 nodes a move, 15x15, freestyle, 4 random")
    assert re.search(r"^both +40 ", said, re.M)
    assert "the new rules are weaker: of 40 games with a winner they won 13 (95 % interval 20.1% to 48.0%)" in said
    assert main(words) == 0
    assert capsys.readouterr().out == said


def test_compare_that_is_interrupted_tells_the_pairs_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new = edited(tmp_path / "r.json", "split_two", weight=0)
    real = rule_trials.play_batches

    def one_and_no_more(*args: object, **options: object) -> object:
        yield next(real(*args, **options))  # type: ignore[arg-type]
        raise KeyboardInterrupt

    monkeypatch.setattr(rule_trials, "play_batches", one_and_no_more)
    assert main(["rules", "compare", "default", str(new), "--games", "50", "--nodes", "5"]) == 130
    assert re.search(r"^both +2 ", capsys.readouterr().out, re.M)


def test_a_match_is_told_from_the_new_rules_side() -> None:
    (result,) = play_match(Rival(default_rules(), default_rules(), 5), 2, 4, 1)
    assert [(record.black, record.white) for record in result.records] == [(NEW, OLD), (OLD, NEW)]
    first, second = (record.moves[:4] for record in result.records)
    assert first == second  # one opening, colours swapped


def test_each_rival_plays_by_its_own_rules() -> None:
    other = dataclasses.replace(default_rules(), decay=dataclasses.replace(default_rules().decay, enabled=True))
    rival = Rival(default_rules(), other, 7)
    assert rival(OLD).rules() is default_rules()  # type: ignore[attr-defined]
    assert rival(NEW).rules() is other  # type: ignore[attr-defined]
    assert rival(NEW).settings.nodes == 7  # type: ignore[attr-defined]
    assert rival(NEW).settings.seconds == math.inf  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("tally", "said"),
    [
        (Tally(40, 0, 10), "the new rules are stronger: of 50 games with a winner they won 40"),
        (Tally(10, 0, 40), "the new rules are weaker"),
        (Tally(27, 0, 23), "no difference is shown"),
        (Tally(23, 0, 27), "no difference is shown"),
        (Tally(12, 37, 1), "the new rules are stronger: of 13"),  # draws say nothing either way
        (Tally(0, 50, 0), "no difference is shown: of 0 games"),
    ],
)
def test_the_verdict_goes_by_the_interval(tally: Tally, said: str) -> None:
    assert verdict(tally).startswith(said)


def test_a_thought_keeps_to_its_depth() -> None:
    thought = rule_trials.think(Board.from_moves([112, 97, 113]), default_rules(), math.inf, 2)
    assert (thought.depth, thought.nodes > 0, thought.seconds > 0) == (2, True, True)
