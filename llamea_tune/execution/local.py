"""The local executor: processes of this machine."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cached_property
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

    def each(self, runs: Iterable[Run | None]) -> RunResults:
        """See `Executor`."""
        waiting = iter(runs)
        under_way: dict[Future[RunResult], tuple[Run, Callable[[], None]]] = {}
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
        worker = self._worker()
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

    def _worker(self) -> WorkerProcess[Run, RunResult]:
        """A free worker. All are forked as soon as one is needed, before there are threads here that may hold locks."""
        while self._free:
            worker = self._free.pop()
            if worker.alive:
                return worker
            self._workers.remove(worker)
        prepared, limit_s = self._prepared, self._limits.named_s
        for _ in range(max(1, self._jobs - len(self._workers))):
            worker = WorkerProcess(lambda run: run_named(prepared[run.space], run, limit_s))
            self._workers.append(worker)
            self._free.append(worker)
        return self._free.pop()

    @cached_property
    def _prepared(self) -> tuple[PreparedSpace, ...]:
        """The spaces, made ready once for all workers."""
        prepared = tuple(PreparedSpace(space) for space in self.spaces)
        gc.collect()
        return prepared
