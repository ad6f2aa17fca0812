"""Writes `cli.md`, the reference of the command line, from the commands themselves."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.models import OptionInfo

TARGET = Path(__file__).with_name("cli.md")

_INTRODUCTION = """# The command line

Every command has `--help`. Results go to standard output, progress and errors to standard error. Bad input ends a command
with one sentence and exit code 2, Ctrl-C with exit code 130.

This page is made from the program: `python docs/make_cli_reference.py`.
"""


def reference() -> str:
    """The page."""
    from llamea_tune.cli.app import app

    return _INTRODUCTION + "".join(_commands(app, "llamea-tune"))


def _commands(app: typer.Typer, path: str) -> Iterator[str]:
    for command in app.registered_commands:
        name = f"{path} {command.name}"
        yield f"\n{'#' * len(name.split())} `{name}`\n\n{_plain(command.help)}\n{_parameters(command.callback)}"
    for group in app.registered_groups:
        name, members = f"{path} {group.name}", group.typer_instance
        if members is not None:
            yield f"\n{'#' * len(name.split())} `{name}`\n\n{_plain(members.info.help)}\n"
            yield from _commands(members, name)


def _parameters(callback: Any) -> str:
    hints = get_type_hints(callback, include_extras=True)
    parameters = inspect.signature(callback).parameters.values()
    rows = [_row(parameter, hints[parameter.name]) for parameter in parameters]
    body = "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)
    return f"\n| argument or option | default | meaning |\n| --- | --- | --- |\n{body}"


def _row(parameter: inspect.Parameter, hint: Any) -> tuple[str, str, str]:
    value, info = get_args(hint)[:2] if get_origin(hint) is Annotated else (hint, None)
    default = "" if parameter.default in (None, False, inspect.Parameter.empty) else f"`{parameter.default}`"
    meaning = _plain(getattr(info, "help", None))
    if not isinstance(info, OptionInfo):
        return f"`{getattr(info, 'metavar', None) or parameter.name.upper()}`", default, meaning
    spellings = _spellings(parameter.name, value, info)
    takes = "" if value is bool else f" {_type_name(value)}"
    return ", ".join(f"`{spelling}{takes}`" for spelling in spellings), default, meaning


def _spellings(name: str, value: Any, info: OptionInfo) -> list[str]:
    """How the option is written; typer keeps the first declared spelling as the default."""
    declared = [info.default] if isinstance(info.default, str) and info.default.startswith("-") else []
    declared += info.param_decls or ()
    if declared:
        return declared
    option = name.replace("_", "-")
    return [f"--{option}", f"--no-{option}"] if value is bool else [f"--{option}"]


def _type_name(value: Any) -> str:
    """What a person writes there: TEXT, INTEGER, FLOAT, PATH, or one of several words."""
    if get_origin(value) is Literal:
        return "|".join(map(str, get_args(value)))
    inner = next((part for part in get_args(value) if part is not NoneType), None)
    if inner is not None:
        return _type_name(inner)
    return {str: "TEXT", int: "INTEGER", float: "FLOAT", Path: "PATH"}[value]


def _plain(text: Any) -> str:
    """Help as Markdown: rich markup goes, examples become code."""
    text = re.sub(r"\[bold\](--?[\w-]+)\[/\]", r"`\1`", str(text or "").strip())
    text = re.sub(r"(?<!\\)\[/?\w*\](?!\.\.\.)", "**", text).replace("\\[", "[")
    return re.sub(r"^  (llamea-tune.*)$", r"    \1", text, flags=re.MULTILINE)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
