"""The local executor: processes of this machine."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution.executor import RunResults
from llamea_tune.execution.named import PreparedSpace, find_strategy, run_named
from llamea_tune.execution.run import Run
from llamea_tune.execution.worker_process import ProcessEndedError, WorkerProcess
from llamea_tune.runners.trace import RunResult, RunState, failed_run
from llamea_tune.sandbox.host import Sandbox
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.spaces.space import Space


class LocalExecutor:
    """Makes runs in processes of this machine: named strategies in workers that share the spaces, candidates in a sandbox.

    See `Executor`. Processes start when they are first needed. A run is lost with its worker, and has then failed; in
    the sandbox it is made once more.
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
        self._sandbox = Sandbox(self.spaces, jobs=jobs, limits=self._limits, allow_weak=allow_weak)
        self._prepared = PreparedSpaces(self.spaces)
        self._under_way: dict[Future[RunResult], tuple[Run, Callable[[], None]]] = {}
        self._workers: list[WorkerProcess[Run, RunResult]] = []
        self._free: list[WorkerProcess[Run, RunResult]] = []

    def __enter__(self) -> LocalExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End all processes at once, whatever they are doing."""
        self._sandbox.close()
        for worker in self._workers:
            worker.kill()

    def end_runs(self) -> None:
        """End the runs that are under way, which have then failed. May be called from any thread."""
        for _, end in list(self._under_way.values()):
            end()

    def each(self, runs: Iterable[Run | None], *, ahead: bool = False) -> RunResults:  # noqa: ARG002
        """See `Executor`."""
        waiting = iter(runs)
        under_way = self._under_way = {}
        with ThreadPoolExecutor(self._jobs, thread_name_prefix="run") as pool:
            try:
                while True:
                    while len(under_way) < self._jobs and (run := next(waiting, None)) is not None:
                        future, end = self._begin(run, pool)
                        under_way[future] = run, end
                    if not under_way:
                        return
                    done = next(iter(wait(under_way, return_when=FIRST_COMPLETED).done))
                    run, _ = under_way.pop(done)
                    yield run, done.result()
            except KeyboardInterrupt:
                self.close()
                raise
            finally:
                for _, end in under_way.values():
                    end()

    def _begin(self, run: Run, pool: ThreadPoolExecutor) -> tuple[Future[RunResult], Callable[[], None]]:
        """Begin a run; its result to be, and what ends it."""
        if isinstance(run.contender, SandboxedCandidate):
            stop = threading.Event()
            return pool.submit(self._sandbox.run, run.contender, run.space, run.seed, run.budget, stop), stop.set
        find_strategy(run.contender.name)  # refuses unknown ones, and loads it for all workers to come
        worker = self._worker(run.space)
        return pool.submit(self._run_in, worker, run), worker.kill

    def _run_in(self, worker: WorkerProcess[Run, RunResult], run: Run) -> RunResult:
        try:
            return worker.do(run)
        except ProcessEndedError as err:
            if err.at_limit:
                return failed_run(RunState.TIMED_OUT, f"ran longer than {self._limits.named_s:g} s")
            return failed_run(RunState.KILLED, "its process died")
        finally:
            self._free.append(worker)

    def _worker(self, space: int) -> WorkerProcess[Run, RunResult]:
        """A free worker. All are forked as soon as one is needed, before there are threads here that may hold locks."""
        while self._free:
            worker = self._free.pop()
            if worker.alive:
                return worker
            self._workers.remove(worker)
        prepared, limit_s = self._prepared, self._limits.named_s
        prepared.have(
            range(len(self.spaces)) if self._jobs > 1 else [space]
        )  # several workers share them, one need not
        for _ in range(max(1, self._jobs - len(self._workers))):
            worker = WorkerProcess(lambda run: run_named(prepared[run.space], run, limit_s))
            self._workers.append(worker)
            self._free.append(worker)
        return self._free.pop()


class PreparedSpaces(dict[int, PreparedSpace]):
    """Spaces by number, made ready once: ahead, to be shared by the workers that are forked later, or when asked for."""

    def __init__(self, spaces: Sequence[Space]) -> None:
        super().__init__()
        self._spaces = spaces

    def __missing__(self, number: int) -> PreparedSpace:
        """Make a space ready."""
        self[number] = PreparedSpace(self._spaces[number])
        return self[number]

    def have(self, numbers: Iterable[int]) -> None:
        """Make spaces ready that are not yet."""
        for number in numbers:
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
