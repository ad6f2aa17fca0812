"""The pairs of a benchmark, a contender on a space each.

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
class Pair:
    """A contender on a space.

    Attributes:
        contender: The contender.
        space: The space.
        number: The space's number among those of the scorer.
        key: What its runs are kept under; empty where they are not.
        made: Its runs that are there, by the number of the repeat.
        reused: How many of them were kept from before.
        end: From this repeat on none are needed: there are no more, or the one before has failed.
        error: Why it cannot be run at all.
        kept: Whether its runs are safe in the store.
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
        """Its runs, up to the first that failed."""
        if self.error is not None:
            return [failed_run(RunState.FAILED, str(self.error))]
        return to_first_failure(self.made[number] for number in sorted(self.made))

    def save(self, store: ResultsStore) -> None:
        """Keep what is made."""
        if len(self.made) > self.reused and self.key:
            self.kept = store.save(self.key, self.made, self.space)


Step = tuple[Pair, bool]
"""The pair that is first in order, and whether it is complete; if not, a run of it was made."""


def make_pairs(scorer: Scorer, store: ResultsStore, pairs: Iterable[Pair]) -> Generator[Step, None, None]:
    """Make the missing runs of pairs, save them now and then and whatever happens, and tell of each step.

    Args:
        scorer: Of the spaces of all pairs.
        store: Where runs are kept.
        pairs: Each is taken when its first run can be begun.
    """
    waiting = iter(pairs)
    while True:
        begun: deque[Pair] = deque()
        try:
            yield from _make_side_by_side(scorer, store, waiting, begun)
            return
        except (StrategyError, MissingDependencyError):  # of one of them: its file is broken, or it needs a package
            yield from _make_one_by_one(scorer, store, begun)


def _make_one_by_one(scorer: Scorer, store: ResultsStore, begun: Iterable[Pair]) -> Generator[Step, None, None]:
    for pair in begun:
        try:
            yield from _make_side_by_side(scorer, store, iter([pair]), deque())
        except (StrategyError, MissingDependencyError) as err:
            pair.error = err
            yield pair, True


def _make_side_by_side(
    scorer: Scorer, store: ResultsStore, waiting: Iterator[Pair], begun: deque[Pair]
) -> Generator[Step, None, None]:
    """Pairs that are begun and not complete are left in `begun`, saved."""
    places: dict[Run, tuple[Pair, int]] = {}
    latest = time.monotonic()

    def wanted() -> Iterator[Run]:
        for pair in waiting:
            begun.append(pair)
            for number in pair.missing():
                run = scorer.planned(pair.contender, pair.number, number, STAGE)
                places[run] = pair, number
                yield run

    def completed() -> Iterator[Step]:
        while begun and begun[0].complete:
            pair = begun.popleft()
            pair.save(store)
            yield pair, True

    try:
        with closing(scorer.executor.each(wanted(), ahead=True)) as results:
            for run, result in results:
                pair, number = places.pop(run)
                pair.add(number, result)
                if begun and pair is begun[0]:
                    yield pair, False
                yield from completed()
                if time.monotonic() - latest > _SECONDS_BETWEEN_SAVINGS:
                    for entry in begun:
                        entry.save(store)
                    latest = time.monotonic()
        yield from completed()
    finally:
        for pair in begun:
            pair.save(store)
