"""(mu + lambda) selection: parents and offspring compete, the best survive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness


class Plus:
    """Elitist truncation; parents are drawn evenly from the survivors, as in LLaMEA."""

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of all."""
        return tuple(by_fitness(scored)[:size])

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Drawn evenly, without repetition."""
        population = situation.population
        chosen = rng.permutation(len(population))[:count]
        return tuple(population[i] for i in chosen)
