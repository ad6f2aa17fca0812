"""How runs went, beyond their score: when they were good, and where their measurements went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from llamea_tune.candidate import Behaviour
from llamea_tune.runners.trace import RunResult, Trace
from llamea_tune.scoring.aggregate import N_RESAMPLES, interval, own_compute_ms, sum_counts
from llamea_tune.scoring.ranks import Floats, RankTable
from llamea_tune.scoring.run_score import run_scores
from llamea_tune.scoring.score import SpaceScale, one_in
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.spaces.space import Space

N_PARTS = 10
_PER_PART = 2  # ranks that are kept of each run for each of these parts of the scored time
_DIGITS = 4


def behaviours(
    spaces: Sequence[Space], scales: Sequence[SpaceScale], runs: Mapping[str, Sequence[RunResult]]
) -> dict[str, Behaviour]:
    """The behaviour on each space; empty where a run failed.

    Args:
        spaces: The spaces.
        scales: Scale of each.
        runs: The repeats on each space, by its name.
    """
    if not all(runs[space.name] and all(run.state.scorable for run in runs[space.name]) for space in spaces):
        return {}
    return {space.name: _behaviour(space, scale, runs[space.name]) for space, scale in zip(spaces, scales, strict=True)}


def _behaviour(space: Space, scale: SpaceScale, runs: Sequence[RunResult]) -> Behaviour:
    ranks = scale.ranks([run.trace for run in runs])
    curve = scale.curve(ranks.mean(axis=0, dtype=np.float64))
    kept = ranks[:, one_in(len(scale.grid_us) // (N_PARTS * _PER_PART))]
    counts, n_runs = sum_counts(runs), len(runs)
    away, moved = _distances(space.value_indices, [run.trace for run in runs])
    own_ms = own_compute_ms(runs)
    return Behaviour(
        tenths=_rounded(part.mean() for part in np.array_split(curve, N_PARTS)),
        ranks=tuple(_rounded(of_run) for of_run in kept),
        measured=_round(counts.paid / n_runs),
        failed=_round(counts.failed / n_runs),
        repeated=_round(counts.repeated / n_runs),
        invalid=_round(counts.invalid / n_runs),
        near=_round((away <= 1).mean()) if len(away) else None,
        distance=_round(away.mean()) if len(away) else None,
        travelled=_round(moved.mean()) if len(moved) else None,
        last_improvement=_round(sum(_last_improvement(run.trace, scale) for run in runs) / n_runs),
        own_compute_ms=None if np.isnan(own_ms) else own_ms,
    )


def _distances(
    value_indices: NDArray[np.uint16], traces: Sequence[Trace]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """In how many parameters each measurement but a run's first differs from the best until then, and from the last."""
    away, moved = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for trace in traces:
        rows = value_indices[trace.indices]
        best = rows[_best_before(trace.costs)]
        away.append((rows[1:] != best).sum(axis=1))
        moved.append((rows[1:] != rows[:-1]).sum(axis=1))
    return np.concatenate(away), np.concatenate(moved)


def _best_before(costs: Floats) -> NDArray[np.int64]:
    """Shape `(n - 1,)`: number of the best measurement before each but the first; the first one while all failed."""
    known = np.where(np.isnan(costs), np.inf, costs)[:-1]
    lowest = np.minimum.accumulate(known)
    better = np.concatenate((np.ones(min(1, len(known)), bool), lowest[1:] < lowest[:-1]))
    return np.maximum.accumulate(np.where(better, np.arange(len(known)), 0))


def _last_improvement(trace: Trace, scale: SpaceScale) -> float:
    """When the best so far was last improved, as a share of the scored time; 0 where it was before that."""
    improved = _improvements(trace, scale.table)
    if not len(improved):
        return 0.0
    start, end = scale.budget.start_us, scale.budget.end_us
    return float(np.clip((trace.elapsed_us[improved[-1]] - start) / max(end - start, 1.0), 0.0, 1.0))


def _improvements(trace: Trace, table: RankTable) -> NDArray[np.int64]:
    ranks = table.ranks_of(trace)
    before = np.minimum.accumulate(np.concatenate(([table.worst], ranks)))[:-1]
    return np.flatnonzero(ranks < before)


def paired_gain(
    scales: Sequence[SpaceScale],
    child: Mapping[str, Behaviour],
    parent: Mapping[str, Behaviour],
    *,
    seed: int = 0,
) -> tuple[float, tuple[float, float]] | None:
    """How much better a child scores than its parent, both run with the same seeds, and the interval of that.

    From the twenty ranks kept of each run, over the repeats that both have; so the difference is that of the scores up to the
    coarseness of these.

    Args:
        scales: Scale of each space.
        child: Behaviour of the child by space.
        parent: That of the parent.
        seed: Seed of the bootstrap, which resamples repeats within each space.

    Returns:
        The difference of the mean scores, and its 95 % paired bootstrap interval; None where one has no behaviour on a space.
    """
    if not all(scale.space in child and scale.space in parent for scale in scales) or not scales:
        return None
    difference = 0.0
    resampled = np.zeros(N_RESAMPLES)
    for scale in scales:
        first, second = (np.array(of[scale.space].ranks, dtype=np.float64) for of in (child, parent))
        n_runs = min(len(first), len(second))
        coarse = _coarse(scale)
        rng = np.random.default_rng(run_seed(seed, scale.space, 0, "gain"))
        weights = rng.multinomial(n_runs, np.full(n_runs, 1.0 / n_runs), size=N_RESAMPLES) / n_runs
        first, second = first[:n_runs], second[:n_runs]
        difference += float(coarse.score(first.mean(axis=0)) - coarse.score(second.mean(axis=0))) / len(scales)
        resampled += (coarse.score(weights @ first) - coarse.score(weights @ second)) / len(scales)
    return difference, interval(resampled)


def kept_run_scores(scales: Sequence[SpaceScale], behaviour: Mapping[str, Behaviour]) -> dict[str, tuple[float, ...]]:
    """The score of each single run by space, from the ranks that are kept of it; see `run_score`.

    Args:
        scales: Scale of each space.
        behaviour: Behaviour by space; empty where it is not known.
    """
    return {
        scale.space: tuple(run_scores(_coarse(scale), np.array(behaviour[scale.space].ranks)).tolist())
        for scale in scales
        if scale.space in behaviour
    }


def _coarse(scale: SpaceScale) -> SpaceScale:
    """A scale with those times that ranks are kept of."""
    return scale.thinned(len(scale.grid_us) // (N_PARTS * _PER_PART))


def _round(value: float) -> float:
    return round(float(value), _DIGITS)


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(_round(value) for value in values)
