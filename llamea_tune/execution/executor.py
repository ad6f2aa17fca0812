"""The seam between what is to be run and where: the protocol of executors, and what follows from it."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import takewhile
from types import TracebackType
from typing import Protocol, Self

from llamea_tune.execution.run import Run
from llamea_tune.runners.trace import RunResult
from llamea_tune.spaces.space import Space

RunResults = Generator[tuple[Run, RunResult], None, None]


class Executor(Protocol):
    """Makes runs. A context manager; leaving it ends all that it started. For one thread at a time.

    The same run gives the same result to the last bit, whatever the executor, the order, and what runs beside it; but for
    own compute, which is measured, and runs whose clock it is charged to. Whatever a contender does is a state of the
    result. A run whose worker is lost is made again or has failed, and has one result in any case. What a run may use,
    and which sandbox confines candidates, is the executor's.
    """

    @property
    def spaces(self) -> Sequence[Space]:
        """The spaces that runs may be on."""
        ...

    def each(self, runs: Iterable[Run | None], *, ahead: bool = False) -> RunResults:
        """Make runs, and give each with its result as soon as it is done.

        Closing the generator ends the runs that are under way. So all rules about which runs to make are the caller's,
        which may decide on the next one when it has seen the last result.

        Args:
            runs: What to run; the next one is taken when it can be begun. None says that there is none until another
                result is there.
            ahead: Whether a few more may be taken, as the results before them will hardly change what they are. So
                many short runs can be handed over at once where that takes longer than to make one.

        Raises:
            StrategyError: There is no such strategy, or its options make no sense.
            MissingDependencyError: It needs a package that is not installed.
            SandboxError: Candidates cannot be run safely here.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


def each_until_failure(executor: Executor, runs: Sequence[Run]) -> RunResults:
    """Make runs up to the first that fails, which is the same one however many are under way at once.

    Once a run has failed, those after it are not begun, or ended; those before it are all made.
    """
    numbers = {run: number for number, run in enumerate(runs)}
    missing = set(numbers.values())
    last = len(runs) - 1
    wanted: Iterator[Run] = takewhile(lambda run: numbers[run] <= last, runs)
    with closing(executor.each(wanted, ahead=True)) as results:
        for run, result in results:
            number = numbers[run]
            if number > last:
                continue
            missing.discard(number)
            if not result.state.scorable:
                last = number
            yield run, result
            if last < len(runs) - 1 and min(missing, default=len(runs)) > last:
                return
