"""What a selection scheme decides: who survives, and who is worked on next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from llamea_tune.candidate import CandidateState, Scored
from llamea_tune.exceptions import SettingsError


@dataclass(frozen=True)
class Situation:
    """What is known when the parents of a candidate are chosen.

    Attributes:
        number: Number in the run of the candidate to come, from 0.
        population: What `survivors` gave, best first; never empty.
        judged: Every judged candidate of the run, failed ones included, oldest first.
    """

    number: int
    population: Sequence[Scored]
    judged: Sequence[Scored]

    @cached_property
    def scored(self) -> tuple[Scored, ...]:
        """Those judged candidates that have a score."""
        return tuple(entry for entry in self.judged if entry.evaluation.state is CandidateState.SCORED)


class Selection(Protocol):
    """A selection scheme. The loop calls `survivors` to know whom to keep, and `parents` for each candidate to come.

    It keeps nothing between calls: all that it goes by is what it is given.
    """

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        """Choose the population from all that were scored so far.

        Args:
            scored: Every scored candidate of the run, oldest first; never empty.
            size: How many to keep at most.

        Returns:
            The population, best first; never empty.
        """

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        """Choose the parents of one candidate: `count` different ones with a score, or fewer where there are not so many.

        Args:
            situation: What is known.
            count: How many parents the mutation operator takes.
            rng: The only source of randomness.
        """


def by_fitness(scored: Sequence[Scored]) -> list[Scored]:
    """Best first; among equals the older one, so that neutral copies do not push it out.

    Who was raced out comes after all others: its fitness is of few runs.
    """
    return sorted(
        scored,
        key=lambda entry: (entry.evaluation.raced_out, -(entry.evaluation.fitness or 0.0), entry.candidate.id),
    )


def drawn(
    entries: Sequence[Scored], count: int, rng: np.random.Generator, weights: np.ndarray | None = None
) -> tuple[Scored, ...]:
    """Different ones, drawn evenly or by weights above 0; fewer where there are not so many."""
    chances = None if weights is None else weights / weights.sum()
    chosen = rng.choice(len(entries), size=min(count, len(entries)), replace=False, p=chances)
    return tuple(entries[int(number)] for number in chosen)


def whole(name: str, value: float) -> int:
    """An option of a scheme that is a whole number above 0.

    Raises:
        SettingsError: It is none.
    """
    if value < 1 or value != int(value):
        raise SettingsError(f"{name} is {value:g}; it must be a whole number above 0.", fields=("selection_options",))
    return int(value)
