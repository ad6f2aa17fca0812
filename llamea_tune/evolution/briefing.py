"""Complete the tasks of a generation: evidence, memory, and for each a direction of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from llamea_tune.candidate import Behaviour
from llamea_tune.evolution.descriptions import space_names
from llamea_tune.evolution.history import History
from llamea_tune.evolution.memory import attempts
from llamea_tune.evolution.plan import PlannedCandidate
from llamea_tune.evolution.settings import Settings
from llamea_tune.proposals.briefing import Briefing, Facts
from llamea_tune.proposals.directions import directions
from llamea_tune.proposals.proposal import ProposalTask
from llamea_tune.scoring import SpaceScale

_NEW = ("new",)


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

    def complete(self, planned: Sequence[PlannedCandidate], history: History) -> list[PlannedCandidate]:
        """The same candidates, with all that their prompts tell.

        Args:
            planned: All candidates of a generation.
            history: What was known before it.
        """
        common = Briefing(
            facts=self._facts(),
            references=self.references,
            attempts=attempts(history, self.scales),
            space_names=space_names(self.settings.information, [scale.space for scale in self.scales]),
            context_tokens=self.settings.context_tokens,
        )
        chosen = self._directions([entry.task for entry in planned], common, history)
        asked = [
            "" if entry.given else _asked(entry.task, direction)
            for entry, direction in zip(planned, chosen, strict=True)
        ]
        return [
            replace(
                entry,
                task=replace(
                    entry.task,
                    briefing=replace(
                        common,
                        direction=chosen[number],
                        place=f"{number + 1} of {len(planned)}",
                        siblings=tuple(text for other, text in enumerate(asked) if other != number and text),
                    ),
                ),
            )
            for number, entry in enumerate(planned)
        ]

    def _facts(self) -> Facts:
        scored = {
            scale.space: (
                scale.budget.start_us / scale.budget.time_limit_us,
                scale.budget.end_us / scale.budget.time_limit_us,
            )
            for scale in self.scales
        }
        limits = self.settings.limits
        return Facts(scored, min(limits.wall_s, limits.cpu_s), self.settings.hpo_trials > 0)

    def _directions(self, tasks: Sequence[ProposalTask], briefing: Briefing, history: History) -> list[str]:
        """A direction for each task; those with the same operator and parents take turns through theirs, all run long.

        So do kinds of algorithms, in an order that the run's seed decides.
        """
        taken = Counter(_group(entry.candidate.operator, entry.candidate.parents) for entry in history.all())
        chosen = []
        for task in tasks:
            possible = directions(task.operator, task.parents, briefing)
            group = _group(task.operator, [parent.candidate.id for parent in task.parents])
            turn = taken[group]
            taken[group] += 1
            if group == _NEW:
                order = np.random.default_rng([self.settings.seed, len(possible)]).permutation(len(possible))
                possible = [possible[i] for i in order]
            chosen.append(possible[turn % len(possible)] if possible else "")
        return chosen


def _group(operator: str, parents: Sequence[str]) -> tuple[str, ...]:
    """What takes turns through the same directions."""
    return _NEW if operator in ("initial", "diversify") else (operator, *parents)


def _asked(task: ProposalTask, direction: str) -> str:
    """What a sibling is asked for, in a sentence."""
    parents = " and ".join(parent.candidate.id for parent in task.parents)
    return f"{task.operator}{f' of {parents}' if parents else ''}: {direction or 'as it sees fit'}"
