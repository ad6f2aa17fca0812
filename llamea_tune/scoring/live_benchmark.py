"""A benchmark on live spaces: all devices at once, and scores only when all runs are there.

Nothing but measurements is kept, in the recordings: the same command repeats its runs from there, at no cost.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from llamea_tune.exceptions import MissingDependencyError, SettingsError, StrategyError
from llamea_tune.execution import LOCAL, Contender, make_executor
from llamea_tune.runners.trace import RunResult, RunState, failed_run
from llamea_tune.scoring.benchmark_events import ContenderDone, ContenderStarted, Observer, RunsDone, ignore
from llamea_tune.scoring.benchmark_rows import benchmark_rows
from llamea_tune.scoring.benchmarking import (
    Benchmark,
    BenchmarkSettings,
    check_entries,
    make_scorer,
)
from llamea_tune.scoring.contender_runs import STAGE
from llamea_tune.scoring.ranks import thinned
from llamea_tune.scoring.scorer import Scorer
from llamea_tune.spaces.space import Space


def run_live_benchmark(
    contenders: Sequence[Contender],
    spaces: Sequence[Space],
    settings: BenchmarkSettings,
    *,
    jobs: int | None,
    executor: str = LOCAL,
    allow_weak: bool = False,
    observe: Observer = ignore,
) -> Benchmark:
    """Run contenders on live spaces and score them, relative to the lowest cost that is known in the end.

    Args:
        contenders: Contenders with distinct labels.
        spaces: Live spaces.
        settings: How to benchmark.
        jobs: Runs that go on at the same time; fewer than spaces would leave devices idle. None for as many as the executor
            thinks right.
        executor: What makes the runs; see `make_executor`.
        allow_weak: Whether candidates may run where the machine offers only a weaker sandbox.
        observe: Told of the progress.

    Raises:
        SettingsError: A label occurs twice, a setting is for recorded spaces only, or a space cannot be scored on.
        RecordingError: A device stopped working.
        SandboxError: Candidates cannot be run safely here.
    """
    if settings.charge_own_compute:
        message = "charge_own_compute is for recorded spaces; leave it out with live ones"
        raise SettingsError(message, fields=("charge_own_compute",))
    check_entries(contenders, spaces)
    runs: dict[str, dict[str, list[RunResult]]] = {}
    with make_executor(executor, spaces, jobs=jobs, limits=settings.limits, allow_weak=allow_weak) as maker:
        scorer = make_scorer(maker, settings)
        tables = {scale.space: scale.table for scale in scorer.scales}
        for contender in contenders:
            observe(ContenderStarted(contender.label, ", ".join(tables)))
            started = time.monotonic()
            made = _runs(contender, scorer, observe)
            for space in spaces:
                seconds = (time.monotonic() - started) / len(spaces)
                observe(ContenderDone(contender.label, space, made[space.name], reused=0, seconds=seconds))
            runs[contender.label] = {
                name: [thinned(run, tables[name]) for run in of_space] for name, of_space in made.items()
            }
        scales = scorer.latest_scales()
    return Benchmark(settings, scales, benchmark_rows(scales, runs, settings.seed), runs, kept=True)


def _runs(contender: Contender, scorer: Scorer, observe: Observer) -> dict[str, list[RunResult]]:
    """The runs on each space; where one failed, just that run, for all spaces."""
    try:
        made = scorer.run(contender, stage=STAGE, on_progress=lambda done, total: observe(RunsDone(done, total)))
    except (StrategyError, MissingDependencyError) as err:
        failed = failed_run(RunState.FAILED, str(err))
    else:
        bad = [run for of_space in made.values() for run in of_space if not run.state.scorable]
        if not bad:
            return made
        failed = bad[0]
    return {space.name: [failed] for space in scorer.spaces}
