"""The fork server: a warm, trusted process that forks one guest for each run.

The host starts one for each worker, with a scrubbed environment and a socket. It imports what candidates need, builds
Kernel Tuner's search spaces, and from then on a new guest costs milliseconds and shares that memory. It never executes
a candidate's code, and never holds a measurement: the host sends it only the outlines of the spaces. So nothing passes
from one run to the next, and nothing that is worth finding lies in a guest's memory.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

import numpy as np
from kernel_tuner.searchspace import Searchspace

from llamea_tune.sandbox import linux
from llamea_tune.sandbox.confinement import Confinement
from llamea_tune.sandbox.descendants import end_group, reap_orphans
from llamea_tune.sandbox.guest import run_candidate
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.sandbox.wire import receive_frame, send_frame
from llamea_tune.spaces.prior import Prior
from llamea_tune.spaces.searchspace import build_searchspace

SETUP_FAILED = 70  # exit status of a guest whose walls could not be put up

_PRELOADED = re.compile(r"(numpy|scipy|sklearn)(\.(?!tests?\b|conftest\b|setup\b)[a-z][a-z_0-9]*)*")


@dataclass(frozen=True)
class _Outline:
    """A search space as a candidate may know it: no name, no costs, no times; but what is known of it beforehand."""

    tune_params: dict[str, tuple[Any, ...]]
    value_indices: np.ndarray[Any, np.dtype[np.uint16]]
    prior: Prior | None


class ForkServer:
    """Serves one host: runs one guest at a time, and ends with the host."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._outlines: list[_Outline] = []
        self._searchspaces: dict[int, Searchspace] = {}
        self._wake, wake_writer = os.pipe()
        os.set_blocking(self._wake, False)
        os.set_blocking(wake_writer, False)
        signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._confinement = Confinement()

    def serve(self) -> None:
        """Answer the host until it hangs up."""
        frame = receive_frame(self._control)
        if frame is None:
            return
        hello, _, tail = frame
        os.environ.pop("LD_LIBRARY_PATH", None)  # the loader has read it
        if hello["dies_with_thread"] and linux.IS_LINUX:
            linux.die_with_parent(signal.SIGKILL)  # at once, not only when it finds that the host hung up
        self._outlines = list(_read_outlines(hello["spaces"], tail))
        layers = self._confinement.prepare()
        send_frame(self._control, {"layers": [asdict(layer) for layer in layers]})
        while (frame := receive_frame(self._control, max_fds=2)) is not None:
            order, fds, _ = frame
            if order["order"] == "run":
                self._run(order, fds)

    def _run(self, order: dict[str, Any], fds: list[int]) -> None:
        searchspace = self._warm_up(order["space"], order["imports"])
        prior = self._outlines[order["space"]].prior
        limits = Limits(**order["limits"])
        pid = os.fork()
        if pid == 0:
            self._become_guest(limits, searchspace, prior, *fds)
        for fd in fds:
            os.close(fd)
        send_frame(self._control, {"pid": pid})
        send_frame(self._control, self._supervise(pid, limits.wall_s))

    def _warm_up(self, number: int, imports: Iterable[str]) -> Searchspace:
        """Build and import what the run needs, once, so that guests find it in the memory they share."""
        before = len(sys.modules)
        for name in imports:
            if _PRELOADED.fullmatch(name) and name not in sys.modules:
                with contextlib.suppress(Exception):  # the guest meets the same error, and reports it
                    importlib.import_module(name)
        if number not in self._searchspaces:
            outline = self._outlines[number]
            self._searchspaces[number] = build_searchspace(outline.tune_params, outline.value_indices)
            before = 0
        if len(sys.modules) > before:
            gc.collect()
            gc.freeze()
        return self._searchspaces[number]

    def _become_guest(
        self, limits: Limits, searchspace: Searchspace, prior: Prior | None, to_host: int, from_host: int
    ) -> NoReturn:
        status = SETUP_FAILED
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            to_host, from_host = self._confinement.apply(limits, (to_host, from_host))
            status = 0
            run_candidate(searchspace, prior, to_host, from_host)
        except BaseException:
            if status == SETUP_FAILED:
                traceback.print_exc()
        finally:
            os._exit(status)

    def _supervise(self, pid: int, wall_s: float) -> dict[str, Any]:
        """Wait for a guest's end, or bring it about at its time limit or at the host's word."""
        clock = _WallClock(wall_s)
        timed_out = dismissed = False
        while (ended := os.wait4(pid, os.WNOHANG))[0] == 0:
            left = clock.left_s()
            timed_out = left is not None and left <= 0
            patience = left if left is None else max(0.0, left)
            ready, _, _ = select.select([self._control.fileno(), self._wake], [], [], patience)
            dismissed = self._control.fileno() in ready and self._is_end(clock)
            if timed_out or dismissed:
                end_group(pid)
                ended = os.wait4(pid, 0)
                break
            with contextlib.suppress(BlockingIOError):
                os.read(self._wake, 4096)
        _, status, usage = ended
        end_group(pid)
        reap_orphans()
        cpu_s = usage.ru_utime + usage.ru_stime
        return {"status": status, "cpu_s": cpu_s, "timed_out": timed_out, "dismissed": dismissed}

    def _is_end(self, clock: _WallClock) -> bool:
        """Take the host's word about a guest; whether it is to end."""
        frame = receive_frame(self._control)
        order = frame[0]["order"] if frame else "end"
        if order == "stop clock":
            clock.stop()
        elif order == "start clock":
            clock.start()
        else:
            return True
        return False


class _WallClock:
    """The wall-clock time that a guest has left; it stands still while the guest waits for a live measurement."""

    def __init__(self, wall_s: float) -> None:
        self._left_s = wall_s
        self._since: float | None = time.monotonic()

    def left_s(self) -> float | None:
        """Seconds left; None while it stands still."""
        return None if self._since is None else self._left_s - (time.monotonic() - self._since)

    def stop(self) -> None:
        """Let it stand still."""
        left_s = self.left_s()
        if left_s is not None:
            self._left_s, self._since = left_s, None

    def start(self) -> None:
        """Let it run again."""
        if self._since is None:
            self._since = time.monotonic()


def _read_outlines(descriptions: list[dict[str, Any]], tail: bytes) -> Iterable[_Outline]:
    start = 0
    for description in descriptions:
        n_configs, n_params = description["shape"]
        end = start + 2 * n_configs * n_params
        value_indices = np.frombuffer(tail[start:end], dtype="<u2").reshape(n_configs, n_params)
        tune_params = {name: tuple(values) for name, values in description["tune_params"]}
        start, prior = end, None
        if description["prior"]:
            start = end + 16 * n_configs
            mean, sd = np.frombuffer(tail[end:start], dtype="<f8").reshape(2, n_configs)
            prior = Prior(mean, sd, "")
        yield _Outline(tune_params, value_indices, prior)


def main() -> None:
    """Serve the host at the other end of the socket whose descriptor is the first argument."""
    ForkServer(socket.socket(fileno=int(sys.argv[1]))).serve()


if __name__ == "__main__":
    main()
