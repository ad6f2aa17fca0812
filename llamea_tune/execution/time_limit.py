"""A wall-clock limit for a run of a named strategy: the system ends its worker process, whatever that is doing."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from llamea_tune.runners.runner import Measurement, Runner


@contextmanager
def process_ends_after(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes longer; no limit if None. For the main thread of worker processes.

    The signal is one that the process must not handle, so that no code, of a strategy or of a library that it calls, can hold
    on; and nothing is left behind half done.
    """
    if seconds is None:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def ran_out(exit_code: int | None) -> bool:
    """Whether a process, by its exit code, was ended at its limit."""
    return exit_code == -signal.SIGALRM


class ClockStopped:
    """A runner whose measurements take real time, which the limit leaves out."""

    takes_time = True

    def __init__(self, runner: Runner) -> None:
        self.size = runner.size
        self._measure = runner.measure

    def measure(self, index: int) -> Measurement:
        """Measure while the limit's clock stands still."""
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0.0)
        try:
            return self._measure(index)
        finally:
            signal.setitimer(signal.ITIMER_REAL, left)
