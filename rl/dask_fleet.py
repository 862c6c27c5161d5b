"""A fleet on many machines: dask.distributed carries values, batches and results, and restarts what dies.

What it does not do by itself is done here: batches whose results are lost with their worker or their scheduler are
submitted again under the same index, after the value they need; a scheduler that was restarted is found again.
"""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rl.fleet import Batch, Done, Fleet, FleetError, Result, Value

LOST = (CancelledError, OSError)  # OSError: also TimeoutError, and dask's own of a connection that was cut
LOOK_AGAIN = 1.0  # seconds, should nobody tell that something has changed


class EngineMissingError(FleetError):
    """The package that does the work is not installed."""


@dataclass(eq=False)
class _Sent:
    """A batch, pickled, and the future of its result; None while there is nobody to send it to."""

    batch: bytes
    future: Any = None


class DaskFleet(Fleet[Value, Batch, Result]):
    """Works on whatever workers a Dask scheduler has; they may come, go and die at any time.

    A batch is worked on with the value that was newest when it was submitted. `prepare` is a function at the top of a
    module that every worker can import. While there is no worker the fleet waits; while there is no scheduler it waits
    and says so through `tell`. A batch that has cost several workers (Dask's allowed-failures) raises FleetError.

    `connect` makes a `distributed.Client`; `dask_fleet` names the usual one.
    """

    def __init__(
        self,
        prepare: Callable[[Value], Callable[[Batch], Result]],
        connect: Callable[[], Any],
        tell: Callable[[str], None],
    ) -> None:
        self._prepare, self._connect, self._tell = prepare, connect, tell
        self._client = connect()
        self._value, self._version = b"", 0
        self._handle: Any = None
        self._sent: dict[int, _Sent] = {}
        self._changed = threading.Event()

    def put(self, value: Value) -> int:
        """See Fleet."""
        self._value = pickle.dumps(value)
        self._version += 1
        self._handle = None
        self._send_all()
        return self._version

    def submit(self, index: int, batch: Batch) -> None:
        """See Fleet."""
        if not self._version:
            raise RuntimeError("a batch was submitted before any value was put")
        self._sent[index] = _Sent(pickle.dumps(batch))
        self._send_all()

    def take(self) -> Done[Result]:
        """See Fleet."""
        if not self._sent:
            raise RuntimeError("there is nothing to take: every batch submitted has been taken")
        while True:
            self._changed.clear()
            done = self._look()
            if done is not None:
                return done
            self._send_all()
            self._changed.wait(LOOK_AGAIN)

    def close(self) -> None:
        """See Fleet."""
        self._sent.clear()  # whoever lets go of a future calls its work off
        self._handle = None
        with suppress(Exception):  # the other end may be gone
            self._client.close()

    def _look(self) -> Done[Result] | None:
        """The result of the first batch that has one; batches whose futures are lost are left without a future."""
        for index, sent in list(self._sent.items()):
            status = "pending" if sent.future is None else sent.future.status
            if status in ("cancelled", "lost"):
                sent.future = self._handle = None
            elif status == "error":
                del self._sent[index]
                raise _told(sent.future.exception(), index)
            elif status == "finished":
                try:
                    done: Done[Result] = sent.future.result()
                except LOST:  # its holder died before it was fetched
                    sent.future = self._handle = None
                    continue
                del self._sent[index]
                return done
        return None

    def _send_all(self) -> None:
        """Bring the value and every batch that has no future to the workers, however long that takes."""
        told = False
        while True:
            try:
                if self._client.status != "running":
                    self._reconnect()
                if self._handle is None:
                    self._handle = self._hand_over()
                for index, sent in self._sent.items():
                    if sent.future is None:
                        sent.future = self._client.submit(
                            _work, self._handle, self._prepare, index, self._version, sent.batch, pure=False
                        )
                        sent.future.add_done_callback(lambda _: self._changed.set())
                return
            except Exception as error:
                if not isinstance(error, LOST) and self._client.status == "running":
                    raise
                self._handle = None
                if not told:
                    self._tell(f"waiting for the scheduler: {error}")
                    told = True
                threading.Event().wait(LOOK_AGAIN)

    def _hand_over(self) -> Any:
        """Send the value to the scheduler; the workers get it there, once each, or from one another.

        It is the result of a task, not scattered: what was scattered is lost with the last worker that holds it, and a
        worker that dies meanwhile holds up the scattering for ever.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a task that is some megabytes large
            return self._client.submit(bytes, self._value, pure=False)

    def _reconnect(self) -> None:
        """Take a new client; everything the old one had promised is void. Raises OSError if nobody answers."""
        with suppress(Exception):
            self._client.close()
        self._handle = None
        for sent in self._sent.values():
            sent.future = None
        self._client = self._connect()


def dask_fleet(
    prepare: Callable[[Value], Callable[[Batch], Result]], address: str, tell: Callable[[str], None]
) -> DaskFleet[Value, Batch, Result]:
    """A fleet on the scheduler at `address`, such as tcp://host:8786.

    Raises EngineMissingError without the package `distributed`, FleetError if no scheduler answers there.
    """
    try:
        import distributed
    except ImportError as error:
        raise EngineMissingError(f"a fleet on Dask needs the package distributed (extra `dist`): {error}") from None
    try:
        return DaskFleet(prepare, lambda: distributed.Client(address, set_as_default=False), tell)
    except (OSError, ValueError) as error:
        raise FleetError(f"no Dask scheduler answers at {address}: {str(error).splitlines()[0]}") from None


_kept = threading.local()  # the value a thread of a worker has worked with last, and the work it was prepared for


def _work(value: bytes, prepare: Callable[[Any], Callable[[Any], Any]], index: int, version: int, batch: bytes) -> Any:
    """On a worker: do one batch, with what was prepared for the batch before it if the value is the same."""
    if getattr(_kept, "value", None) is not value:
        _kept.value = None  # let go of it before the next takes its room
        _kept.work, _kept.value = prepare(pickle.loads(value)), value
    return Done(index, version, _kept.work(pickle.loads(batch)))


def _told(error: BaseException, index: int) -> BaseException:
    """What is raised for an error of a batch: itself, or that nobody survives it."""
    if type(error).__name__ == "KilledWorker":
        return FleetError(f"batch {index} has killed every worker it was given to: {error}")
    return error
