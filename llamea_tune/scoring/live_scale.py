"""Budget and scale of live spaces, from the sample that is measured first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.scoring.baselines import find_baseline
from llamea_tune.scoring.cutoff import TIME_MARGIN, SpaceBudget, published_budget, space_budget
from llamea_tune.scoring.ranks import rank_table, sampled_table
from llamea_tune.scoring.score import GRID_POINTS, SpaceScale, space_scale
from llamea_tune.wording import counted


@space_budget.register
def live_budget(space: LiveSpace) -> SpaceBudget:
    """The published budget of the sample, or the one that was asked for.

    Raises:
        SettingsError: Random search would measure more configs within the budget than the sample has.
    """
    published = published_budget(space.sample)
    if space.budget_s is None:
        return published
    time_limit_us = round(space.budget_s * 1e6)
    end_us = time_limit_us / TIME_MARGIN
    median_us = float(np.median(space.sample.evaluation_times_s)) * 1e6
    evaluations = max(1, round(end_us / median_us))
    if evaluations > space.sample.size < space.size:
        message = (
            f"budget_s {space.budget_s:g} pays for about {counted(evaluations, 'measurement')} of {space.name}, and scores "
            f"rest on {space.sample.size} configs; raise sample to {evaluations} or more, or lower the budget"
        )
        raise SettingsError(message, fields=("budget_s", "sample"))
    start_us = min(published.start_us, end_us / 10.0)
    return SpaceBudget(start_us, end_us, time_limit_us, min(published.start_evaluations, evaluations), evaluations)


@dataclass(frozen=True, eq=False)
class LiveScale(SpaceScale):
    """The scale of a live space, on which what is better than all that was known when the run began scores above 1.

    Attributes:
        lowest_cost: See `LiveSpace`.
    """

    lowest_cost: Callable[[], float]

    @property
    def target(self) -> None:
        """Never: nobody knows the optimum."""

    def latest(self) -> LiveScale:
        """The scale relative to the lowest cost that is known by now."""
        return replace(self, optimum=min(self.optimum, self.lowest_cost()))


@space_scale.register
def _live_scale(space: LiveSpace, baseline: str = "exact") -> LiveScale:
    """The scale of a live space, from its sample.

    Any few configs drawn from a random sample are a random draw from the space. So random search on the sample, without
    replacement, is random search on the space, as long as it ends within the sample; `live_budget` sees to that. Only
    chance differs: another sample would give somewhat other numbers, for all strategies alike.
    """
    compute = find_baseline(baseline)
    if baseline != "exact":
        message = f"the baseline {baseline!r} is defined for recorded spaces only; use the default one on live spaces"
        raise SettingsError(message)
    budget, sample = live_budget(space), space.sample
    grid_us = np.linspace(budget.start_us, budget.end_us, GRID_POINTS)
    baseline_costs = compute(sample, rank_table(sample), grid_us)
    table = sampled_table(sample)
    return LiveScale(space.name, budget, table, baseline, grid_us, baseline_costs, space.reference, space.lowest_cost)
