"""How long a strategy may search a space: the published cut-off points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.spaces.space import Space
from llamea_tune.wording import counted

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


def space_budget(space: Space) -> SpaceBudget:
    """The published budget of a space.

    Start and end are at least two evaluations apart. (The reference implementation means the same, but caps the end
    by an objective value where it means a number of evaluations; no cap is needed.)

    Args:
        space: The space; configs that fail count in its median evaluation time.

    Raises:
        SettingsError: No two configs of the space differ in cost, or the budget of a live one is too large for its
            sample.
    """
    if isinstance(space, LiveSpace):
        return _live_budget(space)
    worst_first = np.sort(space.costs[space.valid])[::-1]
    if len(worst_first) == 0 or worst_first[0] == worst_first[-1]:
        message = f"{space.name} ({space.source}) has no two configs that differ in cost, so nothing can be scored on it; leave it out"
        raise SettingsError(message)
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


def _live_budget(space: LiveSpace) -> SpaceBudget:
    """The published budget of the sample, or the one that was asked for.

    Raises:
        SettingsError: Random search would measure more configs within the budget than the sample has.
    """
    published = space_budget(space.sample)
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
