"""`llamea-tune spaces`: which search spaces there are, what they are like, and conversion between formats."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from llamea_tune.cli import options, spaces_fetch, spaces_record
from llamea_tune.cli.console import escape, out, print_json, print_table

if TYPE_CHECKING:
    from llamea_tune.spaces import RecordedSpace

_LIST_HELP = """
List search spaces: the bundled ones, or those in files, folders and globs.

[bold]Examples[/]

  llamea-tune spaces list

  llamea-tune spaces list caches/ 'hub/*/A100.json.gz'
"""

_SHOW_HELP = """
Show what a search space is like: parameters, values, restrictions, failures, times, the budget of a run.

With [bold]--features[/] also what its landscape is like; that takes some seconds.

[bold]Example[/]

  llamea-tune spaces show caches/A100.json.gz --features
"""

_CONVERT_HELP = """
Convert a Kernel Tuner cache to a T4 file, or a T4 file to a Kernel Tuner cache, without loss.

[bold]Example[/]

  llamea-tune spaces convert caches/A100.json.gz A100_T4.json.gz
"""


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(help="List, show, convert, record and fetch search spaces.", no_args_is_help=True)
    group.command("list", help=_LIST_HELP)(list_spaces)
    group.command("show", help=_SHOW_HELP)(show_space)
    group.command("convert", help=_CONVERT_HELP)(convert_space)
    group.command("record", help=spaces_record.HELP)(spaces_record.record_spaces)
    group.command("fetch", help=spaces_fetch.HELP)(spaces_fetch.fetch_spaces)
    app.add_typer(group, name="spaces")


def list_spaces(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PLACE]...",
            help="Files, folders, globs, or names of bundled spaces; by default all of these.",
            show_default=False,
        ),
    ] = None,
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the spaces and say how large they are."""
    from llamea_tune.front_door.named_spaces import load_named
    from llamea_tune.spaces import Reading, bundled_spaces

    facts = [_facts(space.known) for space in load_named(places or bundled_spaces(), Reading(t1, objective, salvage))]
    if as_json:
        print_json(facts)
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("space", no_wrap=True)
    for heading in ("configs", "valid", "params", "evals", "budget", "median/best"):
        table.add_column(heading, justify="right", no_wrap=True)
    for fact in facts:
        numbers = [f"{fact[key]:,}" for key in ("configs", "valid", "parameters")]
        numbers[0] += " (partial)" if fact["partial"] else ""
        budget = (
            [f"{fact['evaluations']:,}", f"{fact['budget_s']:,.0f} s"] if fact["budget_s"] is not None else ["-", "-"]
        )
        ratio = "-" if fact["median_to_optimum"] is None else f"{fact['median_to_optimum']:.2f}"
        table.add_row(escape(fact["name"]), *numbers, *budget, ratio)
    print_table(table)


def show_space(
    place: Annotated[str, typer.Argument(help="A Kernel Tuner cache or T4 file, or the name of a bundled space.")],
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    features: Annotated[bool, typer.Option("--features", help="Compute features of the landscape too.")] = False,
    as_json: options.AsJson = False,
) -> None:
    """Load a space and describe it."""
    from llamea_tune.exceptions import SpaceFileError
    from llamea_tune.front_door.named_spaces import load_named
    from llamea_tune.spaces import Reading, describe, landscape_features

    space, *others = [space.known for space in load_named([place], Reading(t1, objective, salvage))]
    if others:
        names = ", ".join(entry.name for entry in (space, *others))
        raise SpaceFileError(f"{place} stands for {len(others) + 1} spaces; name one of them: {names}")
    found = landscape_features(space) if features else None
    facts = _facts(space)
    if as_json:
        parameters = {name: list(values) for name, values in space.tune_params.items()}
        more = {
            "kernel": space.kernel_name,
            "device": space.device_name,
            "problem_size": space.problem_size,
            "objective": space.objective,
            "higher_is_better": space.higher_is_better,
            "tune_params": parameters,
            "restrictions": list(space.restrictions),
            "permitted": space.n_permitted,
            "features": None if found is None else asdict(found),
        }
        print_json({**facts, **more})
        return
    out.print(f"[bold]{escape(space.name)}[/]  {escape(space.source)}", soft_wrap=True)
    out.print(escape(describe(space, budget_s=facts["budget_s"], features=found)), soft_wrap=True)


def convert_space(
    source: Annotated[Path, typer.Argument(help="The Kernel Tuner cache or T4 file to read.")],
    target: Annotated[Path, typer.Argument(help="The file to write; compressed if its name ends in .gz.")],
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Convert a file to the other format."""
    from llamea_tune.exceptions import SettingsError, SpaceFileError
    from llamea_tune.report.files import check_targets
    from llamea_tune.spaces import cache_to_t4, t4_to_cache
    from llamea_tune.spaces.space_file import FileKind, file_kind

    converters = {FileKind.CACHE: ("T4", cache_to_t4), FileKind.T4: ("cache", t4_to_cache)}
    kind = file_kind(source, salvage=salvage)
    if kind not in converters:
        raise SpaceFileError(f"{source} is neither a Kernel Tuner cache nor a T4 file; name one that is")
    if target.exists() and not force:
        raise SettingsError(f"{target} exists already; name another file, or replace it with --force")
    check_targets(texts=[target])
    written, convert = converters[kind]
    convert(source, target, objective=objective, salvage=salvage)
    if as_json:
        print_json({"source": str(source), "target": str(target), "format": written})
    elif not quiet:
        out.print(escape(str(target)), soft_wrap=True)


def _facts(space: RecordedSpace) -> dict[str, Any]:
    """What a list of spaces tells of one, None where nothing can be scored on it."""
    import numpy as np

    from llamea_tune.exceptions import SettingsError
    from llamea_tune.scoring import space_budget

    try:
        budget = space_budget(space)
    except SettingsError:
        budget = None
    costs = np.abs(space.costs[space.valid])
    optimum = abs(space.optimum) if len(costs) else 0.0
    return {
        "name": space.name,
        "source": space.source,
        "content_hash": space.content_hash,
        "configs": space.size,
        "partial": space.partial,
        "valid": int(space.valid.sum()),
        "parameters": len(space.tune_params),
        "evaluations": budget.evaluations if budget else None,
        "budget_s": budget.time_limit_us / 1e6 if budget else None,
        "median_to_optimum": _ratio(float(np.median(costs)), optimum) if len(costs) else None,
    }


def _ratio(median: float, optimum: float) -> float | None:
    """How many times better the optimum is than the median, whatever the direction of the objective."""
    low, high = sorted((median, optimum))
    return high / low if low > 0.0 else None
