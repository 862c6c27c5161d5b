"""A notebook in its two forms: the source, text in cells marked `# %%`, and the .ipynb beside it with what they showed.

    python -m experiments.notebook_files notebooks/*.py        (`make notebooks`)

runs each lesson from top to bottom in a process of its own and writes its .ipynb anew. The source is what is edited;
nothing is kept in the .ipynb that differs from one run to the next though the lesson is the same.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from nn.weights import replace_file

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python", "pygments_lexer": "ipython3"}
MOST_SECONDS = 600  # a cell
# Pictures as large as they say they are: cutting off their margins would mean drawing each of them twice.
WHOLE_PICTURES = "--InlineBackend.print_figure_kwargs={'bbox_inches': None}"


def executed(source: Path) -> NotebookNode:
    """Run a lesson as a reader would, in the folder where it stands, and return it with its outputs.

    Raises nbclient's CellExecutionError, which shows the cell and what went wrong in it.
    """
    notebook = jupytext.read(source)
    root = str(source.resolve().parent.parent)
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("MPLBACKEND", None)  # the notebook's own, which keeps the pictures
    client = NotebookClient(
        notebook,
        timeout=MOST_SECONDS,
        startup_timeout=MOST_SECONDS,
        kernel_name=KERNEL["name"],
        record_timing=False,
        extra_arguments=[WHOLE_PICTURES],
        resources={"metadata": {"path": str(source.resolve().parent)}},
    )
    client.execute(env=environment)
    return stripped(notebook)


def stripped(notebook: NotebookNode) -> NotebookNode:
    """Leave cells, outputs and the language; name the cells by their number. Changes and returns the notebook."""
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(LANGUAGE))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for number, cell in enumerate(notebook.cells, start=1):
        cell.id, cell.metadata = f"cell-{number:02d}", NotebookNode()
        for output in cell.get("outputs", []):
            if "metadata" in output:
                output.metadata = NotebookNode()
    return notebook


def main(sources: list[str]) -> None:
    """Run every lesson named and write it."""
    for source in map(Path, sources):
        target = source.with_suffix(".ipynb")
        replace_file(target, f"{nbformat.writes(executed(source)).rstrip()}\n".encode())
        print(target, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
