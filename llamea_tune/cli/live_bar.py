"""How far long work is: a live bar on a terminal, a line now and then elsewhere, nothing where it is to be quiet."""

from __future__ import annotations

import time
from typing import Any, Self

from rich.progress import BarColumn, Progress, TextColumn

from llamea_tune.cli.console import Lines, err


class LiveBar:
    """Enter it, then call `show` and `line` as work goes on; what they are given is markup."""

    def __init__(self, stage: str, total: float, unit: str, *, quiet: bool) -> None:
        self.quiet = quiet
        self.live = err.is_terminal and not quiet
        self._bar = Progress(
            TextColumn("{task.fields[stage]}"),
            BarColumn(bar_width=24),
            TextColumn("{task.completed:.0f}/{task.total:.0f} {task.fields[unit]}"),
            TextColumn("{task.fields[so_far]}"),
            TextColumn("{task.fields[left]} left"),
            TextColumn("[dim]{task.fields[now]}[/]"),
            console=err,
            transient=True,
            disable=not self.live,
        )
        self._task = self._bar.add_task("", total=total, stage=stage, unit=unit, so_far="", left="?", now="")
        self._lines = Lines()
        self._started = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def show(self, *, completed: float | None = None, total: float | None = None, **texts: Any) -> None:
        """Change the numbers, or the texts `stage`, `unit`, `so_far` (what came of it), `left` and `now`."""
        self._bar.update(self._task, completed=completed, total=total, **texts)

    def line(self, markup: str, *, in_any_case: bool = False) -> None:
        """Print a line where there is no bar, at most one every few seconds."""
        if not (self.live or self.quiet):
            self._lines(markup, in_any_case=in_any_case)
