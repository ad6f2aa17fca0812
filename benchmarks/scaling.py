"""How many runs a second more workers make, local and on Ray, and what a cluster would do by that.

    python benchmarks/scaling.py [--workers 1,2,4,8,16] [--seconds 10] [--json FILE] [--nodes 40 --cores 32]

A named strategy with short runs, and a candidate in the sandbox, on four bundled spaces. Each count of workers gets as many
runs as should take it `--seconds`. The clock starts when all workers are there and have made runs on all spaces, as what
that takes does not grow with the work; and stops with the last run, so that workers that are idle by then count. "Overhead" is what a worker spends for each run beside making it: workers x wall clock / runs,
less what a run takes in a bare loop (a candidate: with one local worker). "Efficiency" is the rate per worker, relative to one
local worker. Needs the core packages and Ray; without Ray, or without a sandbox, that part is left out and it says so.

`--nodes` adds a model of a cluster. A worker makes a run in its own time plus the overhead measured with the most workers. The
driver is one process: it spends CPU time on every chunk of runs and on every run, measured with runs of 100 evaluations that go out
one by one and many at a time; how many go out at a time in a cluster follows from their length. The slower of the two
decides. The model knows nothing of the network, and takes work to be plenty.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import count, islice
from pathlib import Path

from threadpoolctl import threadpool_limits

from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.execution import Contender, Executor, LocalExecutor, Run, SandboxedCandidate, make_contender
from llamea_tune.execution.named import PreparedSpace, run_named
from llamea_tune.front_door.named_spaces import first_spaces
from llamea_tune.runners import RunBudget
from llamea_tune.scoring import Scorer
from llamea_tune.spaces import Space, load_spaces

CANDIDATE = """
import random
from kernel_tuner.strategies.wrapper import OptAlg


class Climber(OptAlg):
    def __call__(self, func, searchspace):
        while func.budget_spent_fraction < 1:
            here = searchspace.get_random_sample(1)[0]
            cost, better = func(here), True
            while better and func.budget_spent_fraction < 1:
                better = False
                for config in searchspace.get_neighbors(here, neighbor_method="Hamming"):
                    found = func(config)
                    if found < cost:
                        here, cost, better = config, found, True
                        break
"""
CONTENDERS: tuple[Contender, ...] = (
    make_contender("simulated_annealing"),
    SandboxedCandidate(CANDIDATE, "Climber", label="candidate"),
)
TINY = make_contender("random_sample")
FEWEST_RUNS = 8  # of each worker


@dataclass(frozen=True)
class Driver:
    """CPU milliseconds that the driver of a cluster spends on each chunk, and on each run in it."""

    chunk_ms: float
    run_ms: float


@dataclass(frozen=True)
class Measured:
    """One line of the table.

    Attributes:
        contender: What was run.
        executor: Where.
        workers: How many of them.
        runs: How many runs.
        runs_per_s: Runs a second.
        overhead_ms: Milliseconds that a worker spent for each run beside making it.
        efficiency: Rate per worker, relative to one local worker.
        driver_ms: CPU milliseconds of this process for each run.
    """

    contender: str
    executor: str
    workers: int
    runs: int
    runs_per_s: float
    overhead_ms: float
    efficiency: float
    driver_ms: float


def main() -> None:
    """Measure, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4,8,16", help="counts of workers")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--nodes", type=int, default=0, help="nodes of a cluster to model")
    parser.add_argument("--cores", type=int, default=32, help="cores of each of them")
    parser.add_argument("--allow-weak-sandbox", action="store_true")
    arguments = parser.parse_args()
    threadpool_limits(1)  # as in the workers,
    warnings.simplefilter("ignore")  # this too
    workers = sorted(int(part) for part in arguments.workers.split(","))
    spaces = load_spaces(first_spaces())
    lines: list[Measured] = []
    bare: dict[str, float] = {}
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(
        f"{'contender':<20} {'executor':<8} {'workers':>7} {'runs':>7} {'runs/s':>9} {'overhead':>11} {'efficiency':>10}"
    )
    for name in ("local", "ray"):
        try:
            for line in measure(name, spaces, workers, arguments.seconds, arguments.allow_weak_sandbox, lines, bare):
                lines.append(line)
                print(
                    f"{line.contender:<20} {line.executor:<8} {line.workers:>7} {line.runs:>7} {line.runs_per_s:>9.1f} "
                    f"{line.overhead_ms:>8.2f} ms {line.efficiency:>9.0%}",
                    flush=True,
                )
        except LlameaTuneError as problem:
            print(f"{name} is left out: {problem}", file=sys.stderr)
    driver, model = None, []
    if arguments.nodes and any(line.executor == "ray" for line in lines):
        driver = driver_costs(spaces, max(workers))
        model = cluster_model(lines, bare, driver, arguments.nodes, arguments.cores)
        print(f"the driver spends {driver.chunk_ms:.2f} ms on each chunk and {driver.run_ms:.3f} ms on each run")
    for row in model:
        print(
            f"model: {row['contender']} on {row['nodes']} nodes of {arguments.cores} cores: {row['runs_per_s']:.0f} runs/s, "
            f"efficiency {row['efficiency']:.0%}, limited by {row['limited_by']}"
        )
    if arguments.json:
        measured = {"bare_run_ms": bare, "measured": [asdict(line) for line in lines]}
        measured |= {"driver": asdict(driver) if driver else None, "model": model}
        machine = {"cores": os.cpu_count(), "python": platform.python_version()}
        arguments.json.write_text(json.dumps({"machine": machine, **measured}, indent=2) + "\n")


def measure(
    name: str,
    spaces: Sequence[Space],
    workers: Sequence[int],
    seconds: float,
    allow_weak: bool,
    so_far: Sequence[Measured],
    bare: dict[str, float],
) -> Iterator[Measured]:
    """The lines of one executor; adds to `bare` what a run takes, in milliseconds."""
    if name == "ray":
        from llamea_tune.execution.ray_cluster import RayConnection
        from llamea_tune.execution.ray_executor import RayExecutor

        connection = RayConnection("local", max(workers))  # one for all, which executors find and leave as it is
    try:
        for contender in CONTENDERS:
            for n_workers in workers:
                how = {"jobs": n_workers, "allow_weak": allow_weak}
                made = RayExecutor(spaces, **how) if name == "ray" else LocalExecutor(spaces, **how)
                try:
                    with made as executor:
                        runs_s, n_runs, wall_s, cpu_s = time_runs(executor, contender, n_workers, seconds, bare)
                except LlameaTuneError as problem:
                    print(f"{contender.label} is left out: {problem}", file=sys.stderr)
                    break
                single = next((line for line in so_far if line.contender == contender.label), None)
                yield Measured(
                    contender.label,
                    name,
                    n_workers,
                    n_runs,
                    runs_s,
                    1000.0 * n_workers * wall_s / n_runs - bare[contender.label],
                    runs_s / n_workers / (single.runs_per_s / single.workers if single else runs_s / n_workers),
                    1000.0 * cpu_s / n_runs,
                )
    finally:
        if name == "ray":
            connection.close()


def time_runs(
    executor: Executor, contender: Contender, n_workers: int, seconds: float, bare: dict[str, float]
) -> tuple[float, int, float, float]:
    """Runs a second, how many there were, and what they took: wall-clock seconds, and CPU seconds of this process."""
    scorer = Scorer(executor, repeats=1, seed=1)
    planned = all_runs(scorer, contender)
    warm_up = list(islice(planned, 2 * n_workers * len(executor.spaces)))
    list(executor.each(warm_up[:n_workers]))
    while getattr(executor, "n_ready", n_workers) < n_workers:  # those of Ray start one by one
        list(executor.each(warm_up[:n_workers]))
    for space in range(len(executor.spaces)):  # each of them makes each space ready
        list(executor.each([run for run in warm_up if run.space == space]))
    if contender.label not in bare:
        bare[contender.label] = bare_run_ms(executor, contender, planned)
    n_runs = n_workers * max(FEWEST_RUNS, round(1000.0 * seconds / bare[contender.label]))
    runs = list(islice(planned, n_runs))
    started, cpu_started = time.perf_counter(), time.process_time()
    failed = sum(not result.state.scorable for _, result in executor.each(runs, ahead=True))
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_started
    if failed:
        raise LlameaTuneError(f"{failed} of {n_runs} runs failed")
    return n_runs / wall_s, n_runs, wall_s, cpu_s


def all_runs(scorer: Scorer, contender: Contender) -> Iterator[Run]:
    """Runs without end, on all spaces in turn, none of which measures own compute."""
    for repeat in count(1):
        for space in range(len(scorer.spaces)):
            yield scorer.planned(contender, space, repeat, "scaling")


def bare_run_ms(executor: Executor, contender: Contender, planned: Iterator[Run]) -> float:
    """What a run takes: a named strategy's in a loop in this process, a candidate's with this executor of one worker."""
    runs = list(islice(planned, 40))
    if isinstance(contender, SandboxedCandidate):
        started = time.perf_counter()
        list(executor.each(runs))
        return 1000.0 * (time.perf_counter() - started) / len(runs)
    prepared = [PreparedSpace(space) for space in executor.spaces]
    for run in runs[: len(prepared)]:
        run_named(prepared[run.space], run)
    started = time.perf_counter()
    for run in runs:
        run_named(prepared[run.space], run)
    return 1000.0 * (time.perf_counter() - started) / len(runs)


def driver_costs(spaces: Sequence[Space], n_workers: int) -> Driver:
    """What this process spends on runs so short that nothing else matters."""
    from llamea_tune.execution.ray_cluster import RayConnection
    from llamea_tune.execution.ray_executor import RayExecutor

    connection = RayConnection("local", n_workers)
    try:
        with RayExecutor(spaces[:1], jobs=n_workers) as executor:
            runs = [Run(TINY, 0, seed, RunBudget(max_fevals=100)) for seed in range(4000)]
            while executor.n_ready < n_workers:
                list(executor.each(runs[:n_workers]))
            cpu_ms = []
            for ahead, some in ((False, runs[:400]), (True, runs)):
                started = time.process_time()
                list(executor.each(some, ahead=ahead))
                cpu_ms.append(1000.0 * (time.process_time() - started) / len(some))
        return Driver(max(0.0, cpu_ms[0] - cpu_ms[1]), cpu_ms[1])
    finally:
        connection.close()


def cluster_model(
    lines: Sequence[Measured], bare: dict[str, float], driver: Driver, n_nodes: int, cores: int
) -> list[dict[str, object]]:
    """What clusters of one node and more would do; see the top of this file."""
    from llamea_tune.execution.ray_chunks import seconds_of_a_chunk

    rows: list[dict[str, object]] = []
    for contender in CONTENDERS:
        on_ray = [line for line in lines if line.executor == "ray" and line.contender == contender.label]
        if not on_ray:
            continue
        most = max(on_ray, key=lambda line: line.workers)
        for nodes in sorted({1, 2, 5, 10, 20, n_nodes} & set(range(n_nodes + 1))):
            by_workers = nodes * cores * 1000.0 / (bare[contender.label] + max(0.0, most.overhead_ms))
            at_a_time = max(1.0, 1000.0 * seconds_of_a_chunk(nodes * cores) / bare[contender.label])
            by_driver = 1000.0 / (driver.chunk_ms / at_a_time + driver.run_ms)
            rate = min(by_workers, by_driver)
            rows.append(
                {
                    "contender": contender.label,
                    "nodes": nodes,
                    "cores": cores,
                    "runs_per_s": rate,
                    "efficiency": rate * bare[contender.label] / (1000.0 * nodes * cores),
                    "limited_by": "workers" if by_workers <= by_driver else "the driver",
                }
            )
    return rows


if __name__ == "__main__":
    main()
