"""A strategy's own compute: the CPU time it uses between its requests."""

from __future__ import annotations

import time
from collections.abc import Callable


class ComputeClock:
    """Adds up a strategy's own CPU time; it stands still while a request is served."""

    def __init__(self, charge: Callable[[int], None] | None = None) -> None:
        """Make a clock that stands still.

        Args:
            charge: Told how many microseconds were used, each time the clock is stopped.
        """
        self.spent_s = 0.0
        self._charge = charge
        self._since: float | None = None

    def resume(self) -> None:
        """The strategy computes from now on."""
        self._since = time.process_time()

    def pause(self) -> None:
        """The strategy waits from now on."""
        if self._since is None:
            return
        used_s = time.process_time() - self._since
        self._since = None
        self.spent_s += used_s
        if self._charge is not None:
            self._charge(round(used_s * 1e6))
