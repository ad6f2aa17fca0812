"""`llamea-tune benchmark`: compare strategies."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli import live, options
from llamea_tune.cli.console import err, print_json
from llamea_tune.cli.known_beforehand import known_beforehand

if TYPE_CHECKING:
    from llamea_tune.scoring.benchmark_events import Event, Observer

_HELP = """
Compare strategies on recorded search spaces, or live on a kernel and a device at hand: scores with intervals, and which differences are more than luck.

A strategy is one of Kernel Tuner's or a generated one by its name, with options if need be, an optimizer of Optuna, SMAC3, Nevergrad
or pyATF, or a class in a file, which runs in the sandbox. Without any, a good selection of Kernel Tuner's own and all generated ones
are compared.

What is finished is kept: after an interruption the same command goes on from there, and strategies added later are run
beside those that are there.

[bold]Examples[/]

  llamea-tune benchmark

  llamea-tune benchmark simulated_annealing genetic_algorithm:popsize=30 optuna:tpe pyatf:torczon --spaces caches/

  llamea-tune benchmark pso my_strategy.py:MyStrategy --spaces 'hub/*/A100.json.gz' --plot curves.pdf --csv scores.csv

  llamea-tune benchmark pso simulated_annealing --live searchspaces/gemm --device all --repeats 20

  llamea-tune benchmark --spaces caches/ --executor ray:10.0.0.1:6379
"""


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("benchmark", help=_HELP)(benchmark)


def benchmark(
    strategies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STRATEGY]...",
            help="NAME, NAME:option=value,..., LIBRARY:OPTIMIZER, or FILE.py:CLASS.",
            show_default=False,
        ),
    ] = None,
    spaces: options.Spaces = None,
    t1: options.T1 = None,
    objective: options.Objective = None,
    salvage: options.Salvage = False,
    live_kernel: live.Kernels = None,
    backend: live.Backend = None,
    compiler: live.Compiler = None,
    device: live.Devices = "0",
    live_sample: live.Sample = 80,
    live_budget: live.Budget = None,
    live_recordings: live.Recordings = Path("live"),
    prior: options.Prior = None,
    repeats: Annotated[int, typer.Option("--repeats", "-n", help="Runs of each strategy on each space.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 1,
    baseline: options.Baseline = "exact",
    charge_own_compute: Annotated[
        bool,
        typer.Option(
            "--charge-own-compute",
            help="Count what named strategies compute themselves as time spent; scores then depend on this machine.",
        ),
    ] = False,
    stop_at_target: Annotated[
        bool,
        typer.Option(
            "--stop-at-target",
            "--stop-when-settled",
            help="End runs, but the first on each space, once they have measured the best config or scoring is over: "
            "the same scores, sooner. Requests and failures are then those up to there.",
        ),
    ] = False,
    timeout: options.Timeout = None,
    jobs: options.Jobs = None,
    executor: options.Executor = "local",
    fresh: Annotated[bool, typer.Option("--fresh", help="Make all runs anew, even those that are kept.")] = False,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            "--report",
            "--plot",
            help="Write a report by suffix: curves over the budget and a map of all scores as png, pdf or svg, data as "
            "csv or json, or what another package adds; may be repeated.",
            show_default=False,
        ),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write all scores as CSV.", show_default=False)] = None,
    ioh: Annotated[
        Path | None,
        typer.Option(help="Folder to write IOHprofiler data to, for IOHanalyzer.", show_default=False),
    ] = None,
    timings: Annotated[
        bool,
        typer.Option("--timings", help="Put own compute into JSON and CSV too; they then differ from call to call."),
    ] = False,
    allow_weak_sandbox: options.AllowWeakSandbox = False,
    quiet: options.Quiet = False,
    as_json: options.AsJson = False,
) -> None:
    """Load the spaces, make the runs, show and write the outcome."""
    from llamea_tune.cli.benchmark_progress import BenchmarkProgress
    from llamea_tune.cli.benchmark_tables import show_benchmark
    from llamea_tune.front_door.benchmarks import as_contenders
    from llamea_tune.front_door.benchmarks import benchmark as compare
    from llamea_tune.front_door.named_spaces import opened_spaces
    from llamea_tune.report.benchmark_data import benchmark_csv, benchmark_json
    from llamea_tune.report.files import check_targets, report_of, write_bytes
    from llamea_tune.report.ioh_data import IohWriter
    from llamea_tune.scoring.benchmarking import BenchmarkSettings
    from llamea_tune.scoring.results_store import ResultsStore
    from llamea_tune.spaces import Reading

    check_targets(reports=report or [], texts=[csv] if csv else [], folders=[ioh] if ioh else [])
    contenders = as_contenders(strategies or None)
    settings = BenchmarkSettings(
        repeats=repeats,
        seed=seed,
        baseline=baseline,
        charge_own_compute=charge_own_compute,
        stop_at_target=stop_at_target,
        limits=options.limits(timeout),
    )
    lives = live.live_kernels(
        live_kernel,
        backend=backend,
        compiler=compiler,
        devices=device,
        executor=executor,
        sample=live_sample,
        budget_s=live_budget,
        recordings=live_recordings,
    )
    if lives:
        _refuse_beside_live(
            {
                "--ioh": ioh,
                "--charge-own-compute": charge_own_compute,
                "--stop-at-target": stop_at_target,
                "--fresh": fresh,
            }
        )
    reading = Reading(t1, objective, salvage)
    named = live.one_kind(spaces, reading, lives)
    try:
        with opened_spaces(named, reading, live.sampling_lines(quiet=quiet), executor=executor) as there:
            loaded = known_beforehand(there, prior, seed, quiet=quiet)
            progress = BenchmarkProgress(contenders, loaded, repeats, quiet=quiet)
            with progress, IohWriter(ioh) if ioh else nullcontext() as writer:
                outcome = compare(
                    contenders,
                    loaded,
                    jobs=jobs,
                    executor=executor,
                    fresh=fresh,
                    allow_weak_sandbox=allow_weak_sandbox,
                    observe=_both(progress, writer),
                    **vars(settings),
                )
    except KeyboardInterrupt:
        kept = "all measurements" if lives else "finished runs"
        message = f"stopped; {kept} are kept, and the same command goes on from there"
        err.print(f"\n{message}", soft_wrap=True)
        raise
    if csv:
        write_bytes(csv, benchmark_csv(outcome, timings=timings).encode())
    for path in report or []:
        write_bytes(path, report_of(path)(outcome, loaded, timings=timings))
    if as_json:
        print_json(benchmark_json(outcome, loaded, timings=timings))
    else:
        show_benchmark(outcome)
    if not quiet:
        progress.say_what_it_took(outcome.kept, ResultsStore().folder)
    if all(row.card.mean is None for row in outcome.rows):
        raise typer.Exit(1)


def _refuse_beside_live(given: Mapping[str, object]) -> None:
    """Refuse what takes a recorded space, before anything is measured.

    Raises:
        SettingsError: Such an option is given.
    """
    from llamea_tune.exceptions import SettingsError

    for option, value in given.items():
        if value:
            raise SettingsError(
                f"{option} needs recorded spaces, whose optimum and times are known; leave it out with --live"
            )


def _both(progress: Observer, writer: Observer | None) -> Observer:
    def observe(event: Event) -> None:
        progress(event)
        if writer is not None:
            writer(event)

    return observe
