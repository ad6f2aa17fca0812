"""An exported strategy works by name, as an object, through T1, and inside Kernel Tuner's own strategies folder."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import kernel_tuner
import numpy as np
import pytest
from kernel_tuner.interface import tune_kernel, tune_kernel_T1
from kernel_tuner.strategies.wrapper import OptAlgWrapper

from llamea_tune.strategies import register_folder
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

KERNEL = """
#include <time.h>
#define True 1
#define False 0
#define plain 1
#define strided 3

float scale(float *out, const float *in, int n) {
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
#if reverse
    for (int i = n - 1; i >= 0; i -= 1) {
#else
    for (int i = 0; i < n; i += 1) {
#endif
        out[i] = in[(i * order) % n] * unroll;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) * 1e3f + (end.tv_nsec - start.tv_nsec) * 1e-6f;
}
"""


@pytest.fixture
def space():
    return synthetic_space(1)


@pytest.fixture
def cache(space, tmp_path):
    return write_cache(space, tmp_path / "cache.json")


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def measured(space, results):
    return {tuple(result[name] for name in space.param_names) for result in results}


def test_by_name_in_simulation(exported, own_strategy_map, space, cache):
    register_folder(exported.code_path.parent)
    results = simulate("ranked_annealing", space, cache, {"max_fevals": 40, "memory": 5})
    assert len(measured(space, results)) == 40


def test_as_a_module(exported, space, cache):
    results = simulate(load(exported.code_path), space, cache, {"max_fevals": 40})
    assert len(measured(space, results)) == 40


def test_as_a_wrapped_class(exported, space, cache):
    optimizer = load(exported.code_path).RankedAnnealing()
    assert optimizer.cooling == 0.95
    results = simulate(OptAlgWrapper(optimizer), space, cache, {"max_fevals": 40})
    assert len(measured(space, results)) == 40


def test_x0_every_way_in_simulation(exported, own_strategy_map, space, cache):
    register_folder(exported.code_path.parent)
    module = load(exported.code_path)
    starts = [space.param_config(700), space.param_config(3)]
    for strategy in ("ranked_annealing", module, OptAlgWrapper(module.RankedAnnealing())):
        for x0, first in ((starts, starts), (list(starts[0]), starts[:1])):
            results = simulate(strategy, space, cache, {"max_fevals": 10, "x0": x0})
            assert [tuple(r[name] for name in space.param_names) for r in results[: len(first)]] == first
        with pytest.raises(ValueError, match="x0 has 'nonsuch' for method; give one of"):
            simulate(strategy, space, cache, {"x0": [*starts[0][:-1], "nonsuch"]})
    results = simulate(OptAlgWrapper(module.RankedAnnealing(cooling=0.9, x0=starts)), space, cache, {"max_fevals": 5})
    assert [tuple(r[name] for name in space.param_names) for r in results[:2]] == starts


def test_live_on_a_c_kernel(exported, own_strategy_map):
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    register_folder(exported.code_path.parent)
    n = np.int32(4096)
    source = np.ones(n, dtype=np.float32)
    results, _ = tune_kernel(
        "scale",
        KERNEL,
        int(n),
        [np.zeros_like(source), source, n],
        {"unroll": [1, 2, 4], "reverse": [False, True], "order": ["plain", "strided"]},
        lang="C",
        iterations=2,
        quiet=True,
        strategy="ranked_annealing",
        strategy_options={"max_fevals": 5, "x0": [[2, True, "strided"], [4, False, "plain"]]},
    )
    first = [(result["unroll"], result["reverse"], result["order"]) for result in results[:2]]
    assert first == [(2, True, "strided"), (4, False, "plain")]
    distinct = {(result["unroll"], result["reverse"], result["order"]) for result in results}
    assert len(distinct) == 5
    assert all(result["time"] > 0 for result in results)


def t1_description(space, kernel):
    kinds = {bool: "string", str: "string", int: "int", float: "float"}
    return {
        "General": {"BenchmarkName": "synthetic", "OutputFormat": "JSON"},
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": kinds[type(values[0])], "Values": str(list(values)), "Default": values[0]}
                for name, values in space.tune_params.items()
            ],
            "Conditions": [],
        },
        "KernelSpecification": {
            "Language": "CUDA",
            "CompilerOptions": [],
            "BenchmarkName": "synthetic",
            "KernelName": space.kernel_name,
            "KernelFile": str(kernel),
            "GlobalSizeType": "CUDA",
            "LocalSize": {"X": "1", "Y": "1", "Z": "1"},
            "GlobalSize": {"X": "1", "Y": "1", "Z": "1"},
            "ProblemSize": list(space.problem_size),
            "SharedMemory": 0,
            "Stream": None,
            "Arguments": [
                {
                    "Name": "n",
                    "Type": "int32",
                    "MemoryType": "Scalar",
                    "AccessType": "ReadOnly",
                    "FillType": "Constant",
                    "Size": 1,
                    "FillValue": 1,
                }
            ],
        },
        "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 30}],
    }


def tune_t1(exported, tmp_path, *, in_order=False, **options):
    space = synthetic_space(1, kept=1.0)
    kernel = tmp_path / "synthetic.cu"
    kernel.write_text("float synthetic(int n) { return 0.0f; }")
    description = tmp_path / "t1.json"
    description.write_text(json.dumps(t1_description(space, kernel)))
    results, _ = tune_kernel_T1(
        description,
        cache_filepath=write_cache(space, tmp_path / "t1_cache.json"),
        simulation_mode=True,
        output_T4=False,
        device=0,
        strategy=exported.class_name,
        strategy_options={"custom_search_method_path": str(exported.code_path), **options},
    )
    if in_order:
        return [tuple(result[name] for name in space.param_names) for result in results]
    return measured(space, results)


def test_through_t1(exported, tmp_path):
    assert len(tune_t1(exported, tmp_path, memory=5)) == 30


def test_through_t1_x0(exported, tmp_path):
    space = synthetic_space(1, kept=1.0)
    starts = [space.param_config(700), space.param_config(3)]
    assert tune_t1(exported, tmp_path, in_order=True, x0=starts)[:2] == starts
    with pytest.raises(ValueError, match=r"x0 has .* 2 values for 6 parameters"):
        tune_t1(exported, tmp_path, x0=[16, 1])


def test_through_t1_unknown_options_are_refused(exported, tmp_path):
    with pytest.raises(TypeError, match="no_such_option"):
        tune_t1(exported, tmp_path, no_such_option=1)


SCRIPT = """
import pickle, sys
import kernel_tuner.interface as interface
from llamea_tune.testing.cache_files import simulate
from llamea_tune.testing.synthetic_spaces import synthetic_space

assert interface.__file__.startswith(sys.argv[1]), interface.__file__
assert interface.strategy_map["copied_annealing"] in interface._STRATEGY_PARALLEL
space = synthetic_space(1)
results = simulate("copied_annealing", space, sys.argv[2], {"max_fevals": 25, "x0": space.param_config(700)})
assert tuple(results[0][name] for name in space.param_names) == space.param_config(700)
assert "cooling: Factor on the temperature after every step, default 0.95" in interface.strategy_map["copied_annealing"].tune.__doc__
try:
    simulate("copied_annealing", space, sys.argv[2], {"max_fevals": 25, "no_such_option": 1})
except ValueError as err:
    print(err)
print(len({tuple(result[name] for name in space.param_names) for result in results}), "configs")
"""


def test_in_kernel_tuners_own_folder(exported, cache, tmp_path):
    overlay = tmp_path / "overlay"
    tree = overlay / "kernel_tuner"
    shutil.copytree(Path(kernel_tuner.__file__).parent, tree, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(exported.code_path, tree / "strategies" / "copied_annealing.py")
    interface = tree / "interface.py"
    text = interface.read_text()
    line = '    "copied_annealing": "kernel_tuner.strategies.copied_annealing",\n'
    first = '    "brute_force": "kernel_tuner.strategies.brute_force",\n'
    assert first in text
    last = "strategy_map = {name: _LazyStrategyModule(name, path) for name, path in _STRATEGY_IMPORTS.items()}\n"
    assert last in text
    workers = '_STRATEGY_PARALLEL.append(strategy_map["copied_annealing"])\n'
    interface.write_text(text.replace(first, first + line).replace(last, last + workers))

    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(overlay), str(cache)],
        env={"PYTHONPATH": str(overlay), "PATH": "", "LLAMEA_TUNE_STRATEGIES": str(tmp_path / "none")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Unrecognized option no_such_option" in run.stdout
    assert "25 configs" in run.stdout
