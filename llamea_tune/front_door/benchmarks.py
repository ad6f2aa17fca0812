"""Compare strategies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LOCAL, Contender, NamedStrategy, SandboxedCandidate, make_contender
from llamea_tune.front_door.named_spaces import AS_THEY_SAY, SpaceLike, opened_spaces
from llamea_tune.priors import with_priors
from llamea_tune.runners.open_live import OnSampled
from llamea_tune.scoring.benchmark_events import Observer, ignore
from llamea_tune.scoring.benchmarking import DEFAULT_STRATEGIES, Benchmark, BenchmarkSettings, run_benchmark
from llamea_tune.scoring.live_benchmark import run_live_benchmark
from llamea_tune.scoring.results_store import ResultsStore
from llamea_tune.spaces import Reading
from llamea_tune.strategies import Origin, catalog

StrategyLike = str | Contender
"""A strategy as on the command line, such as `"pso"` or `"my_strategy.py:MyStrategy"`, or a contender."""


def benchmark(
    strategies: StrategyLike | Iterable[StrategyLike] | None = None,
    spaces: SpaceLike | Iterable[SpaceLike] | None = None,
    *,
    reading: Reading = AS_THEY_SAY,
    prior: str | Sequence[str] = (),
    jobs: int | None = None,
    executor: str = LOCAL,
    fresh: bool = False,
    allow_weak_sandbox: bool = False,
    on_sampled: OnSampled | None = None,
    observe: Observer = ignore,
    **settings: Any,
) -> Benchmark:
    """Compare strategies on search spaces. Finished runs are kept, and not made again by a later call.

    Args:
        strategies: What to compare; by default a good selection of Kernel Tuner's strategies and all generated ones.
        spaces: Files, folders, globs, names of bundled spaces, loaded spaces, or live kernels; by default all bundled
            spaces.
        reading: How the files of the spaces are read.
        prior: What strategies are told of the spaces beforehand: names of `llamea_tune.priors.PRIORS`, or files.
        jobs: Runs at the same time; by default one per core, of all machines that the executor has.
        executor: What makes the runs: `"local"`, `"ray"` or `"ray:HOST:PORT"` for a cluster, or what another package adds.
        fresh: Whether to make all runs anew.
        allow_weak_sandbox: Whether to run candidates where the sandbox is below its stated minimum.
        on_sampled: See `open_live`.
        observe: Told of the progress; see `llamea_tune.scoring.benchmark_events`.
        **settings: Fields of `BenchmarkSettings`, such as `repeats=20`.

    Raises:
        LlameaTuneError: A setting is out of range, or a strategy or a space cannot be used.
    """
    chosen = BenchmarkSettings(**settings)
    contenders = as_contenders(strategies)
    with opened_spaces(spaces, reading, on_sampled, executor=executor) as there:
        opened = with_priors(there, prior, seed=chosen.seed)
        if any(space.opened_as for space in opened):
            if fresh:
                raise SettingsError("fresh is for recorded spaces; leave it out with live ones", fields=("fresh",))
            return run_live_benchmark(
                contenders,
                opened,
                chosen,
                jobs=jobs,
                executor=executor,
                allow_weak=allow_weak_sandbox,
                observe=observe,
            )
        return run_benchmark(
            contenders,
            [space.known for space in opened],
            chosen,
            store=ResultsStore(),
            jobs=jobs,
            executor=executor,
            fresh=fresh,
            allow_weak=allow_weak_sandbox,
            observe=observe,
        )


def as_contenders(strategies: StrategyLike | Iterable[StrategyLike] | None) -> list[Contender]:
    """The contenders that are named, or the default ones.

    Raises:
        StrategyError: One is unknown, or takes no such option.
    """
    if strategies is None:
        generated = [info.name for info in catalog() if info.origin in (Origin.GENERATED, Origin.USER)]
        strategies = [*DEFAULT_STRATEGIES, *generated]
    given = [strategies] if isinstance(strategies, str | NamedStrategy | SandboxedCandidate) else strategies
    return [make_contender(entry) if isinstance(entry, str) else entry for entry in given]
