"""The tables of a benchmark."""

from __future__ import annotations

from rich import box
from rich.table import Table

from llamea_tune.cli.console import escape, out, print_table
from llamea_tune.scoring.benchmark_rows import BenchmarkRow
from llamea_tune.scoring.benchmarking import Benchmark
from llamea_tune.scoring.compare import Comparison
from llamea_tune.wording import counted

SIGNIFICANCE = 0.05


def show_benchmark(outcome: Benchmark) -> None:
    """Print the tables: one of the strategies, one of their scores on each space."""
    print_table(summary_table(outcome))
    if len(outcome.scales) > 1:
        out.print()
        print_table(spaces_table(outcome))
    for row in outcome.rows:
        for space, reason in row.failures.items():
            out.print(f"{escape(row.label)} failed on {escape(space)}: {escape(reason)}", soft_wrap=True)


def summary_table(outcome: Benchmark) -> Table:
    """One row for each strategy, best first."""
    table = _table(_title(outcome))
    if any(row.to_best is not None for row in outcome.rows):
        table.caption = (
            f"≈ not significantly worse than the best: paired permutation test, Holm-corrected, {SIGNIFICANCE:.0%}"
        )
    table.add_column("#", justify="right")
    table.add_column("strategy", overflow="fold")
    for heading in ("score", "95 % interval", "place", "to best", "p", "own ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    counted = [name for name in ("failed", "invalid") if any(_per_run(row, name) > 0.0 for row in outcome.rows)]
    for name in counted:
        table.add_column(name, justify="right", no_wrap=True)
    for number, row in enumerate(outcome.rows, start=1):
        best = row.card.mean is not None and (row.to_best is None or not is_significant(row.to_best))
        own = row.card.own_compute_ms
        cells = [*_score_cells(row), "-" if own is None else f"{own:.2f}"]
        counts = [f"{_per_run(row, name):.1f}" for name in counted]
        style = "dim" if row.card.mean is None else "bold" if best else None
        table.add_row(str(number), escape(row.label), *cells, *counts, style=style)
    return table


def spaces_table(outcome: Benchmark) -> Table:
    """One row for each space, one column for each strategy that was scored on any, in the order of the other table."""
    table = _table("score on each space, columns as above")
    table.add_column("space", no_wrap=True)
    shown = [(number, row) for number, row in enumerate(outcome.rows, start=1) if row.card.spaces]
    for number, _ in shown:
        table.add_column(str(number), justify="right", no_wrap=True)
    for scale in outcome.scales:
        scores = [row.card.spaces.get(scale.space) for _, row in shown]
        best = max((entry.score for entry in scores if entry is not None), default=None)
        cells = [
            "-" if entry is None else f"[bold]{entry.score:+.2f}[/]" if entry.score == best else f"{entry.score:+.2f}"
            for entry in scores
        ]
        table.add_row(escape(scale.space), *cells)
    return table


def is_significant(comparison: Comparison) -> bool:
    """Whether a difference is more than luck."""
    return comparison.p_value < SIGNIFICANCE


def _title(outcome: Benchmark) -> str:
    n_spaces = len(outcome.scales)
    target = "stopped at the target, " if outcome.settings.stop_at_target else ""
    return (
        f"{counted(outcome.settings.repeats, 'run')} on each of {counted(n_spaces, 'space')}, "
        f"{target}{outcome.settings.baseline} baseline; 0 = random search, 1 = optimum at once"
    )


def _score_cells(row: BenchmarkRow) -> tuple[str, str, str, str, str]:
    """Score, interval, mean place, difference to the best, its p-value."""
    mean, interval = row.card.mean, row.card.interval
    if mean is None or interval is None:
        return "failed", "-", "-", "-", "-"
    once = min(entry.repeats for entry in row.card.spaces.values()) == 1  # and so nothing to resample
    bounds = "-" if once else f"{interval[0]:+.2f} to {interval[1]:+.2f}"
    place = "-" if row.mean_place is None else f"{row.mean_place:.1f}"
    if row.to_best is None:
        return f"{mean:+.3f}", bounds, place, "best", ""
    p = "<0.001" if row.to_best.p_value < 0.001 else f"{row.to_best.p_value:.3f}"
    mark = "" if is_significant(row.to_best) else "≈ "
    return f"{mean:+.3f}", bounds, place, f"{mark}{row.to_best.difference:+.3f}", p


def _table(title: str) -> Table:
    return Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left", caption_justify="left")


def _per_run(row: BenchmarkRow, name: str) -> float:
    runs = sum(entry.repeats for entry in row.card.spaces.values())
    total: int = sum(getattr(entry.counts, name) for entry in row.card.spaces.values())
    return total / max(1, runs)
