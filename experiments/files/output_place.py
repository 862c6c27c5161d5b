"""Where a file is to be written, and as what, looked at before the work: what cannot be kept is told at once."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from experiments.errors import UserError

FORMATS = (".pdf", ".png", ".svg")  # of pictures


def check_place(path: Path) -> None:
    """Raise UserError if no file can be written at `path`."""
    try:
        if path.is_dir():
            raise IsADirectoryError(0, "Is a directory")
        if not path.exists() or path.is_file():
            with tempfile.TemporaryFile(dir=Path(os.path.realpath(path)).parent):
                pass
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}, so nothing could be written there after the work") from None


def check_format(path: Path) -> None:
    """Raise UserError if a picture cannot be drawn as the ending of `path` says."""
    if path.suffix not in FORMATS:
        raise UserError(f"{path}: cannot draw {path.suffix or 'a file without an ending'}; use {', '.join(FORMATS)}")


def check_report(json: Path | None, picture: Path | None) -> None:
    """Raise UserError if the numbers or the picture of a measurement, where asked for, could not be written."""
    if json is not None:
        check_place(json)
    if picture is not None:
        check_format(picture)
        check_place(picture)
