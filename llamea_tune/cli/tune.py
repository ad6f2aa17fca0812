"""`llamea-tune tune`: tune the hyperparameters of a strategy."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import options
from llamea_tune.cli.console import duration, err, out, print_json
from llamea_tune.exceptions import ExportError
from llamea_tune.wording import counted

if TYPE_CHECKING:
    from llamea_tune.candidate import HyperparameterValue
    from llamea_tune.cli.tune_source import TuneSource
    from llamea_tune.exporting import ExportedStrategy
    from llamea_tune.hpo.rescoring import Rescored
    from llamea_tune.hpo.study import StudyResult, StudySettings
    from llamea_tune.spaces.space import Space

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
    from llamea_tune.cli.tune_source import find_source
    from llamea_tune.cli.tune_tables import as_data, show
    from llamea_tune.execution import LocalExecutor
    from llamea_tune.hpo import StudySettings, importances, rescore
    from llamea_tune.hpo import tune as make_study
    from llamea_tune.scoring import Scorer
    from llamea_tune.spaces import Reading

    settings = StudySettings(trials, repeats, seed, sampler, prune, baseline=baseline, limits=options.limits(timeout))
    source = find_source(strategy, ranges)
    if export is not None:
        _check_export(source, export, strategy)
    loaded = options.load(spaces, Reading(t1, objective, salvage))
    directory = study or Path("studies") / f"{_slug(strategy)}-{datetime.now():%Y%m%d-%H%M%S}"
    n_jobs = jobs or os.cpu_count() or 1
    if not quiet:
        err.print(f"study directory: [bold]{directory}[/]   spaces: {', '.join(space.name for space in loaded)}")
    progress = TuneProgress(trials, quiet=quiet or as_json)
    try:
        with (
            progress,
            LocalExecutor(loaded, jobs=n_jobs, limits=settings.limits, allow_weak=allow_weak_sandbox) as executor,
        ):
            scorer = Scorer(executor, repeats=final_repeats, seed=seed, baseline=baseline)
            result = make_study(
                source.subject, executor, settings, directory, scales=scorer.scales, observe=progress.trial
            )
            rescored = rescore(source.subject, result, scorer, on_progress=progress.rescoring)
    except KeyboardInterrupt:
        err.print(f"\nstopped; to go on, repeat the command with --study {shlex.quote(str(directory))}", soft_wrap=True)
        raise
    shares = importances(source.subject, result.trials, seed)
    exported = None
    if export is not None:
        exported = _export(source, export, result, rescored, loaded, settings, output, force=force)
    if as_json:
        data = {"study": str(directory), **as_data(source.subject, result, rescored, shares)}
        print_json({**data, "exported": str(exported.code_path) if exported else None})
        return
    show(source.subject, result, rescored, shares)
    if exported is not None:
        out.print(f"exported: {exported.code_path}", soft_wrap=True)
    elif rescored is not None and rescored.better:
        _show_options(source, rescored.best.values)
    if not quiet:
        journal = shlex.quote(str(directory / "journal.log"))
        err.print(f"took {duration(progress.elapsed_s)}; to look at it: optuna-dashboard {journal}", soft_wrap=True)


def _check_export(source: TuneSource, name: str, strategy: str) -> None:
    """Refuse before the study what would be refused after it."""
    from llamea_tune.exporting.request import check_name

    if source.export_as is None:
        raise ExportError(
            f"{strategy} is not one of llamea-tune's strategies, so it cannot be exported; drop --export."
        )
    check_name(name)


def _export(
    source: TuneSource,
    name: str,
    result: StudyResult,
    rescored: Rescored | None,
    spaces: Sequence[Space],
    settings: StudySettings,
    folder: Path | None,
    *,
    force: bool,
) -> ExportedStrategy:
    """Export the strategy, with the tuned defaults if they are better and its own if they are not."""
    from llamea_tune.exporting import RecordedScore, SpaceReference, export_strategy
    from llamea_tune.strategies import user_folder

    assert source.export_as is not None
    request = source.export_as(name)
    trained = [SpaceReference(space.name, space.content_hash) for space in spaces]
    note = f"{request.note} Hyperparameters: {counted(len(result.trials), 'trial')} with Optuna's {settings.sampler}".strip()
    request = replace(
        request,
        name=name,
        training=tuple(dict.fromkeys([*request.training, *trained])),
        seeds={**request.seeds, "tune": settings.seed},
        note=f"{note} on {', '.join(space.name for space in spaces)}.",
    )
    if rescored is not None:
        card, values = (rescored.tuned, rescored.best.values) if rescored.better else (rescored.default, {})
        request = replace(request, hyperparameters={**request.hyperparameters, **values})
        if card.mean is not None:
            scores = {
                key: RecordedScore(entry.score, entry.interval, entry.repeats) for key, entry in card.spaces.items()
            }
            score = RecordedScore(card.mean, card.interval, rescored.repeats)
            request = replace(request, scores=scores, training_score=score)
    return export_strategy(request, folder or user_folder(), force=force)


def _show_options(source: TuneSource, values: Mapping[str, HyperparameterValue]) -> None:
    """Say how to use the best hyperparameters."""
    from llamea_tune.execution import Program

    contender = source.subject.contender
    if isinstance(contender, Program):
        out.print("\nto use them, set these defaults in __init__, or export the strategy with --export:\n")
        out.print("    " + ", ".join(f"{name}={value!r}" for name, value in values.items()) + "\n", soft_wrap=True)
        return
    out.print("\nto use them in Kernel Tuner:\n")
    every = {**contender.options, **values}
    out.print(f'    strategy="{contender.name}", strategy_options={every!r}\n', soft_wrap=True, markup=False)


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", Path(text).name).strip("-")[:40]
