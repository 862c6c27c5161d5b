"""Fleets by name: `processes:4` on this machine, `dask:tcp://host:8786` on many."""

from __future__ import annotations

import sys
from collections.abc import Callable

from experiments.errors import UserError, did_you_mean
from rl.dask_fleet import dask_fleet
from rl.fleet import MOST_JOBS, Batch, Fleet, FleetError, Processes, Result, Value

KINDS = ("processes", "dask")


def fleet_named(
    name: str, prepare: Callable[[Value], Callable[[Batch], Result]], ahead: int = 0
) -> Fleet[Value, Batch, Result]:
    """The fleet of that name, ready for a value; `ahead` batches more wait in each process. Raises UserError."""
    kind, _, argument = name.partition(":")
    if kind == "processes":
        if not (argument.isascii() and argument.isdigit() and 1 <= int(argument[:9]) <= MOST_JOBS):
            raise UserError(f"--fleet {name}: write processes:N, N from 1 to {MOST_JOBS}")
        return Processes(prepare, int(argument[:9]), ahead)
    if kind == "dask":
        if not argument:
            raise UserError(f"--fleet {name}: write dask:ADDRESS, the scheduler's, such as dask:tcp://host:8786")
        try:
            return dask_fleet(prepare, argument, lambda text: print(f"gomoku: {text}", file=sys.stderr, flush=True))
        except FleetError as error:
            raise UserError(f"--fleet {name}: {error}") from None
    raise UserError(f"--fleet {name}: there is no fleet {kind!r}; {did_you_mean(kind, KINDS)}")
