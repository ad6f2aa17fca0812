"""The channel: how a strategy's requests reach the meter, in-process or through the sandbox's pipe."""

from __future__ import annotations

from typing import Protocol

from llamea_tune.runners.meter import Reply


class Channel(Protocol):
    """What the strategy's side of a run talks to. `Meter` is one; the sandbox's guest has another."""

    @property
    def done(self) -> bool:
        """Whether the budget is gone."""

    @property
    def stalled(self) -> bool:
        """Whether the run should stop because it only repeats itself."""

    @property
    def spent_fraction(self) -> float:
        """Fraction of the budget spent, 0 to 1."""

    def request(self, index: int) -> Reply:
        """Ask for config number `index`."""

    def count_invalid(self) -> None:
        """Report a request for a config outside the space."""
