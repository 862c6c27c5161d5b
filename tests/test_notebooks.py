"""Notebooks run from top to bottom, define nothing of their own, and show in the repository what they show when run."""

import ast
import base64
import configparser
import io
import re
import resource
import subprocess
import sys
from functools import cache
from pathlib import Path

import jupytext
import nbformat
import numpy as np
import pytest
from jupytext.compare import compare_notebooks
from matplotlib import image
from nbformat import NotebookNode

from experiments.notebook_files import KERNEL, executed, stripped

ROOT = Path(__file__).resolve().parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.py"))
MOST_CPU_SECONDS = 30
# At least so many pictures and asserts, without which a lesson would not be what it says it is.
SHOWN = {
    "01_a_kernel_on_a_board": (7, 10),
    "02_checking_gradients": (3, 12),
    "03_from_java_to_numpy": (4, 20),
    "04_the_board_and_its_rules": (6, 14),
    "05_policy_gradient_by_hand": (5, 12),
    "06_learning_curves": (4, 8),
    "07_what_the_network_sees": (8, 7),
    "08_arena": (6, 11),
    "09_what_goes_wrong": (5, 13),
}
each_lesson = pytest.mark.parametrize("source", LESSONS, ids=lambda path: path.stem)


@cache
def run(source: Path) -> tuple[NotebookNode, float]:
    """A lesson with its outputs, and the seconds of CPU time that took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    notebook = executed(source)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return notebook, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def committed(source: Path) -> NotebookNode:
    return nbformat.read(source.with_suffix(".ipynb"), as_version=4)


def texts(notebook: NotebookNode) -> list[str]:
    """What the cells print and return, one text a cell. A last digit may differ from machine to machine."""
    outputs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    shown = ["".join(o.get("text", "") or o.get("data", {}).get("text/plain", "") for o in cell) for cell in outputs]
    return [re.sub(r"[-+]?\d[\d.,]*(e[-+]\d+)?|\s+", " ", text) for text in shown]


def pictures(notebook: NotebookNode) -> list[np.ndarray]:
    """Every picture as an array (height, width, 4)."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    found = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
    return [image.imread(io.BytesIO(base64.b64decode(picture))) for picture in found]


def test_every_lesson_is_known_by_what_it_shows() -> None:
    assert [source.stem for source in LESSONS] == sorted(SHOWN)


@each_lesson
def test_it_runs_and_shows_what_the_repository_shows(source: Path) -> None:
    notebook, seconds = run(source)
    least_pictures, least_asserts = SHOWN[source.stem]
    assert texts(notebook) == texts(committed(source))
    assert len(pictures(notebook)) == len(pictures(committed(source))) >= least_pictures
    asserts = [node for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, ast.Assert)]
    assert len(asserts) >= least_asserts
    assert seconds < MOST_CPU_SECONDS


@each_lesson
def test_no_picture_is_empty(source: Path) -> None:
    """Neither as run nor as committed; and none is wider than a page."""
    for picture in pictures(run(source)[0]) + pictures(committed(source)):
        assert picture[..., :3].std() > 0.05
        assert picture.shape[1] <= 1250


def test_the_first_five_need_numpy_matplotlib_and_jupyter_alone() -> None:
    """All they import, in a Python that has none of the other packages this program knows of."""
    known = configparser.ConfigParser()
    known.read(ROOT / "setup.cfg")
    texts = [known["options"]["install_requires"], *known["options.extras_require"].values()]
    others = set(re.findall(r"^([a-zA-Z]+)", "\n".join(texts), flags=re.MULTILINE)) - {"numpy", "matplotlib"}
    assert {"gymnasium", "tqdm", "anywidget"} <= others
    nodes = [node for source in LESSONS[:5] for node in ast.walk(ast.parse(source.read_text()))]
    imports = [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    assert len(imports) > 20
    lines = ["import sys", f"sys.modules.update(dict.fromkeys({sorted(others)}))", *imports]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, cwd=ROOT)


@each_lesson
def test_it_defines_nothing(source: Path) -> None:
    tree = ast.parse(source.read_text())
    defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    assert [node.lineno for node in ast.walk(tree) if isinstance(node, defining)] == []


@each_lesson
def test_both_forms_are_one_lesson(source: Path) -> None:
    """Cell for cell; and jupytext, asked to write the source anew, changes nothing in it."""
    compare_notebooks(committed(source), jupytext.read(source), fmt="py:percent", compare_outputs=False)
    assert [c.source for c in committed(source).cells] == [c.source for c in jupytext.read(source).cells]
    again = jupytext.reads(jupytext.writes(jupytext.read(source), "py:percent"), "py:percent")
    assert [c.source for c in again.cells] == [c.source for c in jupytext.read(source).cells]


@each_lesson
def test_nothing_is_kept_that_differs_from_run_to_run(source: Path) -> None:
    text = source.with_suffix(".ipynb").read_text()
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec == KERNEL and "version" not in notebook.metadata.language_info
    assert all(not cell.metadata for cell in notebook.cells) and "iopub" not in text
    assert nbformat.writes(stripped(nbformat.reads(text, as_version=4))).rstrip() == text.rstrip()
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert counts == list(range(1, len(counts) + 1))
    assert not re.search(r"/(?:home|root|work|Users|tmp)/", text)  # no folder of whoever ran it last
