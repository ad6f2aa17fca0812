"""The runs that hyperparameters are tried on, in the order in which every trial makes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.execution import Contender, Run
from llamea_tune.runners.meter import RunBudget
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.seeds import run_seed
from llamea_tune.spaces.space import Space


def ordered_runs(
    contender: Contender, spaces: Sequence[Space], scales: Sequence[SpaceScale], repeats: int, seed: int
) -> tuple[Run, ...]:
    """All runs of a trial in their order: random, but every space comes once before any comes again.

    So the mean over the first runs of any two trials is over nearly the same mixture of spaces.

    Args:
        contender: What is run.
        spaces: The spaces.
        scales: Scale of each.
        repeats: Repeats on each.
        seed: Seed of the order and of the runs.
    """
    rng = np.random.default_rng(run_seed(seed, "order of pairs", 0, "tune"))
    budgets = [RunBudget(scale.budget.time_limit_us) for scale in scales]
    return tuple(
        Run(contender, number, run_seed(seed, spaces[number].content_hash, repeat, "tune"), budgets[number])
        for repeat in range(repeats)
        for number in rng.permutation(len(spaces)).tolist()
    )
