"""A run: one contender on one space, with one seed and one budget."""

from __future__ import annotations

from dataclasses import dataclass

from llamea_tune.execution.contender import Contender
from llamea_tune.runners.meter import RunBudget


@dataclass(frozen=True, eq=False)
class Run:
    """One run to make. Two runs that say the same are two runs still, with a result each.

    Attributes:
        contender: What to run.
        space: Number of the space among those of the executor.
        seed: Seed of the run's generators, 0 to 2**32 - 1.
        budget: What it may spend.
        cold: Whether to measure the own compute of a named strategy, with cold neighbour caches as in a real tuning
            run. That of a candidate always is.
        charged: Whether the own compute of a named strategy is charged to the run's clock; then it is measured too.
    """

    contender: Contender
    space: int
    seed: int
    budget: RunBudget
    cold: bool = False
    charged: bool = False
