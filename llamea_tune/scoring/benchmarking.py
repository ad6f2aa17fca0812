"""A benchmark: every contender on every space, with what was finished earlier taken from the store."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from llamea_tune.exceptions import MissingDependencyError, SettingsError, StrategyError
from llamea_tune.execution import Contender, Executor, Limits, LocalExecutor
from llamea_tune.runners.trace import RunResult, RunState, failed_run, to_first_failure
from llamea_tune.scoring.baselines import BASELINES
from llamea_tune.scoring.benchmark_events import ContenderDone, ContenderStarted, Observer, RunsDone, ignore
from llamea_tune.scoring.benchmark_rows import BenchmarkRow, benchmark_rows
from llamea_tune.scoring.cutoff import space_budget
from llamea_tune.scoring.ranks import thinned
from llamea_tune.scoring.results_store import ResultsStore, runs_key
from llamea_tune.scoring.score import SpaceScale
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.spaces.space import RecordedSpace, Space

STAGE = "benchmark"  # seeds that no candidate was selected on
_SECONDS_BETWEEN_SAVINGS = 30.0

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
    jobs: int = 1,
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
        jobs: Processes that run at the same time; results do not depend on it.
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
    for space in spaces:
        with LocalExecutor([space], jobs=jobs, limits=settings.limits, allow_weak=allow_weak) as executor:
            scorer = make_scorer(executor, settings)
            scale = scorer.scales[0]
            for contender in contenders:
                observe(ContenderStarted(contender.label, space.name))
                done, was_kept = _all_runs(contender, space, scorer, settings, store, fresh, observe)
                kept = kept and was_kept
                observe(done)
                runs[contender.label][space.name] = [thinned(run, scale.table) for run in done.runs]
        scales.append(scale)
    return Benchmark(settings, tuple(scales), benchmark_rows(scales, runs, settings.seed), runs, kept)


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


def _all_runs(
    contender: Contender,
    space: RecordedSpace,
    scorer: Scorer,
    settings: BenchmarkSettings,
    store: ResultsStore,
    fresh: bool,
    tell: Observer,
) -> tuple[ContenderDone, bool]:
    """The runs of a contender on a space, and whether they are safe in the store."""
    started = time.monotonic()
    reused, safe = 0, True
    try:
        key = runs_key(
            contender,
            space,
            seed=settings.seed,
            limits=settings.limits,
            charged=settings.charge_own_compute,
            target=settings.stop_at_target,
        )
        kept = {} if fresh else store.load(key, space)
        made = {number: run for number, run in kept.items() if number < settings.repeats}
        reused = len(made)
        missing = _missing(made, settings.repeats)
        if missing:
            safe = _make(contender, scorer, missing, made, lambda: store.save(key, made, space), tell)
        runs = to_first_failure(made[number] for number in sorted(made))
    except (StrategyError, MissingDependencyError) as err:  # its file is broken, or it needs a package
        runs = [failed_run(RunState.FAILED, str(err))]
    return ContenderDone(contender.label, space, runs, min(reused, len(runs)), time.monotonic() - started), safe


def _missing(made: Mapping[int, RunResult], repeats: int) -> list[int]:
    """Numbers of the repeats that are still to be made; what comes after a failed one is not needed."""
    end = min((number for number, run in made.items() if not run.state.scorable), default=repeats)
    return [number for number in range(end) if number not in made]


def _make(
    contender: Contender,
    scorer: Scorer,
    missing: Sequence[int],
    made: dict[int, RunResult],
    save: Callable[[], bool],
    tell: Observer,
) -> bool:
    """Add the missing repeats; save now and then, and whatever happens. Whether the last saving went well."""
    reused, latest = len(made), time.monotonic()
    try:
        with closing(scorer.each_run(contender, repeats=missing, stage=STAGE)) as runs:
            for number, _, run in runs:
                made[number] = run
                tell(RunsDone(len(made), scorer.repeats, reused))
                if time.monotonic() - latest > _SECONDS_BETWEEN_SAVINGS:
                    save()
                    latest = time.monotonic()
    finally:
        safe = save()
    return safe
