"""How many live measurements a tuning run needs with a recording of another GPU as its prior, and without.

Every run tunes a kernel of this package live, by `tune_kernel(..., strategy_options={"prior": FILE})`, until it has found a config
within 5 % of the best in the bundled recording of this device, or has made its measurements. That recording is looked at by
nobody but this rule; the prior is the recording of the other device. Runs with and without a prior take turns, from the same seeds.

    python benchmarks/live_priors.py gemm reduction --json live_priors.json
    python benchmarks/live_priors.py matmul_openmp --dry-run   # a C kernel, its own recording as the prior: shows that all works

Needs CuPy and a GPU that there are recordings of (H100, H200). The output is written after every run.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from kernel_tuner import tune_kernel

import llamea_tune
from llamea_tune._bundled import bundled_path
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces import load_spaces
from llamea_tune.storage import write_text


@dataclass
class Run:
    """One tuning run.

    Attributes:
        reached: How many measurements it took to reach the target; None if it was not reached.
        best_ms: The best so far after each measurement; None where all failed until then.
    """

    kernel: str
    prior: str
    repeat: int
    target_ms: float
    reached: int | None = None
    best_ms: list[float | None] = field(default_factory=list)
    device: str = ""
    seconds: float = 0.0
    told: str = ""


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="+", help="folders in searchspaces/")
    parser.add_argument("--strategy", default="llm_gen_best")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--max-fevals", type=int, default=120)
    parser.add_argument("--within", type=float, default=0.05)
    parser.add_argument("--backend", default="cupy", help="Kernel Tuner's lang")
    parser.add_argument("--minutes", type=float, default=8.0, help="no run is begun after these")
    parser.add_argument("--json", type=Path, default=Path("live_priors.json"))
    parser.add_argument("--dry-run", action="store_true", help="the CPU's own recording is the prior")
    arguments = parser.parse_args()
    output, end = arguments.json.absolute(), time.monotonic() + 60.0 * arguments.minutes
    os.environ.update(CUPY_CACHE_IN_MEMORY="1", CUDA_CACHE_DISABLE="1")
    runs: list[Run] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
    ):  # Kernel Tuner's C backend writes where it runs
        for name in arguments.kernels:
            for run in runs_of(name, arguments, end):
                runs.append(run)
                write_text(output, json.dumps([asdict(run) for run in runs], indent=1))
                print(f"{name} repeat {run.repeat}, prior {run.prior}: {run.reached or 'not reached'}", flush=True)
    print_table(runs, arguments.max_fevals)


def runs_of(name: str, arguments: argparse.Namespace, end: float) -> Any:
    """All runs on a kernel, with and without a prior in turns."""
    folder = bundled_path("searchspaces") / name
    kernel = KernelFolder.load(folder, backend=None if arguments.dry_run else arguments.backend)
    kernel_arguments = kernel.reference.arguments(kernel.problem_size, np.random.default_rng(0))
    here, elsewhere = recordings(folder, own=arguments.dry_run)
    target_ms = float(np.nanmin(load_spaces([str(here)])[0].costs)) * (1.0 + arguments.within)
    for repeat in range(arguments.repeats):
        for prior in (None, elsewhere):
            if time.monotonic() > end:
                return
            run = Run(name, elsewhere.name.split(".")[0] if prior else "none", repeat, target_ms)
            tune(kernel, kernel_arguments, run, prior, arguments)
            yield run


def recordings(folder: Path, *, own: bool) -> tuple[Path, Path]:
    """The recording of this device, and that of another one."""
    paths = sorted((folder / "caches").glob("*.json.gz"))
    if own:
        return paths[0], paths[0]
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    here = next(path for path in paths if path.name.split(".")[0].split("_")[0] in device)
    return here, next(path for path in paths if path != here)


def tune(kernel: KernelFolder, kernel_arguments: list[Any], run: Run, prior: Path | None, given: Any) -> None:
    """Make one run, noted in `run`."""
    from kernel_tuner.strategies.common import CostFunc

    random.seed(run.repeat)
    np.random.seed(run.repeat)
    evaluate = CostFunc.eval_all

    def noted(func: CostFunc, configs: Any, check_restrictions: bool = True) -> Any:
        costs = evaluate(func, configs, check_restrictions)
        for cost in costs:
            best = run.best_ms[-1] if run.best_ms else None
            known = cost if cost < 1e300 else None
            run.best_ms.append(min((value for value in (best, known) if value is not None), default=None))
            if known is not None and known <= run.target_ms and run.reached is None:
                run.reached = len(run.best_ms)
                func.tuning_options.budget.max_fevals = func.tuning_options.budget.num_fevals
        return costs

    options: dict[str, Any] = {"max_fevals": given.max_fevals}
    if prior is not None:
        options["prior"] = str(prior)
    CostFunc.eval_all, started, printed = noted, time.monotonic(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            _, environment = tune_kernel(
                **kernel.tune_kernel_arguments(kernel_arguments),
                strategy=given.strategy,
                strategy_options=options,
                quiet=False,
            )
    finally:
        CostFunc.eval_all = evaluate
    run.device, run.seconds = str(environment.get("device_name", "")), round(time.monotonic() - started, 1)
    run.told = next((line for line in printed.getvalue().splitlines() if line.startswith("prior:")), "")


def print_table(runs: list[Run], most: int) -> None:
    """Measurements to the target."""
    print(f"llamea-tune {llamea_tune.__version__}: measurements until within the target, of {most} at most")
    for kernel, prior in dict.fromkeys((run.kernel, run.prior) for run in runs):
        mine = [run for run in runs if (run.kernel, run.prior) == (kernel, prior)]
        needed = [most if run.reached is None else run.reached for run in mine]
        reached = sum(run.reached is not None for run in mine)
        listed = ", ".join("-" if run.reached is None else str(run.reached) for run in mine)
        print(f"{kernel:14} prior {prior:18} median {median(needed):6.1f}   reached {reached}/{len(mine)}   ({listed})")
    for told in dict.fromkeys(run.told for run in runs if run.told):
        print(told)


if __name__ == "__main__":
    main()
