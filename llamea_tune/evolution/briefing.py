"""Complete tasks that are planned: evidence, memory, and for each a direction of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from llamea_tune.candidate import Behaviour, Candidate
from llamea_tune.evolution.descriptions import space_names
from llamea_tune.evolution.history import History
from llamea_tune.evolution.memory import Memory
from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.starting import START
from llamea_tune.proposals.briefing import Briefing, Facts
from llamea_tune.proposals.directions import directions
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.scoring import SpaceScale

_NEW = ("new",)


@dataclass(frozen=True)
class Asked:
    """What somebody is asked for.

    Attributes:
        operator: Name of the mutation operator.
        parents: Ids of the parents.
        direction: What to attend to; empty for nothing.
    """

    operator: str
    parents: tuple[str, ...]
    direction: str

    @classmethod
    def for_task(cls, task: ProposalTask) -> Asked:
        """What the author of a task is asked for."""
        return cls(task.operator, tuple(of.candidate.id for of in task.parents), task.briefing.direction)

    @classmethod
    def for_candidate(cls, candidate: Candidate) -> Asked:
        """What the author of a candidate was asked for."""
        return cls(candidate.operator, candidate.parents, candidate.direction)

    @property
    def turns(self) -> tuple[str, ...]:
        """Those alike take turns through the same directions."""
        return _NEW if self.operator in ("initial", "diversify") else (self.operator, *self.parents)

    def __str__(self) -> str:
        """In a sentence."""
        of = f" of {' and '.join(self.parents)}" if self.parents else ""
        return f"{self.operator}{of}: {self.direction or 'as it sees fit'}"


@dataclass(frozen=True)
class Briefer:
    """Completes tasks. What it says depends on the run's settings, its log, and its references alone.

    Attributes:
        settings: The run's settings.
        scales: Scale of each training space.
        references: Behaviour of named strategies by label and space.
    """

    settings: Settings
    scales: Sequence[SpaceScale]
    references: Mapping[str, Mapping[str, Behaviour]] = field(default_factory=dict)

    def complete(
        self, planned: Sequence[PlannedCandidate], history: History, waiting: Sequence[Asked] = ()
    ) -> list[PlannedCandidate]:
        """The same candidates, with all that their prompts tell.

        Args:
            planned: Candidates that are planned together: a generation, or one in a steady state.
            history: What was known when they were planned.
            waiting: What others were asked for by then and are not judged in that history.
        """
        common = Briefing(
            facts=self._facts(),
            references=self.references,
            attempts=self._memory.attempts(history),
            space_names=space_names(self.settings.information, [scale.space for scale in self.scales]),
            context_tokens=self.settings.context_tokens,
        )
        asked = [*waiting, *self._asked([entry.task for entry in planned], common, history, waiting)]
        completed = []
        for number, entry in enumerate(planned, start=len(waiting)):
            siblings = tuple(str(of) for other, of in enumerate(asked) if other != number and of.operator != START)
            briefing = replace(
                common, direction=asked[number].direction, place=f"{number + 1} of {len(asked)}", siblings=siblings
            )
            completed.append(replace(entry, task=replace(entry.task, briefing=briefing)))
        return completed

    @cached_property
    def _memory(self) -> Memory:
        return Memory(self.scales, self.settings.own_compute_ms)

    def _facts(self) -> Facts:
        scored = {
            scale.space: (
                scale.budget.start_us / scale.budget.time_limit_us,
                scale.budget.end_us / scale.budget.time_limit_us,
            )
            for scale in self.scales
        }
        limits = self.settings.limits
        tuned = self.settings.hpo_trials > 0
        return Facts(scored, min(limits.wall_s, limits.cpu_s), tuned, self.settings.own_compute_ms)

    def _asked(
        self, tasks: Sequence[ProposalTask], briefing: Briefing, history: History, waiting: Sequence[Asked]
    ) -> list[Asked]:
        """Each task with a direction; those with the same operator and parents take turns through theirs, all run long.

        So do kinds of algorithms, in an order that the run's seed decides.
        """
        before = [*(Asked.for_candidate(entry.candidate) for entry in history.all()), *waiting]
        taken = Counter(of.turns for of in before)
        chosen = []
        for task in tasks:
            possible = directions(task.operator, task.parents, briefing)
            asked = Asked.for_task(task)
            turn = taken[asked.turns]
            taken[asked.turns] += 1
            if asked.turns == _NEW:
                order = np.random.default_rng([self.settings.seed, len(possible)]).permutation(len(possible))
                possible = [possible[i] for i in order]
            chosen.append(replace(asked, direction=possible[turn % len(possible)] if possible else ""))
        return chosen
