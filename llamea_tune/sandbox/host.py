"""The trusted host: runs candidates in guests and keeps their budget, clock and trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from llamea_tune._closing import Closing
from llamea_tune.exceptions import SandboxError
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
    """Runs candidates on search spaces, each run in a confined process of its own, one at a time.

    Use it as a context manager; `close` leaves no process behind, and may be called from any thread.
    """

    def __init__(self, spaces: Sequence[Space], *, limits: Limits | None = None, allow_weak: bool = False) -> None:
        """Prepare a sandbox; processes start with the first run.

        Args:
            spaces: The search spaces that runs may be on.
            limits: What each run may use; `Limits()` by default.
            allow_weak: Run even where a required layer is missing.
        """
        self._limits = limits or Limits()
        self._allow_weak = allow_weak
        self._spaces = tuple(spaces)
        self._runners = [runner_for(space) for space in spaces]
        self._worker = Worker(spaces, self._limits)
        self._closed = False

    def close(self) -> None:
        """End all processes at once, also those of a run that is going on in another thread."""
        self._closed = True
        self._worker.kill()

    def run(
        self,
        candidate: SandboxedCandidate,
        space: int,
        seed: int,
        budget: RunBudget = _UNLIMITED,
        stopped: Callable[[], bool] = lambda: False,
    ) -> RunResult:
        """Run a candidate once.

        Whatever the candidate does is a state of the result, never an exception.

        Args:
            candidate: What to run.
            space: Number of the space among those that the sandbox holds.
            seed: Seed of the run's generators, 0 to 2**32 - 1.
            budget: What it may spend.
            stopped: Says when the result is no longer wanted; the run then ends soon.

        Raises:
            SandboxError: The sandbox is closed, cannot be started, or is weaker than required.
        """
        runner = self._runners[space]
        objective = self._spaces[space].objective
        assignment = Assignment(candidate.code, candidate.class_name, candidate.hyperparameters, objective, seed)
        for _ in range(_ATTEMPTS):
            meter = Meter(runner, budget)
            try:
                worker = self._warm_worker()
                return serve_run(worker, space, assignment, meter, self._limits, stopped, live=runner.takes_time)
            except WorkerDiedError:
                reason = f"the process that it was started from {self._worker.how_it_failed()}"
                self._worker.kill()
            except BaseException:
                self._worker.kill()
                raise
        return RunResult(meter.trace(), RunState.KILLED, reason, meter.counts(), 0.0)

    def _warm_worker(self) -> Worker:
        if not self._worker.started and not self._closed:
            self._worker.start()
            self._refuse_weak(self._worker.layers)
        if self._closed:
            raise SandboxError("the sandbox is closed; make a new one")
        return self._worker

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
