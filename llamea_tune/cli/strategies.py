"""`llamea-tune strategies`: which strategies there are, and what they take."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from llamea_tune.cli import options
from llamea_tune.cli.console import err, escape, out, print_json, print_table
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.exporting.record import StrategyRecord
    from llamea_tune.strategies import StrategyInfo, StrategyOption

_LIST_HELP = """
List every strategy that can be named: Kernel Tuner's own, the generated ones, yours, and those of other libraries that are installed.

[bold]Example[/]

  llamea-tune strategies list
"""

_SHOW_HELP = """
Show the options of a strategy; for a generated one also where it came from and how good it is.

[bold]Example[/]

  llamea-tune strategies show genetic_algorithm
"""

_ORIGINS = {
    "kernel_tuner": "Kernel Tuner",
    "generated": "generated, bundled",
    "user": "generated, your own",
}


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(help="List strategies and show what they take.", no_args_is_help=True)
    group.command("list", help=_LIST_HELP)(list_strategies)
    group.command("show", help=_SHOW_HELP)(show_strategy)
    app.add_typer(group, name="strategies")


def list_strategies(as_json: options.AsJson = False) -> None:
    """List the catalog; no strategy is loaded for that."""
    from llamea_tune.strategies import catalog

    infos = [(info, _record(info)) for info in catalog()]
    if as_json:
        print_json([_info_json(info, record) for info, record in infos])
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("from", no_wrap=True)
    table.add_column("what it does")
    for info, record in infos:
        table.add_row(escape(info.name), _origin(info), escape(_in_short(record)) if record else "")
    print_table(table)


def show_strategy(
    name: Annotated[str, typer.Argument(help="Name of the strategy.")], as_json: options.AsJson = False
) -> None:
    """Show one strategy."""
    from llamea_tune.strategies import resolve

    info = resolve(name)
    record = _record(info)
    if as_json:
        taken = {
            key: {"description": option.description, "default": _plain(option.default)}
            for key, option in info.options_and_x0.items()
        }
        print_json({**_info_json(info, record), "options": taken, "record": asdict(record) if record else None})
        return
    out.print(f"[bold]{escape(info.name)}[/], {_origin(info)}")
    if info.path is not None:
        out.print(escape(str(info.path)), soft_wrap=True)
    if record is not None:
        _show_record(record)
    _show_options(info.options_and_x0)


def _record(info: StrategyInfo) -> StrategyRecord | None:
    """The provenance record of a generated strategy; None for all others, and with a warning if it is broken."""
    from llamea_tune.exceptions import StrategyError
    from llamea_tune.exporting.record import read_record

    if info.path is None:
        return None
    try:
        return read_record(info.path)
    except StrategyError as problem:
        err.print(f"[yellow]warning:[/] {escape(str(problem))}", soft_wrap=True)
        return None


def _origin(info: StrategyInfo) -> str:
    return info.library.title if info.library is not None else _ORIGINS[info.origin.value]


def _in_short(record: StrategyRecord) -> str:
    """The first sentence of a description; without what it says in brackets."""
    first = re.split(r"(?<=[.;])\s", record.description, maxsplit=1)[0]
    return re.sub(r"\s*\([^()]*\)", "", first).rstrip(".;") + "."


def _info_json(info: StrategyInfo, record: StrategyRecord | None) -> dict[str, Any]:
    return {
        "name": info.name,
        "origin": info.origin.value,
        "path": None if info.path is None else str(info.path),
        "description": record.description if record else None,
    }


def _show_options(taken: dict[str, StrategyOption]) -> None:
    if not taken:
        out.print("\nIt takes no options.")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("option", no_wrap=True)
    table.add_column("default")
    table.add_column("meaning")
    for key, option in taken.items():
        table.add_row(escape(key), escape(repr(_plain(option.default))), escape(option.description))
    out.print()
    print_table(table)


def _show_record(record: StrategyRecord) -> None:
    out.print(f"\n{escape(record.description)}\n")
    facts = {
        "written by": record.proposer,
        "date": record.date,
        "trained on": ", ".join(space.name for space in record.training),
        "validated on": ", ".join(space.name for space in record.validation),
        "run": record.run,
        "note": record.note,
    }
    for what, score in (("training score", record.training_score), ("validation score", record.validation_score)):
        if score is not None:
            interval = "" if score.interval is None else f" [{score.interval[0]:+.3f}, {score.interval[1]:+.3f}]"
            facts[what] = f"{score.score:+.3f}{interval}, {counted(score.repeats, 'run')} per space"
    for name, score in record.scores.items():
        facts[f"score on {name}"] = f"{score.score:+.3f}"
    facts["versions"] = ", ".join(f"{name} {version}" for name, version in record.versions.items())
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column()
    for what, fact in facts.items():
        if fact:
            table.add_row(escape(what), escape(fact))
    print_table(table)


def _plain(value: Any) -> Any:
    """A default as JSON data: what is none is told in Python's words."""
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)
