"""What a run of evolution says of the tuning in its loop: what was spent where, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from llamea_tune.cli.console import escape
from llamea_tune.evolution.tuning_record import Tuning
from llamea_tune.wording import counted


def tuning_line(tuning: Tuning) -> str:
    """One line when a candidate was tuned."""
    return f"{escape(tuning.candidate)} tuned      [bold]{_outcome(tuning)}[/] in {counted(tuning.all_runs, 'run')}"


def tuning_table(tunings: Mapping[str, Tuning], allowance: int) -> Table:
    """One row for each candidate that was tuned.

    Args:
        tunings: By candidate.
        allowance: Runs that they could take together.
    """
    spent = sum(tuning.all_runs for tuning in tunings.values())
    table = Table(caption=f"tuning took {spent:,} of {allowance:,} runs", caption_justify="left")
    table.add_column("tuned", no_wrap=True)
    for heading in ("trials", "runs", "to confirm", "fitness gained"):
        table.add_column(heading, justify="right", no_wrap=True)
    for tuning in tunings.values():
        counts = (str(tuning.trials), f"{tuning.runs:,}", f"{tuning.confirm_runs:,}")
        table.add_row(escape(tuning.candidate), *counts, _outcome(tuning))
    return table


def _outcome(tuning: Tuning) -> str:
    if tuning.gain is None:
        return "nothing better found"
    return f"{tuning.gain:+.3f}" if tuning.hyperparameters else f"{tuning.gain:+.3f}, not kept"
