"""Times scoring: this library against autotuning_methodology driving Kernel Tuner, for the same work.

Both run three strategies on three convolution spaces and score them. The time of each is split into the strategies' own
code (inside `tune`, outside the cost function; neighbour look-ups belong to it) and everything else. Each side runs in a
process of its own, one run at a time, and its CPU time is reported, so that load from elsewhere matters little. This
library keeps compiled spaces and baselines on disk: the row "first time" is without them. The last line is wall-clock time
with all cores.

    python benchmarks/scoring.py [--repeats 25] [--hub PATH] [--jobs 2]
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import gzip
import json
import multiprocessing
import os
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "genetic_algorithm": {},
    "simulated_annealing": {},
    "random_sample": {"fraction": 0.1},
}
STRATEGIES = tuple(OPTIONS)
KERNEL = "convolution_milo"
GPUS = ("A100", "A4000", "MI250X")
DEFAULT_HUB = Path(__file__).parent.parent.parent / "shared" / "data" / "benchmark_hub"


def main() -> None:
    """Run the benchmark and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--hub", type=Path, default=Path(os.environ.get("LLAMEA_TUNE_HUB", DEFAULT_HUB)))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    print(f"{len(STRATEGIES)} strategies, {len(GPUS)} spaces, {arguments.repeats} repeats; CPU seconds")
    print(f"{'strategy':22}{'':14}{'own code':>10}{'all else':>10}{'total':>10}   score")
    for strategy in STRATEGIES:
        with tempfile.TemporaryDirectory() as folder:
            theirs = in_process(time_methodology, arguments.hub, Path(folder), strategy, arguments.repeats)
        with tempfile.TemporaryDirectory() as store:
            os.environ["LLAMEA_TUNE_CACHE"] = store
            first, ours = (in_process(time_library, arguments.hub, strategy, arguments.repeats) for _ in range(2))
        for side, cost in (("methodology", theirs), ("first time", first), ("llamea-tune", ours)):
            print(f"{strategy:22}{side:14}{cost.own_s:10.3f}{cost.rest_s:10.3f}{cost.total_s:10.3f}   {cost.score:.3f}")
        ratios = theirs.own_s / ours.own_s, theirs.rest_s / ours.rest_s, theirs.total_s / ours.total_s
        print(f"{strategy:22}{'ratio':14}{ratios[0]:10.1f}{ratios[1]:10.1f}{ratios[2]:10.1f}", flush=True)
    wall_s = in_process(time_wall_clock, arguments.hub, arguments.repeats, arguments.jobs)
    print(f"llamea-tune, all of it with {arguments.jobs} jobs: {wall_s:.2f} s of wall-clock time")


def in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


class OwnTime:
    """Wall-clock time inside `tune` and outside the cost function; only its fraction of the whole is used."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._since = 0.0

    def strategy(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a strategy's `tune`."""

        def timed(*arguments: Any) -> Any:
            self._since = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                self.seconds += time.perf_counter() - self._since

        return timed

    def evaluation(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the cost function."""

        def timed(*arguments: Any, **keywords: Any) -> Any:
            self.seconds += time.perf_counter() - self._since
            try:
                return function(*arguments, **keywords)
            finally:
                self._since = time.perf_counter()

        return timed


@dataclass(frozen=True)
class Cost:
    """What a side took, in CPU seconds, and the score it gave."""

    own_s: float
    total_s: float
    score: float

    @property
    def rest_s(self) -> float:
        """Everything but the strategy's own code."""
        return self.total_s - self.own_s


def measure(strategy: str, work: Callable[[], float], owner: Any, attribute: str) -> Cost:
    """Time some work, and how much of it is the strategy's own code.

    Args:
        strategy: Its name.
        work: Does the work and gives the score.
        owner: Where this side's cost function is defined.
        attribute: Its name there.
    """
    module = import_module(f"kernel_tuner.strategies.{strategy}")
    clock = OwnTime()
    module.tune = clock.strategy(module.tune)  # type: ignore[attr-defined]
    setattr(owner, attribute, clock.evaluation(getattr(owner, attribute)))
    wall, cpu = time.perf_counter(), time.process_time()
    score = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Cost(cpu * clock.seconds / wall, cpu, score)


def time_library(hub: Path, strategy: str, repeats: int) -> Cost:
    """Load the spaces, run and score with this library, in one process."""
    from llamea_tune.execution import NamedStrategy, Run
    from llamea_tune.execution.named import PreparedSpace, run_named
    from llamea_tune.runners import evaluation
    from llamea_tune.runners.meter import RunBudget
    from llamea_tune.scoring import run_seed, scorecard, space_scale
    from llamea_tune.spaces import load_space

    def work() -> float:
        spaces = [load_space(hub / "cachefiles" / KERNEL / f"{gpu}.json.gz") for gpu in GPUS]
        scales = [space_scale(space) for space in spaces]
        trusted_spaces = [PreparedSpace(space) for space in spaces]
        gc.collect()
        gc.freeze()  # as `LocalExecutor` does before it forks its workers
        runs = {}
        for space, scale, trusted in zip(spaces, scales, trusted_spaces, strict=True):
            budget = RunBudget(scale.budget.time_limit_us)
            seeds = [run_seed(1, space.content_hash, repeat) for repeat in range(repeats)]
            named = NamedStrategy(strategy, strategy, OPTIONS[strategy])
            runs[space.name] = [run_named(trusted, Run(named, 0, seed, budget)) for seed in seeds]
        return scorecard(strategy, scales, runs).mean or 0.0

    return measure(strategy, work, evaluation, "evaluate")


def time_methodology(hub: Path, folder: Path, strategy: str, repeats: int) -> Cost:
    """Run and score with autotuning_methodology; its input is made ready before, untimed."""
    from autotuning_methodology.report_experiments import get_strategy_scores
    from kernel_tuner.strategies.common import CostFunc

    experiment = write_experiment(hub, folder, strategy, repeats)
    os.chdir(folder)

    def work() -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(get_strategy_scores(str(experiment))[strategy]["score"])

    with (
        (folder / "output.txt").open("w") as quiet,
        contextlib.redirect_stdout(quiet),
        contextlib.redirect_stderr(quiet),
    ):
        return measure(strategy, work, CostFunc, "eval_all")


def time_wall_clock(hub: Path, repeats: int, jobs: int) -> float:
    """Wall-clock seconds for all strategies with this library on several cores, loading included."""
    from llamea_tune.execution import NamedStrategy
    from llamea_tune.spaces import load_space
    from llamea_tune.testing.local_scorer import local_scorer

    started = time.perf_counter()
    spaces = [load_space(hub / "cachefiles" / KERNEL / f"{gpu}.json.gz") for gpu in GPUS]
    with local_scorer(spaces, repeats=repeats, seed=1, jobs=jobs) as scorer:
        for strategy in STRATEGIES:
            scorer.score(NamedStrategy(strategy, strategy, OPTIONS[strategy]))
    return time.perf_counter() - started


def write_experiment(hub: Path, folder: Path, strategy: str, repeats: int) -> Path:
    """Lay out what autotuning_methodology reads: T1 description, kernel file, caches, T4 files, experiment."""
    from autotuning_methodology.experiments import generate_experiment_file

    shutil.copy(hub / "kernels" / f"{KERNEL}.json", folder)
    (folder / f"{KERNEL}.cu").write_text("// only simulated\n")
    for gpu in GPUS:
        text = gzip.decompress((hub / "cachefiles" / KERNEL / f"{gpu}.json.gz").read_bytes()).decode()
        (folder / f"{gpu}.json").write_text(text)
        (folder / f"{gpu}_T4.json").write_text(json.dumps(t4_of(json.loads(text))))
    os.chdir(folder)
    attributes = [{"name": name, "value": value} for name, value in OPTIONS[strategy].items()]
    return generate_experiment_file(
        "timing",
        folder,
        [
            {
                "name": strategy,
                "search_method": strategy,
                "display_name": strategy,
                "autotuner": "KernelTuner",
                "search_method_hyperparameters": attributes,
            }
        ],
        applications=[
            {
                "name": KERNEL,
                "folder": str(folder),
                "input_file": f"{KERNEL}.json",
                "objective_performance_keys": ["time"],
            }
        ],
        gpus=list(GPUS),
        override={
            "experimental_groups_defaults": {
                "repeats": repeats,
                "minimum_fraction_of_budget_valid": 0.01,
                "minimum_number_of_valid_search_iterations": 2,
                "pattern_for_full_search_space_filenames": {"regex": f"{folder}/${{gpus}}_T4.json"},
            }
        },
    )


def t4_of(cache: dict[str, Any]) -> dict[str, Any]:
    """A Kernel Tuner cache as T4."""
    names = cache["tune_params_keys"]
    return {
        "metadata": {"timeunit": "milliseconds"},
        "schema_version": "1.0.0",
        "results": [
            {
                "timestamp": entry["timestamp"],
                "configuration": {name: entry[name] for name in names},
                "times": {
                    "compilation": entry["compile_time"],
                    "framework": entry["framework_time"],
                    "search_algorithm": entry["strategy_time"],
                    "validation": entry["verification_time"],
                    "runtimes": entry.get("times", [0.0]),
                },
                "invalidity": "correct" if isinstance(entry["time"], float) else "runtime",
                "correctness": int(isinstance(entry["time"], float)),
                "measurements": [{"name": "time", "value": entry["time"], "unit": ""}],
                "objectives": ["time"],
            }
            for entry in cache["cache"].values()
        ],
    }


if __name__ == "__main__":
    main()
