"""Tables for people."""

from __future__ import annotations

from rich.table import Table

from llamea_tune.cli.console import escape
from llamea_tune.evolution.leaderboard import Leaderboard


def leaderboard_table(leaderboard: Leaderboard) -> Table:
    """The leaderboard: candidates and rivals, mean score with interval, score per space."""
    spaces = sorted({name for row in leaderboard.rows for name in row.scores})
    caption = f"{leaderboard.repeats} runs per space on fresh seeds; 0 = random search, 1 = the optimum from the start"
    table = Table(caption=caption, caption_justify="left")
    table.add_column("strategy", no_wrap=True, overflow="ellipsis", min_width=20)
    table.add_column("score", justify="right", no_wrap=True, min_width=6)
    table.add_column("95 % interval", justify="right", no_wrap=True, min_width=16)
    for name in spaces:
        table.add_column(escape(name.replace("/", "\n")), justify="right", overflow="fold", min_width=6)
    for row in leaderboard.rows:
        style = "bold" if row.candidate is not None else None
        if row.mean is None or row.interval is None:
            table.add_row(escape(row.label), "-", escape(row.reason), *("-" for _ in spaces), style="dim")
            continue
        interval = f"{row.interval[0]:+.3f} to {row.interval[1]:+.3f}"
        scores = (f"{row.scores[name]:+.3f}" for name in spaces)
        table.add_row(escape(row.label), f"{row.mean:+.3f}", interval, *scores, style=style)
    return table
