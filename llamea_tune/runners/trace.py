"""What one run of a strategy leaves behind, written by the trusted side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Trace:
    """The measurements that a run paid for, in order: each config's first visit.

    Attributes:
        indices: Shape `(n,)`: config numbers.
        costs: Shape `(n,)`: costs, NaN where the measurement failed.
        elapsed_us: Shape `(n,)`: microseconds on the run's clock when each measurement was finished.
    """

    indices: NDArray[np.int64]
    costs: NDArray[np.float64]
    elapsed_us: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.indices)


def empty_trace() -> Trace:
    """The trace of a run that paid for nothing."""
    return Trace(np.empty(0, np.int64), np.empty(0, np.float64), np.empty(0, np.int64))


class RunState(StrEnum):
    """How a run ended. The first four are good runs, whose traces are scored."""

    FINISHED = "finished"  # the strategy returned by itself
    BUDGET_SPENT = "budget_spent"
    TARGET_REACHED = "target_reached"  # stopped where nothing could change its score any more
    STALLED = "stalled"  # it kept asking for what it had already paid for; stopped, and scored as it stands
    FAILED = "failed"  # it raised an error
    TIMED_OUT = "timed_out"
    KILLED = "killed"  # it died or was ended: memory, forbidden system call, broken protocol

    @classmethod
    def _missing_(cls, value: object) -> RunState | None:
        return cls.TARGET_REACHED if value == "settled" else None  # as runs kept earlier have it

    @property
    def scorable(self) -> bool:
        """Whether the trace of such a run is scored."""
        return self in (RunState.FINISHED, RunState.BUDGET_SPENT, RunState.TARGET_REACHED, RunState.STALLED)


@dataclass(frozen=True)
class RequestCounts:
    """What a strategy asked for during a run.

    Attributes:
        paid: First visits: measurements that were paid for.
        repeated: Requests for configs visited before; they are free.
        invalid: Requests for configs outside the space; they are free, and cost the strategy nothing but its time.
        failed: Paid measurements that gave no objective value.
    """

    paid: int = 0
    repeated: int = 0
    invalid: int = 0
    failed: int = 0


@dataclass(frozen=True, eq=False)
class RunResult:
    """One run of one strategy on one space.

    Attributes:
        trace: The measurements it paid for.
        state: How it ended.
        reason: Why, for states that are not good runs; short, and fit to be shown to a proposer.
        counts: What was asked for.
        own_compute_s: CPU time that the strategy itself used, in seconds.
    """

    trace: Trace
    state: RunState
    reason: str
    counts: RequestCounts
    own_compute_s: float


def failed_run(state: RunState, reason: str) -> RunResult:
    """A run of which nothing is left but why it failed."""
    return RunResult(empty_trace(), state, reason, RequestCounts(), float("nan"))


def to_first_failure(runs: Iterable[RunResult]) -> list[RunResult]:
    """Runs up to the first that failed, which do not depend on how many others were under way then.

    Args:
        runs: Runs in the order in which they were begun.
    """
    made: list[RunResult] = []
    for run in runs:
        made.append(run)
        if not run.state.scorable:
            break
    return made
