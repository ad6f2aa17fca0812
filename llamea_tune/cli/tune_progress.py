"""Live progress of a study: trials, the best so far, time left."""

from __future__ import annotations

import time
from types import TracebackType

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from llamea_tune.cli.console import duration, err
from llamea_tune.hpo.study import TrialDone
from llamea_tune.hpo.trial import TrialOutcome
from llamea_tune.wording import counted

_SECONDS_BETWEEN_LINES = 10.0


class TuneProgress:
    """Shows a study as it goes: a live bar on a terminal, a line now and then elsewhere."""

    def __init__(self, trials: int, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = err.is_terminal and not quiet
        self._bar = Progress(
            TextColumn("{task.fields[stage]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f}"),
            TextColumn("{task.fields[now]}"),
            TextColumn("{task.fields[left]} left"),
            console=err,
            transient=True,
            disable=not self._live,
        )
        self._task: TaskID = self._bar.add_task("tune", total=trials, stage="trials", now="", left="?")
        self._started = self._stage_started = self._last_line = time.monotonic()
        self._first_done: int | None = None
        self._best: float | None = None
        self._runs = 0

    def __enter__(self) -> TuneProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def trial(self, event: TrialDone) -> None:
        """Take note of a trial."""
        trial = event.trial
        self._runs += trial.runs
        if trial.outcome is TrialOutcome.COMPLETE:
            self._best = trial.value if self._best is None else max(self._best, trial.value)
        best = "-" if self._best is None else f"{self._best:+.3f}"
        self._show("trials", event.done, event.total, f"best {best}, {counted(self._runs, 'run')}")

    def rescoring(self, done: int, total: int) -> None:
        """Take note of runs on fresh seeds."""
        self._show("runs on fresh seeds", done, total, "")

    def _show(self, stage: str, done: int, total: int, now: str) -> None:
        if self._first_done is None or self._bar.tasks[0].fields["stage"] != stage:
            self._first_done = done - 1
            self._stage_started = self._stage_started if stage == "trials" else time.monotonic()
        pace = (time.monotonic() - self._stage_started) / max(1, done - self._first_done)
        left = duration(pace * (total - done))
        self._bar.update(self._task, stage=stage, completed=done, total=total, now=now, left=left)
        if not (self._live or self._quiet) and time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            err.print(f"{done}/{total} {stage} done, {f'{now}, ' if now else ''}{left} left")
