"""What a run of evolution shows: its leaderboard, its language models, and what tuning in its loop cost and gained."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from llamea_tune.cli.console import escape, natural_width, out, print_table
from llamea_tune.evolution.leaderboard import Leaderboard
from llamea_tune.evolution.model_summary import ModelSummary
from llamea_tune.evolution.tuning_record import Tuning
from llamea_tune.report.own_compute import own_compute_cells, own_compute_notes
from llamea_tune.wording import counted


def print_leaderboard(leaderboard: Leaderboard) -> None:
    """Print the leaderboard, with the score on each space where a terminal is wide enough for it."""
    table = leaderboard_table(leaderboard)
    if out.is_terminal and natural_width(table) > out.width:
        table = leaderboard_table(leaderboard, per_space=False)
    print_table(table)


def leaderboard_table(leaderboard: Leaderboard, *, per_space: bool = True) -> Table:
    """The leaderboard: mean score with interval, and where wanted the score on each space."""
    spaces = sorted({name for row in leaderboard.rows for name in row.scores}) if per_space else []
    n_runs = counted(leaderboard.repeats, "run")
    caption = f"{n_runs} per space on fresh seeds; 0 = random search, 1 = the optimum from the start"
    own = own_compute_cells(leaderboard)
    table = Table(caption="\n".join([caption, *own_compute_notes(leaderboard)]), caption_justify="left")
    table.add_column("strategy", overflow="fold", min_width=20)
    table.add_column("score", justify="right", no_wrap=True, min_width=6)
    table.add_column("95 % interval", justify="right", no_wrap=True, min_width=16)
    if own:
        table.add_column("own ms", justify="right", no_wrap=True)
    for name in spaces:
        table.add_column(escape(name.replace("/", "\n")), justify="right", overflow="fold", min_width=6)
    for number, row in enumerate(leaderboard.rows):
        own_ms = own[number : number + 1]
        style = "bold" if row.candidate is not None else None
        if row.mean is None or row.interval is None:
            table.add_row(escape(row.label), "-", escape(row.reason), *own_ms, *("-" for _ in spaces), style="dim")
            continue
        interval = f"{row.interval[0]:+.3f} to {row.interval[1]:+.3f}"
        scores = (f"{row.scores[name]:+.3f}" for name in spaces)
        table.add_row(escape(row.label), f"{row.mean:+.3f}", interval, *own_ms, *scores, style=style)
    return table


def model_line(model: ModelSummary) -> str:
    """One line for a language model of a mix."""
    gain = "no gain known" if model.mean_gain is None else f"mean gain {model.mean_gain:+.3f}"
    return f"{escape(model.llm)}: asked for {counted(model.asked, 'candidate')}, {model.usable} usable, {gain}"


def tuning_line(tuning: Tuning) -> str:
    """One line when a candidate was tuned."""
    return f"{escape(tuning.candidate)} tuned      [bold]{_gain(tuning)}[/] in {counted(tuning.all_runs, 'run')}"


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
        table.add_row(escape(tuning.candidate), *counts, _gain(tuning))
    return table


def _gain(tuning: Tuning) -> str:
    if tuning.gain is None:
        return "nothing better found"
    return f"{tuning.gain:+.3f}" if tuning.hyperparameters else f"{tuning.gain:+.3f}, not kept"
