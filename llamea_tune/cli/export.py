"""`llamea-tune export`: a candidate as a Kernel Tuner strategy."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from llamea_tune.cli import options
from llamea_tune.cli.console import err, out, print_json

_HELP = """
Write a candidate of a run as a standalone Kernel Tuner strategy, with a record of where it came from.

It goes into your own strategies folder, so that after [bold]import llamea_tune[/] it works by its name.

[bold]Example[/]

  llamea-tune export runs/20260131-140503 --name my_strategy
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("export", help=_HELP)(export)


def export(
    run: Annotated[Path, typer.Argument(help="Run directory that evolve made.")],
    name: Annotated[str, typer.Option(help="Name of the strategy, a Python identifier.")],
    candidate: Annotated[
        str | None, typer.Option(help="Id of the candidate; by default the best one.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder to write to instead of your own strategies folder.", show_default=False)
    ] = None,
    note: Annotated[str, typer.Option(help="Anything the record should say besides.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export of that name.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Collect the facts from the run and write the strategy."""
    from llamea_tune.front_door.exports import export as write

    exported = write(run, name, candidate=candidate, folder=output, note=note, force=force)
    if as_json:
        print_json({"name": name, "code": str(exported.code_path), "record": str(exported.record_path)})
        return
    out.print(f"{exported.code_path}\n{exported.record_path}", soft_wrap=True)
    if not quiet:
        usage = f'import llamea_tune\ntune_kernel(..., strategy="{name}")'
        if output is not None:
            usage = f"from {name} import {exported.class_name}\ntune_kernel(..., strategy=OptAlgWrapper({exported.class_name}()))"
        err.print(f"\n[dim]to use it:[/]\n\n{usage}", soft_wrap=True)
