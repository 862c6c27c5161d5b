"""What all pictures have in common: colours that everybody can tell apart, and how a figure becomes a file.

The colours are Okabe and Ito's, chosen for colour-blind readers; https://jfly.uni-koeln.de/color/
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.errors import UserError
from nn.weights import replace_file

if TYPE_CHECKING:  # matplotlib takes a second to import and is needed only where something is drawn
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK, SKY, VERMILION = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00"
OTHERS = (PINK, SKY, GREEN, VERMILION)  # for what has no colour of its own, in turn
DOTS_PER_INCH = 110
FORMATS = (".pdf", ".png", ".svg")


def check_format(path: Path) -> None:
    """Raise UserError if a picture cannot be drawn as the ending of `path` says."""
    if path.suffix not in FORMATS:
        raise UserError(f"{path}: cannot draw {path.suffix or 'a file without an ending'}; use {', '.join(FORMATS)}")


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all; the ending of `path` says as what."""
    check_format(path)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:], dpi=DOTS_PER_INCH)
    replace_file(path, picture.getvalue())
