"""What processes there are, for tests that none is left behind."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

Answer = TypeVar("Answer")


def children_of(pid: int) -> set[int]:
    """Ids of a process's children, whichever of its threads started them. Linux only."""
    lists = map(_text, Path(f"/proc/{pid}/task").glob("*/children"))
    return {int(child) for text in lists for child in text.split()}


def descendants_of(pid: int) -> set[int]:
    """Ids of a process's children, of theirs, and so on. Linux only."""
    children = children_of(pid)
    return children.union(*map(descendants_of, children))


def alive(pids: Iterable[int]) -> set[int]:
    """Those processes that are there and run. Linux only."""
    return {pid for pid in pids if _state(pid) not in ("", "Z", "X")}


def wait_until(condition: Callable[[], Answer], timeout_s: float = 20.0) -> Answer:
    """The first true answer; fails if there is none in time."""
    give_up = time.monotonic() + timeout_s
    while not (answer := condition()):
        assert time.monotonic() < give_up, "it did not happen in time"
        time.sleep(0.02)
    return answer


def _state(pid: int) -> str:
    after_name = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return after_name[0] if after_name else ""


def _text(path: Path) -> str:
    """What is in a file of /proc; nothing if the process is gone."""
    try:
        return path.read_text()
    except OSError:
        return ""
