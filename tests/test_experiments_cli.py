"""The command line: one clear line for every mistake, the promised exit codes, and help that teaches."""

import argparse
import importlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

from env import IllegalMoveError
from experiments import __main__ as cli
from experiments.commands import COMMANDS
from experiments.errors import UserError, did_you_mean
from experiments.metrics import MetricsError
from nn.weights import WeightsError, save_arrays
from rl.agents import AgentSpecError

ROOT = Path(__file__).resolve().parent.parent


def gomoku(*words: str, cwd: Path = ROOT, path: str = str(ROOT)) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own; `path` says where its packages are looked for."""
    return subprocess.run(
        [sys.executable, "-m", "experiments", *words],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": path, "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """A command `plot` that raises or returns what a test puts into `.does`."""
    holder = types.SimpleNamespace(does=0)

    def run(args: object) -> int:
        if isinstance(holder.does, BaseException):
            raise holder.does
        return int(holder.does)

    module = types.SimpleNamespace(add_arguments=lambda parser: parser.add_argument("--speed"), run=run)
    monkeypatch.setattr(cli, "import_module", lambda name: module)
    return holder


def test_help_names_every_command_and_is_quick() -> None:
    done = gomoku("--help")
    assert done.returncode == 0
    for name, command in COMMANDS.items():
        assert f"    {name}" in done.stdout and command.summary in done.stdout
    check = "import sys; from experiments.__main__ import main; main([]); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_no_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    assert "train a policy" in capsys.readouterr().out


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    import nn

    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"gomoku-lab {nn.__version__}\n"


@pytest.mark.parametrize("name", list(COMMANDS))
def test_each_command_explains_itself_with_an_example_it_understands(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        cli.main([name, "--help"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    command = COMMANDS[name]
    assert command.description.split("\n")[0] in out and command.example in out
    parse(command.example)


def parse(example: str) -> None:
    """Exits if the command line is not understood."""
    _, name, *words = shlex.split(example)
    parser = argparse.ArgumentParser(allow_abbrev=False)
    importlib.import_module(COMMANDS[name].module).add_arguments(parser)
    parser.parse_args(words)


def test_the_readme_tells_commands_that_are_understood() -> None:
    readme = (ROOT / "README.md").read_text()
    examples = [line for line in re.findall(r"`(gomoku [^`]+)`", readme) if "COMMAND" not in line]
    assert {line.split()[1] for line in examples} == set(COMMANDS)
    for example in examples:
        parse(example)


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = "runs/quick__s1__20261129T201500Z"
    rates = {"games": 2, "win_rate": 0.5, "low": 0.1, "high": 0.9}
    (tmp_path / run).mkdir(parents=True)
    (tmp_path / run / "metrics.jsonl").write_text(json.dumps({"games": 2, "evaluation": {"random": rates}}) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block, {})


def test_the_readme_names_every_file_of_the_source() -> None:
    table = (ROOT / "README.md").read_text().partition("reading order")[2]
    rows = {row.split("/` ")[0][3:]: row for row in table.splitlines() if row.startswith("| `")}
    for package in cli.PACKAGES:
        for folder in {path.parent for path in (ROOT / package).rglob("*.py")}:
            name = folder.relative_to(ROOT).as_posix()
            files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
            told = set(re.findall(r"`(\w+)`", rows.get(name, rows[package])))  # a room's own row, or its package's
            assert files - told == set(), f"README's reading order lacks files of {name}/"


@pytest.mark.parametrize(("typed", "meant"), [("trian", "train"), ("evalute", "evaluate"), ("plots", "plot")])
def test_an_unknown_command_names_the_closest(typed: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([typed, "--x"]) == 2
    assert capsys.readouterr().err == f"gomoku: there is no command {typed!r}; did you mean {meant!r}?\n"


def test_a_command_like_no_other_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["xyzzy"]) == 2
    assert f"choose from {', '.join(sorted(COMMANDS))}" in capsys.readouterr().err


def test_an_unknown_option_names_the_closest(
    planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["plot", "--sped=3"]) == 2
    assert capsys.readouterr().err == "gomoku: gomoku plot takes no '--sped'; did you mean '--speed'?\n"
    assert cli.main(["plot", "--spe", "3"]) == 2  # no silent abbreviations


def test_the_command_decides_the_exit_code(planted: types.SimpleNamespace) -> None:
    for planted.does in (0, 1, 130):
        assert cli.main(["plot"]) == planted.does


@pytest.mark.parametrize(
    "error",
    [
        UserError("bad"),
        MetricsError("bad"),
        WeightsError("bad"),
        AgentSpecError("bad"),
        IllegalMoveError("bad"),
    ],
)
def test_a_named_error_is_one_line_and_exit_2(
    error: Exception, planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.does = type(error)("h8 is\noccupied")
    assert cli.main(["plot"]) == 2
    assert capsys.readouterr().err == "gomoku: h8 is occupied\n"


def test_what_the_machine_refuses_is_one_line_and_exit_1(
    planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.does = PermissionError(13, "Permission denied", "/root/x")
    assert cli.main(["plot"]) == 1
    assert capsys.readouterr().err == "gomoku: /root/x: Permission denied\n"


@pytest.mark.parametrize("error", [ValueError("a bug"), TypeError("a bug"), KeyError("a bug")])
def test_a_fault_of_the_program_keeps_its_traceback(error: Exception, planted: types.SimpleNamespace) -> None:
    planted.does = error
    with pytest.raises(type(error), match="a bug"):
        cli.main(["plot"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["plot", "--speed"], "argument --speed: expected one argument; see gomoku plot --help"),
        (["--verson"], "unrecognized arguments: --verson; see gomoku --help"),
        (["plot", "extra"], "gomoku plot takes no 'extra'; choose from --speed"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_2(
    words: list[str], says: str, planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    assert capsys.readouterr().err == f"gomoku: {says}\n"


def test_a_disk_that_is_full_is_the_machines_fault(
    tmp_path: Path, planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(WeightsError) as refused:
        save_arrays(tmp_path / "nowhere" / "x.npz", {}, {})
    planted.does = refused.value
    assert cli.main(["plot"]) == 1
    said = capsys.readouterr().err
    assert said == f"gomoku: {tmp_path}/nowhere/x.npz: cannot be written: No such file or directory\n"


def test_too_little_memory_is_one_line_and_exit_1(
    planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    for error, says in ((MemoryError("Unable to allocate 3 EiB"), ": Unable to allocate 3 EiB"), (MemoryError(), "")):
        planted.does = error
        assert cli.main(["plot"]) == 1
        assert capsys.readouterr().err == f"gomoku: not enough memory{says}\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_are_no_error(closed: str) -> None:
    line = f"{shlex.quote(sys.executable)} -m experiments --version {closed}"
    assert subprocess.run(line, shell=True, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode == 0


def test_letters_that_the_terminal_does_not_have_are_no_error(tmp_path: Path) -> None:
    code = "import sys; from experiments import __main__ as cli; cli._prepare_output(); print('ü', '\\udcff')"
    for encoding, said in (("ascii", b"\\xfc \\udcff\n"), ("utf-8", b"\xc3\xbc \\udcff\n")):
        run = os.environ | {"PYTHONIOENCODING": encoding}
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=run, capture_output=True, check=False)
        assert (done.returncode, done.stdout) == (0, said)


def test_ctrl_c_while_a_command_is_imported_waits_until_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    done = []

    def interrupted(name: str) -> types.ModuleType:
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # not to a thread of another test
        done.append(name)
        return importlib.import_module(name)

    monkeypatch.setattr(cli, "import_module", interrupted)
    assert cli.main(["info", "policy"]) == 130 and done == ["experiments.info"]


def test_ctrl_c_is_130(planted: types.SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    planted.does = KeyboardInterrupt()
    assert cli.main(["plot"]) == 130
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("buffered", ["", "1"])
def test_a_reader_that_has_gone_is_no_error(buffered: str) -> None:
    game = ["evaluate", "random", "--against", "random", "--games", "2", "--size", "3"]
    for words in ([*game, "--win-length", "3", "--opening-plies", "0"], ["--help"]):
        with subprocess.Popen(
            [sys.executable, "-m", "experiments", *words],
            cwd=ROOT,
            env=os.environ | {"PYTHONUNBUFFERED": buffered},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() in (0, 141)  # argparse passes over it while printing help


def test_another_env_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)  # somebody's virtual environment
    (tmp_path / "experiments").symlink_to(ROOT / "experiments")
    (tmp_path / "module").mkdir()
    (tmp_path / "module" / "env.py").write_text("")
    done = gomoku("plot", "x", cwd=tmp_path / "module", path=f"{tmp_path / 'module'}:{ROOT}")
    assert done.returncode == 2
    assert done.stderr.startswith(f"gomoku: {tmp_path / 'module' / 'env.py'} shadows this program's package 'env'")
    assert done.stderr.count("\n") == 1


def test_an_env_folder_without_a_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "env" / "bin").mkdir(parents=True)
    spec = types.SimpleNamespace(origin=None, submodule_search_locations=[str(tmp_path / "env")])
    monkeypatch.setattr(cli, "find_spec", lambda name: spec)
    with pytest.raises(UserError, match=f"^{tmp_path / 'env'} shadows"):
        cli.check_packages(ROOT)
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="'nn' is missing"):
        cli.check_packages(ROOT)


def test_the_packages_of_this_program_pass() -> None:
    cli.check_packages(ROOT)


def test_did_you_mean() -> None:
    assert did_you_mean("trian", ["train", "plot"]) == "did you mean 'train'?"
    assert did_you_mean("xyz", ["train", "plot"]) == "choose from plot, train"
