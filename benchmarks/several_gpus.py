"""How much sooner a tuning run gets as good with several GPUs, by Kernel Tuner's `tune_kernel(parallel=...)`.

Every strategy tunes kernels of this package live, with one GPU and with all, from the same seeds, until it has found a config
within 5 % of the best in the bundled recording of the device, or its seconds are over. The clock is that of Kernel Tuner's
budget: compiling, measuring and the strategy's own compute, not the start of the workers. Both runs go through Kernel Tuner's
parallel runner. Kernel Tuner 1.5 gives its own strategies one worker, and its runner fails at the first result; here they
get all, and the runner is mended (exported strategies see to both by themselves).

    python benchmarks/several_gpus.py --output several_gpus.json
    python benchmarks/several_gpus.py --dry-run --seconds 3 --repeats 1      # on the CPU, with pretended GPUs

Needs Ray, and CuPy on GPUs. The output is written after every run, and whole whenever the script is ended.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from copy import copy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
from kernel_tuner import tune_kernel

import llamea_tune
from llamea_tune._bundled import bundled_path
from llamea_tune.kernel_tuner_internals import _STRATEGY_PARALLEL, strategy_map
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces import RecordedSpace, load_spaces
from llamea_tune.storage import write_text

GPU_KERNELS = (
    "reduction,dedispersion,convolution"  # all of their configs compute the right results, and compile quickly
)
CPU_KERNEL = "matmul_openmp"


@dataclass
class Run:
    """One tuning run.

    Attributes:
        trace: Seconds, measurements so far, best milliseconds so far; a row for each measurement that came back.
        reached_s: When the target was reached, None if it was not.
        error: Why the run ended before its time, where it did.
    """

    kernel: str
    strategy: str
    gpus: int
    repeat: int
    target_ms: float
    trace: list[tuple[float, int, float | None]] = field(default_factory=list)
    reached_s: float | None = None
    error: str = ""

    def note(self, result: dict[str, Any], budget: Any) -> None:
        """Note what came back, and end the run if it is good enough."""
        spent_s = round(budget.get_time_spent().total_seconds(), 4)
        best = self.trace[-1][2] if self.trace else None
        if "__error__" not in result:
            best = float(result["time"]) if best is None else min(best, float(result["time"]))
        self.trace.append((spent_s, len(self.trace) + 1, best))
        if best is not None and best <= self.target_ms and not budget.is_done():
            self.reached_s = spent_s
            budget.max_fevals = budget.num_fevals


class ParallelRunners:
    """Kernel Tuner's parallel runner with workers that stay from run to run of a kernel, and notes on what it measures."""

    def __init__(self, most_gpus: int, first: dict[str, Any]) -> None:
        """Nothing is started yet.

        Args:
            most_gpus: How many workers to start.
            first: A config to warm them up with.
        """
        from kernel_tuner.runners import parallel

        self.current: Run | None = None
        self._most_gpus, self._first = most_gpus, first
        self._launch = parallel.launch_workers
        self._run, self._submit_jobs = parallel.ParallelRunner.run, parallel.ParallelRunner.submit_jobs
        self._workers: list[Any] = []

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Within it, tuning runs use them."""
        module = "kernel_tuner.runners.parallel"

        def run(runner: Any, configs: Any, tuning_options: Any) -> Any:
            options = copy(tuning_options)
            options.objective = "__error__"  # where Kernel Tuner 1.5 looks for failures, and where they are
            return self._run(runner, configs, options)

        def submit_jobs(runner: Any, jobs: Any, budget: Any) -> Iterator[Any]:
            for key, result in self._submit_jobs(runner, jobs, budget):
                if result is not None and self.current is not None:
                    self.current.note(result, budget)
                yield key, result

        with (
            patch(f"{module}.launch_workers", self._first_workers),
            patch(f"{module}.ParallelRunner.run", run),
            patch(f"{module}.ParallelRunner.submit_jobs", submit_jobs),
            patch(f"{module}.Worker.shutdown", lambda worker: None),  # noqa: ARG005
        ):
            yield

    def _first_workers(self, number: int, *arguments: Any) -> list[Any]:
        import ray

        if not self._workers:
            self._workers = self._launch(self._most_gpus, *arguments)
            ray.get([worker.actor.run.remote(dict(self._first)) for worker in self._workers])
        ray.get([worker.actor.__ray_call__.remote(forget_compiled) for worker in self._workers])
        return self._workers[:number]

    def close(self) -> None:
        """End the workers, so that those of another kernel can have the GPUs."""
        import ray

        for worker in self._workers:
            ray.kill(worker.actor)
        self._workers = []


def forget_compiled(worker: Any) -> None:  # noqa: ARG001 (Ray gives it)
    """Let CuPy compile anew what it has compiled in an earlier run."""
    if "cupy" in sys.modules:
        sys.modules["cupy"].clear_memo()


def main() -> None:
    """Measure, write and print."""
    arguments = parsed_arguments()
    output = arguments.output.absolute()
    settings = {name: value for name, value in vars(arguments).items() if name != "output"}
    data: dict[str, Any] = {"settings": settings, "devices": {}, "runs": []}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # Kernel Tuner's C backend writes where it runs
        start_ray(arguments)
        kernels = arguments.kernels.split(",")
        end = time.monotonic()
        for kernel in kernels:
            end += 60.0 * arguments.minutes / len(kernels)
            for run, device in runs_of(kernel, arguments, end):
                data["devices"][kernel] = device
                data["runs"].append(asdict(run))
                write_text(output, json.dumps(data, indent=1))
                ended = "not reached" if run.reached_s is None else f"reached after {run.reached_s:.1f} s"
                print(
                    f"{kernel} {run.strategy}, {run.gpus} GPU(s), repeat {run.repeat}: {run.error or ended}", flush=True
                )
    print_table(data["runs"], arguments)


def parsed_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", help=f"folders in searchspaces/, default {GPU_KERNELS}")
    parser.add_argument("--strategies", default="llm_gen_best,genetic_algorithm")
    parser.add_argument("--gpus", type=int, default=2, help="how many GPUs are compared with one")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each run, at most")
    parser.add_argument(
        "--minutes", type=float, default=5.5, help="in all; no run is begun after a kernel's share of them"
    )
    parser.add_argument(
        "--within", type=float, default=0.05, help="how near to the best of the recording is good enough"
    )
    parser.add_argument(
        "--recording", help="device of the recording, as in caches/; default: the one most like this device"
    )
    parser.add_argument("--backend", default="cupy", help="Kernel Tuner's lang")
    parser.add_argument("--output", type=Path, default=Path("several_gpus.json"))
    parser.add_argument("--dry-run", action="store_true", help="a C kernel, and workers without GPUs")
    arguments = parser.parse_args()
    if arguments.gpus < 2:
        parser.error("--gpus needs at least 2")
    arguments.kernels = arguments.kernels or (CPU_KERNEL if arguments.dry_run else GPU_KERNELS)
    return arguments


def start_ray(arguments: argparse.Namespace) -> None:
    """Start Ray on this machine, apart from any cluster that runs on it."""
    # Runs repeat configs of earlier runs: nothing may be compiled already.
    os.environ.update(CUPY_CACHE_IN_MEMORY="1", CUDA_CACHE_DISABLE="1")
    import ray

    pretended = {"num_gpus": arguments.gpus, "num_cpus": arguments.gpus} if arguments.dry_run else {}
    ray.init("local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, **pretended)
    found = int(ray.cluster_resources().get("GPU", 0))
    if found < arguments.gpus:
        sys.exit(f"Ray finds {found} GPUs where --gpus asks for {arguments.gpus}; give fewer, or --dry-run.")
    logging.getLogger().setLevel(logging.CRITICAL)  # Kernel Tuner logs every config that fails
    warnings.simplefilter("ignore")


def runs_of(name: str, arguments: argparse.Namespace, end: float) -> Iterator[tuple[Run, str]]:
    """All runs on a kernel, and the device they were made on; repeat by repeat, so that what is there is even."""
    folder = bundled_path("searchspaces") / name
    kernel = KernelFolder.load(folder, backend=None if arguments.dry_run else arguments.backend)
    kernel_arguments = kernel.reference.arguments(kernel.problem_size, np.random.default_rng(0))
    recording = recorded(folder, arguments.recording)
    target_ms = float(np.nanmin(recording.costs)) * (1.0 + arguments.within)
    first = dict(zip(kernel.tune_params, kernel.param_configs[0], strict=True))
    runners, device = ParallelRunners(arguments.gpus, first), ""
    try:
        with runners.patched():
            for repeat in range(arguments.repeats):
                for strategy in arguments.strategies.split(","):
                    for gpus in (1, arguments.gpus):
                        if time.monotonic() > end:
                            return
                        runners.current = Run(name, strategy, gpus, repeat, target_ms)
                        try:
                            device = tune(kernel, kernel_arguments, runners.current, arguments.seconds)
                        except Exception as err:  # a lost worker, a kernel that cannot be compiled: the others go on
                            runners.current.error = f"{type(err).__name__}: {err}"[:1000]
                            runners.close()
                        yield runners.current, device
    finally:
        runners.close()


def recorded(folder: Path, device: str | None) -> RecordedSpace:
    """The recording whose device is asked for, or has most of its name in common with this machine's."""
    if device is None:
        import ray

        kinds = " ".join(ray.cluster_resources())  # Ray has "accelerator_type:H100" among them
        paths = sorted(folder.glob("caches/*.json.gz"))
        path = next((path for path in paths if path.name.split(".")[0].split("_")[0] in kinds), paths[0])
    else:
        path = folder / "caches" / f"{device}.json.gz"
    return load_spaces([str(path)])[0]


def tune(kernel: KernelFolder, kernel_arguments: list[Any], run: Run, seconds: float) -> str:
    """Make one run, noted in `run`; the name of the device."""
    if strategy_map[run.strategy] not in _STRATEGY_PARALLEL:
        _STRATEGY_PARALLEL.append(strategy_map[run.strategy])
    random.seed(run.repeat)
    np.random.seed(run.repeat)
    _, environment = tune_kernel(
        **kernel.tune_kernel_arguments(kernel_arguments),
        strategy=run.strategy,
        strategy_options={"time_limit": seconds},
        parallel=run.gpus,
        quiet=True,
    )
    return str(environment["device_name"])


def print_table(runs: list[dict[str, Any]], arguments: argparse.Namespace) -> None:
    """Seconds to the target, one GPU beside several."""
    several = arguments.gpus
    print(
        f"llamea-tune {llamea_tune.__version__}: median seconds to within {arguments.within:.0%} of the recorded best"
    )
    print(
        f"{'kernel':16}{'strategy':20}{'1 GPU':>18}{f'{several} GPUs':>18}{'times as fast':>15}{'measured a second':>20}"
    )
    for kernel, strategy in dict.fromkeys((run["kernel"], run["strategy"]) for run in runs):
        mine = [run for run in runs if (run["kernel"], run["strategy"]) == (kernel, strategy)]
        one, more = ([run for run in mine if run["gpus"] == gpus] for gpus in (1, several))
        pairs = [(seconds_of(one, arguments.seconds)), (seconds_of(more, arguments.seconds))]
        cells = [f"{'> ' if s >= arguments.seconds else ''}{s:.1f} ({found}/{of})" for s, found, of in pairs]
        known = pairs[0][0] < arguments.seconds and pairs[1][0] < arguments.seconds
        ratio = f"{pairs[0][0] / pairs[1][0]:.2f}" if known else "-"
        rates = " to ".join(f"{rate(group):.1f}" for group in (one, more))
        print(f"{kernel:16}{strategy:20}{cells[0]:>18}{cells[1]:>18}{ratio:>15}{rates:>20}")


def seconds_of(runs: list[dict[str, Any]], limit_s: float) -> tuple[float, int, int]:
    """Median seconds to the target, at least the limit where most runs missed it; how many reached it, of how many."""
    times = [limit_s if run["reached_s"] is None else run["reached_s"] for run in runs]
    found = sum(run["reached_s"] is not None for run in runs)
    return (median(times) if times else float("nan")), found, len(runs)


def rate(runs: list[dict[str, Any]]) -> float:
    """Measurements a second, over all runs."""
    ends = [run["trace"][-1] for run in runs if run["trace"]]
    return sum(end[1] for end in ends) / max(sum(end[0] for end in ends), 1e-9)


if __name__ == "__main__":
    main()
