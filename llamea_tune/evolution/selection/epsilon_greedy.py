"""Epsilon-greedy selection over the whole tree of attempts, as STARK does for GPU kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import by_fitness


class EpsilonGreedy:
    """Mostly works on the best; sometimes on any earlier attempt, so that no branch is lost for good."""

    def __init__(self, epsilon: float = 0.25) -> None:
        """Set how often an arbitrary attempt is taken.

        Args:
            epsilon: Probability, 0 to 1.
        """
        self._epsilon = epsilon

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of all; the others stay within reach of `parents`."""
        return tuple(by_fitness(scored)[:size])

    def parents(
        self, population: Sequence[Scored], scored: Sequence[Scored], count: int, rng: np.random.Generator
    ) -> tuple[Scored, ...]:
        """Each parent is the best one left with probability 1 - epsilon, else any attempt left."""
        ranked = list(population)
        ids = {entry.candidate.id for entry in ranked}
        others = [entry for entry in scored if entry.candidate.id not in ids]
        chosen: list[Scored] = []
        while len(chosen) < count and (ranked or others):
            anywhere = rng.random() < self._epsilon
            pool = ranked + others
            pick = pool[int(rng.integers(len(pool)))] if anywhere or not ranked else ranked[0]
            (ranked if pick in ranked else others).remove(pick)
            chosen.append(pick)
        return tuple(chosen)
