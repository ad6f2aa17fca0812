"""What every runner gives: the measurement of a param config."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from llamea_tune.spaces.space import FailureKind


class Measurement(NamedTuple):
    """What measuring one param config gave.

    Attributes:
        cost: What a strategy minimises; NaN where the measurement failed.
        failure: Why it failed, or `FailureKind.NONE`.
        time_us: Compile, verification and benchmark time together, in whole microseconds, each stage rounded by
            itself as Kernel Tuner's `TuningBudget` does.
    """

    cost: float
    failure: FailureKind
    time_us: int


class Runner(Protocol):
    """Measures configs of one search space, which are known by their number in it."""

    @property
    def size(self) -> int:
        """Number of configs that can be asked for: 0 to size - 1."""

    @property
    def takes_time(self) -> bool:
        """Whether measuring takes real time, which limits on how long a strategy may compute leave out."""

    def measure(self, index: int) -> Measurement:
        """Measure config number `index`. The caller counts and pays; a runner keeps no budget."""
