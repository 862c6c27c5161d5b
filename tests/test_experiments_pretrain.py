"""`gomoku generate` and `gomoku pretrain`: the files, the run directory, stopping and going on, and wrong commands."""

import dataclasses
import json
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from env import Rule
from experiments import pretrain as command
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.files.example_files import examples_from, load_examples, save_examples
from experiments.files.game_files import read_games
from experiments.metrics import read_metrics
from experiments.training.pretrain_plan import Plan, plan_from
from experiments.training.pupil import Pupil
from nn import PolicyNet
from rl.examples import Examples

BOARD = ("--height", "5", "--width", "5", "--win-length", "4")
SMALL = (*BOARD, "--filters", "2", "3", "--hidden", "8", "--batch", "16", "--final-games", "4", "--evaluation-games",
         "4", "--evaluate-against", "greedy")  # fmt: skip
ON_THE_FLY = (*SMALL, "--games-at-once", "32", "--lessons", "6", "--epochs", "4", "--evaluate-every", "2")


def generate(path: Path, *words: str) -> int:
    return main(["generate", str(path), "--size", "5", "--win-length", "4", "--games", "60", "--opening-plies", "2",
                 "--noise", "0.3", *words])  # fmt: skip


def told(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def examples_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("examples") / "games.npz"
    assert generate(path, "--save-games", str(path.with_suffix(".sgf"))) == 0
    return path


def test_generated_examples_are_the_games_kept(examples_file: Path) -> None:
    examples = load_examples(examples_file)
    games = read_games(examples_file.with_suffix(".sgf"))
    assert len(games) == len(np.unique(examples.games)) and all(game.winner for game in games)
    assert len({game.moves for game in games}) == len(games)
    assert examples.states.dtype == np.int8 and examples.shares is not None
    assert len(examples) == sum(len(game.moves) for game in games) - _opening_stones(examples)


def _opening_stones(examples: Examples) -> int:
    """Stones that lay on the boards at each game's first example."""
    first = np.unique(examples.games, return_index=True)[1]
    return int((examples.states[first] != 0).sum())


def test_what_is_dropped_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without noise and openings a deterministic teacher plays one game again and again."""
    assert main(["generate", str(tmp_path / "one.npz"), "--size", "4", "--win-length", "3", "--games", "40",
                 "--opening-plies", "0", "--noise", "0", "--teacher", "greedy:java"]) == 0  # fmt: skip
    said = capsys.readouterr().out
    assert "of 1 games, moves; dropped: 39 played before" in said
    assert main(["generate", str(tmp_path / "no.npz"), "--size", "3", "--win-length", "3", "--games", "4",
                 "--opening-plies", "0", "--noise", "0", "--teacher", "shapes:wall"]) == 2  # fmt: skip
    assert "none of 4 games can be used (4 nobody won)" in told(capsys)


def test_the_same_seed_writes_the_same_bytes(examples_file: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "again.npz") == 0 and generate(tmp_path / "other.npz", "--seed", "2") == 0
    assert (tmp_path / "again.npz").read_bytes() == examples_file.read_bytes()
    assert (tmp_path / "other.npz").read_bytes() != examples_file.read_bytes()


def test_channels_last_holds_the_same_examples(examples_file: Path, tmp_path: Path) -> None:
    assert generate(tmp_path / "wide.npz", "--channels-last") == 0
    with np.load(tmp_path / "wide.npz") as file:
        assert file["states"].shape[1:] == (5, 5, 3) and file["states"].dtype == np.float32
        assert (file["states"].sum(axis=-1) == 1).all()
    wide, plain = load_examples(tmp_path / "wide.npz"), load_examples(examples_file)
    assert (wide.states == plain.states).all() and (wide.actions == plain.actions).all()


def test_an_npz_of_another_program_is_read_and_a_wrong_one_refused(tmp_path: Path) -> None:
    states = np.zeros((2, 4, 4, 3), dtype=np.float32)
    states[1, 0, 0, 1] = 1
    good = {"states": states, "actions": np.array([0, 5])}
    path = tmp_path / "other.npz"
    np.savez(path, **good)
    assert load_examples(path).states[1, 0, 0] == -1
    for changes, complaint in (
        ({"actions": np.array([0, 0])}, "lies on a stone"),
        ({"actions": np.array([0, 16])}, "off the 4x4 board"),
        ({"actions": np.array([0.0, 1.0])}, "wanted whole numbers"),
        ({"states": states[:, :, :, :1]}, "wanted"),
        ({"states": np.full((2, 4, 4), 7)}, "more than -1, 0 and 1"),
        ({"shares": np.zeros((2, 3), dtype=np.uint8)}, "shares are uint8"),
    ):
        np.savez(path, **{**good, **changes})
        with pytest.raises(UserError, match=complaint):
            load_examples(path)
    np.savez(path, states=states)
    with pytest.raises(UserError, match="wanted the arrays"):
        load_examples(path)
    path.write_bytes(b"no archive")
    with pytest.raises(UserError, match="cannot be read"):
        load_examples(path)


def test_a_folder_of_games_is_read_and_what_does_not_fit_is_counted(
    examples_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.sgf").write_bytes(examples_file.with_suffix(".sgf").read_bytes())
    (tmp_path / "b.txt").write_text("15x15 5 freestyle black=a white=b winner=none opening=0 h8 h9\n")
    (tmp_path / "broken.psq").write_text("nothing")
    (tmp_path / "notes.md").write_text("not looked at")
    examples = examples_from([tmp_path], 5, 5, 4, Rule.FREESTYLE)
    games = read_games(tmp_path / "deep" / "a.sgf")
    assert len(examples) == sum(len(game.moves) - game.opening for game in games)
    said = capsys.readouterr().err
    assert "1 of 3 files left out" in said and "1 games of another board" in said
    with pytest.raises(UserError, match="no game of 9x9"):
        examples_from([tmp_path], 9, 9, 5, Rule.FREESTYLE)


def without_times(run: Path) -> list[dict[str, object]]:
    return [{key: of for key, of in row.items() if key != "seconds"} for row in read_metrics(run / "metrics.jsonl")]


@pytest.mark.parametrize(("from_file", "net"), [(False, "policy"), (True, "policy"), (False, "three_plane")])
def test_a_run_stopped_and_resumed_ends_as_one_that_was_not(
    from_file: bool, net: str, examples_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("experiments.training.lesson_sources.VALIDATION_POSITIONS", 64)
    file = [*SMALL, "--epochs", "4", "--evaluate-every", "2", "--from", str(examples_file)]
    words = [*(file if from_file else ON_THE_FLY), "--net", net]
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    assert main(["pretrain", *words, "--run-dir", str(whole)]) == 0
    asked: list[int] = []

    @contextmanager
    def noted():
        yield asked

    epoch = Pupil.epoch

    def stops(self):
        if self.epochs == 1:
            asked.append(signal.SIGINT)
        return epoch(self)

    with monkeypatch.context() as patch:
        patch.setattr(command, "signals_noted", noted)
        patch.setattr(Pupil, "epoch", stops)
        assert main(["pretrain", *words, "--run-dir", str(halves)]) == 130
    assert len(read_metrics(halves / "metrics.jsonl")) == 2 and (halves / "policy.npz").is_file()
    assert main(["pretrain", "--resume", str(halves)]) == 0
    assert without_times(halves) == without_times(whole)
    assert (halves / "policy.npz").read_bytes() == (whole / "policy.npz").read_bytes()
    assert json.loads((whole / "result.json").read_text())["evaluation"]["greedy"]["games"] == 4
    assert (whole / "curve.png").is_file()
    rows = read_metrics(whole / "metrics.jsonl")
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4]
    assert set(rows[1]["validation"]) == {"loss", "accuracy"} and "greedy" in rows[1]["evaluation"]


def test_evaluate_plays_the_game_that_was_learnt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    PolicyNet(5, 5, filters=(2, 3), hidden=8, rng=np.random.default_rng(5)).save(tmp_path / "policy.npz")
    plan = Plan(height=5, width=5, win_length=4)
    (tmp_path / "config.json").write_text(json.dumps(dataclasses.asdict(plan)))
    assert main(["evaluate", f"policy:{tmp_path}/policy.npz", "--against", "random", "--games", "2"]) == 0
    assert "5x5, 4 in a row, freestyle" in capsys.readouterr().out


def test_the_policy_goes_on_from_given_weights(tmp_path: Path) -> None:
    net = PolicyNet(5, 5, filters=(2, 3), hidden=8, rng=np.random.default_rng(5))
    net.save(tmp_path / "start.npz")
    pupil = command.new_pupil(dataclasses.replace(Plan(), height=5, width=5, win_length=4, games_at_once=8,
                                                  init=str(tmp_path / "start.npz")))  # fmt: skip
    assert (pupil.net.fc1.weight.value == net.fc1.weight.value).all()


def test_the_learning_rate_rises_and_then_falls_as_planned() -> None:
    plan = Plan(learning_rate=1e-2, final_learning_rate=1e-3, warm_up=10)
    assert plan.rate(0.0, 0, 4) == pytest.approx(0.5e-2)
    assert plan.rate(0.5, 2, 50) == pytest.approx(5.5e-3)
    assert plan.rate(1.0, 4, 100) == pytest.approx(1e-3)
    steps = Plan(learning_rate=1e-2, schedule="steps", step_epochs=10, step_factor=0.8, warm_up=0)
    assert [steps.rate(0.3, epochs, 0) for epochs in (0, 9, 10, 25)] == pytest.approx([1e-2, 1e-2, 8e-3, 6.4e-3])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["pretrain", "--epochs", "0"], "epochs 0: wanted 1 or more"),
        (["pretrain", "--net-share", "1.5"], "net-share 1.5: wanted a share from 0 to 1"),
        (["pretrain", "--learning-rate", "nan"], "learning-rate nan: wanted a positive number"),
        (["pretrain", "--final-games", "3"], "final-games 3: wanted an even number"),
        (["pretrain", "--validation", "1"], "validation 1.0: wanted less than 1"),
        (["pretrain", "--net", "value"], "net value: wanted policy or conv or line or three_plane or residual"),
        (["pretrain", "--net", "residual", "--hidden", "8"], "wanted none for a conv, line or residual network"),
        (["pretrain", "--height", "2"], "height"),
        (["pretrain", "--teacher", "sumed"], "did you mean 'summed'"),
        (["pretrain", "--from", "missing.sgf"], "no such file or folder"),
        (["pretrain", "--name", "a/b"], "name a/b: wanted"),
        (["pretrain", "--resume", "nowhere", "--seed", "2"], "goes with no other option"),
        (["generate", "games.txt"], "written as .npz"),
        (["generate", "a.npz", "--games", "0"], "--games 0"),
        (["generate", "a.npz", "--noise", "2"], "--noise 2.0"),
        (["generate", "a.npz", "--teacher", "nobody"], "there is no agent 'nobody'"),
        (["generate", "a.npz", "--size", "1"], "3 to 25 rows and columns"),
    ],
)
def test_a_wrong_command_is_one_line(
    words: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert complaint in told(capsys)
    assert list(tmp_path.iterdir()) == []


def test_another_command_s_run_is_not_resumed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match="not the configuration of a pretraining run"):
        plan_from({"name": "x"})
    assert plan_from(json.loads(json.dumps(dataclasses.asdict(Plan())))) == Plan()


def test_too_few_games_to_validate_on_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").write_text("5x5 4 freestyle black=a white=b winner=none opening=0 a1 b2 c3\n")
    assert main(["pretrain", *SMALL, "--from", str(tmp_path / "one.txt"), "--run-dir", str(tmp_path / "run")]) == 2
    assert "more games are needed" in told(capsys) and not (tmp_path / "run").exists()


def test_save_examples_keeps_what_load_examples_returns(examples_file: Path, tmp_path: Path) -> None:
    examples = load_examples(examples_file)
    save_examples(tmp_path / "copy.npz", examples, {}, channels_last=False)
    again = load_examples(tmp_path / "copy.npz")
    for field in dataclasses.fields(examples):
        assert (getattr(again, field.name) == getattr(examples, field.name)).all()
