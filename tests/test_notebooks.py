"""Notebooks run from top to bottom, define nothing of their own, and are the same lesson in both their forms."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_and_says_what_its_text_says(path):
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"([\d.]+)% to ([\d.]+)%", done.stdout)
    assert len(shown) == 3 and max(float(low) for low, _ in shown) < min(float(high) for _, high in shown)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_defines_nothing(path):
    tree = ast.parse(path.read_text())
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Lambda))]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_both_forms_hold_the_same_cells(path):
    text = path.read_text().partition("# ---\n\n")[2]
    cells = re.split(r"^# %%.*\n", text, flags=re.MULTILINE)[1:]
    plain = [re.sub(r"^# ?", "", cell, flags=re.MULTILINE).strip() for cell in cells]
    pairs = json.loads(path.with_suffix(".ipynb").read_text())["cells"]
    assert len(pairs) == len(cells)
    for cell, raw, unmarked in zip(pairs, cells, plain, strict=True):
        expected = unmarked if cell["cell_type"] == "markdown" else raw.strip()
        assert "".join(cell["source"]) == expected
