"""Effects of single parameters on the cost, for configs that were not recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_MOST_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Effects:
    """An additive model: the mean cost, and an effect of each value of each parameter, shrunk towards 0.

    Bayesian ridge regression with effects as large as the residual noise beforehand, which a few dozen measurements outweigh.

    Attributes:
        mean: Mean cost.
        effects: Shape `(n_values,)`: of all values of all parameters, one after the other.
        covariance: Shape `(n_values, n_values)`: how well they are known.
        noise: Variance of what they do not explain.
        starts: Where the values of each parameter begin.
    """

    mean: float
    effects: NDArray[np.float64]
    covariance: NDArray[np.float64]
    noise: float
    starts: NDArray[np.int64]

    @classmethod
    def fit(cls, value_indices: NDArray[np.uint16], costs: NDArray[np.float64], counts: Sequence[int]) -> Effects:
        """Fit it to recorded configs; of very many, to some that are spread evenly.

        Args:
            value_indices: Shape `(n, n_params)`: index of each config's values.
            costs: Shape `(n,)`.
            counts: Number of values of each parameter.
        """
        rows = np.unique(np.linspace(0, len(costs) - 1, _MOST_ROWS).astype(np.int64))
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        columns = value_indices[rows].astype(np.int64) + starts
        design = np.zeros((len(rows), int(sum(counts))))
        np.put_along_axis(design, columns, 1.0, axis=1)
        mean = float(costs[rows].mean())
        squares = design.T @ design
        inverse = np.asarray(np.linalg.inv(squares + np.eye(len(squares))), dtype=np.float64)
        effects = inverse @ (design.T @ (costs[rows] - mean))
        left = costs[rows] - mean - design @ effects
        free = max(1.0, len(rows) - float(np.trace(inverse @ squares)))
        noise = float(left @ left) / free
        return cls(mean, effects, noise * inverse, noise, starts)

    def predict(self, value_indices: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Expected cost of configs, and its variance; a value that is -1 has no known effect."""
        known = value_indices >= 0
        columns = np.maximum(value_indices, 0) + self.starts
        expected = self.mean + np.where(known, self.effects[columns], 0.0).sum(axis=1)
        variance = np.full(len(columns), self.noise)
        for one, one_known in zip(columns.T, known.T, strict=True):
            variance += np.where(one_known, 0.0, self.noise)
            for other, other_known in zip(columns.T, known.T, strict=True):
                variance += np.where(one_known & other_known, self.covariance[one, other], 0.0)
        return expected, np.maximum(variance, self.noise)
