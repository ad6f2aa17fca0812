"""How a strategy searches, as numbers from its traces: what sets two apart that score alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from llamea_tune.runners.trace import RunResult, Trace
from llamea_tune.spaces.space import Space

NEAR = 2
"""A config that differs in so many parameters at most is near another one."""

BEHAVIOURS = ("exploitation", "travel", "repetition")


def behaviour(spaces: Sequence[Space], runs: Mapping[str, Sequence[RunResult]]) -> dict[str, float]:
    """Mean behaviour over spaces and repeats, by the names in `BEHAVIOURS`; empty where nothing was measured.

    - exploitation: share of the measurements near the best config of that moment, `NEAR` parameters apart at most;
    - travel: share of the parameters that change from one measurement to the next;
    - repetition: share of the requests that ask again for what was measured before.

    Args:
        spaces: The spaces.
        runs: The repeats on each space, by its name.
    """
    per_run = [
        (*_moves(space, run.trace), _repetition(run))
        for space in spaces
        for run in runs[space.name]
        if len(run.trace) > 1
    ]
    if not per_run:
        return {}
    means = np.mean(np.array(per_run), axis=0)
    return {name: round(float(mean), 4) for name, mean in zip(BEHAVIOURS, means, strict=True)}


def _moves(space: Space, trace: Trace) -> tuple[float, float]:
    """Exploitation and travel of one run."""
    rows = space.value_indices[trace.indices]
    costs = np.where(np.isnan(trace.costs), np.inf, trace.costs)
    is_best = costs < np.minimum.accumulate(np.concatenate(([np.inf], costs[:-1])))
    best = np.maximum.accumulate(np.where(is_best, np.arange(len(costs)), 0))  # the first one until something is better
    to_best = (rows[1:] != rows[best[:-1]]).sum(axis=1)
    to_last = (rows[1:] != rows[:-1]).mean(axis=1)
    return float((to_best <= NEAR).mean()), float(to_last.mean())


def _repetition(run: RunResult) -> float:
    return run.counts.repeated / max(1, run.counts.repeated + run.counts.paid)
