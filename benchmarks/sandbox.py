"""What the sandbox costs: how long a candidate takes to start, and a whole run against the same run in-process.

Usage: python benchmarks/sandbox.py [REPEATS]

Both sides make the same runs of a population strategy on a space of the size of real ones, turn by turn, so that the
ratio holds on a busy machine too.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.runners import CachedRunner, Meter, RunBudget
from llamea_tune.runners.fast_searchspace import FastSearchspace
from llamea_tune.runners.strategy_run import run_strategy
from llamea_tune.sandbox import Sandbox, SandboxedCandidate
from llamea_tune.spaces.searchspace import build_searchspace
from llamea_tune.testing.synthetic_spaces import synthetic_space

MAX_FEVALS = 800
MAX_START_S = 0.1
MAX_RATIO = 2.0

POPULATION = """
import random

from kernel_tuner.strategies.wrapper import OptAlg


class Population(OptAlg):
    def __init__(self, size=20, mutation=0.1):
        super().__init__()
        self.size = size
        self.mutation = mutation

    def __call__(self, func, searchspace):
        population = [(func(config), config) for config in searchspace.get_random_sample(self.size)]
        while func.budget_spent_fraction < 1:
            population.sort(key=lambda member: member[0])
            parents = population[: self.size // 2]
            children = []
            while len(children) < self.size:
                mother, father = random.sample(parents, 2)
                child = tuple(random.choice(pair) for pair in zip(mother[1], father[1]))
                if random.random() < self.mutation or not searchspace.is_param_config_valid(child):
                    child = searchspace.get_random_sample(1)[0]
                children.append((func(child), child))
            population = sorted(population + children, key=lambda member: member[0])[: self.size]
"""


def timed(action: Callable[[], int]) -> tuple[float, int]:
    """Seconds that an action takes, and what it returns."""
    start = time.perf_counter()
    answer = action()
    return time.perf_counter() - start, answer


def main(repeats: int) -> int:
    """Print both ratios; the exit status says whether they are within bounds."""
    params = {f"p{number}": tuple(range(5)) for number in range(6)}
    space = synthetic_space(1, tune_params=params)
    candidate = SandboxedCandidate(POPULATION, "Population")
    namespace: dict = {}
    exec(POPULATION, namespace)
    searchspace = build_searchspace(space.tune_params, space.value_indices, FastSearchspace)
    runner = CachedRunner(space)

    def in_process(seed: int) -> int:
        searchspace.begin_run()
        meter = Meter(runner, RunBudget(max_fevals=MAX_FEVALS))
        run_strategy(OptAlgWrapper(namespace["Population"]()), searchspace, meter, seed=seed)
        return hash(meter.trace().indices.tobytes())

    with Sandbox([space]) as sandbox:

        def sandboxed(seed: int) -> int:
            result = sandbox.run(candidate, 0, seed, RunBudget(max_fevals=MAX_FEVALS))
            return hash(result.trace.indices.tobytes())

        def start(seed: int) -> int:
            return len(sandbox.run(candidate, 0, seed, RunBudget(max_fevals=1)).trace)

        first_s, _ = timed(lambda: start(0))
        starts = [timed(lambda seed=seed: start(seed))[0] for seed in range(repeats)]
        pairs = [
            (timed(lambda seed=seed: in_process(seed)), timed(lambda seed=seed: sandboxed(seed)))
            for seed in range(repeats)
        ]

    same = all(inside[1] == outside[1] for outside, inside in pairs)
    in_process_s = statistics.median(outside[0] for outside, _ in pairs)
    sandboxed_s = statistics.median(inside[0] for _, inside in pairs)
    start_s, ratio = statistics.median(starts), sandboxed_s / in_process_s
    print(f"space of {space.size:,} configs, {MAX_FEVALS} measurements a run, {repeats} runs on each side")
    print(f"first candidate          {1000 * first_s:8.1f} ms  (starts the warm process)")
    print(
        f"each further candidate   {1000 * start_s:8.1f} ms  = {start_s / MAX_START_S:.2f} x the bound of {1000 * MAX_START_S:.0f} ms"
    )
    print(f"whole run, in-process    {1000 * in_process_s:8.1f} ms")
    print(f"whole run, sandbox       {1000 * sandboxed_s:8.1f} ms  = {ratio:.2f} x in-process, bound {MAX_RATIO:.0f} x")
    print(f"traces alike             {'yes' if same else 'NO'}")
    return 0 if same and start_s < MAX_START_S and ratio <= MAX_RATIO else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 30))
