"""The life of a worker process: batch after batch comes down a line, and results go back, until the line is cut.

    down   (VALUE, version, value)    what the work is done with from now on      value, batch, result: pickled
           (BATCH, index, batch)      work to be done, in turn
    back   (version, True, result)    what came of the batch that has waited longest, and of the value it was done with
           (version, False, error)

Both ends belong to one program on one machine: what is unpickled here was pickled by the process that started this one.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, resource_tracker
from typing import Any

VALUE, BATCH = "value", "batch"
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Inbox:
    """What has come down the line: the newest value, and the batches that wait, oldest first."""

    def __init__(self) -> None:
        self.value: tuple[int, bytes] = (0, b"")
        self.batches: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def listen(self, line: connection.Connection) -> None:
        """Take in all that comes, so that neither end ever waits to be heard; end the process with the line."""
        try:
            while True:
                kind, number, content = line.recv()
                if kind == VALUE:
                    self.value = number, content
                else:
                    self.batches.put(content)
        except (EOFError, OSError):
            os._exit(1)


def serve(line: connection.Connection, prepare: Callable[[Any], Callable[[Any], Any]]) -> None:
    """Do one batch after the other, each with what `prepare` makes of the value that is newest when it begins."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inbox = Inbox()
    threading.Thread(target=inbox.listen, args=(line,), daemon=True).start()
    version, work = 0, None
    while True:
        batch = inbox.batches.get()
        newest, value = inbox.value
        if newest != version:
            version, work = newest, None  # let go of it before the next takes its room
        try:
            if work is None:
                work = prepare(pickle.loads(value))
            answer = pickle.dumps((version, True, work(pickle.loads(batch))))
        except Exception as error:
            answer = pickle.dumps((version, False, _portable(error)))
        line.send_bytes(answer)


@contextmanager
def surroundings() -> Iterator[None]:
    """What a process started here inherits: linear algebra on one thread, and SIGINT held back for good."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    resource_tracker.ensure_running()  # the first process would start it, and that lets SIGINT through again
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


def _portable(error: Exception) -> Exception:
    """The exception, with where it happened as a note, or one that says the same if it cannot be sent."""
    where = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"in a worker process:\n{where}")
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__} in a worker process: {error}\n{where}")
    return error
