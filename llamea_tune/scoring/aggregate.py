"""From runs to scorecards: means and bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from llamea_tune.runners.trace import RequestCounts, RunResult
from llamea_tune.scoring.ranks import Floats
from llamea_tune.scoring.score import SpaceScale, one_in, score
from llamea_tune.scoring.scorecard import Scorecard, SpaceScore
from llamea_tune.scoring.seeds import run_seed

N_RESAMPLES = 1000
CONFIDENCE = 0.95
_THINNING = 5


def bootstrap_scores(scale: SpaceScale, ranks: np.ndarray, rng: np.random.Generator, n_resamples: int) -> Floats:
    """Scores of resampled repeats.

    Args:
        scale: Scale of the space.
        ranks: Shape `(n_repeats, n_times)`, as `SpaceScale.ranks` gives them.
        rng: Source of the resamples.
        n_resamples: How many.

    Returns:
        Shape `(n_resamples,)`.
    """
    n_repeats = len(ranks)
    weights = rng.multinomial(n_repeats, np.full(n_repeats, 1.0 / n_repeats), size=n_resamples) / n_repeats
    return scale.score(weights @ ranks)


def interval(samples: Floats) -> tuple[float, float]:
    """Percentile interval of bootstrap samples."""
    tail = 50.0 * (1.0 - CONFIDENCE)
    low, high = np.percentile(samples, (tail, 100.0 - tail))
    return float(low), float(high)


def scorecard(
    label: str, scales: Sequence[SpaceScale], runs: Mapping[str, Sequence[RunResult]], *, seed: int = 0
) -> Scorecard:
    """Score the runs of a contender.

    Args:
        label: The contender's label.
        scales: Scale of each space.
        runs: The repeats on each space, by its name.
        seed: Seed of the bootstrap.
    """
    failed = next(((scale, run) for scale in scales for run in runs[scale.space] if not run.state.scorable), None)
    if failed is not None:
        return _failed(label, *failed, scales, runs)
    spaces: dict[str, SpaceScore] = {}
    samples = np.zeros(N_RESAMPLES)
    for scale in scales:
        rng = np.random.default_rng(run_seed(seed, scale.space, 0, "bootstrap"))
        ranks = scale.ranks([run.trace for run in runs[scale.space]])
        exact = float(scale.score(ranks.mean(axis=0, dtype=np.float64)))
        thinned, thin_ranks = scale.thinned(_THINNING), ranks[:, one_in(_THINNING)]
        # Fewer times weigh a bad beginning otherwise, which is the same for all resamples and is taken out.
        coarse = float(thinned.score(thin_ranks.mean(axis=0, dtype=np.float64)))
        resampled = bootstrap_scores(thinned, thin_ranks, rng, N_RESAMPLES) + (exact - coarse)
        samples += resampled / len(scales)
        own = runs[scale.space]
        spaces[scale.space] = SpaceScore(
            scale.space, exact, interval(resampled), len(own), own_compute_ms(own), sum_counts(own)
        )
    mean = float(np.mean([scored.score for scored in spaces.values()]))
    return Scorecard(label, mean, interval(samples), spaces)


def _failed(
    label: str, on: SpaceScale, run: RunResult, scales: Sequence[SpaceScale], runs: Mapping[str, Sequence[RunResult]]
) -> Scorecard:
    """The card of a contender whose run failed, with what its runs on other spaces gave before."""
    traces = {scale: [made.trace for made in runs[scale.space]] for scale in scales if scale is not on}
    others = {scale.space: score(scale, made) if made else None for scale, made in traces.items()}
    return Scorecard(label, None, None, {}, run.state, run.reason, on.space, others)


def mean_places(scorecards: Sequence[Scorecard]) -> dict[str, float]:
    """Mean place of each contender over the spaces, 1 for the best; equal scores share the mean of their places.

    Args:
        scorecards: Scorecards on the same spaces; those without scores are left out.
    """
    scored = [card for card in scorecards if card.mean is not None]
    if not scored:
        return {}
    scores = np.array([[space.score for space in card.spaces.values()] for card in scored])
    better = (scores[None, :, :] > scores[:, None, :]).sum(axis=1)
    equal = (scores[None, :, :] == scores[:, None, :]).sum(axis=1)
    places = 1.0 + better + (equal - 1) / 2.0
    return {card.label: float(place) for card, place in zip(scored, places.mean(axis=1), strict=True)}


def own_compute_ms(runs: Sequence[RunResult]) -> float:
    """Own compute per paid measurement in milliseconds, over the runs in which it was measured; NaN if in none."""
    measured = [run for run in runs if not np.isnan(run.own_compute_s)]
    if not measured:
        return float("nan")
    return 1000.0 * sum(run.own_compute_s for run in measured) / max(1, sum(run.counts.paid for run in measured))


def sum_counts(runs: Sequence[RunResult]) -> RequestCounts:
    """What was asked for, summed over runs."""
    counts = [run.counts for run in runs]
    return RequestCounts(
        paid=sum(c.paid for c in counts),
        repeated=sum(c.repeated for c in counts),
        invalid=sum(c.invalid for c in counts),
        failed=sum(c.failed for c in counts),
    )
