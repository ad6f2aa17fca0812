"""Kernel Tuner numbers booleans rightly once `llamea_tune` is imported, and in exported files without it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_tuner.interface import strategy_map
from kernel_tuner.searchspace import Searchspace

from llamea_tune._bundled import bundled_path
from llamea_tune.strategies.value_indices import mend_value_indices
from llamea_tune.testing.cache_files import simulate, write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

PARAMS = {"block_size_x": (16, 32, 64, 128), "tile": (1, 2, 4), "unroll": (False, True), "vec": (1, 2, 4)}
# It tries everything and takes no budget; it needs a package that is not there; it fails with every released pyATF.
UNABLE = {"brute_force", "skopt", "pyatf_strategies"}

values = st.lists(
    st.integers(-2, 40) | st.booleans() | st.floats(-2, 2) | st.text("ab1", max_size=2), min_size=1, unique=True
)


@settings(max_examples=60, deadline=None)
@given(st.lists(values | st.permutations([False, True]) | st.lists(st.integers(0, 9), min_size=1, unique=True),
                min_size=1, max_size=3))  # fmt: skip
def test_the_index_matrix_is_made_from_the_values(choices):
    params = {f"p{number}": list(own[:5]) for number, own in enumerate(choices)}
    searchspace = Searchspace(params, [], 1024)
    matrix = searchspace.get_list_param_indices_numpy()
    assert matrix.tolist() == [
        [own.index(value) for own, value in zip(params.values(), config, strict=True)] for config in searchspace.list
    ]
    assert searchspace.tune_params is params
    assert matrix is searchspace.get_list_param_indices_numpy()
    assert searchspace.get_param_indices_upper_bounds().tolist() == matrix.max(axis=0).tolist()
    for config, row in zip(searchspace.list, matrix.tolist(), strict=True):
        assert searchspace.get_param_indices(config) == tuple(row)
        assert searchspace.get_param_config_from_param_indices(tuple(row)) == config


def test_mending_twice_changes_nothing():
    once = Searchspace.get_list_param_indices_numpy
    mend_value_indices()
    assert Searchspace.get_list_param_indices_numpy is once


@pytest.mark.filterwarnings("ignore:Configuration .* not in cache")
@pytest.mark.parametrize("strategy", sorted(set(strategy_map) - UNABLE))
def test_every_strategy_gets_through_booleans_beside_whole_numbers(strategy, tmp_path):
    space = synthetic_space(2, tune_params=PARAMS, kept=0.9, failing=0.0)
    results = simulate(strategy, space, write_cache(space, tmp_path / "cache.json"), {"max_fevals": 40})
    permitted = {space.param_config(index) for index in range(space.size)}
    assert {tuple(result[name] for name in PARAMS) for result in results} & permitted


ALONE = """
import importlib.util, json, pathlib, sys
import numpy as np
from kernel_tuner import tune_kernel
file, cache = sys.argv[1:]
spec = importlib.util.spec_from_file_location("strategy", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
seen = []
class Watching:
    def tune(self, searchspace, runner, options):
        results = module.tune(searchspace, runner, options)
        seen.append(searchspace.get_list_param_indices_numpy().tolist())
        assert list(map(list, seen[0])) == [list(searchspace.get_param_indices(c)) for c in searchspace.list]
        return results
params = json.loads(pathlib.Path(cache).read_text())["tune_params"]
results, _ = tune_kernel("synthetic", "float synthetic() { return 1; }", (1024, 1024), [], params, lang="C", cache=cache, simulation_mode=True,
                         strategy=Watching(), strategy_options={"max_fevals": 30}, quiet=True)
assert "llamea_tune" not in sys.modules
print(json.dumps([seen[0], len({tuple(r[p] for p in params) for r in results})]))
"""


@pytest.mark.parametrize("name", ["ranked_annealing", "llm_gen_best"])
def test_exported_files_do_the_same_alone(name, exported, tmp_path):
    file = exported.code_path if name == "ranked_annealing" else bundled_path("strategies_generated") / f"{name}.py"
    space = synthetic_space(2, tune_params=PARAMS, kept=1.0, failing=0.0)
    cache = write_cache(space, tmp_path / "cache.json")
    done = subprocess.run([sys.executable, "-c", ALONE, file, cache], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    matrix, measured = json.loads(done.stdout.splitlines()[-1])
    assert measured == 30
    assert np.array_equal(np.unique(matrix, axis=0), np.unique(space.value_indices, axis=0))
