"""Where output goes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from llamea_tune.exceptions import ClusterWarning, PriorWarning, SpaceFileWarning

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)

_SECONDS_BETWEEN_LINES = 10.0
_WIDEST = 1000


def fail(message: str) -> None:
    """Show an error."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def show_warnings() -> None:
    """From now on show warnings of search-space files, priors and clusters like errors, a line each, and each once."""
    others, shown = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, SpaceFileWarning | PriorWarning | ClusterWarning):
            others(message, category, *place, **more)
        elif str(message) not in shown:
            shown.add(str(message))
            err.print(f"[bold yellow]warning:[/] {escape(str(message))}", soft_wrap=True)

    warnings.showwarning = show


def escape(text: str) -> str:
    """Make text safe to print as rich markup."""
    return text.replace("[", r"\[")


def print_json(data: object) -> None:
    """Print data as JSON for other programs."""
    json.dump(data, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")


def duration(seconds: float) -> str:
    """A length of time for people: `45 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Lines:
    """Prints a line, unless the last one was but a few seconds ago."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, markup: str, *, in_any_case: bool = False) -> None:
        """Print the line, or leave it."""
        now = time.monotonic()
        if in_any_case or now - self._last > _SECONDS_BETWEEN_LINES:
            self._last = now
            err.print(markup, soft_wrap=True)


def print_table(table: Table) -> None:
    """Print a table: fitted into a terminal, but into a file or pipe as wide as it wants to be, not cut to 80 columns."""
    if out.is_terminal:
        out.print(table)
        return
    texts = max(len(str(text or "")) for text in (table.title, table.caption))
    Console(file=sys.stdout, highlight=False, width=max(natural_width(table), texts, 1)).print(table)


def natural_width(table: Table) -> int:
    """How many characters a table's lines would like to have."""
    return Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum
