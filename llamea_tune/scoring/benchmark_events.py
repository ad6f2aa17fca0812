"""What a benchmark tells of its progress."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llamea_tune.runners.trace import RunResult
from llamea_tune.spaces.space import Space


@dataclass(frozen=True)
class ContenderStarted:
    """The runs of a contender on a space begin."""

    label: str
    space: str


@dataclass(frozen=True)
class RunsDone:
    """Some of the runs of the contender on the space are done; of these, so many were taken from the store."""

    done: int
    total: int
    reused: int = 0


@dataclass(frozen=True, eq=False)
class ContenderDone:
    """The runs of a contender on a space are there, in full.

    Attributes:
        label: The contender's label.
        space: The space.
        runs: The repeats; if a run failed, it is the last one.
        reused: How many of them were taken from the store.
        seconds: How long this took.
    """

    label: str
    space: Space
    runs: Sequence[RunResult]
    reused: int
    seconds: float


Event = ContenderStarted | RunsDone | ContenderDone
Observer = Callable[[Event], None]


def ignore(_: Event) -> None:
    """Watch nothing."""
