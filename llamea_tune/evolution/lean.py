"""Lean candidates: own compute as part of what selection goes by, where the run has an aim for it.

What compares candidates compares `worth`; the fitness itself stays what is shown and logged. Without an aim both are the
same, and nothing here does anything. Worth is computed from evaluations as the log has them, so that a resumed run decides
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from llamea_tune.candidate import Evaluation, Scored
from llamea_tune.evolution.selection import Selection, Situation, by_fitness
from llamea_tune.own_compute import discount


def worth(evaluation: Evaluation, aim_ms: float | None) -> float | None:
    """The fitness less what own compute takes off; None where there is no fitness."""
    if evaluation.fitness is None:
        return None
    return evaluation.fitness - discount(evaluation.own_compute_ms, aim_ms)


def at_worth(entry: Scored, aim_ms: float | None) -> Scored:
    """A candidate with its worth in place of its fitness, for what knows of fitness alone."""
    if aim_ms is None:
        return entry
    return replace(entry, evaluation=replace(entry.evaluation, fitness=worth(entry.evaluation, aim_ms)))


def by_worth(scored: Sequence[Scored], aim_ms: float | None) -> list[Scored]:
    """The worthiest first, in the order of `by_fitness`."""
    return _themselves(by_fitness([at_worth(entry, aim_ms) for entry in scored]), scored)


def lean(scheme: Selection, aim_ms: float | None) -> Selection:
    """A selection scheme that goes by worth, whatever scheme it is; the scheme itself where there is no aim."""
    return scheme if aim_ms is None else _Lean(scheme, aim_ms)


class _Lean:
    """Shows a scheme candidates with their worth as fitness, and gives those that it chooses as they are."""

    def __init__(self, scheme: Selection, aim_ms: float) -> None:
        self._scheme = scheme
        self._aim_ms = aim_ms

    def survivors(self, scored: Sequence[Scored], size: int) -> tuple[Scored, ...]:
        return tuple(_themselves(self._scheme.survivors(self._shown(scored), size), scored))

    def parents(self, situation: Situation, count: int, rng: np.random.Generator) -> tuple[Scored, ...]:
        population, judged = self._shown(situation.population), self._shown(situation.judged)
        shown = replace(situation, population=population, judged=judged)
        return tuple(_themselves(self._scheme.parents(shown, count, rng), (*situation.judged, *situation.population)))

    def _shown(self, entries: Sequence[Scored]) -> tuple[Scored, ...]:
        return tuple(at_worth(entry, self._aim_ms) for entry in entries)


def _themselves(chosen: Sequence[Scored], among: Sequence[Scored]) -> list[Scored]:
    by_id = {entry.candidate.id: entry for entry in among}
    return [by_id[entry.candidate.id] for entry in chosen]
