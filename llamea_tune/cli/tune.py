"""`llamea-tune tune`: tune the hyperparameters of a strategy."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import options
from llamea_tune.cli.console import duration, err, out, print_json
from llamea_tune.cli.known_beforehand import known_beforehand

if TYPE_CHECKING:
    from llamea_tune.candidate import HyperparameterValue
    from llamea_tune.execution import Contender

_HELP = """
Tune the hyperparameters of a strategy on recorded search spaces, and tell how much of the gain survives on fresh seeds.

A strategy is one of Kernel Tuner's or a generated one by its name, a class in a file, or a candidate of a run. Options
that you give are held fixed. Needs Optuna: pip install 'llamea-tune\\[hpo]'.

Trials that are behind the best so far are stopped early. Everything is kept in the study directory: after
an interruption, or for more trials, give the same command with the same --study.

[bold]Examples[/]

  llamea-tune tune genetic_algorithm --spaces caches/ --trials 100

  llamea-tune tune runs/20260131-140503:0042 --trials 200 --study studies/0042 --export my_strategy

  llamea-tune tune my_strategy.py:MyStrategy:memory=20 --ranges ranges.json --sampler random
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("tune", help=_HELP)(tune)


def tune(
    strategy: Annotated[
        str,
        typer.Argument(
            metavar="STRATEGY", help="NAME, NAME:option=value,..., FILE.py:CLASS, or RUN_DIRECTORY:CANDIDATE."
        ),
    ],
    spaces: options.Spaces = None,
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    prior: options.Prior = None,
    trials: Annotated[int, typer.Option("--trials", "-n", help="Trials to make in all.")] = 100,
    repeats: Annotated[int, typer.Option(help="Runs on each space in a trial that is not stopped.")] = 10,
    final_repeats: Annotated[int, typer.Option(help="Runs on each space, on fresh seeds, to judge the gain.")] = 50,
    sampler: Annotated[str, typer.Option(help="How to choose hyperparameters: tpe, random, cmaes or gp.")] = "tpe",
    prune: Annotated[bool, typer.Option("--prune/--no-prune", help="Stop trials that are behind the best.")] = True,
    ranges: Annotated[
        Path | None,
        typer.Option(help="JSON file with ranges, where the derived ones do not suit.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    baseline: options.Baseline = "exact",
    timeout: options.Timeout = None,
    jobs: options.Jobs = None,
    executor: options.Executor = "local",
    study: Annotated[
        Path | None,
        typer.Option(help="Study directory, new or to go on with; by default a new one.", show_default=False),
    ] = None,
    export: Annotated[
        str | None,
        typer.Option(help="Export it under this name, with tuned defaults.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(help="Folder to export to instead of your own strategies folder.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier export of that name.")] = False,
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Find out what to tune, make the study, judge it, show and export the outcome."""
    from llamea_tune.cli.tune_progress import TuneProgress
    from llamea_tune.cli.tune_tables import as_data, show
    from llamea_tune.exporting.request import check_name
    from llamea_tune.front_door.exports import export as export_as
    from llamea_tune.front_door.exports import exportable
    from llamea_tune.front_door.named_spaces import opened_spaces
    from llamea_tune.front_door.tune_source import find_source
    from llamea_tune.front_door.tune_strategy import new_study
    from llamea_tune.front_door.tune_strategy import tune as make_study
    from llamea_tune.hpo import StudySettings, importances
    from llamea_tune.spaces import Reading

    settings = StudySettings(trials, repeats, seed, sampler, prune, baseline=baseline, limits=options.limits(timeout))
    source = find_source(strategy, ranges)
    if export is not None:  # refuse before the study what would be refused after it
        exportable(source, export)
        check_name(export)
    directory = study or new_study(strategy)
    progress = TuneProgress(trials, quiet=quiet or as_json)
    with opened_spaces(spaces or None, Reading(t1, objective, salvage)) as there:
        opened = known_beforehand(there, prior, seed, quiet=quiet)
        if not quiet:
            err.print(f"study directory: [bold]{directory}[/]   spaces: {', '.join(space.name for space in opened)}")
        try:
            with progress:
                tuned = make_study(
                    source,
                    opened,
                    study=directory,
                    final_repeats=final_repeats,
                    jobs=jobs,
                    executor=executor,
                    allow_weak_sandbox=allow_weak_sandbox,
                    observe=progress,
                    **vars(settings),
                )
        except KeyboardInterrupt:
            command = f"repeat the command with --study {shlex.quote(str(directory))}"
            err.print(f"\nstopped; to go on, {command}", soft_wrap=True)
            raise
    shares = importances(source.tunable, tuned.study.trials, seed)
    exported = None if export is None else export_as(tuned, export, folder=output, force=force)
    if as_json:
        data = {"study": str(directory), **as_data(source.tunable, tuned.study, tuned.rescored, shares)}
        print_json({**data, "exported": str(exported.code_path) if exported else None})
        return
    show(source.tunable, tuned.study, tuned.rescored, shares)
    if exported is not None:
        out.print(f"exported: {exported.code_path}", soft_wrap=True)
    elif tuned.better:
        _show_options(source.tunable.contender, tuned.better)
    if not quiet:
        journal = shlex.quote(str(directory / "journal.log"))
        err.print(f"took {duration(progress.elapsed_s)}; to look at it: optuna-dashboard {journal}", soft_wrap=True)


def _show_options(contender: Contender, values: Mapping[str, HyperparameterValue]) -> None:
    """Say how to use the best hyperparameters."""
    from llamea_tune.execution import SandboxedCandidate

    if isinstance(contender, SandboxedCandidate):
        out.print("\nto use them, set these defaults in __init__, or export the strategy with --export:\n")
        out.print("    " + ", ".join(f"{name}={value!r}" for name, value in values.items()) + "\n", soft_wrap=True)
        return
    out.print("\nto use them in Kernel Tuner:\n")
    every = {**contender.options, **values}
    out.print(f'    strategy="{contender.name}", strategy_options={every!r}\n', soft_wrap=True, markup=False)
