"""Measuring for everybody in a run: one recording runner for each device, reached from any thread and forked process.

The process that opened a device keeps it, and serves requests over a socket, one measurement at a time. So several
runs share one device without disturbing each other, and devices measure in parallel. The socket is one of this machine,
or of the network where runs are made on a cluster; whoever connects has to know a secret that is made anew each time.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Any

from llamea_tune._closing import Closing
from llamea_tune.exceptions import RecordingError
from llamea_tune.runners.live_runner import LiveDevice
from llamea_tune.runners.recording_runner import RecordingRunner
from llamea_tune.runners.runner import Measurement

_CLOSING_S = 5.0
_CLOSED = "the device was closed while something was still to be measured on it"


class MeasuringService(Closing):
    """Serves the measurements of one kernel on one device; a context manager, which leaves no process behind."""

    def __init__(self, live: LiveDevice, cache: Path) -> None:
        """Open the recording and begin to serve.

        Args:
            live: The device; closed with the service.
            cache: The recording, see `RecordingRunner`.

        Raises:
            RecordingError: The recording belongs to another kernel, version of it, or device.
        """
        self._live = live
        self._lock = threading.Lock()
        self._recording = RecordingRunner(live, cache)
        self._key = os.urandom(32)
        address: dict[str, Any] = {"family": "AF_UNIX"} if live.host is None else {"address": (live.host, 0)}
        self._listener = Listener(**address, backlog=64)
        self._closed = False
        threading.Thread(target=self._accept, daemon=True, name="measuring").start()

    def close(self) -> None:
        """End the device's process, at once: a measurement that is under way is dropped."""
        self._closed = True
        self._live.close()
        family = socket.AF_INET if self._live.host else socket.AF_UNIX
        with contextlib.suppress(OSError), socket.socket(family) as last:
            last.connect(self._listener.address)  # wakes the thread that waits for clients
        self._listener.close()
        if self._lock.acquire(timeout=_CLOSING_S):
            self._recording.close()
            self._lock.release()

    @property
    def measured(self) -> int:
        """Measurements that were made, rather than served from the recording."""
        return self._recording.measured

    def client(self) -> MeasuringClient:
        """A runner on this service."""
        return MeasuringClient(self._listener.address, self._key, self._recording.size)

    def lowest_cost(self) -> float:
        """The lowest cost that is recorded; infinite where there is none."""
        with self._lock:
            return self._recording.lowest_cost()

    def measure(self, index: int) -> Measurement:
        """Serve config number `index` from the recording, or measure and record it."""
        with self._lock:
            if self._closed:
                raise RecordingError(_CLOSED)
            return self._recording.measure(index)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection = self._listener.accept()
            except OSError:  # it is being closed
                continue
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="measuring").start()

    def _serve(self, connection: Connection[Measurement | float | str, int | None]) -> None:
        """Answer one client until it hangs up, if it is one of ours."""
        with connection, contextlib.suppress(EOFError, OSError, AuthenticationError):
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            while True:
                connection.send(self._answer(connection.recv()))

    def _answer(self, index: int | None) -> Measurement | float | str:
        try:
            return self.lowest_cost() if index is None else self.measure(index)
        except Exception as err:  # raised again where it was asked for
            return str(err) or type(err).__name__


class MeasuringClient:
    """A runner whose measurements come from a service; remembers what it was told, and may be sent to another process."""

    takes_time = True

    def __init__(self, address: str | tuple[str, int], key: bytes, size: int) -> None:
        self._address = address
        self._key = key
        self._known: dict[int, Measurement] = {}
        self._own = threading.local()
        self.size = size

    def __reduce__(self) -> tuple[type[MeasuringClient], tuple[str | tuple[str, int], bytes, int]]:
        return MeasuringClient, (self._address, self._key, self.size)

    def measure(self, index: int) -> Measurement:
        """The measurement of config number `index`.

        Raises:
            RecordingError: It could not be measured or recorded, or the service is closed.
        """
        known = self._known.get(index)
        if known is None:
            known = self._known[index] = self._ask(index)
        return known

    def lowest_cost(self) -> float:
        """The lowest cost that is recorded; infinite where there is none.

        Raises:
            RecordingError: The service is closed.
        """
        return float(self._ask(None))

    def _ask(self, index: int | None) -> Any:
        try:
            connection = self._connection()
            connection.send(index)
            answer = connection.recv()
        except (EOFError, OSError) as err:
            raise RecordingError(_CLOSED) from err
        if isinstance(answer, str):
            raise RecordingError(answer)
        return answer

    def _connection(self) -> Connection[int | None, Measurement | float | str]:
        """This thread's; another one in a forked process, for a connection carries one conversation."""
        if getattr(self._own, "pid", None) != os.getpid():
            self._own.connection = Client(self._address, authkey=self._key)
            self._own.pid = os.getpid()
        connection: Connection[int | None, Measurement | float | str] = self._own.connection
        return connection
