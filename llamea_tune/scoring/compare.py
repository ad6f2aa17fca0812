"""Is A better than B? A paired permutation test, with correction for many comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SettingsError
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.aggregate import interval
from llamea_tune.scoring.ranks import Floats
from llamea_tune.scoring.score import SpaceScale, one_in
from llamea_tune.scoring.seeds import run_seed

N_PERMUTATIONS = 9999
N_RESAMPLES = 1000
_THINNING = 20

Runs = Mapping[str, Sequence[RunResult]]
_Pair = tuple[NDArray[np.float32], NDArray[np.float32]]


@dataclass(frozen=True)
class Comparison:
    """Two contenders compared on the same spaces and seeds.

    Attributes:
        first: Label of A.
        second: Label of B.
        difference: Mean score of A less that of B.
        interval: 95 % paired bootstrap interval of the difference.
        p_value: Two-sided; of a single comparison, or corrected where `holm` was applied.
    """

    first: str
    second: str
    difference: float
    interval: tuple[float, float]
    p_value: float


def compare(
    scales: Sequence[SpaceScale], first: tuple[str, Runs], second: tuple[str, Runs], *, seed: int = 0
) -> Comparison:
    """Compare two contenders run with the same seeds.

    If neither were better, A and B could change places in any pair of runs with the same space and seed. The test
    does that at random 9,999 times, and counts how often the mean scores then differ as much as they really do.

    Args:
        scales: Scale of each space.
        first: Label of A, and its repeats on each space.
        second: The same of B; repeat for repeat with the same seeds.
        seed: Seed of the permutations and resamples.

    Raises:
        SettingsError: They have different numbers of repeats on a space.
    """
    permuted = np.zeros(N_PERMUTATIONS)
    resampled = np.zeros(N_RESAMPLES)
    difference = observed = 0.0
    for full_scale in scales:
        full_pair = _paired_ranks(full_scale, first, second)
        difference += _difference(full_scale, full_pair) / len(scales)
        scale = full_scale.thinned(_THINNING)
        pair = full_pair[0][:, one_in(_THINNING)], full_pair[1][:, one_in(_THINNING)]
        observed += _difference(scale, pair) / len(scales)
        rng = np.random.default_rng(run_seed(seed, scale.space, 0, "compare"))
        n_repeats = len(pair[0])
        kept = rng.integers(0, 2, size=(N_PERMUTATIONS, n_repeats)) / n_repeats
        permuted += _differences(scale, pair, kept, 1.0 / n_repeats - kept) / len(scales)
        weights = rng.multinomial(n_repeats, np.full(n_repeats, 1.0 / n_repeats), size=N_RESAMPLES) / n_repeats
        resampled += _differences(scale, pair, weights, np.zeros_like(weights)) / len(scales)
    as_large = int((np.abs(permuted) >= abs(observed) - 1e-12).sum())
    p_value = (1 + as_large) / (N_PERMUTATIONS + 1)
    return Comparison(first[0], second[0], difference, interval(resampled + difference - observed), p_value)


def holm(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Correct p-values for being many (Holm 1979), which keeps the chance of any false claim below the level.

    Args:
        comparisons: All comparisons that are made; they come back in the same order.
    """
    corrected = [0.0] * len(comparisons)
    smallest = 0.0
    order = sorted(range(len(comparisons)), key=lambda i: comparisons[i].p_value)
    for place, i in enumerate(order):
        smallest = max(smallest, min(1.0, (len(comparisons) - place) * comparisons[i].p_value))
        corrected[i] = smallest
    return [replace(comparison, p_value=p) for comparison, p in zip(comparisons, corrected, strict=True)]


def _paired_ranks(scale: SpaceScale, first: tuple[str, Runs], second: tuple[str, Runs]) -> _Pair:
    ranks = [scale.ranks([run.trace for run in runs[scale.space]]) for _, runs in (first, second)]
    if len(ranks[0]) != len(ranks[1]):
        found = f"{first[0]} has {len(ranks[0])} repeats on {scale.space} and {second[0]} {len(ranks[1])}"
        message = f"{found}; give both the same number"
        raise SettingsError(message)
    return ranks[0], ranks[1]


def _difference(scale: SpaceScale, pair: _Pair) -> float:
    """Score difference of the runs as they are."""
    even = np.full((1, len(pair[0])), 1.0 / len(pair[0]))
    return float(_differences(scale, pair, even, np.zeros_like(even))[0])


def _differences(scale: SpaceScale, pair: _Pair, kept: Floats, swapped: Floats) -> Floats:
    """Score differences for rows of weights: of runs that stay where they are, and of runs that change places."""
    first, second = pair
    return scale.score(kept @ first + swapped @ second) - scale.score(kept @ second + swapped @ first)
