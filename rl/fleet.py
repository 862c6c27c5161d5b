"""Where games run: one hands a fleet batches of work and takes their results as they come.

    put(value)             what the work is done with from now on (agents, weights); returns its version
    submit(index, batch)   a batch waits for its turn; its index comes back with its result
    take()                 the next result, whichever batch ends first
    close()                nobody works any more

Whoever needs the same results from any number of workers puts all chance into the batch (a generator seeded by its
index) and orders what it takes by index. `InProcess` is the definition; `Processes` does the same faster.
"""

from __future__ import annotations

import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection, context, get_context
from types import TracebackType
from typing import Generic, Self, TypeVar

from rl.fleet_worker import BATCH, VALUE, serve, surroundings

Value = TypeVar("Value")
Batch = TypeVar("Batch")
Result = TypeVar("Result")

MOST_DEATHS = 3  # of workers over one batch, before it is the batch that is at fault
MOST_JOBS = 1024


class FleetError(ChildProcessError):
    """Work that no worker survives."""


@dataclass(frozen=True)
class Done(Generic[Result]):
    """The result of one batch, and the version of the value it was worked out with."""

    index: int
    version: int
    result: Result


class Fleet(ABC, Generic[Value, Batch, Result]):
    """Runs `prepare(value)(batch)` for every batch submitted, somewhere, and gives back what it returns.

    A batch is worked on with the newest value put before its work begins. An exception of `prepare` or of the work is
    raised by `take`.
    """

    @abstractmethod
    def put(self, value: Value) -> int:
        """Have all work that begins from now on done with `value`; returns its version: 1, 2, ..."""

    @abstractmethod
    def submit(self, index: int, batch: Batch) -> None:
        """Let a batch wait for its turn. Raises RuntimeError before the first `put`."""

    @abstractmethod
    def take(self) -> Done[Result]:
        """Wait for the next result. Raises RuntimeError if nothing was submitted that is not yet taken."""

    @abstractmethod
    def close(self) -> None:
        """Stop all work, finished or not."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()


class InProcess(Fleet[Value, Batch, Result]):
    """Works here and now: each `take` does the batch that has waited longest."""

    def __init__(self, prepare: Callable[[Value], Callable[[Batch], Result]]) -> None:
        self._prepare = prepare
        self._work: Callable[[Batch], Result] | None = None
        self._version = 0
        self._waiting: deque[tuple[int, Batch]] = deque()

    def put(self, value: Value) -> int:
        """See Fleet."""
        self._work = self._prepare(value)
        self._version += 1
        return self._version

    def submit(self, index: int, batch: Batch) -> None:
        """See Fleet."""
        if self._work is None:
            raise RuntimeError("a batch was submitted before any value was put")
        self._waiting.append((index, batch))

    def take(self) -> Done[Result]:
        """See Fleet."""
        if self._work is None or not self._waiting:
            raise RuntimeError("there is nothing to take: every batch submitted has been taken")
        index, batch = self._waiting.popleft()
        return Done(index, self._version, self._work(batch))

    def close(self) -> None:
        """See Fleet."""
        self._waiting.clear()


@dataclass(eq=False)
class _Job:
    """A batch, pickled, and how many workers have died over it."""

    index: int
    batch: bytes
    deaths: int = 0


@dataclass(eq=False)
class _Worker:
    """A process, our end of the line to it, the batches it has, in turn, and the version of the newest value it has."""

    process: context.SpawnProcess
    line: connection.Connection
    jobs: deque[_Job] = field(default_factory=deque)
    version: int = 0


class Processes(Fleet[Value, Batch, Result]):
    """Works in `jobs` spawned processes, one thread of linear algebra each.

    `prepare`, values, batches and results go from process to process by pickle, so `prepare` is a function at the top
    of a module. `ahead` batches more than the one it works on wait in each process, so that it need not wait for us;
    batches of minutes want 0, or one may wait behind a slow one while somebody else has nothing to do.

    A worker that dies is replaced and its batches done again; one over which MOST_DEATHS workers have died raises
    FleetError. Workers do not hear Ctrl-C, which is for the process that owns them, and end when that one does, however
    it ends.
    """

    def __init__(self, prepare: Callable[[Value], Callable[[Batch], Result]], jobs: int, ahead: int = 0) -> None:
        if not 1 <= jobs <= MOST_JOBS:
            raise ValueError(f"{jobs} processes: use 1 to {MOST_JOBS}")
        self._prepare, self._jobs, self._ahead = prepare, jobs, ahead
        self._value, self._version = b"", 0
        self._waiting: deque[_Job] = deque()
        self._workers: list[_Worker] = []

    @property
    def workers(self) -> list[int]:
        """The process numbers of the workers there are now; they start when there is work for them."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def put(self, value: Value) -> int:
        """See Fleet."""
        self._value = pickle.dumps(value)
        self._version += 1
        for worker in self._workers:
            if worker.jobs:  # of which only one has begun, if any
                with suppress(OSError):  # it has died, which `take` will see
                    self._send_value(worker)
        return self._version

    def submit(self, index: int, batch: Batch) -> None:
        """See Fleet."""
        if not self._version:
            raise RuntimeError("a batch was submitted before any value was put")
        self._waiting.append(_Job(index, pickle.dumps(batch)))
        self._hand_out()

    def take(self) -> Done[Result]:
        """See Fleet."""
        self._hand_out()
        while busy := {worker.line: worker for worker in self._workers if worker.jobs}:
            worker = busy[connection.wait(list(busy))[0]]  # type: ignore[index]
            try:
                version, succeeded, answer = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                self._hand_out()
                continue
            done = Done(worker.jobs.popleft().index, version, answer)
            self._hand_out()
            if not succeeded:
                raise answer
            return done
        raise RuntimeError("there is nothing to take: every batch submitted has been taken")

    def close(self) -> None:
        """See Fleet."""
        workers, self._workers = self._workers, []
        self._waiting.clear()
        for worker in workers:
            worker.process.kill()
            worker.line.close()
        for worker in workers:
            worker.process.join()
            worker.process.close()

    def _hand_out(self) -> None:
        """Give waiting batches to workers, as far as these may have more."""
        while self._waiting and (worker := self._next_worker()) is not None:
            job = self._waiting.popleft()
            worker.jobs.append(job)
            try:
                if worker.version != self._version:
                    self._send_value(worker)
                worker.line.send((BATCH, job.index, job.batch))
            except OSError:  # it died while it had nothing to do, or before it could begin
                self._bury(worker)

    def _next_worker(self) -> _Worker | None:
        """Who gets the next batch: one with nothing to do, a new one, or one with the fewest.

        The last batches, one a worker, are kept for whoever is free first.
        """
        worker = min(self._workers, key=lambda worker: len(worker.jobs), default=None)
        if worker is not None and not worker.jobs:
            return worker
        if len(self._workers) < self._jobs:
            return self._start()
        return worker if worker and len(worker.jobs) <= self._ahead and len(self._waiting) >= self._jobs else None

    def _send_value(self, worker: _Worker) -> None:
        worker.line.send((VALUE, self._version, self._value))
        worker.version = self._version

    def _start(self) -> _Worker:
        ours, theirs = get_context("spawn").Pipe()
        with surroundings():
            process = get_context("spawn").Process(target=serve, args=(theirs, self._prepare), daemon=True)
            process.start()
        theirs.close()  # so that its death is the end of the line
        self._workers.append(worker := _Worker(process, ours))
        return worker

    def _bury(self, worker: _Worker) -> None:
        """Take a dead worker away and let its batches wait again, first in the queue."""
        self._workers.remove(worker)
        worker.process.kill()
        worker.process.join()
        code = worker.process.exitcode
        worker.line.close()
        worker.process.close()
        job, *others = worker.jobs  # it worked on the first
        self._waiting.extendleft(reversed(others))
        job.deaths += 1
        if job.deaths >= MOST_DEATHS:
            how = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            raise FleetError(f"batch {job.index} has cost {job.deaths} worker processes, the last one {how}")
        self._waiting.appendleft(job)
