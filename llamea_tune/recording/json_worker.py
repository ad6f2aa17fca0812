"""Worker processes: requests and replies as lines of JSON over pipes, so that what crashes or hangs can be replaced.

A kernel under test may end its process, hang it, or leave the GPU's context unusable, and so may a compiler. Both
therefore run in workers, each in a temporary folder of its own, where Kernel Tuner also leaves its temporary files.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import Any

from llamea_tune._closing import Closing

Message = dict[str, Any]

_ORPHAN_CHECK_S = 1.0
_LOOK_S = 0.5  # how often one who waits for a reply looks whether the worker was closed meanwhile


class WorkerDiedError(Exception):
    """The worker ended, or did not answer in time and was ended."""


class Worker(Closing):
    """The parent's side: starts a worker module, and starts it again after it has died."""

    def __init__(self, module: str, settings: Message) -> None:
        """Remember what to start; nothing is started before the first request.

        Args:
            module: Name of a module that calls `serve` when run.
            settings: Handed to it when it starts.
        """
        self._module = module
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._received = b""

    def request(self, message: Message, timeout_s: float) -> Message:
        """Send one request and wait for its reply.

        Args:
            message: Anything that JSON can hold.
            timeout_s: Longest wait in seconds, the worker's start included.

        Raises:
            WorkerDiedError: No reply came; the next request starts a new worker.
        """
        process = self._running()
        try:
            assert process.stdin is not None
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            reply: Message = json.loads(self._read_line(process, timeout_s))
            return reply
        except (OSError, ValueError, EOFError) as err:
            self.close()
            raise WorkerDiedError(self._how_it_ended(process, err)) from err

    def close(self) -> None:
        """End the worker."""
        process, self._process, self._received = self._process, None, b""
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._folder = tempfile.TemporaryDirectory(prefix="llamea-tune-", ignore_cleanup_errors=True)
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, json.dumps(self._settings)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=self._folder.name,
                process_group=0,  # Ctrl-C is the parent's to handle, and would look like a kernel that failed
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            )
        return self._process

    def _read_line(self, process: subprocess.Popen[bytes], timeout_s: float) -> bytes:
        assert process.stdout is not None
        deadline = time.monotonic() + timeout_s
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._received:
                left_s = max(0.0, deadline - time.monotonic())
                if not selector.select(min(left_s, _LOOK_S)):
                    if self._process is not process:  # another thread closed it; a closed pipe wakes nobody
                        raise EOFError
                    if left_s == 0.0:
                        raise TimeoutError(f"no answer within {timeout_s:g} s")
                    continue
                chunk = os.read(process.stdout.fileno(), 1 << 16)
                if not chunk:
                    raise EOFError
                self._received += chunk
        line, _, self._received = self._received.partition(b"\n")
        return line

    @staticmethod
    def _how_it_ended(process: subprocess.Popen[bytes], err: Exception) -> str:
        if isinstance(err, TimeoutError):
            return str(err)
        code = process.returncode
        return f"ended by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"


def serve(start: Callable[[Message], Callable[[Message], Message]]) -> None:
    """The worker's side: answer requests until the parent is gone.

    What is printed meanwhile, by Kernel Tuner or a kernel, is dropped, for the pipe belongs to the replies.

    Args:
        start: From the settings, makes the function that answers a request.
    """
    replies = os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "w") as devnull:  # noqa: PTH123 (not a path)
        os.dup2(devnull.fileno(), 1)
        os.dup2(devnull.fileno(), 2)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    answer = start(json.loads(sys.argv[1]))
    for line in sys.stdin.buffer:
        replies.write(json.dumps(answer(json.loads(line))).encode() + b"\n")
        replies.flush()


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_S)
    os._exit(1)
