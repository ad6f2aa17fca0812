"""One prior of several recordings, each weighed by how well it agrees with the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from llamea_tune.priors.matching import Matched
from llamea_tune.spaces.prior import Prior

ALONE = 0.8
"""Correlation that one recording alone is taken to have with the space: about the mean between two GPUs of one kernel."""

_LEAST, _MOST = 0.1, 0.98  # correlations beyond these are taken for luck
_LEAST_SD = 0.02


def weigh(matched: Sequence[Matched], told: str, related: Sequence[bool] = ()) -> Prior:
    """Make one prior of what recordings say, after each is brought to the same spread.

    A recording is taken for the space's truth plus noise of its own. How much noise follows from its rank correlation `r` with
    the mean of the others: `(1 - r²) / r²`, in units of the truth's variance; to which the doubt of matching is added, config by
    config. They are averaged with inverse variances as weights. What is expected of the space is that mean, times the
    slope and plus or minus the error with which each recording is predicted from the others (leave one out); half of that
    variance is spread over the configs as the recordings disagree on them.

    Where some come from devices that are related to the space's, these stand for it: a recording is as good as it agrees with
    them, and only they are predicted from the others.

    Args:
        matched: What each recording says of the same configs.
        told: See `Prior`.
        related: For each recording, whether its device is related to the space's; without any, all count alike.
    """
    spreads = np.array([float(np.std(each.expected)) or 1.0 for each in matched])
    values = np.array([each.expected for each in matched]) / spreads[:, None]
    doubts = np.array([each.doubt for each in matched]) / spreads[:, None] ** 2
    stand_ins = np.flatnonzero(related) if any(related) else np.arange(len(values))
    agreements = _agreements(values, stand_ins)
    noise = ((1.0 - agreements**2) / agreements**2)[:, None] + doubts
    weights = 1.0 / noise
    weights /= weights.sum(axis=0)
    mean = (weights * values).sum(axis=0)
    disagreement = (weights * (values - mean) ** 2).sum(axis=0)
    slope, error = _transfer(values, weights, stand_ins)
    typical = float(disagreement.mean())
    local = disagreement / typical if typical > 0.0 else np.ones_like(mean)
    variance = error * (0.5 + 0.5 * local) + slope**2 * (weights * doubts).sum(axis=0)
    spread = float(np.exp(np.average(np.log(spreads), weights=weights.mean(axis=1))))
    expected = spread * slope * (mean - np.median(mean))
    return Prior(expected, np.maximum(spread * np.sqrt(variance), _LEAST_SD), told)


def _agreements(values: NDArray[np.float64], stand_ins: NDArray[np.intp]) -> NDArray[np.float64]:
    """Rank correlation of each row with the mean of the stand-ins other than itself."""
    ranks = np.array([rankdata(row) for row in values])
    found = []
    for number, row in enumerate(ranks):
        others = stand_ins[stand_ins != number]
        correlation = _correlation(row, ranks[others].mean(axis=0)) if len(others) else ALONE
        found.append(np.clip(correlation, _LEAST, _MOST))
    return np.array(found)


def _transfer(
    values: NDArray[np.float64], weights: NDArray[np.float64], stand_ins: NDArray[np.intp]
) -> tuple[float, float]:
    """Slope and error variance with which a stand-in follows from the weighted mean of all others, on average over them."""
    if len(stand_ins) == 1:
        return ALONE, 1.0 - ALONE**2
    slopes, errors = [], []
    for number in stand_ins:
        others = np.average(np.delete(values, number, 0), axis=0, weights=np.delete(weights, number, 0))
        correlation = np.clip(_correlation(values[number], others), _LEAST, _MOST)
        slopes.append(correlation / (float(np.std(others)) or 1.0))
        errors.append(1.0 - correlation**2)
    return float(np.mean(slopes)), float(np.mean(errors))


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Pearson's; 0 where one of them is constant."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale > 0.0 else 0.0
