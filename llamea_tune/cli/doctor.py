"""`llamea-tune doctor`: is this machine fit for the work, and what to do where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import llm_options, options
from llamea_tune.cli.console import err, escape, out, print_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from llamea_tune.cli.doctor_checks import Check

_HELP = """
Check this machine: versions, cores, memory, compilers and GPUs, the sandbox, optional packages, folders.

With [bold]--executor ray:HOST:PORT[/] also the nodes of a cluster: whether each would give the results of this machine, and can
run candidates. With [bold]--proposer[/] also whether that proposer can be reached and answers: a server is asked for one word. The exit
code is 1 if something that is needed fails.

[bold]Examples[/]

  llamea-tune doctor

  llamea-tune doctor --executor ray:10.0.0.1:6379

  llamea-tune doctor --proposer openai:qwen2.5-coder@http://localhost:11434/v1
"""

_MARKS = {"ok": "[green]ok  [/]", "warn": "[yellow]warn[/]", "fail": "[bold red]fail[/]"}


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("doctor", help=_HELP)(doctor)


def doctor(
    proposer: Annotated[
        str | None, typer.Option(help="A proposer to look for, as evolve takes it.", show_default=False)
    ] = None,
    executor: options.Executor = "local",
    llm_timeout: llm_options.Timeout = None,
    llm_answer_timeout: llm_options.AnswerTimeout = None,
    llm_max_retries: llm_options.MaxRetries = None,
    llm_max_wait: llm_options.MaxWait = None,
    llm_api_key_env: llm_options.KeyEnv = None,
    llm_parameter: llm_options.Parameters = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Make the checks, one line each."""
    from llamea_tune.cli.doctor_checks import all_checks

    llm = llm_options.llm_options(
        llm_timeout, llm_answer_timeout, llm_max_retries, llm_max_wait, llm_api_key_env, llm_parameter
    )
    checks = list(_shown(all_checks(proposer, llm, executor), silent=as_json, quiet=quiet))
    failed = [check for check in checks if check.status == "fail"]
    if as_json:
        print_json([{"check": check.what, "status": check.status, "detail": check.detail} for check in checks])
    elif failed:
        err.print(f"\n{len(failed)} of {len(checks)} checks failed", soft_wrap=True)
    if failed:
        raise typer.Exit(1)


def _shown(checks: Iterable[Check], *, silent: bool, quiet: bool) -> Iterable[Check]:
    """The checks, each printed as soon as it is made; in quiet mode only those that are not fine."""
    for check in checks:
        if not silent and not (quiet and check.status == "ok"):
            out.print(f"{_MARKS[check.status]}  {escape(check.what):<27}  {escape(check.detail)}", soft_wrap=True)
        yield check
