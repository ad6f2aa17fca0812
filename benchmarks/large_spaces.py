"""What large search spaces cost: memory of all processes together, and time.

Two runs of `llamea-tune benchmark`, each in a process of its own: on 20 spaces of 5,000 to 20,000 configs, and on one of a
million. The caches are made up here and removed afterwards. Memory is the proportional set size, in which pages that
processes share count once, summed over the command and its workers and sampled twenty times a second. Linux only.

    python benchmarks/large_spaces.py [--configs 1000000] [--repeats 10] [--jobs 2]
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

STRATEGIES = ("random_sample", "genetic_algorithm", "simulated_annealing")
N_SPACES = 20
FEWEST, MOST = 5_000, 20_000


def main() -> None:
    """Make the caches, run on them and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=int, default=1_000_000, help="of the large space")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    sizes = np.linspace(FEWEST, MOST, N_SPACES).astype(int).tolist()
    print(f"{len(STRATEGIES)} strategies, {arguments.repeats} repeats, {arguments.jobs} jobs")
    for title, numbers in (
        (f"{N_SPACES} spaces of {FEWEST:,} to {MOST:,}", sizes),
        (f"a space of {arguments.configs:,}", [arguments.configs]),
    ):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            for number, n_configs in enumerate(numbers):
                write_cache(folder / "caches" / f"GPU{number}.json", n_configs, seed=number)
            megabytes = sum(path.stat().st_size for path in folder.glob("caches/*")) / 1e6
            for when in ("first time", "again, other seed"):
                seconds, peak = run(folder, arguments.repeats, arguments.jobs, seed=len(when))
                print(
                    f"{title:34}{megabytes:8.0f} MB of JSON  {when:18}{seconds:8.1f} s{peak / 2**20:8.0f} MiB",
                    flush=True,
                )


def write_cache(path: Path, n_configs: int, *, seed: int) -> None:
    """Write a Kernel Tuner cache of made-up costs, config by config.

    Args:
        path: Where.
        n_configs: How many configs it has.
        seed: Seed of the costs.
    """
    rng = np.random.default_rng(seed)
    params = {f"param_{number}": [2**i for i in range(10)] for number in range(math.ceil(math.log10(n_configs)))}
    slopes = rng.uniform(0.0, 0.3, len(params))
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {
        "device_name": path.stem,
        "kernel_name": "made_up",
        "problem_size": "",
        "tune_params_keys": list(params),
        "tune_params": params,
        "objective": "time",
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header)[:-1] + ', "cache": {\n')
        for number, config in enumerate(itertools.islice(itertools.product(*params.values()), n_configs)):
            cost = float(np.exp(slopes @ np.log2(config) / 3.0) * rng.uniform(1.0, 1.3))
            entry = dict(zip(params, config, strict=True)) | {
                "time": cost,
                "compile_time": 400.0,
                "verification_time": 0.0,
                "benchmark_time": 20.0 * cost,
                "strategy_time": 0.0,
                "framework_time": 1.0,
                "timestamp": "2026-01-01 00:00:00+00:00",
                "times": [cost],
            }
            file.write((",\n" if number else "") + json.dumps(",".join(map(str, config))) + ": " + json.dumps(entry))
        file.write("\n}}\n")


def run(folder: Path, repeats: int, jobs: int, *, seed: int) -> tuple[float, int]:
    """Run the benchmark.

    Returns:
        Seconds, and the most memory that the command and its workers had together, in bytes.
    """
    command = [sys.executable, "-m", "llamea_tune", "benchmark", *STRATEGIES, "--spaces", str(folder / "caches")]
    command += ["--repeats", str(repeats), "--jobs", str(jobs), "--seed", str(seed), "--quiet"]
    environment = os.environ | {"LLAMEA_TUNE_CACHE": str(folder / "store")}
    started, peak = time.perf_counter(), 0
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, sum(memory(pid) for pid in family(process.pid)))
            time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"the benchmark ended with {process.returncode}")
    return time.perf_counter() - started, peak


def family(pid: int) -> Iterator[int]:
    """A process and all that come from it."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(int(child))


def memory(pid: int) -> int:
    """Proportional set size of a process in bytes, 0 once it is gone."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main()
