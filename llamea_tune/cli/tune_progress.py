"""Live progress of a study: trials, the best so far, time left."""

from __future__ import annotations

import time

from llamea_tune.cli.console import duration
from llamea_tune.cli.live_bar import LiveBar
from llamea_tune.front_door.tune_strategy import FreshRunsDone
from llamea_tune.hpo.study import TrialDone
from llamea_tune.hpo.trial import TrialOutcome
from llamea_tune.wording import counted


class TuneProgress(LiveBar):
    """Shows a study as it goes: a live bar on a terminal, a line now and then elsewhere."""

    def __init__(self, trials: int, *, quiet: bool = False) -> None:
        super().__init__("trials", trials, "", quiet=quiet)
        self._stage = "trials"
        self._stage_started = time.monotonic()
        self._first_done: int | None = None
        self._best: float | None = None
        self._runs = 0

    def __call__(self, event: TrialDone | FreshRunsDone) -> None:
        """Take note of a trial, or of runs on fresh seeds."""
        if isinstance(event, FreshRunsDone):
            self._tell("runs on fresh seeds", event.done, event.total, "")
            return
        trial = event.trial
        self._runs += trial.runs
        if trial.outcome is TrialOutcome.COMPLETE:
            self._best = trial.value if self._best is None else max(self._best, trial.value)
        best = "-" if self._best is None else f"{self._best:+.3f}"
        self._tell("trials", event.done, event.total, f"best {best}, {counted(self._runs, 'run')}")

    def _tell(self, stage: str, done: int, total: int, so_far: str) -> None:
        if self._first_done is None or self._stage != stage:
            self._first_done = done - 1
            self._stage_started = self._stage_started if stage == "trials" else time.monotonic()
        self._stage = stage
        pace = (time.monotonic() - self._stage_started) / max(1, done - self._first_done)
        left = duration(pace * (total - done))
        self.show(stage=stage, completed=done, total=total, so_far=so_far, left=left)
        self.line(f"{done}/{total} {stage} done, {f'{so_far}, ' if so_far else ''}{left} left")
