"""The meter: the one place where budget, clock and trace of a run are kept."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np

from llamea_tune.runners.runner import Measurement, Runner
from llamea_tune.runners.trace import RequestCounts, Trace
from llamea_tune.spaces.space import FailureKind

STALL_FACTOR = 100
STALL_MINIMUM = 10_000


@dataclass(frozen=True)
class Target:
    """From where on nothing that a run does can change its score.

    Attributes:
        cost: It has measured a config of this cost, the lowest of the space.
        clock_us: Its clock is past this many microseconds, where scoring ends.
    """

    cost: float
    clock_us: float


@dataclass(frozen=True)
class RunBudget:
    """What one run may spend. The first limit that is reached ends it.

    Attributes:
        time_limit_us: Microseconds on the run's clock; None for no limit. As in Kernel Tuner, the measurement that
            crosses the limit still counts.
        max_fevals: Distinct configs; None for no limit but the size of the space.
        target: Where to end the run although it has budget left; None for nowhere. Up to there it is the same run:
            the strategy is told of the fraction of its whole budget that is spent.
    """

    time_limit_us: int | None = None
    max_fevals: int | None = None
    target: Target | None = None


class Reply(NamedTuple):
    """The answer to a strategy's request for one config.

    Attributes:
        cost: The cost; NaN where the measurement failed.
        failure: Why it failed, or `FailureKind.NONE`.
        time_us: What the request cost on the run's clock; 0 for a repeated one.
        spent_fraction: Fraction of the budget spent so far, 0 to 1.
        done: Whether the budget is gone. A request made after that is refused.
    """

    cost: float
    failure: FailureKind
    time_us: int
    spent_fraction: float
    done: bool


class Meter:
    """Serves the requests of one run: measures, charges, counts and records.

    The semantics are those of Kernel Tuner's simulation, less its wall clock: only the first visit to a config is
    paid for, and time is what its measurement took when it was recorded.

    Attributes:
        done: Whether the budget is gone, or the target reached.
        target_reached: Whether the run has come to where nothing can change its score.
        stalled: Whether the strategy has long asked only for what it cannot learn from: known or invalid configs.
        spent_fraction: Fraction of the budget spent, 0 to 1.
    """

    def __init__(self, runner: Runner, budget: RunBudget) -> None:
        self._measure = runner.measure
        self._time_limit_us = budget.time_limit_us
        self._max_fevals = min(budget.max_fevals or runner.size, runner.size)
        self._target = budget.target or Target(-inf, inf)
        self._visited: dict[int, Measurement] = {}
        self._indices = array("q")
        self._costs = array("d")
        self._elapsed = array("q")
        self._clock_us = 0
        self._repeated = 0
        self._invalid = 0
        self._failed = 0
        self._patience = STALL_MINIMUM  # useless requests in a row until it counts as stalled
        self.done = False
        self.target_reached = False
        self.stalled = False
        self.spent_fraction = 0.0

    @property
    def clock_us(self) -> int:
        """Microseconds on the run's clock."""
        return self._clock_us

    def request(self, index: int) -> Reply:
        """Serve a request for config number `index`. Must not be called once `done`."""
        known = self._visited.get(index)
        if known is not None:
            self._repeated += 1
            self._patience -= 1
            self.stalled = self._patience < 0
            return Reply(known.cost, known.failure, 0, self.spent_fraction, self.done)
        measurement = self._visited[index] = self._measure(index)
        cost, failure, time_us = measurement
        self.stalled = False
        self._failed += failure is not FailureKind.NONE
        self._clock_us += time_us
        self._indices.append(index)
        self._costs.append(cost)
        self._elapsed.append(self._clock_us)
        self._patience = max(STALL_MINIMUM, STALL_FACTOR * len(self._indices))
        self.target_reached = self.target_reached or cost <= self._target.cost
        self._check_budget()
        return Reply(cost, failure, time_us, self.spent_fraction, self.done)

    def count_invalid(self) -> None:
        """Count a request for a config outside the space."""
        self._invalid += 1
        self._patience -= 1
        self.stalled = self._patience < 0

    def charge(self, time_us: int) -> None:
        """Advance the clock by the strategy's own compute, where a run charges it."""
        self._clock_us += time_us
        self._check_budget()

    def _check_budget(self) -> None:
        n_paid = len(self._indices)
        fraction = n_paid / self._max_fevals
        self.target_reached = self.target_reached or self._clock_us > self._target.clock_us
        self.done = self.target_reached or n_paid >= self._max_fevals
        if self._time_limit_us is not None:
            self.done = self.done or self._clock_us > self._time_limit_us
            fraction = max(fraction, self._clock_us / max(self._time_limit_us, 1))
        self.spent_fraction = 1.0 if self.done else min(1.0, fraction)

    def trace(self) -> Trace:
        """The measurements paid for so far."""
        return Trace(
            np.array(self._indices, dtype=np.int64),
            np.array(self._costs, dtype=np.float64),
            np.array(self._elapsed, dtype=np.int64),
        )

    def counts(self) -> RequestCounts:
        """What was asked for so far."""
        return RequestCounts(len(self._indices), self._repeated, self._invalid, self._failed)
