"""Epsilon-greedy selection over the whole tree of attempts, as STARK does for GPU kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.selection.scheme import Situation, by_fitness, drawn
from llamea_tune.exceptions import SettingsError


class EpsilonGreedy:
    """Mostly works on the best; sometimes on any earlier attempt, so that no branch is lost for good.

    An attempt that has many children already is taken less often: its weight is 1 / (1 + children), failed children
    included.
    """

    def __init__(self, epsilon: float = 0.25) -> None:
        """Set how often an arbitrary attempt is taken.

        Args:
            epsilon: Probability, 0 to 1.

        Raises:
            SettingsError: It is none.
        """
        if not 0.0 <= epsilon <= 1.0:
            raise SettingsError(f"epsilon is {epsilon:g}; it must lie between 0 and 1.", fields=("epsilon",))
        self._epsilon = epsilon

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """The `size` fittest of all; the others stay within reach of `parents`."""
        return tuple(by_fitness(scored)[:size])

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Each parent is the best one left with probability 1 - epsilon, else any attempt left."""
        left = [*situation.population, *(entry for entry in situation.scored if entry not in situation.population)]
        children = Counter(parent for entry in situation.judged for parent in entry.candidate.parents)
        chosen: list[Scored] = []
        while left and len(chosen) < count:
            weights = np.array([1.0 / (1.0 + children[entry.candidate.id]) for entry in left])
            pick = drawn(left, 1, rng, weights)[0] if rng.random() < self._epsilon else left[0]
            left.remove(pick)
            chosen.append(pick)
        return tuple(chosen)
