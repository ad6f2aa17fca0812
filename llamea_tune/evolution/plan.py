"""Plan a generation: which operator makes each candidate, from which parents.

The plan depends on the settings and on the history before the generation alone, so that a resumed run plans the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.history import History
from llamea_tune.evolution.selection import Selection
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.starting import START, starting_proposals
from llamea_tune.proposals.operators import OPERATORS, Operator
from llamea_tune.proposals.proposal import Proposal, ProposalTask

RECENTLY_BROKEN = 4  # repairs are tried on the last few failures only


@dataclass(frozen=True)
class PlannedCandidate:
    """A candidate to come.

    Attributes:
        id: Its id.
        generation: Its generation.
        task: What the proposer is asked for.
        given: What is judged without asking anybody; None for what is asked for.
    """

    id: str
    generation: int
    task: ProposalTask
    given: Proposal | None = None


def generation_sizes(settings: Settings) -> list[int]:
    """Candidates in each generation: `offspring` each, the last one cut to what is left."""
    full, rest = divmod(settings.max_candidates, settings.offspring)
    return [settings.offspring] * full + ([rest] if rest else [])


def plan_generation(
    generation: int,
    settings: Settings,
    history: History,
    selection: Selection,
    spaces: Sequence[str],
    seen: frozenset[str] = frozenset(),
) -> list[PlannedCandidate]:
    """Plan all candidates of a generation.

    Args:
        generation: Its number, from 0.
        settings: The run's settings.
        history: What was known before it.
        selection: The selection scheme.
        spaces: Descriptions of the training spaces.
        seen: Fingerprints of the programs in the history.
    """
    first = generation * settings.offspring
    tried = tuple(entry.candidate.description for entry in history.all() if entry.candidate.description)
    scored = history.scored()
    population = selection.survivors(scored, settings.parents) if scored else ()
    given = starting_proposals(settings.start_from) if generation == 0 else []
    planned = [_start(number, proposal, spaces) for number, proposal in enumerate(given[: settings.max_candidates])]
    for position in range(len(planned), generation_sizes(settings)[generation]):
        rng = np.random.default_rng([settings.seed, generation, position])
        operator, parents = _choose(population, scored, history.broken(), selection, rng)
        key = f"g{generation:03d}-{position:02d}-{operator.name}"
        parents = tuple(replace(parent, candidate=parent.candidate.with_tuned_defaults()) for parent in parents)
        task = ProposalTask(key, operator.name, parents, tuple(spaces), tried, int(rng.integers(2**32)), seen)
        planned.append(PlannedCandidate(f"{first + position:04d}", generation, task))
    return planned


def _start(number: int, proposal: Proposal, spaces: Sequence[str]) -> PlannedCandidate:
    task = ProposalTask(f"g000-{number:02d}-{START}", START, (), tuple(spaces))
    return PlannedCandidate(f"{number:04d}", 0, task, proposal)


def _choose(
    population: Sequence[Scored],
    scored: Sequence[Scored],
    broken: Sequence[Scored],
    selection: Selection,
    rng: np.random.Generator,
) -> tuple[Operator, tuple[Scored, ...]]:
    """Choose operator and parents of one candidate."""
    if not population:
        return OPERATORS["initial"], ()
    possible = [
        operator
        for operator in OPERATORS.values()
        if operator.name != "initial"
        and operator.n_parents <= len(population)
        and (broken or operator.name != "repair")
    ]
    weights = np.array([operator.weight for operator in possible])
    operator = possible[int(rng.choice(len(possible), p=weights / weights.sum()))]
    if operator.name == "repair":
        recent = broken[-RECENTLY_BROKEN:]
        return operator, (recent[int(rng.integers(len(recent)))],)
    return operator, selection.parents(population, scored, operator.n_parents, rng)
