"""A score for every single run, so that contenders can be compared run by run: what a study maximises, and races go by."""

from __future__ import annotations

import numpy as np

from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.ranks import Floats
from llamea_tune.scoring.score import SpaceScale

FLOOR = -10.0
"""The lowest score of a run, and the score of hyperparameters with which a run fails."""


def run_score(scale: SpaceScale, run: RunResult) -> float:
    """The score of one run: P with ranks in place of costs, `1 - r / R`, averaged over the budget.

    `r` is the rank of the run's best so far and `R` that of random search, at least 1; nowhere below `FLOOR`. As in P, 0
    is random search and 1 the optimum from the start.

    The score of a strategy is P at the mean rank over its repeats, which is not the mean of anything that one run has,
    as costs are no linear function of ranks. This is linear in the rank, so its mean over repeats depends on the mean
    rank alone, too. P at the rank of a single run would be ruled by the few moments at which a run is far behind.

    Args:
        scale: Scale of the space.
        run: A run that can be scored.

    Returns:
        From `FLOOR` to 1.
    """
    return float(run_scores(scale, scale.ranks([run.trace])[0].astype(np.float64)))


def run_scores(scale: SpaceScale, ranks: Floats) -> Floats:
    """The scores of runs, given the ranks of their best so far.

    Args:
        scale: Scale of the space.
        ranks: Shape `(..., n_times)`.

    Returns:
        Shape `(...,)`.
    """
    baseline = np.interp(scale.baseline_costs, scale.table.costs, np.arange(len(scale.table.costs)))
    return np.asarray(np.maximum(1.0 - ranks / np.maximum(baseline, 1.0), FLOOR).mean(axis=-1))
