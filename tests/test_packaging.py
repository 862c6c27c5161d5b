"""What a user installs: the wheel holds all four packages and nothing else, and git holds what the wheel needs."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("nn", "env", "rl", "experiments")


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout


def in_git(folder: str) -> list[str]:
    """The files of a folder that git keeps, or all of them where there is no checkout (an unpacked archive)."""
    if (ROOT / ".git").exists():
        return git("ls-files", "--", folder).splitlines()
    return [str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("package", PACKAGES)
def test_git_holds_every_package(package: str) -> None:
    assert f"{package}/__init__.py" in in_git(package)


def test_gitignore_hides_no_source() -> None:
    """A file newly written in any package is seen by git, env/ above all."""
    if not (ROOT / ".git").exists():
        assert "env" not in (ROOT / ".gitignore").read_text().split()
        return
    for package in PACKAGES:
        ignored = subprocess.run(["git", "-C", str(ROOT), "check-ignore", "-q", f"{package}/new_file.py"], check=False)
        assert ignored.returncode == 1, f".gitignore hides {package}/new_file.py"


def test_the_wheel_holds_every_source_file_and_no_tests(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    results = "experiments/results/"  # what past runs gave: for readers of the repository, not for an installation
    wanted = {name for package in PACKAGES for name in in_git(package) if not name.startswith(results)}
    for name in [*wanted, "setup.cfg", "pyproject.toml", "README.md", "LICENSE"]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes((ROOT / name).read_bytes())
    (tree / "tests").mkdir()
    (tree / "tests" / "__init__.py").touch()  # even one that looks like a package
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=tree, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == wanted
    assert "experiments/presets/quick.toml" in held
    entry_points = zipfile.ZipFile(wheel).read(f"{'-'.join(wheel.name.split('-')[:2])}.dist-info/entry_points.txt")
    assert b"gomoku = experiments.__main__:main" in entry_points
