"""What a selection scheme decides: who survives, and who is worked on next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from llamea_tune.candidate import Scored


class Selection(Protocol):
    """A selection scheme. The loop calls `survivors` after every generation and `parents` for each candidate to come."""

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """Choose the population from all that were scored so far.

        Args:
            scored: Every scored candidate of the run, oldest first.
            size: How many to keep at most.

        Returns:
            The population, best first.
        """

    def parents(
        self, population: Sequence[Scored], scored: Sequence[Scored], count: int, rng: np.random.Generator
    ) -> tuple[Scored, ...]:
        """Choose the parents of one candidate: `count` different ones, or fewer where there are not so many.

        Args:
            population: What `survivors` gave, best first; never empty.
            scored: Every scored candidate of the run, oldest first.
            count: How many parents the mutation operator takes.
            rng: The only source of randomness.
        """


def by_fitness(scored: Sequence[Scored]) -> list[Scored]:
    """Best first; among equals the older one, so that neutral copies do not push it out."""
    return sorted(scored, key=lambda entry: (-(entry.evaluation.fitness or 0.0), entry.candidate.id))
