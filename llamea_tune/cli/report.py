"""`llamea-tune report`: what came of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import options
from llamea_tune.cli.console import err, escape, out, print_json
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.report.run_summary import RunSummary

_HELP = """
Write a page about a run of evolve: fitness over candidates, leaderboard, best code, and why candidates failed.

The page is one HTML file that needs no server and no network; the run may still be going on.

[bold]Example[/]

  llamea-tune report runs/20260131-140503
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("report", help=_HELP)(report)


def report(
    run: Annotated[Path, typer.Argument(help="Run directory that evolve made.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write instead of report.html in the run directory.", show_default=False
        ),
    ] = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Read the run's logs, write the page."""
    from llamea_tune.cli.tables import model_line
    from llamea_tune.evolution.run_directory import RunDirectory
    from llamea_tune.report.files import check_targets, write_bytes
    from llamea_tune.report.run_page import run_page
    from llamea_tune.report.run_summary import summarise_run

    directory = RunDirectory.open_existing(run)
    target = output or run / "report.html"
    check_targets(texts=[target])
    summary = summarise_run(directory)
    write_bytes(target, run_page(summary).encode())
    if as_json:
        print_json({**summary.to_json(), "page": str(target)})
        return
    out.print(escape(str(target)), soft_wrap=True)
    if not quiet:
        err.print(escape(_in_short(summary)), soft_wrap=True)
        for model in summary.models:
            err.print(model_line(model), soft_wrap=True)


def _in_short(summary: RunSummary) -> str:
    failed = sum(failure.candidates for failure in summary.failures)
    text = f"{counted(len(summary.candidates), 'candidate')}, {failed} of them without a score"
    if summary.best is not None and summary.best.evaluation.fitness is not None:
        best = summary.best
        text += f"; best: {best.candidate.id} {best.candidate.class_name}, fitness {best.evaluation.fitness:.3f}"
    return text
