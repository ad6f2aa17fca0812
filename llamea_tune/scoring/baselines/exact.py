"""The calibrated baseline: what random search without replacement finds by a time, with the recorded times.

Its mean rank at a time is estimated over thousands of random searches, drawn from a fixed seed, and corrected by a
control variate: the best rank after a fixed number of evaluations, whose expectation is known in closed form. What is
left to chance is only the difference between the two, so that the standard error of a score is far below 0.01. Failing
configs are drawn like all others. The value is that at the interpolated mean rank, as for strategies.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression
from scipy.special import gammaln

from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.spaces.store import kept_array

Ints = NDArray[np.int64]

N_EVALUATIONS = 3_000_000
_CHUNK = 30_000  # small enough for the processor's cache
_SEED = 20240
_METHOD_VERSION = 1  # of what follows: another one makes kept baselines be computed anew


def exact_baseline(space: RecordedSpace, table: RankTable, grid_us: Floats) -> Floats:
    """Expected cost of the best config that random search has found at each time; kept on disk once it is computed.

    Args:
        space: The space.
        table: Its ranks.
        grid_us: Shape `(n_times,)`: times in microseconds, ascending.

    Returns:
        Shape `(n_times,)`: costs.
    """
    known_by = blake2b(digest_size=16)
    for numbers in (measurement_times_us(space), table.ranks, table.costs, grid_us, np.array([N_EVALUATIONS, _SEED])):
        known_by.update(np.ascontiguousarray(numbers).tobytes())
    key = f"exact-baseline-v{_METHOD_VERSION}-{known_by.hexdigest()}"
    return table.values(kept_array(key, lambda: mean_ranks(space, table, grid_us)))


def mean_ranks(
    space: RecordedSpace, table: RankTable, grid_us: Floats, *, n_evaluations: int = N_EVALUATIONS, seed: int = _SEED
) -> Floats:
    """Expected rank of the best config that random search has found at each time; see `exact_baseline`.

    Args:
        space: The space.
        table: Its ranks.
        grid_us: Shape `(n_times,)`: times in microseconds, ascending.
        n_evaluations: Evaluations to simulate, over all searches.
        seed: Seed of the permutations.
    """
    times_us = measurement_times_us(space)
    mean_us = float(times_us.mean())
    n_fixed = np.clip(np.rint(grid_us / mean_us - 0.5), 0, space.size).astype(np.int64)
    distinct = _distinct_ranks(space, table)
    likely = grid_us[-1] / mean_us
    length = min(space.size, int(1.2 * likely + 6.0 * np.sqrt(likely)) + 16)
    searches = _Searches(times_us, table, distinct, grid_us, length)
    while not searches.simulate(np.random.default_rng(seed), n_evaluations):
        length = min(space.size, 2 * length)
        searches = _Searches(times_us, table, distinct, grid_us, length)
    correction = searches.mean_after_times() - searches.mean_after_evaluations()[n_fixed]
    estimates = expected_best_ranks(space.size, len(table.costs), n_fixed) + correction
    never_rising = isotonic_regression(estimates, increasing=False).x
    return np.asarray(np.clip(never_rising, 0.0, table.worst))


def expected_best_ranks(size: int, n_valid: int, n_drawn: Ints) -> Floats:
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


def _log_choose(n: int, k: Ints) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


class _Searches:
    """Many random searches, each a window of a random permutation; windows of one permutation do not overlap.

    Sums are kept over all searches of by how much the best rank drops, by the time and by the evaluation at which it
    does: all that the means need, and only a handful of numbers for each search.
    """

    def __init__(self, times_us: Ints, table: RankTable, distinct: Ints, grid_us: Floats, length: int) -> None:
        self._times_us = times_us
        self._ranks = (table.ranks, distinct)
        self._ties = not np.array_equal(table.ranks, distinct)
        self._worst = table.worst
        self._grid_us = grid_us
        self._length = length
        self._n = 0
        self._drops_by_time = np.zeros(len(grid_us) + 1)
        self._drops_by_evaluation = np.zeros(length + 1)

    def simulate(self, rng: np.random.Generator, n_evaluations: int) -> bool:
        """Simulate; False as soon as a search ends before the grid does, because its window is too short."""
        size = len(self._times_us)
        windows = size // self._length
        numbers = np.tile(np.arange(size), (max(1, _CHUNK // size), 1))
        while self._n * self._length < n_evaluations:
            draws = rng.permuted(numbers, axis=1)[:, : windows * self._length].reshape(-1, self._length)
            clock = np.cumsum(self._times_us[draws], axis=1)
            if self._length < size and clock[:, -1].min() <= self._grid_us[-1]:
                return False
            self._n += len(draws)
            search, evaluation, drops = self._drops(self._ranks[0][draws])
            reached = np.searchsorted(self._grid_us, clock[search, evaluation], side="left")
            self._drops_by_time += np.bincount(reached, drops, len(self._drops_by_time))
            if self._ties:
                _, evaluation, drops = self._drops(self._ranks[1][draws])
            self._drops_by_evaluation += np.bincount(evaluation + 1, drops, len(self._drops_by_evaluation))
        return True

    def mean_after_times(self) -> Floats:
        """Mean best rank at each time of the grid."""
        return np.asarray(self._worst - np.cumsum(self._drops_by_time)[:-1] / self._n)

    def mean_after_evaluations(self) -> Floats:
        """Mean best rank after 0, 1, 2, ... evaluations, where no two configs share a rank."""
        return np.asarray(self._worst - np.cumsum(self._drops_by_evaluation) / self._n)

    def _drops(self, ranks: Ints) -> tuple[Ints, Ints, Ints]:
        """Where in each search the best rank drops, and by how much."""
        best = np.minimum.accumulate(ranks, axis=1)
        before = np.hstack((np.full((len(best), 1), self._worst), best[:, :-1]))
        search, evaluation = np.nonzero(before > best)
        return search, evaluation, (before - best)[search, evaluation]


def _distinct_ranks(space: RecordedSpace, table: RankTable) -> Ints:
    """Ranks of the configs with equal costs in any order, as the closed form wants them."""
    ranks = np.full(space.size, table.worst, dtype=np.int64)
    order = np.argsort(space.costs, kind="stable")[: len(table.costs)]  # NaN comes last
    ranks[order] = np.arange(len(order))
    return ranks
