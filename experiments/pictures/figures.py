"""What all pictures have in common: colours that everybody can tell apart, names, and how a figure becomes a file.

The colours are Okabe and Ito's, chosen for colour-blind readers; https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.files.output_place import check_format
from nn.weights import replace_file

if TYPE_CHECKING:  # matplotlib takes a second to import and is needed only where something is drawn
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
OTHERS = (PINK, SKY, GREEN, VERMILION)  # for what has no colour of its own, in turn
DOTS_PER_INCH = 110
# What the tactical suite asks, as pictures call it, and as the metrics do.
TACTICS = {
    "win in one taken": "win_in_one",
    "threat blocked": "block_in_one",
    "open three stopped": "stop_three",
    "own four first": "own_four_first",
    "double threat made": "double_threat",
}


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all; the ending of `path` says as what."""
    check_format(path)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], dpi=DOTS_PER_INCH)
    replace_file(path, picture.getvalue())
