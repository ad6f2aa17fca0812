"""One run, served by the host: serve the guest's requests, and judge how it ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from llamea_tune.exceptions import SandboxError
from llamea_tune.runners.meter import STALL_FACTOR, STALL_MINIMUM, Meter, Reply
from llamea_tune.runners.trace import RequestCounts, RunResult, RunState
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.sandbox.server_process import Guest, Report, Worker
from llamea_tune.sandbox.wire import (
    MESSAGE,
    REASON_BYTES,
    REPORTED_UNPAID,
    Assignment,
    Mark,
    clean_text,
    pack_assignment,
    pack_reply,
)
from llamea_tune.wording import counted

GRACE_S = 0.25  # what a strategy gets to return once its budget is gone, or to stop repeating itself
_LATE_S = 10.0  # how far past the wall-clock limit the fork server may be in ending a guest
_LOOK_S = 0.2  # how often to look whether a run is still wanted

_Verdict = tuple[RunState, str]


def serve_run(
    worker: Worker,
    space_number: int,
    assignment: Assignment,
    meter: Meter,
    limits: Limits,
    stopped: Callable[[], bool],
    *,
    live: bool = False,
) -> RunResult:
    """Run a candidate once.

    Args:
        worker: A warm worker that nobody else uses meanwhile.
        space_number: On which of the worker's spaces.
        assignment: What to run.
        meter: Fresh; keeps budget, clock and trace.
        limits: What the run may use.
        stopped: Says when the result is no longer wanted.
        live: Whether measurements take real time, which the wall-clock limit then leaves out.

    Raises:
        WorkerDiedError: The fork server died.
        SandboxError: The guest could not be confined.
    """
    guest = worker.start_guest(space_number, assignment.code)
    latest = time.monotonic() + limits.wall_s + _LATE_S
    dialogue = _Dialogue(guest, meter, worker.space_size(space_number), latest, stopped, live)
    verdict: _Verdict | None = None
    ready = False
    try:
        ready = guest.receive(MESSAGE.size, limits.wall_s + _LATE_S) == MESSAGE.pack(Mark.READY, 0, 0)
        if ready:
            guest.assign(pack_assignment(assignment))
            verdict = dialogue.hold()
    finally:
        report = guest.end(GRACE_S if verdict is None else 0.0)
    if not ready and not report.timed_out:
        raise SandboxError(f"a candidate's process could not be confined ({_ending(report)}); see `llamea-tune doctor`")
    state, reason = verdict or _judge(report, limits, len(meter.trace()))
    return RunResult(meter.trace(), state, reason, dialogue.counts(), report.cpu_s)


@dataclass
class _Dialogue:
    """The host's side of a run's requests.

    The meter serves what is new; free requests, which never reach it, are counted here by the guest's word. They
    decide nothing but when the host loses patience.
    """

    guest: Guest
    meter: Meter
    size: int
    latest: float
    stopped: Callable[[], bool]
    live: bool = False
    repeated: int = 0
    invalid: int = 0
    unpaid_in_a_row: int = 0
    stalled_since: float | None = None

    @property
    def stalled(self) -> bool:
        """Whether the strategy has long asked only for what it cannot learn from; by the meter's rule."""
        if self.meter.stalled:
            return True
        return self.unpaid_in_a_row > STALL_MINIMUM and self.unpaid_in_a_row > STALL_FACTOR * self.meter.counts().paid

    def counts(self) -> RequestCounts:
        """What was asked for, in all."""
        served = self.meter.counts()
        return replace(served, repeated=served.repeated + self.repeated, invalid=served.invalid + self.invalid)

    def hold(self) -> _Verdict | None:
        """Serve requests until the run is decided; None when the process's end must decide."""
        while True:
            ending = self.meter.done or self.stalled
            data = self.guest.receive(MESSAGE.size, GRACE_S if ending else _LOOK_S)
            if data:
                verdict = self._hear(data)
                if verdict is not None:
                    return verdict
            elif ending and (data is None or self.meter.done):
                return self._good_end()
            elif data is not None or self.stopped() or time.monotonic() > self.latest:
                return None

    def _hear(self, data: bytes) -> _Verdict | None:
        """Take one message; a verdict if it ends the run."""
        if len(data) != MESSAGE.size:
            return _broken("a message of the wrong size")
        number, repeated, invalid = MESSAGE.unpack(data)
        problem = self._count(number, repeated, invalid)
        if not problem and number < 0 and number != Mark.UNPAID:
            return self._last_word(number)
        problem = problem or self._answer(number)
        if problem:
            return _broken(problem)
        return self._good_end() if self._out_of_patience() else None

    def _count(self, number: int, repeated: int, invalid: int) -> str:
        """Count free requests; a text when there cannot have been so many, or too few to be worth a message."""
        total = repeated + invalid
        if min(repeated, invalid) < 0 or total > REPORTED_UNPAID or (number == Mark.UNPAID and total < REPORTED_UNPAID):
            return "impossible counts"
        self.repeated += repeated
        self.invalid += invalid
        self.unpaid_in_a_row += total
        return ""

    def _answer(self, number: int) -> str:
        """Serve one request; a text when it breaks the protocol."""
        if number == Mark.UNPAID:
            return ""
        if self.meter.done:
            return "a request after the end"
        if number >= self.size:
            return "a request for a config that does not exist"
        reply = self._measured(number) if self.live else self.meter.request(number)
        self.unpaid_in_a_row = 0
        return "" if self.guest.send(pack_reply(reply)) else "requests without reading the replies"

    def _measured(self, number: int) -> Reply:
        """Serve one request while the guest's wall clock stands still."""
        since = time.monotonic()
        self.guest.stop_clock()
        try:
            return self.meter.request(number)
        finally:
            self.guest.start_clock()
            self.latest += time.monotonic() - since

    def _last_word(self, number: int) -> _Verdict:
        """Judge a guest's own word about its end. It can only end its own run, or fail it."""
        if number == Mark.FINISHED:
            return self._good_end()
        if number == Mark.OUT_OF_MEMORY:
            return RunState.KILLED, "out of memory"
        if number == Mark.ERROR:
            text = self.guest.receive(REASON_BYTES, GRACE_S) or b""
            return RunState.FAILED, clean_text(text.decode(errors="replace")) or "an error without a message"
        return _broken("an unknown message")

    def _good_end(self) -> _Verdict:
        if self.meter.done:
            return (RunState.TARGET_REACHED if self.meter.target_reached else RunState.BUDGET_SPENT), ""
        return (RunState.STALLED if self.stalled else RunState.FINISHED), ""

    def _out_of_patience(self) -> bool:
        """Whether a stalled strategy has gone on with its requests for too long."""
        if not self.stalled:
            self.stalled_since = None
        elif self.stalled_since is None:
            self.stalled_since = time.monotonic()
        return self.stalled_since is not None and time.monotonic() - self.stalled_since > GRACE_S


def _broken(what: str) -> _Verdict:
    return RunState.KILLED, f"broken protocol: {what}"


def _judge(report: Report, limits: Limits, n_paid: int) -> _Verdict:
    """Why a process ended that said nothing about it."""
    if report.timed_out:
        return RunState.TIMED_OUT, f"ran longer than {limits.wall_s:g} s after {counted(n_paid, 'measurement')}"
    if report.dismissed:
        return _broken("it hung up")
    overran = os.WIFSIGNALED(report.status) and os.WTERMSIG(report.status) == signal.SIGXCPU
    if overran or report.cpu_s >= limits.cpu_s:
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
