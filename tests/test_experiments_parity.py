"""`gomoku parity`: the golden files agree with this program, and nothing wrong in one of them goes unnoticed."""

import copy
import json
import random
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from env import Board
from experiments.__main__ import main
from experiments.errors import UserError
from experiments.java import demo_game, game_stages, stages
from experiments.java.border import java_logits
from experiments.java.tally import Row
from experiments.parity import run_parity, run_stage
from nn import PolicyNet
from nn.exact import exact_outputs

GOLDEN = Path(__file__).parent / "data" / "parity"
FILES = {stage: f"{stage}.json" for stage in ("random", "weights", "forward", "functions", "greedy", "env", "selfplay")}
FILES["demo"] = "demos.json"
KEPT = {  # how many entries of each list the small copies keep: others than the first, so counts are not built in
    "random": {"seeds": slice(5, 7), "mixed": slice(1, 3)},
    "weights": {"layers": slice(7, 13)},
    "forward": {"nets": slice(1, 2), "positions": slice(28, 30)},
    "functions": {"softmax": slice(1, 9), "sample_action": slice(0, 8), "print_board": slice(1, 3)},
    "greedy": {"positions": slice(20, 23)},
    "env": {"games": slice(23, 40)},
}


def small(stage: str) -> object:
    """A golden document cut down to a few entries."""
    content = json.loads((GOLDEN / FILES[stage]).read_text())
    for name, kept in KEPT.get(stage, {}).items():
        content[name] = content[name][kept]
    if stage == "demo":
        content = content[1:]
    if stage == "forward":
        for position in content["positions"]:
            position["net"] -= 1
    if stage == "selfplay":
        content["games"] = [min(content["games"], key=lambda game: game["length"])]
    return content


def judged(stage: str, content: object | bytes, directory: Path) -> Row:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (directory / FILES[stage]).write_bytes(data)
    if stage == "demo" and not (directory / "demo_other.txt").exists():
        shutil.copy(GOLDEN / "demo_other.txt", directory)
    return run_stage(stage, directory / FILES[stage])


@pytest.fixture(autouse=True, scope="module")
def logits_remembered() -> Iterator[None]:
    """Ask the network once about a position, however often the same game is played."""
    known: dict[tuple, tuple] = {}

    def remembered(net: PolicyNet, board: Board) -> np.ndarray:
        key = id(net), tuple(board.moves)
        if key not in known:
            known[key] = net, java_logits(net, board)  # holding the net keeps its id its own
        return known[key][1]

    def outputs(net: PolicyNet, x: np.ndarray) -> list[np.ndarray]:
        key = id(net), x.tobytes()
        if key not in known:
            known[key] = net, exact_outputs(net, x)
        return known[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(game_stages, "java_logits", remembered)
        patch.setattr(demo_game, "java_logits", remembered)
        patch.setattr(stages, "exact_outputs", outputs)
        yield


def test_everything_agrees_within_a_minute(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    assert main(["parity", str(GOLDEN)]) == 0
    assert time.process_time() - start < 60
    out, err = capsys.readouterr()
    assert err == ""
    lines = [line.split() for line in out.splitlines()]
    assert [line[0] for line in lines[1:-1]] == list(FILES)
    for stage, compared, mismatches, largest in lines[1:-1]:
        assert int(compared.replace(",", "")) > 1000 and mismatches == "0"
        assert float(largest) <= (1e-15 if stage in ("forward", "functions") else 0)


@pytest.mark.parametrize("stage", FILES)
def test_other_folders_of_the_format_agree_too(stage: str, tmp_path: Path) -> None:
    row = judged(stage, small(stage), tmp_path)
    assert row.first is None and row.mismatches == 0 and row.compared > 100


# --- Everything is looked at ----------------------------------------------------------------------------------------


def leaves(value: object, path: tuple = ()) -> Iterator[tuple]:
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(part, (*path, key))
    else:
        yield path


def at(content: object, path: tuple) -> object:
    for key in path:
        content = content[key]
    return content


def altered(value: object) -> object:
    """The smallest change of its kind: the last character, the next number, the other truth value."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return float(np.nextafter(value, 7.0))
    if isinstance(value, str):
        return value[:-1] + chr(ord(value[-1]) ^ 1)
    return 5


def decides_nothing(stage: str, content: dict, path: tuple) -> bool:
    """Inputs on which no golden value depends: a changed one is as true as the old. And labels."""
    if stage == "functions" and path[0] == "sample_action":
        entry = content["sample_action"][path[1]]
        return path[2] == "kind" or (path[2] == "seed" and len(set(entry["actions"])) == 1)
    if stage == "env" and path[2] == "steps" and path[-1] < 2:
        return content["games"][path[1]]["steps"][path[3]][2] == 0  # where a refused move was tried
    return False


@pytest.mark.parametrize("stage", FILES)
def test_every_kind_of_value_is_looked_at(stage: str, tmp_path: Path) -> None:
    """Of every place in the format, take a few values, change each by the least there is, and see it noticed."""
    content = small(stage)
    choose = random.Random(1)
    kinds: dict[str, list[tuple]] = {}
    for path in leaves(content):
        if not decides_nothing(stage, content, path):
            kinds.setdefault(re.sub(r"\d+", "#", str(path)), []).append(path)
    for paths in kinds.values():
        for path in choose.sample(paths, min(len(paths), 1 if stage == "selfplay" else 4)):
            changed = copy.deepcopy(content)
            at(changed, path[:-1])[path[-1]] = altered(at(content, path))
            try:
                row = judged(stage, changed, tmp_path)
            except UserError as error:
                assert path[-1] == "file" and "demo" in str(error)
            else:
                assert row.mismatches > 0, f"nobody looked at {path}"
                assert FILES[stage] in row.first or row.first.startswith("demo")


@pytest.mark.parametrize("stage", FILES)
def test_missing_and_unknown_names_are_noticed(stage: str, tmp_path: Path) -> None:
    content = small(stage)
    seen = set()
    for path in leaves(content):
        for depth in range(len(path)):
            place = path[:depth]
            kind = re.sub(r"\d+", "#", str(place))
            if kind in seen or not isinstance(at(content, place), dict):
                continue
            seen.add(kind)
            for name in [*at(content, place), "more"]:
                changed = copy.deepcopy(content)
                record = at(changed, place)
                if name in record:
                    del record[name]
                else:
                    record[name] = 1
                row = judged(stage, changed, tmp_path)
                assert row.mismatches == 1 and "wanted an object with the names" in row.first
    assert seen


@pytest.mark.parametrize(("stage", "count"), [("random", 60), ("weights", 60), ("forward", 60), ("functions", 60),
                                              ("greedy", 60), ("env", 60), ("selfplay", 6), ("demo", 30)])  # fmt: skip
def test_flipped_bits_are_noticed(stage: str, count: int, tmp_path: Path) -> None:
    """Any bit of the file as it stands, its punctuation and the last digits of its decimals included."""
    content = small(stage)
    if stage == "env":
        for game in content["games"]:
            game["steps"] = [step for step in game["steps"] if step[2] != 0 or step[0] == "reset"]
    if stage == "functions":
        content["sample_action"] = content["sample_action"][2:4]
        for entry in content["sample_action"]:
            entry["kind"] = "k"
    data = json.dumps(content, indent=1).encode()
    choose = random.Random(2)
    for _ in range(count):
        where, bit = choose.randrange(len(data)), choose.randrange(8)
        if data[where : where + 1] in b'"k"' and stage == "functions" and data[where - 1 : where + 2] == b'"k"':
            continue
        flipped = bytearray(data)
        flipped[where] ^= 1 << bit
        try:
            assert judged(stage, bytes(flipped), tmp_path).mismatches > 0, flipped[where - 30 : where + 30]
        except UserError as error:
            assert stage == "demo", error


@pytest.mark.parametrize(
    ("stage", "old", "new"),
    [("env", b"[16,8,0,0,0,2,81]", b"[19,8,0,0,0,2,81]"), ("functions", b'"kind":"tenths"', b'"kind":"tenthr"')],
)
def test_what_decides_nothing_is_noticed_in_the_reference_files(
    stage: str, old: bytes, new: bytes, tmp_path: Path
) -> None:
    """A move tried off the board, elsewhere off the board; a label."""
    data = (GOLDEN / FILES[stage]).read_bytes()
    assert data.count(old) == 1
    row = judged(stage, data.replace(old, new), tmp_path)
    assert row.mismatches == 1 and row.first.startswith(f"{FILES[stage]}: wanted the bytes of the reference")
    assert judged(stage, data + b"\n", tmp_path).mismatches == 0


def test_flipped_bits_in_a_demo_text_are_noticed(tmp_path: Path) -> None:
    judged("demo", small("demo"), tmp_path)
    data = (GOLDEN / "demo_other.txt").read_bytes()
    choose = random.Random(3)
    for _ in range(20):
        flipped = bytearray(data)
        flipped[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        (tmp_path / "demo_other.txt").write_bytes(flipped)
        row = run_stage("demo", tmp_path / "demos.json")
        assert row.mismatches == 1 and re.match(r"demo_other\.txt: line \d+: wanted .*, got ", row.first)
    for other in (data[:-1], data + b"\n", b"", data[:2000]):
        (tmp_path / "demo_other.txt").write_bytes(other)
        assert run_stage("demo", tmp_path / "demos.json").mismatches == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete folder of small golden files."""
    for stage in FILES:
        judged(stage, small(stage), tmp_path)
    assert sum(row.mismatches for row in run_parity(tmp_path)) == 0
    return tmp_path


def test_the_command_exits_1_and_names_file_entry_wanted_and_got(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = small("forward")
    digits = content["positions"][1]["logits_hex"][17]
    wrong = digits[:-1] + ("0" if digits[-1] != "0" else "1")
    content["positions"][1]["logits_hex"][17] = wrong
    content["positions"][1]["logits_dec"][17] = float(np.array(int(wrong, 16), np.uint64).view(np.float64))
    (folder / "forward.json").write_text(json.dumps(content))
    assert main(["parity", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert f"forward.json: positions[1].logits_hex[17]: wanted {wrong}" in err and f"got {digits}" in err
    assert re.search(r"forward +[\d,]+ +1 ", out)


@pytest.mark.parametrize("stage", FILES)
def test_a_truncated_file_is_a_mismatch(stage: str, tmp_path: Path) -> None:
    data = json.dumps(small(stage)).encode()
    for length in (0, 1, len(data) // 2, len(data) - 1):
        row = judged(stage, data[:length], tmp_path)
        assert row.mismatches == 1 and row.first.startswith(f"{FILES[stage]}: wanted JSON, got: ")


def test_missing_files_are_one_line_and_exit_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (*FILES.values(), "demo_other.txt"):
        (folder / name).rename(folder / "away")
        assert main(["parity", str(folder)]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and name in err
        (folder / "away").rename(folder / name)
    assert main(["parity", str(folder / "nowhere")]) == 2
    assert "no such directory" in capsys.readouterr().err
    (folder / "demo_third.txt").write_text("?")
    assert main(["parity", str(folder)]) == 1
    assert "demo_third.txt" in capsys.readouterr().err
