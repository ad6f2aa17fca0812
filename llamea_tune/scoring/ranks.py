"""Ranks: a run's best so far as a position in the sorted costs of its space."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from llamea_tune.runners.trace import RunResult, Trace
from llamea_tune.spaces.space import RecordedSpace

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankTable:
    """The costs of a space, best first, and where each config stands among them.

    Attributes:
        costs: Shape `(n_valid,)`: costs of the valid configs in ascending order.
        ranks: Shape `(size,)`: rank of each config, 0 for the best; equal costs share the lowest rank. A config that
            failed has the worst rank: it tells as much as having found nothing.
    """

    costs: Floats
    ranks: NDArray[np.int64]

    @property
    def worst(self) -> int:
        """Rank of the worst config, and of a run that has found nothing yet."""
        return len(self.costs) - 1

    def ranks_of(self, trace: Trace) -> Floats | NDArray[np.int64]:
        """Shape `(len(trace),)`: rank of each measurement of a trace."""
        return self.ranks[trace.indices]

    def values(self, mean_ranks: Floats) -> Floats:
        """Costs at mean ranks, interpolated between neighbouring ranks.

        Args:
            mean_ranks: Any shape: ranks from 0 to `worst`.
        """
        lower = np.minimum(mean_ranks.astype(np.int64), max(self.worst - 1, 0))
        fraction = mean_ranks - lower
        steps = np.append(np.diff(self.costs), 0.0)
        return np.asarray(self.costs[lower] + fraction * steps[lower])

    def rounded_values(self, mean_ranks: Floats) -> Floats:
        """Costs at rounded mean ranks, as published."""
        return np.asarray(self.costs[np.rint(mean_ranks).astype(np.int64)])


class SampledTable(RankTable):
    """The costs of a sample, below them 0; a measurement ranks by its cost, between those of the sample.

    What no config of the sample reaches thereby has a rank too, and none that would change when more is known.
    """

    def ranks_of(self, trace: Trace) -> Floats | NDArray[np.int64]:
        """Shape `(len(trace),)`: rank of each measurement of a trace."""
        ranks = np.interp(trace.costs, self.costs, np.arange(len(self.costs)))
        return np.where(np.isnan(trace.costs), self.worst, ranks)


def sampled_table(sample: RecordedSpace) -> SampledTable:
    """Rank the configs of a sample, whose costs are positive."""
    table = rank_table(sample)
    return SampledTable(np.concatenate(([0.0], table.costs)), table.ranks + 1)


def rank_table(space: RecordedSpace) -> RankTable:
    """Rank the configs of a space."""
    costs = np.sort(space.costs[space.valid])
    ranks = np.searchsorted(costs, space.costs, side="left")
    return RankTable(costs, np.where(space.valid, ranks, len(costs) - 1).astype(np.int64))


def best_ranks(trace: Trace, table: RankTable, grid_us: Floats) -> Floats | NDArray[np.int64]:
    """Rank of the best config found at each time of a grid.

    Args:
        trace: What the run paid for; a measurement counts from when it was finished.
        table: Ranks of the space.
        grid_us: Shape `(n_times,)`: times in microseconds on the run's clock.
    """
    running = np.minimum.accumulate(np.concatenate(([table.worst], table.ranks_of(trace))))
    return np.asarray(running[np.searchsorted(trace.elapsed_us, grid_us, side="right")])


def thinned(run: RunResult, table: RankTable) -> RunResult:
    """A run of which only the measurements remain that improved on all before them.

    It has the same best so far at every time, and takes next to no memory.
    """
    trace = run.trace
    ranks = table.ranks_of(trace)
    best_before = np.minimum.accumulate(np.concatenate(([table.worst], ranks)))[:-1]
    better = ranks < best_before
    return replace(run, trace=Trace(trace.indices[better], trace.costs[better], trace.elapsed_us[better]))
