"""The metrics of a run as an event file, which TensorBoard shows: one curve a number, over the games of training."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from experiments.errors import UserError
from experiments.files.run_rows import flatten
from experiments.metrics import Row

NOT_CURVES = {"update", "games", "seconds"}


def event_bytes(rows: Sequence[Row]) -> bytes:
    """Return the event file of metrics: tags such as evaluation/greedy/win_rate, steps are games of training.

    The time of an event is how many seconds of training came before it, TensorBoard's "relative" axis. What is no
    number is left out. Raises UserError if the package tensorboardX is not there.
    """
    try:
        from tensorboardX import SummaryWriter
    except ImportError:
        raise UserError("this needs the package tensorboardX: pip install -e '.[tb]'") from None
    seconds = 0.0
    with tempfile.TemporaryDirectory() as folder:  # the writer insists on a folder, and on a name of its own
        with SummaryWriter(folder) as writer:
            for row in rows:
                seconds += row.get("seconds", 0.0)
                for name, value in flatten(row):
                    if isinstance(value, (int, float)) and name not in NOT_CURVES:
                        writer.add_scalar(name.replace(".", "/"), value, row["games"], walltime=seconds)
        (written,) = Path(folder).iterdir()
        return written.read_bytes()
