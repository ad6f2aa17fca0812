"""The local executor: processes of this machine."""

from __future__ import annotations

import gc
import mmap
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution.executor import RunResults
from llamea_tune.execution.named import PreparedSpace, find_strategy, run_named
from llamea_tune.execution.run import Run
from llamea_tune.execution.worker_process import ProcessEndedError, WorkerPool, WorkerProcess, first_to_answer
from llamea_tune.runners.trace import RunResult, RunState, failed_run
from llamea_tune.sandbox.host import Sandbox
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.spaces.space import Space
from llamea_tune.strategies.written import NamedStrategy


class LocalExecutor:
    """Makes runs in processes of this machine: named strategies in workers that share the spaces, candidates in a sandbox.

    See `Executor`. Several candidates at a time are served by workers too, each with a sandbox of its own, as they would
    wait for each other in one process; one at a time is served here. A run of a named strategy is lost with its worker,
    and has then failed; a candidate's is made once more.
    """

    def __init__(
        self, spaces: Sequence[Space], *, jobs: int = 1, limits: Limits | None = None, allow_weak: bool = False
    ) -> None:
        """Prepare to make runs.

        Args:
            spaces: The spaces that runs may be on.
            jobs: Runs that go on at the same time.
            limits: What one run may use; `Limits()` by default.
            allow_weak: Whether candidates may run where the machine offers only a weaker sandbox.

        Raises:
            SettingsError: There are no jobs.
        """
        if jobs < 1:
            raise SettingsError(f"an executor needs at least one job, not {jobs}; give a positive number")
        self.spaces = tuple(spaces)
        self._jobs = jobs
        self._limits = limits or Limits()
        self._unwanted = mmap.mmap(-1, 1)  # shared with the workers: whether candidates that run now are to end
        self._sandbox = Sandbox(self.spaces, limits=self._limits, allow_weak=allow_weak)
        self._prepared = PreparedSpaces(self.spaces)
        self._named = WorkerPool(jobs, self._run_named)
        self._confined = WorkerPool(jobs, self._run_confined)
        self._under_way: dict[WorkerProcess[Run, RunResult], Run] = {}

    def __enter__(self) -> LocalExecutor:
        """Start the workers that serve candidates: now, as whoever proposes candidates may have threads later."""
        if self._jobs > 1:
            self._confined.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes at once, whatever they are doing."""
        self._sandbox.close()
        self._named.kill()
        self._confined.kill()

    def end_runs(self) -> None:
        """End the runs that are under way, which have then failed. May be called from any thread."""
        self._unwanted[0] = True
        for worker, run in list(self._under_way.items()):
            if isinstance(run.contender, NamedStrategy):
                worker.kill()

    def each(self, runs: Iterable[Run | None], *, ahead: bool = False) -> RunResults:  # noqa: ARG002
        """See `Executor`."""
        waiting = iter(runs)
        made_again: set[Run] = set()
        self._unwanted[0] = False
        try:
            while True:
                while len(self._under_way) < self._jobs and (run := next(waiting, None)) is not None:
                    if self._jobs == 1 and isinstance(run.contender, SandboxedCandidate):
                        yield run, self._run_confined(run)
                    else:
                        self._begin(run)
                if not self._under_way:
                    return
                run, result = self._next_result()
                if result is None and run not in made_again:
                    made_again.add(run)
                    self._begin(run)
                else:
                    yield run, result or failed_run(RunState.KILLED, "its process died")
        except KeyboardInterrupt:
            self.close()
            raise
        finally:
            self._give_up()

    def _begin(self, run: Run) -> None:
        if isinstance(run.contender, NamedStrategy):
            find_strategy(run.contender.name)  # refuses unknown ones, and loads it for all workers to come
            if self._jobs > 1 and not self._prepared:
                self._prepared.have_all()
        worker = self._pool(run).take()
        self._under_way[worker] = run
        worker.begin(run)

    def _next_result(self) -> tuple[Run, RunResult | None]:
        """Wait for a run that is under way; None if it was a candidate's and was lost with its worker."""
        worker = first_to_answer(self._under_way)
        run = self._under_way.pop(worker)
        try:
            return run, worker.result()
        except ProcessEndedError as err:
            if err.at_limit:
                return run, failed_run(RunState.TIMED_OUT, f"ran longer than {self._limits.named_s:g} s")
            named = isinstance(run.contender, NamedStrategy)
            return run, failed_run(RunState.KILLED, "its process died") if named else None
        finally:
            self._pool(run).give_back(worker)

    def _give_up(self) -> None:
        """End the runs that are under way, and wait until their workers are free."""
        self.end_runs()
        while self._under_way:
            worker, run = self._under_way.popitem()
            with suppress(Exception):  # of a run that nobody wants to know about
                worker.result()
            self._pool(run).give_back(worker)

    def _pool(self, run: Run) -> WorkerPool[Run, RunResult]:
        return self._named if isinstance(run.contender, NamedStrategy) else self._confined

    def _run_named(self, run: Run) -> RunResult:
        """Make a run; in a worker."""
        return run_named(self._prepared[run.space], run, self._limits.named_s)

    def _run_confined(self, run: Run) -> RunResult:
        """Make a run; in a worker, which has a sandbox of its own, as this one is forked before it starts anything."""
        assert isinstance(run.contender, SandboxedCandidate)
        return self._sandbox.run(run.contender, run.space, run.seed, run.budget, lambda: self._unwanted[0] == 1)


class PreparedSpaces(dict[int, PreparedSpace]):
    """Spaces by number, made ready once: ahead, to be shared by the workers that are forked later, or when asked for."""

    def __init__(self, spaces: Sequence[Space]) -> None:
        super().__init__()
        self._spaces = spaces

    def __missing__(self, number: int) -> PreparedSpace:
        """Make a space ready."""
        self[number] = PreparedSpace(self._spaces[number])
        return self[number]

    def have_all(self) -> None:
        """Make all spaces ready that are not yet."""
        for number in range(len(self._spaces)):
            _ = self[number]
        gc.collect()


def from_spec(
    argument: str, *, spaces: Sequence[Space], jobs: int | None, limits: Limits | None, allow_weak: bool
) -> LocalExecutor:
    """The executor that `local` names.

    By default it has one job per core; but one in all where a CPU kernel is measured live, which everything else would disturb.

    Raises:
        SettingsError: Something stands behind the name, or there are no jobs.
    """
    if argument:
        raise SettingsError(
            f"executor is 'local:{argument}'; local takes nothing, leave ':{argument}' out", fields=("executor",)
        )
    if jobs is None:
        jobs = 1 if any(space.on_cpu for space in spaces) else os.cpu_count() or 1
    return LocalExecutor(spaces, jobs=jobs, limits=limits, allow_weak=allow_weak)
