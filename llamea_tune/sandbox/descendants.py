"""Leave no process behind."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

_PATIENCE_S = 5.0


def end_group(leader: int) -> None:
    """Kill every process of the group that `leader` leads, and the leader itself if it is still being set up."""
    for kill in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def reap_orphans() -> None:
    """Kill and reap all children of this process, and those that come to it when their parents die.

    Matters only where nothing else keeps a guest from making processes of its own: a process that left its group is
    adopted by the fork server, which is a child subreaper, and found here.
    """
    give_up = time.monotonic() + _PATIENCE_S
    while time.monotonic() < give_up:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            for child in _children():
                end_group(child)
            time.sleep(0.001)


def _children() -> list[int]:
    """Process ids of this process's children, where the kernel lists them."""
    path = Path(f"/proc/self/task/{os.getpid()}/children")
    try:
        return [int(pid) for pid in path.read_text(encoding="ascii").split()]
    except OSError:
        return []
