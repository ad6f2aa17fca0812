"""The score: how much of the way from random search to the optimum a strategy is ahead, averaged over the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from llamea_tune.runners.meter import Target
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring.baselines import find_baseline
from llamea_tune.scoring.cutoff import SpaceBudget, published_budget
from llamea_tune.scoring.ranks import Floats, RankTable, best_ranks, rank_table
from llamea_tune.spaces.space import RecordedSpace, Space

GRID_POINTS = 1000


@dataclass(frozen=True, eq=False)
class SpaceScale:
    """What turns traces on one space into scores. Computed once per space.

    Attributes:
        space: Name of the space.
        budget: What a run may spend.
        table: Ranks of the configs.
        baseline: Name of the baseline.
        grid_us: Shape `(n_times,)`: even times from start to end, in microseconds.
        baseline_costs: Shape `(n_times,)`: what random search has reached.
        optimum: The cost that scores 1.
    """

    space: str
    budget: SpaceBudget
    table: RankTable
    baseline: str
    grid_us: Floats
    baseline_costs: Floats
    optimum: float

    @property
    def target(self) -> Target | None:
        """From where on the score of a run cannot change; None where the optimum is not known."""
        return Target(self.optimum, self.budget.end_us)

    def latest(self) -> SpaceScale:
        """The scale relative to what is known by now."""
        return self

    def ranks(self, traces: Sequence[Trace]) -> NDArray[np.float32]:
        """Rank of the best so far over the grid, shape `(n_traces, n_times)`."""
        return np.stack([best_ranks(trace, self.table, self.grid_us) for trace in traces]).astype(np.float32)

    def curve(self, mean_ranks: Floats) -> Floats:
        """P at each time of the grid: 0 is random search, 1 the optimum.

        Times at which random search is expected to have found the optimum tell nothing and count as 0.

        Args:
            mean_ranks: Shape `(..., n_times)`: ranks averaged over repeats.
        """
        read = self.table.rounded_values if self.baseline == "published" else self.table.values
        ahead = self.baseline_costs - read(mean_ranks)
        ahead_of_all = self.baseline_costs - self.optimum
        return np.asarray(np.divide(ahead, ahead_of_all, out=np.zeros_like(ahead), where=ahead_of_all > 0.0))

    def score(self, mean_ranks: Floats) -> Floats:
        """P averaged over the grid, for one or many rows of mean ranks."""
        return np.asarray(self.curve(mean_ranks).mean(axis=-1))

    def thinned(self, step: int) -> SpaceScale:
        """The same scale with few times of the grid, for tests that need many scores rather than fine ones."""
        few = one_in(step)
        return replace(self, grid_us=self.grid_us[few], baseline_costs=self.baseline_costs[few])


def one_in(step: int) -> slice:
    """Of every `step` times of a grid the middle one, so that no end of it counts for more."""
    return slice(step // 2, None, step)


@singledispatch
def space_scale(space: Space, baseline: str = "exact") -> SpaceScale:
    """Prepare the scale of a space.

    Args:
        space: The space.
        baseline: One of `BASELINES`: `"exact"`, the calibrated default, or `"published"`, which also rounds ranks as
            published.

    Raises:
        SettingsError: The baseline is unknown, or not defined for a live space, or no two configs of the space differ in
            cost.
    """
    raise NotImplementedError(f"register the scale of a {type(space).__name__} with `space_scale`")


@space_scale.register
def _recorded_scale(space: RecordedSpace, baseline: str = "exact") -> SpaceScale:
    compute = find_baseline(baseline)
    budget = published_budget(space)
    table = rank_table(space)
    grid_us = np.linspace(budget.start_us, budget.end_us, GRID_POINTS)
    baseline_costs = compute(space, table, grid_us)
    return SpaceScale(space.name, budget, table, baseline, grid_us, baseline_costs, float(table.costs[0]))


def score(scale: SpaceScale, traces: Sequence[Trace]) -> float:
    """The score of a strategy on a space, from the traces of its repeats."""
    return float(scale.score(scale.ranks(traces).mean(axis=0, dtype=np.float64)))
