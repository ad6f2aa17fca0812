"""What it costs to measure several configs at a time: measurements until a search is good enough, one by one and in batches.

A search that proposes a batch knows less of each config than one that saw the outcome of all before. Here `llm_gen_best` searches
the bundled recordings with 1, 2 and 4 workers until it has measured a config within 5 % of the best. What N GPUs gain in time is
the measurements that they make a second (`several_gpus.py`) times the ratio of these counts.

    python benchmarks/batches.py [--repeats 100] [--jobs 2] [--spaces convolution/H200 dedispersion/H200 reduction/H200]
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import cache, partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from kernel_tuner.util import StopCriterionReached

from llamea_tune._bundled import bundled_path
from llamea_tune.kernel_tuner_internals import FAILED_COST, strategy_map
from llamea_tune.spaces import RecordedSpace, load_spaces
from llamea_tune.spaces.searchspace import build_searchspace

WORKERS = (1, 2, 4)
WITHIN = 0.05


class Measuring:
    """A cost function that looks costs up, for a number of workers, and stops the search once it is good enough."""

    def __init__(self, space: RecordedSpace, configs: Sequence[tuple[Any, ...]], n_workers: int) -> None:
        """Nothing is measured yet."""
        self.n_measured, self.results = 0, []
        self.runner = SimpleNamespace(available_parallelism=lambda: n_workers)
        self.tuning_options = SimpleNamespace(strategy_options={})
        self._costs = dict(zip(configs, np.where(space.valid, space.costs, FAILED_COST).tolist(), strict=True))
        self._target = (1.0 + WITHIN) * space.optimum

    @property
    def budget_spent_fraction(self) -> float:
        """The share of the space that is measured."""
        return self.n_measured / len(self._costs)

    def eval_all(self, configs: Sequence[Any]) -> list[float]:
        """Costs of configs that are measured at the same time."""
        costs = [self._costs[tuple(config)] for config in configs]
        self.n_measured += len(configs)
        if min(costs) <= self._target:
            raise StopCriterionReached("good enough")
        return costs

    def __call__(self, config: Any) -> float:
        """Cost of one config."""
        return self.eval_all([config])[0]


@cache
def loaded(name: str) -> tuple[RecordedSpace, Any]:
    """A bundled space, `KERNEL/DEVICE`, and Kernel Tuner's `Searchspace` of it."""
    kernel, device = name.split("/")
    space = load_spaces([str(bundled_path("searchspaces") / kernel / "caches" / f"{device}.json.gz")])[0]
    return space, build_searchspace(space.tune_params, space.value_indices)


def measurements(name: str, n_workers: int, seed: int) -> int:
    """How many configs are measured until one is good enough, whole batches counted."""
    space, searchspace = loaded(name)
    random.seed(seed)
    np.random.seed(seed)
    measuring = Measuring(space, [tuple(config) for config in searchspace.list], n_workers)
    with suppress(StopCriterionReached):
        strategy_map["llm_gen_best"].load().MyOptimizer()(measuring, searchspace)
    return measuring.n_measured


def main() -> None:
    """Search and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--spaces", nargs="+", default=("convolution/H200", "dedispersion/H200", "reduction/H200"))
    arguments = parser.parse_args()
    print(f"measurements of llm_gen_best to within {WITHIN:.0%} of the optimum: mean and its standard error; median")
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for name in arguments.spaces:
            for n_workers in WORKERS:
                counts = list(pool.map(partial(measurements, name, n_workers), range(arguments.repeats)))
                error = np.std(counts, ddof=1) / np.sqrt(len(counts))
                print(
                    f"{name:20}{n_workers:3} worker(s){np.mean(counts):8.1f} +- {error:.1f}{np.median(counts):8.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
