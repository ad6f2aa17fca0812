"""The host's end of a fork server: starts it, gives it runs, ends it."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import llamea_tune
from llamea_tune.exceptions import SandboxError
from llamea_tune.sandbox.layers import LayerStatus
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.sandbox.wire import receive_frame, send_frame
from llamea_tune.spaces.space import Space

_BOOT = "import sys; sys.path += sys.argv[2:]; from llamea_tune.sandbox.fork_server import main; main()"
_START_S = 120.0
_ANSWER_S = 300.0  # it may have to import and to build a large search space first
STARTING = threading.Lock()
"""Held while a process is started: one that is forked meanwhile would keep open what tells that the other has begun."""

_TAIL = 1 << 16  # bytes of its standard error that are looked at
_MAX_IMPORTS = 100  # that the fork server may be asked to make ahead of a run
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([\w.]+)", re.MULTILINE)


class WorkerDiedError(Exception):
    """A fork server is gone, or does not answer; a new one can take its place."""


@dataclass(frozen=True)
class Report:
    """How a guest's process ended.

    Attributes:
        status: As `os.wait` gives it.
        cpu_s: CPU time it used, user and system.
        timed_out: Whether it was ended at its wall-clock limit.
        dismissed: Whether it was ended because the host asked for it.
    """

    status: int
    cpu_s: float
    timed_out: bool
    dismissed: bool


class Guest:
    """A running guest, as the host sees it: two pipes with deadlines."""

    def __init__(self, worker: Worker, from_guest: int, to_guest: int) -> None:
        self._worker = worker
        self._from_guest = from_guest
        self._to_guest = to_guest
        self._poll = select.poll()
        self._poll.register(from_guest, select.POLLIN)
        self._report: Report | None = None

    def receive(self, size: int, timeout_s: float) -> bytes | None:
        """What the guest sent, at most `size` bytes; empty when it is gone, None when nothing came in time."""
        if not self._poll.poll(max(0, timeout_s) * 1000):
            return None
        return os.read(self._from_guest, size)

    def assign(self, assignment: bytes) -> None:
        """Send what it is to run. It is in trusted hands until it has read that."""
        with contextlib.suppress(BrokenPipeError):
            view = memoryview(assignment)
            while view:
                view = view[os.write(self._to_guest, view) :]
        os.set_blocking(self._to_guest, False)

    def send(self, data: bytes) -> bool:
        """Send a reply; False if the guest does not take it."""
        try:
            return os.write(self._to_guest, data) == len(data)
        except BlockingIOError:
            return False
        except BrokenPipeError:
            return True  # it died; the next read says so

    def stop_clock(self) -> None:
        """Stop its wall clock while it waits for a live measurement.

        Raises:
            WorkerDiedError: The fork server is gone.
        """
        self._worker.order_guest("stop clock")

    def start_clock(self) -> None:
        """Let its wall clock go on.

        Raises:
            WorkerDiedError: The fork server is gone.
        """
        self._worker.order_guest("start clock")

    def end(self, patience_s: float) -> Report:
        """End it if it does not end by itself, and say how it ended.

        Args:
            patience_s: How long to wait for it to end by itself.

        Raises:
            WorkerDiedError: The fork server is gone.
        """
        if self._report is None:
            try:
                self._report = self._worker.end_guest(patience_s)
            finally:
                os.close(self._from_guest)
                os.close(self._to_guest)
        return self._report


class Worker:
    """One fork server and the guest it runs. Used by one thread at a time; `kill` may come from any."""

    def __init__(self, spaces: Sequence[Space], limits: Limits) -> None:
        self._spaces = spaces
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._control: socket.socket | None = None
        self._guest_pid: int | None = None
        self.layers: tuple[LayerStatus, ...] = ()

    @property
    def started(self) -> bool:
        """Whether the fork server runs."""
        return self._process is not None and self._process.poll() is None

    def space_size(self, number: int) -> int:
        """Number of configs of a space."""
        return self._spaces[number].size

    def start(self) -> None:
        """Start the fork server and wait until it is warm.

        Raises:
            SandboxError: It did not start.
        """
        if os.name != "posix":
            raise SandboxError("candidates can be run on Linux only, and less safely on macOS; on Windows, use WSL")
        self.kill()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is read when the process has died
        with theirs:
            with STARTING:
                self._process = subprocess.Popen(
                    [sys.executable, "-s", "-P", "-c", _BOOT, str(theirs.fileno()), *_module_folders()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._errors,
                    cwd="/",
                    env=clean_environment(),
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            self._control = ours
            theirs.close()
            try:
                outlines, tail = _describe(self._spaces)
                stays = threading.current_thread() is threading.main_thread()
                self._say({**outlines, "dies_with_thread": stays}, tail=tail)
                answer = self._hear(_START_S)
            except WorkerDiedError as error:
                cause = self._last_words() or str(error)
                self.kill()
                raise SandboxError(f"the sandbox did not start: {cause}; see `llamea-tune doctor`") from error
        self.layers = tuple(LayerStatus(**layer) for layer in answer["layers"])

    def start_guest(self, space: int, code: str) -> Guest:
        """Fork a guest for one run; it then waits for its assignment.

        Args:
            space: Number of the space.
            code: What will run, for the fork server to import what it will.

        Raises:
            WorkerDiedError: The fork server is gone.
        """
        from_guest, guest_out = os.pipe()
        guest_in, to_guest = os.pipe()
        order = {
            "order": "run",
            "imports": _imports(code),
            "space": space,
            "limits": asdict(self._limits),
        }
        try:
            self._say(order, fds=(guest_out, guest_in))
            self._guest_pid = self._hear(_ANSWER_S)["pid"]
        except WorkerDiedError:
            os.close(from_guest)
            os.close(to_guest)
            raise
        finally:
            os.close(guest_out)
            os.close(guest_in)
        return Guest(self, from_guest, to_guest)

    def order_guest(self, order: str) -> None:
        """Tell the fork server what to do about its guest; it has no answer to that."""
        self._say({"order": order})

    def end_guest(self, patience_s: float) -> Report:
        """See `Guest.end`."""
        try:
            if not self._has_answered(patience_s):
                self.order_guest("end")
            answer = self._hear(_ANSWER_S)
        finally:
            self._guest_pid = None
        return Report(**answer)

    def how_it_failed(self) -> str:
        """What became of the fork server, for people: how it died, or that it does not answer where it still runs."""
        if self._process is None:
            return "was never started"
        try:
            status = self._process.wait(1.0)  # its socket may be closed a moment before its end
        except subprocess.TimeoutExpired:
            return "did not answer"
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        return f"died ({': '.join(filter(None, [how, self._last_words()]))})"

    def kill(self) -> None:
        """End the fork server and its guest at once; its guests die with it, wherever the kernel can see to that."""
        process, guest_pid = self._process, self._guest_pid
        if process is not None and process.poll() is None:
            for leader in (guest_pid, process.pid):
                if leader is not None:
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.killpg(leader, signal.SIGKILL)
            process.wait()
        if self._control is not None:
            with contextlib.suppress(OSError):
                self._control.shutdown(socket.SHUT_RDWR)
        if self._errors is not None:
            self._errors.close()

    def _last_words(self) -> str:
        """The last line that the fork server, or a guest that could not be confined, wrote to its standard error."""
        if self._errors is None:
            return ""
        try:
            size = os.fstat(self._errors.fileno()).st_size
            written = os.pread(self._errors.fileno(), _TAIL, max(0, size - _TAIL))
        except (OSError, ValueError):  # another thread has ended it, and closed the file
            return ""
        lines = written.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _has_answered(self, patience_s: float) -> bool:
        poll = select.poll()
        if self._control is not None:
            poll.register(self._control, select.POLLIN)
        return bool(poll.poll(patience_s * 1000))

    def _say(self, content: dict[str, Any], *, fds: Sequence[int] = (), tail: bytes = b"") -> None:
        if self._control is None:
            raise WorkerDiedError("it was never started")
        try:
            send_frame(self._control, content, fds, tail)
        except OSError as error:
            raise WorkerDiedError(str(error)) from error

    def _hear(self, timeout_s: float) -> dict[str, Any]:
        if self._control is None:
            raise WorkerDiedError("it was never started")
        self._control.settimeout(timeout_s)
        try:
            frame = receive_frame(self._control)
        except OSError as error:
            raise WorkerDiedError(str(error)) from error
        finally:
            with contextlib.suppress(OSError):
                self._control.settimeout(None)
        if frame is None:
            raise WorkerDiedError("its process ended")
        return frame[0]


ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""What tells numerical libraries to use one thread, if they find it in the environment when they are loaded."""


def clean_environment() -> dict[str, str]:
    """The whole environment of a fork server: nothing of the host's but where the loader finds libraries, if it says so.

    Hashes of strings are fixed and numerical libraries use one thread, so that a run repeats bit for bit.
    """
    environment = {
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/nonexistent",
        "LANG": "C.UTF-8",
        **ONE_THREAD,
        "JOBLIB_MULTIPROCESSING": "0",
    }
    if "LD_LIBRARY_PATH" in os.environ:  # some installations of Python do not start without it
        environment["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return environment


def _imports(code: str) -> list[str]:
    """What code will import, itself or by what it calls of Kernel Tuner."""
    late = ["scipy.stats"] if "LHS" in code else []
    return list(dict.fromkeys([*late, *_IMPORT.findall(code)]))[:_MAX_IMPORTS]


def _module_folders() -> list[str]:
    """Where this process finds its modules, for a fork server to look there last."""
    package_parent = str(Path(llamea_tune.__file__).parent.parent)
    return [path for path in dict.fromkeys([*sys.path, package_parent]) if path and Path(path).is_absolute()]


def _describe(spaces: Sequence[Space]) -> tuple[dict[str, Any], bytes]:
    """The outlines of the spaces: what a candidate may know of them, and no measurement."""
    outlines = [
        {
            "tune_params": [[name, list(values)] for name, values in space.tune_params.items()],
            "shape": space.value_indices.shape,
            "prior": space.prior is not None,
        }
        for space in spaces
    ]
    return {"spaces": outlines}, b"".join(map(_pack_arrays, spaces))


def _pack_arrays(space: Space) -> bytes:
    packed = space.value_indices.astype("<u2").tobytes()
    if space.prior is not None:
        packed += space.prior.mean.astype("<f8").tobytes() + space.prior.sd.astype("<f8").tobytes()
    return packed
