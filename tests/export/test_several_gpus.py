"""An exported strategy asks for as many configs at a time as Kernel Tuner has GPUs, and for one at a time otherwise."""

import importlib
import random
import subprocess
import sys

import numpy as np
import pytest
from kernel_tuner.interface import strategy_map
from kernel_tuner.strategies.wrapper import OptAlgWrapper
from parallel_runner import SECONDS, Machine

from llamea_tune.exporting import export_strategy
from llamea_tune.strategies import register_file
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.strategy_contract import SMALL
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(1)
FAILING = [SPACE.param_config(int(number)) for number in np.flatnonzero(SPACE.failures)]
STARTS = [SPACE.param_config(number) for number in (700, 3, 250)]


def cost(config):
    return SPACE.costs[next(n for n in range(SPACE.size) if SPACE.param_config(n) == config)]


def seed():
    random.seed(1)
    np.random.seed(1)


@pytest.fixture
def machine(monkeypatch):
    seed()
    return Machine(monkeypatch, SPACE)


@pytest.fixture
def search(machine, request_for, head, tmp_path):
    """Registers a search with this body and tunes with it on several GPUs; what it noted, and what was measured."""

    def run(body, gpus=2, **options):
        code = f"{head}\n\nNOTED = []\n\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):\n        {body}\n"
        strategy = register_file(export_strategy(request_for(code, "noting_walk"), tmp_path).code_path)
        return strategy.load().NOTED, machine.tune("noting_walk", gpus, **options)

    yield run
    strategy_map.pop("noting_walk", None)


@pytest.mark.parametrize("gpus", [2, 3, 8])
@pytest.mark.parametrize("max_fevals", [1, 2, 7, 50])
def test_max_fevals_is_kept_exactly(machine, gpus, max_fevals):
    results = machine.tune("llm_gen_best", gpus, max_fevals=max_fevals)
    assert len(results) == len(set(results)) == len(machine.measured) == max_fevals
    assert all(len(batch) == gpus for batch in machine.batches)


def test_no_measurement_starts_after_the_time_limit(machine):
    machine.tune("llm_gen_best", 3, time_limit=20)
    assert machine.last_start_s <= 20
    assert len(machine.measured) > 20 / SECONDS


def test_the_whole_space_is_searched_once(monkeypatch):
    space = synthetic_space(2, tune_params=SMALL, kept=1.0, failing=0.3)
    machine = Machine(monkeypatch, space)
    results = machine.tune("llm_gen_best", 5)
    assert len(results) == len(machine.measured) == space.size == 12
    assert [len(batch) for batch in machine.batches] == [5, 5, 2]


def test_good_configs_are_found_with_many_gpus(machine):
    machine.tune("llm_gen_best", 8, max_fevals=120)
    costs = [cost(config) for config in machine.measured]
    assert np.nanmin(costs) <= np.nanquantile(SPACE.costs, 0.01)


@pytest.mark.parametrize("x0", [None, [*STARTS, STARTS[0]]])
def test_one_gpu_gives_what_no_parallel_runner_gives(machine, tmp_path, x0):
    options = {"max_fevals": 60, **({"x0": x0} if x0 else {})}
    seed()
    results = machine.tune("llm_gen_best", 1, **options)
    seed()
    alone = simulate("llm_gen_best", SPACE, write_cache(SPACE, tmp_path / "cache.json"), options)
    assert results == [tuple(result[name] for name in SPACE.param_names) for result in alone]


def test_x0_is_measured_side_by_side_first(machine):
    results = machine.tune("llm_gen_best", 2, x0=[*STARTS, STARTS[0], FAILING[0]], max_fevals=20)
    assert machine.batches[0] == machine.measured[:4] == [*STARTS, FAILING[0]]
    assert len(results) == 20


def test_x0_beyond_the_budget(machine):
    machine.tune("llm_gen_best", 2, x0=STARTS, max_fevals=2)
    assert machine.measured == STARTS[:2]


def test_repeats_within_a_batch_are_free(search):
    a, b = STARTS[:2]
    noted, results = search(f"NOTED.extend(func.eval_all([{a}, {b}, {a}, {list(b)}])); NOTED.append(func({a}))")
    assert noted == [cost(a), cost(b), cost(a), cost(b), cost(a)]
    assert sorted(results) == sorted([a, b])


def test_failures_within_a_batch(search):
    a, b = STARTS[:2]
    noted, results = search(f"NOTED.extend(func.eval_all([{a}, {FAILING[0]}, {b}]))", gpus=3)
    assert noted == [cost(a), sys.float_info.max, cost(b)]
    assert len(results) == 3


def test_the_budget_ends_within_a_batch(search):
    body = "NOTED.append(func.n_workers); func.eval_all(searchspace.list[:10]); NOTED.append('went on')"
    noted, results = search(body, max_fevals=4)
    assert noted == [2]
    assert len(results) == 4


def test_a_search_that_swallows_the_end_is_ended(search):
    body = (
        "done = 0\n        while done < 100:\n            try:\n                func.eval_all(searchspace.list[done : done + 3])\n"
        "            except Exception:\n                NOTED.append('swallowed')\n            done += 3"
    )
    noted, results = search(body, max_fevals=4)
    assert noted == ["swallowed"]
    assert len(results) == 4


def test_a_search_that_asks_for_one_at_a_time_works(search):
    noted, results = search("NOTED.extend(searchspace.list[:5]); [func(config) for config in NOTED]")
    assert results == noted


def test_an_imported_module_gets_them_and_a_wrapped_class_gets_one(machine, request_for, head, tmp_path, monkeypatch):
    code = f"{head}\n\nNOTED = []\n\n\nclass Walker(OptAlg):\n    def __call__(self, func, searchspace):\n"
    code += "        NOTED.append(func.n_workers)\n        func.eval_all(searchspace.list[:5])\n"
    export_strategy(request_for(code, "imported_walk"), tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("imported_walk")
    for strategy in (module, OptAlgWrapper(module.Walker())):
        assert len(machine.tune(strategy, 2)) == 5
    assert module.NOTED == [2, 1]


SCRIPT = """
import ray
ray.init("local", num_gpus=2, num_cpus=2, include_dashboard=False, log_to_driver=False)
import llamea_tune, numpy
from kernel_tuner import tune_kernel

source = '''
#if A == 3
#error uses too much shared data
#endif
float f(float *out, int n) { out[0] = A * B; return 10.0f * A + B; }
'''
results, env = tune_kernel(
    "f", source, 1, [numpy.zeros(1, dtype="float32"), numpy.int32(1)], {"A": [1, 2, 3, 4], "B": [1, 2, 3]}, lang="C",
    strategy="llm_gen_best", strategy_options={"max_fevals": 7, "x0": [[3, 1], [2, 2]]}, parallel=2, quiet=True,
)
print([(r["A"], r["B"]) for r in results[:2]], len(results), "__error__" in results[0], end=" ")
print(len({r["ray_actor_id"] for r in results}), len(env["workers"]))
"""


@pytest.mark.slow
def test_with_ray_on_two_workers(tmp_path):
    pytest.importorskip("ray")
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("[(3, 1), (2, 2)] 7 True 2 2\n"), done.stdout + done.stderr
