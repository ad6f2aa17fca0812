"""Roulette-wheel selection: the fitter a survivor, the more children it has."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn

_LEAST = 0.1


class Roulette:
    """Parents are drawn in proportion to their fitness after sigma scaling, which also takes negative fitness.

    Source: M. Mitchell, "An Introduction to Genetic Algorithms", 1996, section 5.4: a survivor's weight is 1 plus half
    the standard deviations that it is above the mean, and at least 0.1.
    """

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of all."""
        return tuple(by_fitness(scored)[:size])

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Drawn by weight, without repetition."""
        fitness = np.array([entry.evaluation.fitness or 0.0 for entry in situation.population])
        spread = float(fitness.std())
        above = (fitness - fitness.mean()) / (2.0 * spread) if spread > 0.0 else np.zeros(len(fitness))
        return drawn(situation.population, count, rng, np.maximum(1.0 + above, _LEAST))
