"""The runs of a benchmark, by contender and space.

Runs of several may be under way at once, so that no worker waits for the last runs of one; they are finished in order.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass

from llamea_tune.exceptions import MissingDependencyError, StrategyError
from llamea_tune.execution import Contender, Run
from llamea_tune.runners.trace import RunResult, RunState, failed_run, to_first_failure
from llamea_tune.scoring.results_store import ResultsStore
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.spaces.space import RecordedSpace

STAGE = "benchmark"  # seeds that no candidate was selected on
_SECONDS_BETWEEN_SAVINGS = 30.0


@dataclass(eq=False)
class ContenderRuns:
    """The runs of a contender on a space.

    Attributes:
        contender: The contender.
        space: The space.
        number: The space's number among those of the scorer.
        key: What they are kept under; empty where they are not.
        made: Those that are there, by the number of the repeat.
        reused: How many of them were kept from before.
        end: From this repeat on none are needed: there are no more, or the one before has failed.
        error: Why none can be made at all.
        kept: Whether they are safe in the store.
    """

    contender: Contender
    space: RecordedSpace
    number: int
    key: str
    made: dict[int, RunResult]
    reused: int
    end: int
    error: StrategyError | MissingDependencyError | None = None
    kept: bool = True

    def missing(self) -> Iterator[int]:
        """The repeats that are still to be made."""
        number = 0
        while number < self.end:
            if number not in self.made:
                yield number
            number += 1

    def add(self, number: int, result: RunResult) -> None:
        """Take a run; those after a failed one are not needed."""
        self.made[number] = result
        if not result.state.scorable:
            self.end = min(self.end, number)

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return self.error is not None or next(self.missing(), None) is None

    def runs(self) -> list[RunResult]:
        """Those that are made, up to the first that failed."""
        if self.error is not None:
            return [failed_run(RunState.FAILED, str(self.error))]
        return to_first_failure(self.made[number] for number in sorted(self.made))

    def save(self, store: ResultsStore) -> None:
        """Keep what is made."""
        if len(self.made) > self.reused and self.key:
            self.kept = store.save(self.key, self.made, self.space)


Step = tuple[ContenderRuns, bool]
"""The runs that are first in order, and whether none is missing; if one is, another one was made."""


def make_runs(scorer: Scorer, store: ResultsStore, all_runs: Iterable[ContenderRuns]) -> Generator[Step, None, None]:
    """Make the runs that are missing, save them now and then and whatever happens, and tell of each step.

    Args:
        scorer: Of all spaces.
        store: Where runs are kept.
        all_runs: Each entry is taken when its first run can be begun.
    """
    waiting = iter(all_runs)
    while True:
        begun: deque[ContenderRuns] = deque()
        try:
            yield from _make_side_by_side(scorer, store, waiting, begun)
            return
        except (StrategyError, MissingDependencyError):  # of one of them: its file is broken, or it needs a package
            yield from _make_one_by_one(scorer, store, begun)


def _make_one_by_one(
    scorer: Scorer, store: ResultsStore, begun: Iterable[ContenderRuns]
) -> Generator[Step, None, None]:
    for entry in begun:
        try:
            yield from _make_side_by_side(scorer, store, iter([entry]), deque())
        except (StrategyError, MissingDependencyError) as err:
            entry.error = err
            yield entry, True


def _make_side_by_side(
    scorer: Scorer, store: ResultsStore, waiting: Iterator[ContenderRuns], begun: deque[ContenderRuns]
) -> Generator[Step, None, None]:
    """Those that are begun and not complete are left in `begun`, saved."""
    places: dict[Run, tuple[ContenderRuns, int]] = {}
    latest = time.monotonic()

    def wanted() -> Iterator[Run]:
        for entry in waiting:
            begun.append(entry)
            for number in entry.missing():
                run = scorer.planned(entry.contender, entry.number, number, STAGE)
                places[run] = entry, number
                yield run

    def completed() -> Iterator[Step]:
        while begun and begun[0].complete:
            entry = begun.popleft()
            entry.save(store)
            yield entry, True

    try:
        with closing(scorer.executor.each(wanted(), ahead=True)) as results:
            for run, result in results:
                entry, number = places.pop(run)
                entry.add(number, result)
                if begun and entry is begun[0]:
                    yield entry, False
                yield from completed()
                if time.monotonic() - latest > _SECONDS_BETWEEN_SAVINGS:
                    for incomplete in begun:
                        incomplete.save(store)
                    latest = time.monotonic()
        yield from completed()
    finally:
        for entry in begun:
            entry.save(store)
