"""Plan candidates: which operator makes each, from which parents, and which language model is asked where that is learnt.

A plan depends on the settings and on what it is given of the history alone, so that a resumed run plans the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

import numpy as np

from llamea_tune.candidate import Scored
from llamea_tune.evolution.arms import choose_arm, make_arms
from llamea_tune.evolution.history import History
from llamea_tune.evolution.lean import at_worth
from llamea_tune.evolution.novelty import Novelty
from llamea_tune.evolution.selection import Selection, Situation
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.starting import START, starting_proposals
from llamea_tune.llm.mixed import weights_of
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


@dataclass(frozen=True)
class Planner:
    """Plans the candidates of one run.

    Attributes:
        settings: The run's settings.
        selection: The selection scheme.
        spaces: Descriptions of the training spaces.
    """

    settings: Settings
    selection: Selection
    spaces: Sequence[str]

    def plan(self, numbers: Sequence[int], history: History) -> list[PlannedCandidate]:
        """Plan candidates by their numbers in the run, all from the same history."""
        scored, judged = history.scored(), history.all()
        tried = tuple(entry.candidate.description for entry in judged if entry.candidate.description)
        population = self.selection.survivors(scored, self.settings.parents) if scored else ()
        seen = history.programs()
        novelty = None if self.settings.novelty is None else Novelty(judged, self.settings.novelty)
        planned = []
        for number in numbers:
            if number < len(self.settings.start_from):
                planned.append(self._start(number))
                continue
            generation, position = divmod(number, self.settings.offspring)
            rng = np.random.default_rng([self.settings.seed, generation, position])
            situation = Situation(number, population, tuple(judged))
            operator, parents = self._choose(situation, history.broken(), rng)
            key = f"g{generation:03d}-{position:02d}-{operator.name}"
            parents = tuple(replace(parent, candidate=parent.candidate.with_tuned_defaults()) for parent in parents)
            seed = int(rng.integers(2**32))
            llm = self._choose_llm(situation, rng)  # last, so that it changes nothing else in the plan
            task = ProposalTask(key, operator.name, parents, tuple(self.spaces), tried, seed, seen, novelty, llm=llm)
            planned.append(PlannedCandidate(candidate_id(number), generation, task))
        return planned

    def _start(self, number: int) -> PlannedCandidate:
        (proposal,) = starting_proposals([self.settings.start_from[number]])
        task = ProposalTask(f"g000-{number:02d}-{START}", START, (), tuple(self.spaces))
        return PlannedCandidate(candidate_id(number), 0, task, proposal)

    def _choose(
        self, situation: Situation, broken: Sequence[Scored], rng: np.random.Generator
    ) -> tuple[Operator, tuple[Scored, ...]]:
        """Choose operator and parents of one candidate; the first generation is made from nothing."""
        if not situation.population or situation.number < self.settings.offspring:
            return OPERATORS["initial"], ()
        possible = {
            operator.name: operator.weight
            for operator in OPERATORS.values()
            if operator.name != "initial"
            and operator.n_parents <= len(situation.population)
            and (broken or operator.name != "repair")
        }
        bandit = self.settings.operator_choice == "bandit"
        arms = make_arms(possible, self._rewarded(situation) if bandit else (), attrgetter("operator"))
        operator = OPERATORS[choose_arm(arms, rng, bandit=bandit)]
        if operator.name == "repair":
            recent = broken[-RECENTLY_BROKEN:]
            return operator, (recent[int(rng.integers(len(recent)))],)
        return operator, self.selection.parents(situation, operator.n_parents, rng)

    def _choose_llm(self, situation: Situation, rng: np.random.Generator) -> str:
        """Choose which language model of the mix is asked; empty where the mix is to draw."""
        if self.settings.model_choice != "bandit":
            return ""
        arms = make_arms(weights_of(self.settings.proposer), self._rewarded(situation), attrgetter("llm"))
        return choose_arm(arms, rng, bandit=True)

    def _rewarded(self, situation: Situation) -> list[Scored]:
        """What a bandit learns from: all that was judged, by what selection goes by."""
        return [at_worth(entry, self.settings.own_compute_ms) for entry in situation.judged]


def candidate_id(number: int) -> str:
    """The id of a candidate by its number in the run, from 0."""
    return f"{number:04d}"


def generation_sizes(settings: Settings) -> list[int]:
    """Candidates in each generation: `offspring` each, the last one cut to what is left."""
    full, rest = divmod(settings.max_candidates, settings.offspring)
    return [settings.offspring] * full + ([rest] if rest else [])


def numbers_of(generation: int, settings: Settings) -> range:
    """Numbers of a generation's candidates in the run."""
    first = generation * settings.offspring
    return range(first, min(first + settings.offspring, settings.max_candidates))
