"""How long a strategy may search a space: the published cut-off points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SettingsError
from llamea_tune.spaces.space import RecordedSpace, Space

START_PERCENTILE = 0.01
END_PERCENTILE = 0.95
TIME_MARGIN = 1.1


@dataclass(frozen=True)
class SpaceBudget:
    """What a strategy may spend on a space, and when it is scored.

    Attributes:
        start_us: Where scoring starts, in microseconds on the run's clock.
        end_us: Where scoring ends.
        time_limit_us: What a run may spend: the end and 10 %.
        start_evaluations: Evaluations that random search needs on average to the start percentile.
        evaluations: Evaluations that random search needs on average to the end percentile.
    """

    start_us: float
    end_us: float
    time_limit_us: int
    start_evaluations: int
    evaluations: int


def evaluations_to(costs_worst_first: NDArray[np.float64], percentile: float) -> int:
    """Evaluations that random search needs on average to get this far from the median to the optimum.

    After Willemsen et al. (2024), "A methodology for comparing optimization algorithms for auto-tuning".

    Args:
        costs_worst_first: Shape `(n,)`: costs of the valid configs, in descending order.
        percentile: How far, 0 to 1.
    """
    optimum = costs_worst_first[-1]
    median = np.median(costs_worst_first)
    target = optimum + (median - optimum) * (1.0 - percentile)
    n_valid = len(costs_worst_first)
    first = int(np.searchsorted(-costs_worst_first, -target, side="left"))
    if percentile < 1.0 and first > 0 and costs_worst_first[first] == optimum:
        first -= 1
    return -(-first // (n_valid + 1 - first))


@singledispatch
def space_budget(space: Space) -> SpaceBudget:
    """The budget of a space: the published one of a recorded space, and that of a live space as `live_budget` says.

    Args:
        space: The space.

    Raises:
        SettingsError: No two configs of the space differ in cost, or the budget of a live one is too large for its
            sample.
    """
    raise NotImplementedError(f"register the budget of a {type(space).__name__} with `space_budget`")


@space_budget.register
def published_budget(space: RecordedSpace) -> SpaceBudget:
    """The published budget of a recorded space; configs that fail count in its median evaluation time.

    Start and end are at least two evaluations apart. (The reference implementation means the same, but caps the end
    by an objective value where it means a number of evaluations; no cap is needed.)
    """
    worst_first = np.sort(space.costs[space.valid])[::-1]
    if len(worst_first) == 0 or worst_first[0] == worst_first[-1]:
        found = f"{space.name} ({space.source}) has no two configs that differ in cost"
        raise SettingsError(f"{found}, so nothing can be scored on it; leave it out")
    start = evaluations_to(worst_first, START_PERCENTILE)
    end = evaluations_to(worst_first, END_PERCENTILE)
    if end - start < 2:
        start, end = (0, end + 2) if start == 0 else (start - 1, end + 1)
    median_us = float(np.median(space.evaluation_times_s)) * 1e6
    return SpaceBudget(
        start_us=start * median_us,
        end_us=end * median_us,
        time_limit_us=round(end * median_us * TIME_MARGIN),
        start_evaluations=start,
        evaluations=end,
    )
