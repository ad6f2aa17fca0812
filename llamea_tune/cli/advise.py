"""`llamea-tune advise`: ask a language model what it expects of a kernel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import live, llm_options, options
from llamea_tune.cli.console import Lines, err, escape, out, print_json
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.front_door.advice import KeptAdvice
    from llamea_tune.llm.language_model import OnWaiting, Waiting

_HELP = """
Ask a language model which configs of a kernel it would measure first, and what it expects of each parameter.

It is shown the source, where there is one, the parameters with their values, the restrictions, the device and the problem
size, and nothing that was measured. The answer is kept as a small file, a prior for strategies that take one.

KERNEL is a kernel folder, a T1 file, the name of a bundled kernel, or a recording (a Kernel Tuner cache or a T4 file). The
source is shown if it lies in the folder of the T1 file that names it; where there is none, say what the kernel does with
[bold]--about[/].

[bold]Examples[/]

  llamea-tune advise searchspaces/gemm --device 'NVIDIA H200' --proposer openai:gpt-4o

  llamea-tune advise my_caches/gemm/A4000.json --about 'Matrix product in single precision' --proposer handoff:prompts/

  llamea-tune advise nbody --device 'NVIDIA H200' --problem-size 262144 --proposer openai:qwen3@http://localhost:8000/v1
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("advise", help=_HELP)(advise)


def advise(
    kernel: Annotated[
        str,
        typer.Argument(metavar="KERNEL", help="Kernel folder, T1 file, name of a bundled kernel, cache or T4 file."),
    ],
    proposer: Annotated[
        str,
        typer.Option(
            "--proposer",
            "--llm",
            help="Who is asked: openai:MODEL[@URL], handoff:FOLDER, replay:PATH or replay-by-key:PATH.",
        ),
    ],
    device: Annotated[
        str | None,
        typer.Option(help="Name of the device, instead of the recorded one.", show_default=False),
    ] = None,
    problem_size: Annotated[
        str | None,
        typer.Option(help="Problem size, such as 4096,4096, instead of the recorded one.", show_default=False),
    ] = None,
    about: Annotated[str, typer.Option(help="What the kernel does, in words.", show_default=False)] = "",
    hide_names: Annotated[
        bool, typer.Option("--hide-names", help="Rename the kernel, its parameters and texts; show no source.")
    ] = False,
    hide_device: Annotated[bool, typer.Option("--hide-device", help="Do not tell the device.")] = False,
    hide_source: Annotated[bool, typer.Option("--hide-source", help="Do not show the source.")] = False,
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for the file; by default advice/ in the kernel's folder.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Ask again where there is advice already.")] = False,
    llm_timeout: llm_options.Timeout = None,
    llm_answer_timeout: llm_options.AnswerTimeout = None,
    llm_max_retries: llm_options.MaxRetries = None,
    llm_max_wait: llm_options.MaxWait = None,
    llm_api_key_env: llm_options.KeyEnv = None,
    llm_parameter: llm_options.Parameters = None,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask, keep the answer, show what was said."""
    from llamea_tune.advising import Hiding
    from llamea_tune.front_door.advice import advise as ask
    from llamea_tune.spaces import Reading

    kept = ask(
        live.find_kernel(kernel),
        proposer,
        device=device,
        problem_size=None if problem_size is None else _sizes(problem_size),
        about=about,
        hiding=Hiding(hide_names, hide_source, hide_device),
        reading=Reading(t1, objective, salvage),
        output=output,
        force=force,
        llm=llm_options.llm_options(
            llm_timeout, llm_answer_timeout, llm_max_retries, llm_max_wait, llm_api_key_env, llm_parameter
        ),
        on_waiting=None if quiet else _show_waiting(),
    )
    if as_json:
        print_json({"file": str(kept.path), **kept.advice.to_json()})
        return
    out.print(escape(str(kept.path)), soft_wrap=True)
    if not quiet:
        _show(kept)


def _sizes(text: str) -> tuple[int, ...]:
    from llamea_tune.exceptions import SettingsError

    parts = re.split(r"\s*[x,]\s*", text.strip())
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise SettingsError(f"--problem-size is {text!r}; write whole numbers above 0, such as 4096,4096")
    return tuple(map(int, parts))


def _show_waiting() -> OnWaiting:
    line = Lines()

    def show(waiting: Waiting) -> None:
        line(f"{escape(waiting.reason)}; asked again in {waiting.seconds:.0f} s")

    return show


def _show(kept: KeptAdvice) -> None:
    opinion = kept.advice.opinion
    if opinion.summary:
        err.print(f"\n{escape(opinion.summary)}\n", soft_wrap=True)
    for number, named in enumerate(opinion.configs, start=1):
        values = ", ".join(
            f"{name}={value}" for name, value in named.config.items() if len(kept.advice.tune_params[name]) > 1
        )
        err.print(f"{number:>2}  {named.cost:5.2f}  {escape(values)}", soft_wrap=True)
    said = f"{counted(len(opinion.effects), 'parameter')} and {counted(len(opinion.rules), 'rule')}"
    err.print(f"\n[dim]expectations of {said}[/]", soft_wrap=True)
    for note in kept.advice.notes:
        err.print(f"[dim]not used: {escape(note)}[/]", soft_wrap=True)
