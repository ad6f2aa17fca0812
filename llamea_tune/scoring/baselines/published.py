"""The published baseline: random search as calculated in the methodology's paper, for comparison with papers.

It is not calibrated: true random search scores below 0 under it, the more so the fewer evaluations the budget holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.spaces.space import RecordedSpace


def published_baseline(space: RecordedSpace, table: RankTable, grid_us: Floats) -> Floats:
    """Cost that random search is expected to have reached at each time.

    After Willemsen et al. (2024), with the time per evaluation of its reference implementation: the mean of the valid
    configs plus the fraction of invalid configs times their mean.

    Args:
        space: The space.
        table: Its ranks.
        grid_us: Shape `(n_times,)`: times in microseconds, ascending.

    Returns:
        Shape `(n_times,)`: costs.
    """
    evaluations = np.rint(np.maximum(grid_us / time_per_evaluation_us(space), 1.0)).astype(np.int64)
    n_valid = len(table.costs)
    reached = np.rint(evaluations * (n_valid + 1) / (evaluations + 1)).astype(np.int64)
    return _smoothed(evaluations, table.costs[::-1][np.minimum(reached, n_valid - 1)])


def time_per_evaluation_us(space: RecordedSpace) -> float:
    """Time that the published baseline takes for one evaluation, in microseconds."""
    times_us = space.evaluation_times_s * 1e6
    mean_us = float(times_us[space.valid].mean())
    if space.valid.all():
        return mean_us
    return mean_us + float((~space.valid).mean() * times_us[~space.valid].mean())


def _smoothed(evaluations: NDArray[np.int64], costs: Floats) -> Floats:
    """Monotone interpolation over evaluations, which are taken to be evenly spaced, as in the reference."""
    distinct, first = np.unique(evaluations, return_index=True)
    if len(evaluations) <= 2 or len(distinct) < 2:
        return costs
    evenly = np.linspace(evaluations[0], evaluations[-1], len(evaluations))
    return np.asarray(PchipInterpolator(distinct, costs[first])(evenly))
