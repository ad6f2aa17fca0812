"""`llamea-tune resume`: go on with a run that was interrupted, or that is to be longer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llamea_tune.cli import live, options
from llamea_tune.cli.carry_out import carry_out_visibly

_HELP = """
Go on with a run that was interrupted, from where its logs end.

Nothing that was done is done again; the outcome is that of a run without the interruption. With
--max-candidates it goes on to more candidates, also where it had come to its end.

[bold]Examples[/]

  llamea-tune resume runs/20260131-140503

  llamea-tune resume runs/20260131-140503 --max-candidates 96
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("resume", help=_HELP)(resume)


def resume(
    run: Annotated[Path, typer.Argument(help="Run directory that evolve made.")],
    max_candidates: Annotated[
        int | None,
        typer.Option(
            min=1, help="Candidates to propose in all, if more than the run was started for.", show_default=False
        ),
    ] = None,
    jobs: options.Jobs = None,
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Rebuild the state from the run's logs, and carry the rest out."""
    from llamea_tune.evolution.assemble import extend, run_spaces
    from llamea_tune.evolution.run_directory import RunDirectory

    directory = RunDirectory.open_existing(run)
    if max_candidates is not None:
        extend(directory, max_candidates)
    with run_spaces(directory, live.sampling_lines(quiet=quiet)) as spaces:
        carry_out_visibly(
            directory,
            spaces,
            jobs=jobs or live.default_jobs(spaces),
            allow_weak_sandbox=allow_weak_sandbox,
            quiet=quiet,
            as_json=as_json,
        )
