"""Scores over the budget: what the aggregate of a benchmark looks like as a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.aggregate import CONFIDENCE
from llamea_tune.scoring.ranks import Floats
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.seeds import run_seed

_THINNING = 5
_N_RESAMPLES = 300


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """The score at each time of the budget, averaged over spaces.

    Attributes:
        fractions: Shape `(n_times,)`: time as a fraction of the budget, from 0 where scoring starts to 1 where it ends.
        mean: Shape `(n_times,)`: P averaged over spaces.
        low: Shape `(n_times,)`: lower end of the 95 % bootstrap band.
        high: Shape `(n_times,)`: its upper end.
    """

    fractions: Floats
    mean: Floats
    low: Floats
    high: Floats


def score_curve(scales: Sequence[SpaceScale], runs: Mapping[str, Sequence[RunResult]], *, seed: int = 0) -> ScoreCurve:
    """The aggregate curve of one contender; the mean of its curve over time is its score.

    Args:
        scales: Scale of each space.
        runs: The contender's repeats on each space, all of them good.
        seed: Seed of the bootstrap, which resamples repeats within each space.
    """
    thin = [scale.thinned(_THINNING) for scale in scales]
    n_times = len(thin[0].grid_us)
    mean = np.zeros(n_times)
    resampled = np.zeros((_N_RESAMPLES, n_times))
    for scale in thin:
        ranks = scale.ranks([run.trace for run in runs[scale.space]])
        n_repeats = len(ranks)
        rng = np.random.default_rng(run_seed(seed, scale.space, 0, "curve"))
        weights = rng.multinomial(n_repeats, np.full(n_repeats, 1.0 / n_repeats), size=_N_RESAMPLES) / n_repeats
        mean += scale.curve(ranks.mean(axis=0, dtype=np.float64)) / len(thin)
        resampled += scale.curve(weights @ ranks) / len(thin)
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(resampled, (tail, 100.0 - tail), axis=0)
    return ScoreCurve(np.linspace(0.0, 1.0, n_times), mean, low, high)
