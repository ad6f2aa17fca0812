"""What scoring a contender gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from llamea_tune.candidate import Behaviour
from llamea_tune.runners.trace import RequestCounts, RunState


@dataclass(frozen=True)
class SpaceScore:
    """The score of one contender on one space.

    Attributes:
        space: Name of the space.
        score: P averaged over the budget: 0 is random search, 1 the optimum from the start.
        interval: 95 % bootstrap interval over repeats.
        repeats: Number of runs.
        own_compute_ms: The strategy's own compute per paid measurement, in milliseconds.
        counts: What was asked for, summed over repeats.
    """

    space: str
    score: float
    interval: tuple[float, float]
    repeats: int
    own_compute_ms: float
    counts: RequestCounts


@dataclass(frozen=True)
class Scorecard:
    """The scores of one contender.

    Attributes:
        label: The contender's label.
        mean: Mean score over spaces; None if a run failed.
        interval: 95 % bootstrap interval of the mean, resampling repeats within each space.
        spaces: Score by the name of the space; empty if a run failed.
        failure: State of the run that failed, or None.
        reason: Why it failed.
        failed_on: Name of the space it was on.
        others: Scores of the runs made on each other space until then; None where there were none.
        runs: Runs that were made, up to the first that failed.
        raced_out: Whether the race was lost, and no more runs were made.
        behaviour: How the runs went by the name of the space; empty where that was not looked at.
    """

    label: str
    mean: float | None
    interval: tuple[float, float] | None
    spaces: Mapping[str, SpaceScore]
    failure: RunState | None = None
    reason: str = ""
    failed_on: str = ""
    others: Mapping[str, float | None] = field(default_factory=dict)
    runs: int = 0
    raced_out: bool = False
    behaviour: Mapping[str, Behaviour] = field(default_factory=dict)

    @property
    def own_compute_ms(self) -> float | None:
        """Own compute per paid measurement in milliseconds, over all spaces in which it was measured; None if in none."""
        measured = [entry for entry in self.spaces.values() if not math.isnan(entry.own_compute_ms)]
        paid = sum(entry.counts.paid for entry in measured)
        return sum(entry.own_compute_ms * entry.counts.paid for entry in measured) / max(paid, 1) if measured else None
