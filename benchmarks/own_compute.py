"""How a strategy's own compute goes over the length of a run, beside another's: milliseconds of CPU time for each measurement.

Each strategy makes whole runs of so many measurements on a bundled space, in one process and on one thread; own compute is summed by tenths of
the run, and averaged over runs. Ratios between strategies hold on any machine; milliseconds do not.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/own_compute.py [STRATEGY...] [--space gemm/H200] [--fevals 3000] [--runs 3] \
        [--prior FILE]
"""

from __future__ import annotations

import argparse

import numpy as np
from kernel_tuner.interface import strategy_map

import llamea_tune  # noqa: F401  # puts the generated strategies into Kernel Tuner
from llamea_tune.execution.named import PreparedSpace
from llamea_tune.front_door.named_spaces import AS_THEY_SAY, load_named
from llamea_tune.priors import with_priors
from llamea_tune.runners import Meter, RunBudget
from llamea_tune.runners.compute import ComputeClock
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.strategies import resolve

TENTHS = 10


def main() -> None:
    """Print a line for each strategy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("strategies", nargs="*", default=["llm_gen_best", "genetic_algorithm"])
    parser.add_argument("--space", default="gemm/H200")
    parser.add_argument("--fevals", type=int, default=3000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--prior", action="append", default=[], help="files of recordings or advice; see `priors.md`")
    arguments = parser.parse_args()
    (space,) = with_priors(load_named([arguments.space], AS_THEY_SAY), arguments.prior, seed=1)
    print(
        f"ms for each measurement on {space.name}, by tenths of {arguments.fevals} measurements, {arguments.runs} runs"
    )
    for name in arguments.strategies:
        runs = [milliseconds(name, PreparedSpace(space), arguments.fevals, seed) for seed in range(arguments.runs)]
        tenths = np.mean(runs, axis=0)
        print(f"{name:24}" + "".join(f"{ms:7.2f}" for ms in tenths) + f"   mean {tenths.mean():.2f}", flush=True)


def milliseconds(name: str, prepared: PreparedSpace, fevals: int, seed: int) -> np.ndarray:
    """Own compute for each measurement in each tenth of a run that makes `fevals` of them, if it does not stop before."""
    meter = Meter(prepared.runner, RunBudget(max_fevals=fevals))
    used_us = np.zeros(TENTHS)

    def charge(microseconds: int) -> None:
        used_us[min(int(meter.spent_fraction * TENTHS), TENTHS - 1)] += microseconds

    options = {"maxiter": fevals} if "maxiter" in resolve(name).options else {}  # enough to spend the budget
    run_strategy(
        strategy_map[name],
        prepared.searchspace,
        meter,
        name=name,
        strategy_options=options,
        seed=seed,
        compute=ComputeClock(charge),
        prior=prepared.space.prior,
    )
    return used_us / 1000.0 / (fevals / TENTHS)


if __name__ == "__main__":
    main()
