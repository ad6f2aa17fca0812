"""Live progress of a benchmark: what is running, and how long the rest will take."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from llamea_tune.cli.console import duration, err, escape
from llamea_tune.cli.live_bar import LiveBar
from llamea_tune.execution import Contender
from llamea_tune.scoring.benchmark_events import ContenderDone, ContenderStarted, Event, RunsDone
from llamea_tune.scoring.cutoff import space_budget
from llamea_tune.spaces.space import Space


class BenchmarkProgress(LiveBar):
    """Shows a benchmark as it goes: a live bar on a terminal, a line now and then elsewhere.

    What is left is estimated from what each strategy took per evaluation so far; one that has not run yet is taken to
    be like the others.
    """

    def __init__(
        self, contenders: Sequence[Contender], spaces: Sequence[Space], repeats: int, *, quiet: bool = False
    ) -> None:
        self._repeats = repeats
        evaluations = {space.name: max(1, space_budget(space).evaluations) * repeats for space in spaces}
        self._left = {(contender.label, name): n for name, n in evaluations.items() for contender in contenders}
        self._n_in_all = len(self._left)
        super().__init__("benchmark", self._n_in_all * repeats, "runs", quiet=quiet)
        self._evaluations = dict(self._left)
        self._seconds: dict[str, float] = {}
        self._done: dict[str, int] = {}
        self._now = ("", "")
        self._runs = self._reused = self._reused_now = 0
        self._started_now = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case ContenderStarted(label, space):
                self._now = (label, space)
                self._reused_now = 0
                self._started_now = time.monotonic()
                self._tell(0.0)
            case RunsDone(done, total, reused):
                self._reused_now = reused
                self._tell(done / total)
            case ContenderDone():
                self._finish(event)

    def say_what_it_took(self, kept: bool, folder: Path) -> None:
        """Tell how long it took, and what that rests on."""
        took = duration(self.elapsed_s)
        reused = f"; {self._reused:,} of {self._runs:,} runs were kept from before"
        err.print(f"took {took}{reused if self._reused else ''}", soft_wrap=True)
        if not kept:
            err.print(
                f"[yellow]warning:[/] finished runs could not be kept in {escape(str(folder))}; "
                "make room there, or set LLAMEA_TUNE_CACHE to another folder",
                soft_wrap=True,
            )

    def _finish(self, done: ContenderDone) -> None:
        label, space = done.label, done.space.name
        evaluations = self._left.pop((label, space))
        failed = next((run for run in done.runs if not run.state.scorable), None)
        self._runs += len(done.runs)
        self._reused += done.reused
        made = len(done.runs) - done.reused
        if made and failed is None:
            self._seconds[label] = self._seconds.get(label, 0.0) + done.seconds
            self._done[label] = self._done.get(label, 0) + round(evaluations * made / self._repeats)
        self._tell(0.0)
        if failed is not None and not self.quiet:
            err.print(f"[yellow]{escape(label)} failed on {escape(space)}:[/] {escape(failed.reason)}", soft_wrap=True)
        if made:
            n_done = self._n_in_all - len(self._left)
            self.line(f"{n_done}/{self._n_in_all} strategies on spaces done, {self._time_left(0.0)} left")

    def _tell(self, fraction: float) -> None:
        """Update the bar, a fraction of the current runs being done."""
        if not self.live:
            return
        n_done = self._n_in_all - len(self._left) + fraction
        now = escape("{} on {}".format(*self._now))
        self.show(completed=n_done * self._repeats, left=self._time_left(fraction), now=now)

    def _time_left(self, fraction: float) -> str:
        seconds, done = dict(self._seconds), dict(self._done)
        label = self._now[0]
        if fraction > 0.0 and self._now in self._left:
            made = fraction - self._reused_now / self._repeats
            seconds[label] = seconds.get(label, 0.0) + time.monotonic() - self._started_now
            done[label] = done.get(label, 0) + round(made * self._evaluations[self._now])
        if not any(done.values()):
            return "0 s" if not self._left else "?"
        typical = sum(seconds.values()) / sum(done.values())
        left = 0.0
        for (name, space), evaluations in self._left.items():
            pace = seconds[name] / done[name] if done.get(name) else typical
            left += pace * evaluations * ((1.0 - fraction) if (name, space) == self._now else 1.0)
        return duration(left)
