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


def weigh(matched: Sequence[Matched], told: str) -> Prior:
    """Make one prior of what recordings say, after each is brought to the same spread.

    A recording is taken for the space's truth plus noise of its own. How much noise follows from its rank correlation `r` with
    the mean of the others: `(1 - r²) / r²`, in units of the truth's variance; to which the doubt of matching is added, config by
    config. They are averaged with inverse variances as weights. What is expected of the space is that mean, times the
    slope and plus or minus the error with which each recording is predicted from the others (leave one out); half of that
    variance is spread over the configs as the recordings disagree on them.

    Args:
        matched: What each recording says of the same configs.
        told: See `Prior`.
    """
    spreads = np.array([float(np.std(each.expected)) or 1.0 for each in matched])
    values = np.array([each.expected for each in matched]) / spreads[:, None]
    doubts = np.array([each.doubt for each in matched]) / spreads[:, None] ** 2
    agreements = _agreements(values)
    noise = ((1.0 - agreements**2) / agreements**2)[:, None] + doubts
    weights = 1.0 / noise
    weights /= weights.sum(axis=0)
    mean = (weights * values).sum(axis=0)
    disagreement = (weights * (values - mean) ** 2).sum(axis=0)
    slope, error = _transfer(values, weights)
    typical = float(disagreement.mean())
    local = disagreement / typical if typical > 0.0 else np.ones_like(mean)
    variance = error * (0.5 + 0.5 * local) + slope**2 * (weights * doubts).sum(axis=0)
    spread = float(np.exp(np.average(np.log(spreads), weights=weights.mean(axis=1))))
    expected = spread * slope * (mean - np.median(mean))
    return Prior(expected, np.maximum(spread * np.sqrt(variance), _LEAST_SD), told)


def _agreements(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rank correlation of each row with the mean of the others."""
    if len(values) == 1:
        return np.array([ALONE])
    ranks = np.array([rankdata(row) for row in values])
    others = (ranks.sum(axis=0) - ranks) / (len(ranks) - 1)
    return np.array([np.clip(_correlation(*pair), _LEAST, _MOST) for pair in zip(ranks, others, strict=True)])


def _transfer(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Slope and error variance with which a row follows from the weighted mean of the others, on average over the rows."""
    if len(values) == 1:
        return ALONE, 1.0 - ALONE**2
    slopes, errors = [], []
    for number, row in enumerate(values):
        others = np.average(np.delete(values, number, 0), axis=0, weights=np.delete(weights, number, 0))
        correlation = np.clip(_correlation(row, others), _LEAST, _MOST)
        slopes.append(correlation / (float(np.std(others)) or 1.0))
        errors.append(1.0 - correlation**2)
    return float(np.mean(slopes)), float(np.mean(errors))


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Pearson's; 0 where one of them is constant."""
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / scale if scale > 0.0 else 0.0
