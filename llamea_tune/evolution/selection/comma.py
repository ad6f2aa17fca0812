"""(mu, lambda) selection: parents are forgotten, the best of the last generation survive."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn


class Comma:
    """Survivors come from the last generation that scored at all. The leaderboard still goes by all candidates.

    Source: H.-P. Schwefel, "Evolution and Optimum Seeking", 1995. It needs generations, and is not for a steady state.
    """

    needs_generations = True

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of the last generation."""
        last = max(entry.candidate.generation for entry in scored)
        return tuple(by_fitness([entry for entry in scored if entry.candidate.generation == last])[:size])

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Drawn evenly, without repetition."""
        return drawn(situation.population, count, rng)
