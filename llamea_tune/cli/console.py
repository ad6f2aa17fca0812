"""Where output goes: results to standard output, progress and errors to standard error."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

from rich.console import Console

from llamea_tune.exceptions import SpaceFileWarning

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def fail(message: str) -> None:
    """Show an error."""
    err.print(f"[bold red]error:[/] {escape(message)}", soft_wrap=True)


def show_warnings() -> None:
    """From now on show warnings of search-space files like errors, a line each."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, SpaceFileWarning):
            err.print(f"[bold yellow]warning:[/] {escape(str(message))}", soft_wrap=True)
        else:
            others(message, category, *place, **more)

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
