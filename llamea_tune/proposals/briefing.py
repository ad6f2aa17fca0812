"""What a proposer is told beside the task itself: facts of the run, evidence, the memory of what was tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from llamea_tune.candidate import Behaviour, CandidateState


@dataclass(frozen=True)
class Attempt:
    """A candidate as the memory of a run has it: what was changed, and what came of it.

    Attributes:
        id: Its id.
        class_name: Name of its class.
        operator: The mutation operator that asked for it.
        parents: Ids of the candidates it was made from.
        description: What it does, in the words of whoever proposed it.
        direction: What it was asked to attend to.
        state: What became of it.
        reason: Why it has no score.
        fitness: Its fitness, None where it has none.
        gain: How much better it scored than its first parent on the same seeds; None where that cannot be said.
        gain_interval: 95 % interval of the gain.
        own_compute_ms: Its own compute per measurement, in milliseconds; None where it does not count in the run.
        lighter: Fitness that own compute takes off it less than off its first parent.
        changed: Which parts of its first parent's code it changed, and by how many lines.
        removed: Lines of its first parent's code that it did away with, the longest ones.
        added: Lines that it brought in their place, the longest ones.
    """

    id: str
    class_name: str
    operator: str
    parents: tuple[str, ...]
    description: str
    direction: str
    state: CandidateState
    reason: str = ""
    fitness: float | None = None
    gain: float | None = None
    gain_interval: tuple[float, float] | None = None
    own_compute_ms: float | None = None
    lighter: float = 0.0
    changed: str = ""
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


@dataclass(frozen=True)
class Facts:
    """What holds for every candidate of a run.

    Attributes:
        scored: From where to where in a run's budget scores are taken, as shares of it, by space.
        limit_s: Seconds of own compute after which a run is ended.
        tuned: Whether hyperparameters of survivors are tuned in the run.
        own_compute_ms: Own compute per measurement that is aimed at, in milliseconds; None where it does not count.
    """

    scored: Mapping[str, tuple[float, float]]
    limit_s: float
    tuned: bool
    own_compute_ms: float | None = None


@dataclass(frozen=True)
class Briefing:
    """What a prompt tells beside the task.

    Attributes:
        facts: What holds in the run; None where nothing is told of that.
        references: How named strategies do on the same spaces, by label and space.
        attempts: The memory of the run, oldest first.
        direction: What to attend to; empty for nothing.
        place: Which one this is of the proposals that are asked for at the same time, such as `"2 of 8"`.
        siblings: What the others of them are asked for, a sentence each.
        space_names: What a prompt calls a space, by its name; those that are not here go by their names.
        context_tokens: Most tokens that a prompt may take, as `estimated_tokens` counts them; None for any.
    """

    facts: Facts | None = None
    references: Mapping[str, Mapping[str, Behaviour]] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    direction: str = ""
    place: str = ""
    siblings: tuple[str, ...] = ()
    space_names: Mapping[str, str] = field(default_factory=dict)
    context_tokens: int | None = None

    @property
    def own_compute_ms(self) -> float | None:
        """Own compute per measurement that is aimed at, in milliseconds; None where it does not count."""
        return None if self.facts is None else self.facts.own_compute_ms

    def called(self, space: str) -> str:
        """What a prompt calls a space."""
        return self.space_names.get(space, space)
