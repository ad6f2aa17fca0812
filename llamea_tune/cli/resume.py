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
--max-candidates it goes on to more candidates, also where it had come to its end; what --hpo-runs allows
grows with them.

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
            min=1, help="Candidates to propose in all, if not as many as the run was started for.", show_default=False
        ),
    ] = None,
    jobs: options.Jobs = None,
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Rebuild the state from the run's logs, and carry the rest out."""
    from llamea_tune.evolution.assemble import run_spaces, set_max_candidates
    from llamea_tune.evolution.run_directory import RunDirectory

    directory = RunDirectory.open_existing(run)
    with run_spaces(directory, live.sampling_lines(quiet=quiet)) as spaces:
        if max_candidates is not None:
            set_max_candidates(directory, max_candidates)
        carry_out_visibly(
            directory,
            spaces,
            jobs=jobs or live.default_jobs(spaces),
            allow_weak_sandbox=allow_weak_sandbox,
            quiet=quiet,
            as_json=as_json,
        )
