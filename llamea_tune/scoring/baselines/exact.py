"""The calibrated baseline: what random search without replacement finds by a time, with the recorded times.

Its mean rank at a time is estimated over thousands of random permutations, drawn from a fixed seed, and corrected by a
control variate: the best rank after a fixed number of evaluations, whose expectation is known in closed form. What is
left to chance is only the difference between the two, so that the standard error of a score is far below 0.01. Failing
configs are drawn like all others. The value is that at the interpolated mean rank, as for strategies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.spaces.space import Space

N_PERMUTATIONS = 4096
_SEED = 20240


def exact_baseline(space: Space, table: RankTable, grid_us: Floats) -> Floats:
    """Expected cost of the best config that random search has found at each time.

    Args:
        space: The space.
        table: Its ranks.
        grid_us: Shape `(n_times,)`: times in microseconds, ascending.

    Returns:
        Shape `(n_times,)`: costs.
    """
    return table.values(mean_ranks(space, table, grid_us))


def mean_ranks(
    space: Space, table: RankTable, grid_us: Floats, *, n_permutations: int = N_PERMUTATIONS, seed: int = _SEED
) -> Floats:
    """Expected rank of the best config that random search has found at each time; see `exact_baseline`."""
    times_us = measurement_times_us(space)
    mean_us = float(times_us.mean())
    n_fixed = np.clip(np.rint(grid_us / mean_us - 0.5), 0, space.size).astype(np.int64)
    distinct = _distinct_ranks(space, table)
    rng = np.random.default_rng(seed)
    correction = np.zeros(len(grid_us), dtype=np.int64)
    for _ in range(n_permutations):
        draws = _draw(rng, times_us, mean_us, grid_us[-1])
        finished = np.searchsorted(np.cumsum(times_us[draws]), grid_us, side="right")
        correction += _running_best(table.ranks[draws], table.worst)[finished]
        correction -= _running_best(distinct[draws], table.worst)[n_fixed]
    expected = expected_best_ranks(space.size, len(table.costs), n_fixed)
    return np.clip(expected + correction / n_permutations, 0.0, table.worst)


def expected_best_ranks(size: int, n_valid: int, n_drawn: NDArray[np.int64]) -> Floats:
    """Expected best rank among configs drawn without replacement, where no two valid ones share a rank.

    The chance that none of the `r + 1` best is among `k` drawn of `N` is `C(N-r-1, k) / C(N, k)`; summed over the
    ranks `r` below the worst, `V - 1`, that is `(C(N, k+1) - C(N-V+1, k+1)) / C(N, k)`.

    Args:
        size: Number of configs, N.
        n_valid: Number of valid configs, V; the others count as rank V - 1.
        n_drawn: Any shape: numbers of configs drawn, k.
    """
    rest = size - n_valid + 1
    log_ratio = _log_choose(rest, np.minimum(n_drawn + 1, rest)) - _log_choose(size, n_drawn)
    tail = np.where(n_drawn < rest, np.exp(log_ratio), 0.0)
    return np.asarray((size - n_drawn) / (n_drawn + 1) - tail)


def _log_choose(n: int, k: NDArray[np.int64]) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def _draw(rng: np.random.Generator, times_us: NDArray[np.int64], mean_us: float, end_us: float) -> NDArray[np.int64]:
    """A random search until the end: configs in the order of their evaluation."""
    size = len(times_us)
    likely = min(size, int(1.2 * end_us / mean_us) + 16)
    draws = rng.choice(size, likely, replace=False)
    if likely < size and times_us[draws].sum() <= end_us:
        left = np.setdiff1d(np.arange(size), draws, assume_unique=True)
        draws = np.concatenate((draws, rng.permutation(left)))
    return draws


def _running_best(ranks: NDArray[np.int64], worst: int) -> NDArray[np.int64]:
    """Best rank after 0, 1, 2, ... evaluations."""
    return np.minimum.accumulate(np.concatenate(([worst], ranks)))


def _distinct_ranks(space: Space, table: RankTable) -> NDArray[np.int64]:
    """Ranks of the configs with equal costs in any order, as the closed form wants them."""
    ranks = np.full(space.size, table.worst, dtype=np.int64)
    order = np.argsort(space.costs, kind="stable")[: len(table.costs)]  # NaN comes last
    ranks[order] = np.arange(len(order))
    return ranks
