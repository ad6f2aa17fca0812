"""What the loop tells whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from llamea_tune.candidate import Scored
from llamea_tune.evolution.budgets import Spent
from llamea_tune.evolution.settings import Settings
from llamea_tune.evolution.tuning_record import Tuning
from llamea_tune.llm.language_model import Waiting


@dataclass(frozen=True)
class RunStarted:
    """A run begins, or goes on.

    Attributes:
        run: Its directory.
        settings: Its settings.
        spaces: Names of its training spaces.
        n_judged: Candidates that were judged before, where it goes on.
        told: What is known of the spaces beforehand, a line for each that something is known of.
    """

    run: Path
    settings: Settings
    spaces: tuple[str, ...]
    n_judged: int
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class GenerationStarted:
    """A generation begins; `asked` of its candidates are still to be proposed."""

    generation: int
    generations: int
    asked: int


@dataclass(frozen=True)
class CandidateJudged:
    """A candidate has its evaluation; `n_judged` of `n_candidates` have theirs, and so much was spent by then."""

    scored: Scored
    n_judged: int
    n_candidates: int
    spent: Spent


@dataclass(frozen=True)
class CandidateConfirmed:
    """A candidate that is to be kept was scored again on fresh seeds."""

    scored: Scored


@dataclass(frozen=True)
class CandidateTuned:
    """A surviving candidate's hyperparameters were tuned."""

    tuning: Tuning


@dataclass(frozen=True)
class RunsDone:
    """Some of the runs behind the current score are done."""

    label: str
    done: int
    total: int


@dataclass(frozen=True)
class SearchStopped:
    """A budget, by the name of its limit, is used up after so many candidates; the leaderboard comes next."""

    budget: str
    n_judged: int


@dataclass(frozen=True)
class FinalStarted:
    """The leaderboard is being made, with this many contenders."""

    contenders: int


Event = (
    RunStarted
    | GenerationStarted
    | CandidateJudged
    | CandidateConfirmed
    | CandidateTuned
    | RunsDone
    | SearchStopped
    | FinalStarted
    | Waiting
)


class Observer(Protocol):
    """Watches a run."""

    def __call__(self, event: Event) -> None:
        """Take note of an event; from any thread; must return quickly and not raise."""


def ignore(event: Event) -> None:
    """Watch nothing."""
