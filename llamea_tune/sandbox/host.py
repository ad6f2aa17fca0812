"""The trusted host: runs candidates in guests and keeps their budget, clock and trace."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from llamea_tune._closing import Closing
from llamea_tune.exceptions import SandboxError, SettingsError
from llamea_tune.runners.live_space import runner_for
from llamea_tune.runners.meter import Meter, RunBudget
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.sandbox.layers import LayerStatus
from llamea_tune.sandbox.sandboxed import Limits, SandboxedCandidate
from llamea_tune.sandbox.serve_run import serve_run
from llamea_tune.sandbox.server_process import Worker, WorkerDiedError
from llamea_tune.sandbox.wire import Assignment
from llamea_tune.spaces.space import Space

_ATTEMPTS = 2
_UNLIMITED = RunBudget()


class Sandbox(Closing):
    """Runs candidates on search spaces, each run in a confined process of its own.

    Use it as a context manager; `close` leaves no process behind. `run` may be called from several threads; more
    than `jobs` at a time wait for each other.
    """

    def __init__(
        self, spaces: Sequence[Space], *, jobs: int = 1, limits: Limits | None = None, allow_weak: bool = False
    ) -> None:
        """Prepare a sandbox; processes start with the first run.

        Args:
            spaces: The search spaces that runs may be on.
            jobs: How many runs may go on at the same time.
            limits: What each run may use; `Limits()` by default.
            allow_weak: Run even where a required layer is missing.

        Raises:
            SettingsError: `jobs` is not positive.
        """
        if jobs < 1:
            raise SettingsError(f"a sandbox needs at least one worker, not jobs={jobs}; give a positive number")
        self._limits = limits or Limits()
        self._jobs = jobs
        self._allow_weak = allow_weak
        self._spaces = tuple(spaces)
        self._runners = [runner_for(space) for space in spaces]
        self._workers = [Worker(spaces, self._limits) for _ in range(jobs)]
        self._free: queue.LifoQueue[Worker] = queue.LifoQueue()
        self._closed = False
        for worker in self._workers:
            self._free.put(worker)

    def close(self) -> None:
        """End all processes at once, also those of runs that are going on in other threads."""
        self._closed = True
        for worker in self._workers:
            worker.kill()

    def run(
        self,
        candidate: SandboxedCandidate,
        space: int,
        seed: int,
        budget: RunBudget = _UNLIMITED,
        stop: threading.Event | None = None,
    ) -> RunResult:
        """Run a candidate once.

        Whatever the candidate does is a state of the result, never an exception.

        Args:
            candidate: What to run.
            space: Number of the space among those that the sandbox holds.
            seed: Seed of the run's generators, 0 to 2**32 - 1.
            budget: What it may spend.
            stop: Set when the result is no longer wanted; the run then ends soon.

        Raises:
            SandboxError: The sandbox is closed, cannot be started, or is weaker than required.
        """
        runner = self._runners[space]
        objective = self._spaces[space].objective
        assignment = Assignment(candidate.code, candidate.class_name, candidate.hyperparameters, objective, seed)
        stop = stop or threading.Event()
        for _ in range(_ATTEMPTS):
            meter = Meter(runner, budget)
            with self._lease() as worker:
                try:
                    return serve_run(worker, space, assignment, meter, self._limits, stop, live=runner.takes_time)
                except WorkerDiedError:
                    worker.kill()
        reason = "the process that it was started from died"
        return RunResult(meter.trace(), RunState.KILLED, reason, meter.counts(), 0.0)

    @contextmanager
    def _lease(self) -> Iterator[Worker]:
        """A warm worker for one run."""
        worker = self._free.get()
        try:
            if not worker.started and not self._closed:
                worker.start()
                self._refuse_weak(worker.layers)
            if self._closed:
                worker.kill()
                raise SandboxError("the sandbox is closed; make a new one")
            yield worker
        except BaseException as error:
            if not isinstance(error, WorkerDiedError):
                worker.kill()
            raise
        finally:
            self._free.put(worker)

    def _refuse_weak(self, layers: Sequence[LayerStatus]) -> None:
        missing = [f"{layer.name} ({layer.detail})" for layer in layers if layer.required and not layer.active]
        if missing and not self._allow_weak:
            message = (
                f"candidates cannot be confined well enough on this machine, as it lacks {', '.join(missing)}; "
                "see `llamea-tune doctor`, or use allow_weak_sandbox=True if you trust all code that will run"
            )
            raise SandboxError(message, fields=("allow_weak_sandbox",))


def layers() -> tuple[LayerStatus, ...]:
    """Which layers of the sandbox hold on this machine, tried out in a process of the real kind.

    Raises:
        SandboxError: Nothing can be run here.
    """
    worker = Worker((), Limits())
    try:
        worker.start()
        return worker.layers
    finally:
        worker.kill()
