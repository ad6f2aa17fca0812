"""Tournament selection: the best of a few that are drawn by chance becomes a parent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn, whole


class Tournament:
    """The fittest of all survive, and those who win tournaments among the survivors have children."""

    def __init__(self, size: int = 2) -> None:
        """Set how hard the selection is.

        Args:
            size: Candidates in each tournament, at least 1.

        Raises:
            SettingsError: It is no whole number above 0.
        """
        self._size = whole("size", size)

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of all."""
        return tuple(by_fitness(scored)[:size])

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Each parent wins a tournament of those that are left."""
        left = list(situation.population)
        chosen: list[Scored] = []
        while left and len(chosen) < count:
            winner = by_fitness(drawn(left, self._size, rng))[0]
            left.remove(winner)
            chosen.append(winner)
        return tuple(chosen)
