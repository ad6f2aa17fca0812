"""A benchmark: every contender on every space, with what was finished earlier taken from the store."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from llamea_tune.exceptions import MissingDependencyError, SettingsError, StrategyError
from llamea_tune.execution import LOCAL, Contender, Executor, Limits, make_executor
from llamea_tune.runners.trace import RunResult
from llamea_tune.scoring.baselines import BASELINES
from llamea_tune.scoring.benchmark_events import ContenderDone, ContenderStarted, Observer, RunsDone, ignore
from llamea_tune.scoring.benchmark_rows import BenchmarkRow, benchmark_rows
from llamea_tune.scoring.contender_runs import ContenderRuns, make_runs
from llamea_tune.scoring.cutoff import space_budget
from llamea_tune.scoring.ranks import thinned
from llamea_tune.scoring.results_store import ResultsStore, runs_key
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.spaces.space import RecordedSpace, Space

DEFAULT_STRATEGIES = (
    "adaptive_tabu_greywolf",
    "diff_evo",
    "firefly_algorithm",
    "genetic_algorithm",
    "greedy_ils",
    "greedy_mls",
    "mls",
    "pso",
    "random_sample",
    "simulated_annealing",
)
"""Kernel Tuner's strategies that need no optional package and little time of their own."""


@dataclass(frozen=True)
class BenchmarkSettings:
    """How to benchmark.

    Attributes:
        repeats: Runs of each contender on each space.
        seed: Master seed.
        baseline: Name of the baseline that scores are relative to.
        charge_own_compute: Whether what named strategies compute themselves counts as time spent.
        stop_at_target: Whether runs, but for the first on each space, end where nothing could change their score any
            more.
        limits: What one run of a candidate may use.
    """

    repeats: int = 100
    seed: int = 1
    baseline: str = "exact"
    charge_own_compute: bool = False
    stop_at_target: bool = False
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: A number is out of range, or the baseline is unknown.
        """
        if self.repeats < 1:
            raise SettingsError(f"repeats is {self.repeats}; it must be at least 1", fields=("repeats",))
        if not 0 <= self.seed < 2**32:
            raise SettingsError(f"seed is {self.seed}; it must lie between 0 and 4294967295", fields=("seed",))
        if self.baseline not in BASELINES:
            message = f"baseline is {self.baseline!r}; choose one of {', '.join(BASELINES)}"
            raise SettingsError(message, fields=("baseline",))


@dataclass(frozen=True, eq=False)
class Benchmark:
    """The outcome of a benchmark.

    Attributes:
        settings: How it was made.
        scales: Scale of each space, in the order given.
        rows: Best first; those that failed last.
        runs: Runs by contender and space; of their traces only the improvements, which are all that scores depend on.
        kept: Whether all finished runs could be written to the store.
    """

    settings: BenchmarkSettings
    scales: tuple[SpaceScale, ...]
    rows: tuple[BenchmarkRow, ...]
    runs: Mapping[str, Mapping[str, Sequence[RunResult]]]
    kept: bool


def run_benchmark(
    contenders: Sequence[Contender],
    spaces: Sequence[RecordedSpace],
    settings: BenchmarkSettings,
    *,
    store: ResultsStore,
    jobs: int | None = 1,
    executor: str = LOCAL,
    fresh: bool = False,
    allow_weak: bool = False,
    observe: Observer = ignore,
) -> Benchmark:
    """Run contenders on spaces and score them. A contender that fails is a row with its reason.

    Args:
        contenders: Contenders with distinct labels.
        spaces: Search spaces with distinct names.
        settings: How to benchmark.
        store: Where finished runs are kept, and looked for.
        jobs: Runs that go on at the same time; None for as many as the executor thinks right. Results do not depend on it.
        executor: What makes the runs; see `make_executor`.
        fresh: Whether to make all runs anew.
        allow_weak: Whether candidates may run where the machine offers only a weaker sandbox.
        observe: Told of the progress.

    Raises:
        SettingsError: A setting is out of range, a label or name occurs twice, or a space cannot be scored on.
        SandboxError: Candidates cannot be run safely here.
    """
    check_entries(contenders, spaces)
    scales: list[SpaceScale] = []
    runs: dict[str, dict[str, Sequence[RunResult]]] = {contender.label: {} for contender in contenders}
    kept = True
    # Locally the spaces come one by one, as their workers hold all that they are given in memory.
    for group in [[space] for space in spaces] if executor == LOCAL else [list(spaces)]:
        with make_executor(executor, group, jobs=jobs, limits=settings.limits, allow_weak=allow_weak) as maker:
            scorer = make_scorer(maker, settings)
            kept = _make(contenders, group, scorer, settings, store, fresh, runs, observe) and kept
        scales += scorer.scales
    return Benchmark(settings, tuple(scales), benchmark_rows(scales, runs, settings.seed), runs, kept)


def _make(
    contenders: Sequence[Contender],
    spaces: Sequence[RecordedSpace],
    scorer: Scorer,
    settings: BenchmarkSettings,
    store: ResultsStore,
    fresh: bool,
    runs: dict[str, dict[str, Sequence[RunResult]]],
    observe: Observer,
) -> bool:
    """Add the runs of contenders on the spaces of a scorer. Whether all are safe in the store."""
    order = [(contender, number) for number in range(len(spaces)) for contender in contenders]
    names = iter([(contender.label, spaces[number].name) for contender, number in order])
    kept, started = True, time.monotonic()
    observe(ContenderStarted(*next(names)))
    all_runs = (_kept_runs(contender, spaces[number], number, settings, store, fresh) for contender, number in order)
    with closing(make_runs(scorer, store, all_runs)) as steps:
        for entry, complete in steps:
            if not complete:
                observe(RunsDone(len(entry.made), settings.repeats, entry.reused))
                continue
            made, now = entry.runs(), time.monotonic()
            observe(
                ContenderDone(entry.contender.label, entry.space, made, min(entry.reused, len(made)), now - started)
            )
            runs[entry.contender.label][entry.space.name] = [
                thinned(run, scorer.scales[entry.number].table) for run in made
            ]
            kept, started = kept and entry.kept, now
            if (following := next(names, None)) is not None:
                observe(ContenderStarted(*following))
    return kept


def _kept_runs(
    contender: Contender,
    space: RecordedSpace,
    number: int,
    settings: BenchmarkSettings,
    store: ResultsStore,
    fresh: bool,
) -> ContenderRuns:
    """The runs of a contender on a space, with those that are kept from before."""
    try:
        key = runs_key(
            contender,
            space,
            seed=settings.seed,
            limits=settings.limits,
            charged=settings.charge_own_compute,
            target=settings.stop_at_target,
        )
    except (StrategyError, MissingDependencyError) as err:
        return ContenderRuns(contender, space, number, "", {}, 0, 0, err)
    kept = {} if fresh else store.load(key, space)
    made = {repeat: run for repeat, run in kept.items() if repeat < settings.repeats}
    end = min((repeat for repeat, run in made.items() if not run.state.scorable), default=settings.repeats)
    return ContenderRuns(contender, space, number, key, made, len(made), end)


def make_scorer(executor: Executor, settings: BenchmarkSettings) -> Scorer:
    """The scorer of a benchmark.

    Raises:
        SettingsError: A space cannot be scored on, or not so.
    """
    return Scorer(
        executor,
        repeats=settings.repeats,
        seed=settings.seed,
        baseline=settings.baseline,
        charge_own_compute=settings.charge_own_compute,
        stop_at_target=settings.stop_at_target,
    )


def check_entries(contenders: Sequence[Contender], spaces: Sequence[Space]) -> None:
    """Refuse what cannot be compared.

    Raises:
        SettingsError: A label occurs twice, there is no contender, or a space cannot be scored on.
    """
    labels = [contender.label for contender in contenders]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise SettingsError(f"the strategy {twice!r} is named twice; name it once")
    if not contenders:
        raise SettingsError("no strategy is named; name one, such as simulated_annealing")
    for space in spaces:
        space_budget(space)  # refuses what cannot be scored on now, rather than after hours
