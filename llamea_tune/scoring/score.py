"""The score: how much of the way from random search to the optimum a strategy is ahead, averaged over the budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.meter import Settled
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring.baselines import BASELINES
from llamea_tune.scoring.cutoff import SpaceBudget, space_budget
from llamea_tune.scoring.ranks import Floats, RankTable, best_ranks, rank_table, sampled_table
from llamea_tune.spaces.space import Space

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
        optimum: The cost that scores 1. On a live space it is the lowest that was known when the run began; what is
            better scores above 1.
    """

    space: str
    budget: SpaceBudget
    table: RankTable
    baseline: str
    grid_us: Floats
    baseline_costs: Floats
    optimum: float

    @property
    def settled(self) -> Settled:
        """From where on the score of a run cannot change, if the space is a recorded one."""
        return Settled(self.optimum, self.budget.end_us)

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
    if baseline not in BASELINES:
        raise SettingsError(f"unknown baseline {baseline!r}; choose one of {', '.join(BASELINES)}")
    if isinstance(space, LiveSpace):
        return _live_scale(space, baseline)
    budget = space_budget(space)
    table = rank_table(space)
    grid_us = np.linspace(budget.start_us, budget.end_us, GRID_POINTS)
    baseline_costs = BASELINES[baseline](space, table, grid_us)
    return SpaceScale(space.name, budget, table, baseline, grid_us, baseline_costs, float(table.costs[0]))


def _live_scale(space: LiveSpace, baseline: str) -> SpaceScale:
    """The scale of a live space, from its sample.

    Any few configs drawn from a random sample are a random draw from the space. So random search on the sample, without
    replacement, is random search on the space, as long as it ends within the sample; `space_budget` sees to that. Only
    chance differs: another sample would give somewhat other numbers, for all strategies alike.
    """
    if baseline != "exact":
        message = f"the baseline {baseline!r} is defined for recorded spaces only; use the default one on live spaces"
        raise SettingsError(message)
    budget = space_budget(space)
    grid_us = np.linspace(budget.start_us, budget.end_us, GRID_POINTS)
    baseline_costs = BASELINES[baseline](space.sample, rank_table(space.sample), grid_us)
    return SpaceScale(
        space.name, budget, sampled_table(space.sample), baseline, grid_us, baseline_costs, space.reference
    )


def latest_scale(space: Space, scale: SpaceScale) -> SpaceScale:
    """The scale of a space relative to the lowest cost known by now, which only changes where the space is live."""
    return replace(scale, optimum=min(scale.optimum, space.lowest_cost())) if isinstance(space, LiveSpace) else scale


def score(scale: SpaceScale, traces: Sequence[Trace]) -> float:
    """The score of a strategy on a space, from the traces of its repeats."""
    return float(scale.score(scale.ranks(traces).mean(axis=0, dtype=np.float64)))
