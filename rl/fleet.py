"""Where games run: one hands a fleet batches of work and takes their results as they come.

    put(value)             what the work is done with from now on (agents, weights); returns its version
    submit(index, batch)   a batch waits for its turn; its index comes back with its result
    take()                 the next result, whichever batch ends first
    close()                nobody works any more

Whoever needs the same results from any number of workers puts all chance into the batch (a generator seeded by its
index) and orders what it takes by index. `InProcess` is the definition; `Processes` does the same faster.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, context, get_context
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Value = TypeVar("Value")
Batch = TypeVar("Batch")
Result = TypeVar("Result")

MOST_DEATHS = 3  # of workers over one batch, before it is the batch that is at fault
MOST_JOBS = 1024
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


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
    """A process, our end of the line to it, what it is doing and the version of the value it has."""

    process: context.SpawnProcess
    line: connection.Connection
    job: _Job
    version: int = 0


class Processes(Fleet[Value, Batch, Result]):
    """Works in `jobs` spawned processes, one thread of linear algebra each.

    `prepare`, values, batches and results go from process to process by pickle, so `prepare` is a function at the top
    of a module. A worker that dies is replaced and its batch done again; one over which MOST_DEATHS workers have died
    raises FleetError. Workers do not hear Ctrl-C, which is for the process that owns them, and end when that one does,
    however it ends.
    """

    def __init__(self, prepare: Callable[[Value], Callable[[Batch], Result]], jobs: int) -> None:
        if not 1 <= jobs <= MOST_JOBS:
            raise ValueError(f"{jobs} processes: use 1 to {MOST_JOBS}")
        self._prepare, self._jobs = prepare, jobs
        self._value, self._version = b"", 0
        self._waiting: deque[_Job] = deque()
        self._busy: list[_Worker] = []
        self._idle: list[_Worker] = []

    @property
    def workers(self) -> list[int]:
        """The process numbers of the workers there are now; they start when there is work for them."""
        return [worker.process.pid for worker in (*self._busy, *self._idle) if worker.process.pid is not None]

    def put(self, value: Value) -> int:
        """See Fleet."""
        self._value = pickle.dumps(value)
        self._version += 1
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
        while self._busy:
            ready = connection.wait([worker.line for worker in self._busy])
            worker = next(worker for worker in self._busy if worker.line in ready)
            try:
                succeeded, answer = worker.line.recv()
            except (EOFError, OSError):
                self._bury(worker)
                self._hand_out()
                continue
            done = Done(worker.job.index, worker.version, answer)
            self._busy.remove(worker)
            self._idle.append(worker)
            self._hand_out()
            if not succeeded:
                raise answer
            return done
        raise RuntimeError("there is nothing to take: every batch submitted has been taken")

    def close(self) -> None:
        """See Fleet."""
        workers = [*self._busy, *self._idle]
        self._busy, self._idle = [], []
        self._waiting.clear()
        for worker in workers:
            worker.process.kill()
            worker.line.close()
        for worker in workers:
            worker.process.join()
            worker.process.close()

    def _hand_out(self) -> None:
        """Give every waiting batch to a worker, as far as there are idle ones or room for more."""
        while self._waiting and (self._idle or len(self._busy) < self._jobs):
            job = self._waiting.popleft()
            if self._idle:
                worker = self._idle.pop()
                worker.job = job
            else:
                worker = self._start(job)
            self._busy.append(worker)
            try:
                if worker.version != self._version:
                    worker.line.send((None, self._value))
                    worker.version = self._version
                worker.line.send((job.index, job.batch))
            except OSError:  # it died while it had nothing to do, or before it could begin
                self._bury(worker)

    def _start(self, job: _Job) -> _Worker:
        ours, theirs = get_context("spawn").Pipe()
        with _surroundings():
            process = get_context("spawn").Process(target=_serve, args=(theirs, self._prepare), daemon=True)
            process.start()
        theirs.close()  # so that its death is the end of the line
        return _Worker(process, ours, job)

    def _bury(self, worker: _Worker) -> None:
        """Take a dead worker away and let its batch wait again, first in the queue."""
        self._busy.remove(worker)
        worker.process.kill()
        worker.process.join()
        code, job = worker.process.exitcode, worker.job
        worker.line.close()
        worker.process.close()
        job.deaths += 1
        if job.deaths >= MOST_DEATHS:
            how = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            raise FleetError(f"batch {job.index} has cost {job.deaths} worker processes, the last one {how}")
        self._waiting.appendleft(job)


@contextmanager
def _surroundings() -> Iterator[None]:
    """What a process started here inherits: linear algebra on one thread, and SIGINT held back for good."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                del os.environ[name]
            else:
                os.environ[name] = old
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _serve(line: connection.Connection, prepare: Callable[[Any], Callable[[Any], Any]]) -> None:
    """The life of a worker: batch after batch, until the line is cut."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox: queue.SimpleQueue[tuple[int | None, bytes]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(line, inbox), daemon=True).start()
    value, work = b"", None
    while True:
        index, content = inbox.get()
        if index is None:
            value, work = content, None
            continue
        try:
            if work is None:
                work = prepare(pickle.loads(value))  # bytes from the process that started this one, like the next
            answer = pickle.dumps((True, work(pickle.loads(content))))
        except Exception as error:
            answer = pickle.dumps((False, _portable(error)))
        line.send_bytes(answer)


def _listen(line: connection.Connection, inbox: queue.SimpleQueue[tuple[int | None, bytes]]) -> None:
    """Take in what comes down the line, so that neither end ever waits to be heard; end the process with the line."""
    try:
        while True:
            inbox.put(line.recv())
    except (EOFError, OSError):
        os._exit(1)


def _portable(error: Exception) -> Exception:
    """The exception, with where it happened as a note, or one that says the same if it cannot be sent."""
    where = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"in a worker process:\n{where}")
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process: {error}\n{where}")
    return error
