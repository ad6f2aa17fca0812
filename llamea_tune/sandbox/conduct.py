"""One run, conducted by the host: serve the guest's requests, and judge how it ended."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass

from llamea_tune.exceptions import SandboxError
from llamea_tune.runners.meter import Meter, Reply
from llamea_tune.runners.trace import RunResult, RunState
from llamea_tune.sandbox.program import Limits
from llamea_tune.sandbox.wire import MESSAGE, REASON_BYTES, Assignment, Mark, clean_text, pack_assignment, pack_reply
from llamea_tune.sandbox.worker import Guest, Report, Worker
from llamea_tune.spaces.space import FailureKind

GRACE_S = 0.25  # what a strategy gets to return once its budget is gone, or to stop repeating itself
_LATE_S = 10.0  # how far past the wall-clock limit the zygote may be in ending a guest
_GLANCE_S = 0.2  # how often to look whether a run is still wanted

_Verdict = tuple[RunState, str]


def conduct(
    worker: Worker, space_number: int, assignment: Assignment, meter: Meter, limits: Limits, stop: threading.Event
) -> RunResult:
    """Run a program once.

    Args:
        worker: A warm worker that nobody else uses meanwhile.
        space_number: On which of the worker's spaces.
        assignment: What to run.
        meter: Fresh; keeps budget, clock and trace.
        limits: What the run may use.
        stop: Set when the result is no longer wanted.

    Raises:
        WorkerDiedError: The zygote died.
        SandboxError: The guest could not be confined.
    """
    guest = worker.start_guest(space_number, assignment.code)
    verdict: _Verdict | None = None
    ready = False
    try:
        latest = limits.wall_s + _LATE_S
        deadline = time.monotonic() + latest
        ready = guest.receive(MESSAGE.size, latest) == MESSAGE.pack(Mark.READY)
        if ready:
            guest.assign(pack_assignment(assignment))
            verdict = _Dialogue(guest, meter, worker.space_size(space_number), deadline, stop).hold()
    finally:
        report = guest.end()
    if not ready and not report.timed_out:
        raise SandboxError(f"a candidate's process could not be confined ({_ending(report)}); see `llamea-tune doctor`")
    state, reason = verdict or _judge(report, limits, meter)
    return result_of(meter, state, reason, report.cpu_s)


def result_of(meter: Meter, state: RunState, reason: str, own_compute_s: float) -> RunResult:
    """The result of a run that is over."""
    return RunResult(meter.trace(), state, reason, meter.counts(), own_compute_s)


@dataclass
class _Dialogue:
    """The host's side of a run's requests."""

    guest: Guest
    meter: Meter
    size: int
    deadline: float
    stop: threading.Event
    stalled_since: float | None = None

    def hold(self) -> _Verdict | None:
        """Serve requests until the run is decided; None when the process's end must decide."""
        while True:
            ending = self.meter.done or self.meter.stalled
            data = self.guest.receive(MESSAGE.size, GRACE_S if ending else _GLANCE_S)
            if data:
                verdict = self._hear(data)
                if verdict is not None:
                    return verdict
            elif ending and (data is None or self.meter.done):
                return _ended_by_host(self.meter)
            elif data is not None or self.stop.is_set() or time.monotonic() > self.deadline:
                return None

    def _hear(self, data: bytes) -> _Verdict | None:
        """Take one message; a verdict if it ends the run."""
        if len(data) != MESSAGE.size:
            return _broken("a message of the wrong size")
        (number,) = MESSAGE.unpack(data)
        if number < 0 and number != Mark.INVALID:
            return self._last_word(number)
        problem = self._answer(number)
        if problem:
            return _broken(problem)
        return _ended_by_host(self.meter) if self._out_of_patience() else None

    def _out_of_patience(self) -> bool:
        """Whether a stalled strategy has gone on with its requests for too long."""
        if not self.meter.stalled:
            self.stalled_since = None
        elif self.stalled_since is None:
            self.stalled_since = time.monotonic()
        return self.stalled_since is not None and time.monotonic() - self.stalled_since > GRACE_S

    def _answer(self, number: int) -> str:
        """Serve one request; a text when it breaks the protocol."""
        meter = self.meter
        if meter.done:
            return "a request after the end"
        if number == Mark.INVALID:
            meter.count_invalid()
            reply = Reply(float("nan"), FailureKind.INVALID, 0, meter.spent_fraction, meter.done)
        elif number < self.size:
            reply = meter.request(number)
        else:
            return "a request for a config that does not exist"
        return "" if self.guest.send(pack_reply(reply, meter.stalled)) else "requests without reading the replies"

    def _last_word(self, number: int) -> _Verdict:
        """Judge a guest's own word about its end. It can only end its own run, or fail it."""
        if number == Mark.FINISHED:
            return _ended_by_host(self.meter) if self.meter.done or self.meter.stalled else (RunState.FINISHED, "")
        if number == Mark.OUT_OF_MEMORY:
            return RunState.KILLED, "out of memory"
        if number == Mark.ERROR:
            text = self.guest.receive(REASON_BYTES, GRACE_S) or b""
            return RunState.FAILED, clean_text(text.decode(errors="replace")) or "an error without a message"
        return _broken("an unknown message")


def _ended_by_host(meter: Meter) -> _Verdict:
    if meter.done:
        return RunState.BUDGET_SPENT, ""
    return RunState.STALLED, ""


def _broken(what: str) -> _Verdict:
    return RunState.KILLED, f"broken protocol: {what}"


def _judge(report: Report, limits: Limits, meter: Meter) -> _Verdict:
    """Why a process ended that said nothing about it."""
    if report.timed_out:
        return RunState.TIMED_OUT, f"ran longer than {limits.wall_s:g} s after {meter.counts().paid} measurements"
    if report.cpu_s >= limits.cpu_s:
        return RunState.TIMED_OUT, f"used more than {limits.cpu_s:g} s of CPU time"
    return RunState.KILLED, _ending(report)


def _ending(report: Report) -> str:
    if os.WIFSIGNALED(report.status):
        number = os.WTERMSIG(report.status)
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        notes: dict[int, str] = {
            signal.SIGSYS: "a forbidden system call",
            signal.SIGSEGV: "a crash, often from recursion without end",
            signal.SIGKILL: "most likely out of memory",
        }
        note = notes.get(number)
        return f"ended by {name}" + (f": {note}" if note else "")
    return f"its process exited by itself with status {os.WEXITSTATUS(report.status)}"
