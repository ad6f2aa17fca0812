"""Scores of measuring configs in a given order, without any search: what a prior is worth by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.trace import Trace
from llamea_tune.scoring.score import SpaceScale, score, space_scale
from llamea_tune.spaces import RecordedSpace


class OrderScorer:
    """Scores orders of configs on one space, by the methodology that strategies are scored by."""

    def __init__(self, space: RecordedSpace) -> None:
        self.space = space
        self.scale: SpaceScale = space_scale(space)
        self._times_us = measurement_times_us(space)

    def trace(self, order: Sequence[int] | NDArray[np.integer]) -> Trace:
        """The run that measures these configs, one after the other, until they or the budget are at an end."""
        indices = np.asarray(order, dtype=np.int64)
        elapsed_us = np.cumsum(self._times_us[indices])
        within = elapsed_us <= self.scale.budget.time_limit_us
        return Trace(indices[within], self.space.costs[indices[within]], elapsed_us[within])

    def score(self, *orders: Sequence[int] | NDArray[np.integer]) -> float:
        """The score of an order, or of several as the repeats of one contender."""
        return score(self.scale, [self.trace(order) for order in orders])

    def best(self, order: Sequence[int] | NDArray[np.integer]) -> float:
        """The optimum over the best of these configs: 1 if it is among them, 0 if all of them fail."""
        costs = self.space.costs[np.asarray(order, dtype=np.int64)]
        if not np.isfinite(costs).any():
            return 0.0
        best = float(np.nanmin(costs))
        return self.space.optimum / best if self.space.optimum > 0 else best / self.space.optimum

    def log_costs(self) -> NDArray[np.float64]:
        """Logarithm of each config's cost over the median; a failed one has the worst."""
        costs = np.abs(self.space.costs)
        logs = np.log(costs / np.nanmedian(costs)) * (-1.0 if self.space.optimum < 0 else 1.0)
        return np.where(np.isnan(logs), np.nanmax(logs), logs)
