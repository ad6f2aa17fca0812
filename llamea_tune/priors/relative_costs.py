"""Costs on the scale of priors: how much dearer than the median."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SD_OF_MAD = 1.4826  # standard deviation of normal numbers over their median absolute deviation


def relative_costs(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of each cost over the median cost; the lower, the better.

    A maximised objective has negative costs, and its ratio is inverted: half the median's throughput counts as twice its
    cost. Where costs are 0 or of both signs there is no ratio: there it is the difference to the median, in
    standard deviations as the median absolute deviation gives them.

    Args:
        costs: Shape `(n,)`; NaN for failed configs, which stay NaN.

    Returns:
        Shape `(n,)`.
    """
    valid = costs[np.isfinite(costs)]
    if not len(valid):
        return np.full_like(costs, np.nan)
    if valid.min() > 0.0:
        return np.asarray(np.log(costs / np.median(valid)))
    if valid.max() < 0.0:
        return np.asarray(-np.log(costs / np.median(valid)))
    centre = np.median(valid)
    spread = _SD_OF_MAD * np.median(np.abs(valid - centre)) or np.std(valid) or 1.0
    return np.asarray((costs - centre) / spread)
