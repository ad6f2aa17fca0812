"""Integers, floats, booleans and texts beside each other: no config is lost, and none is taken for another."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_tuner import tune_kernel

from llamea_tune.exceptions import RecordingError, SpaceFileError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces import RecordedSpace, build_searchspace, cache_to_t4, load_space, param_configs, t4_to_cache
from llamea_tune.testing.kernels import write_kernel_folder

POOL: list[Any] = [0, 1, 2, 16, -3, 0.0, 1.0, 2.5, 1e-3, False, True, "0", "1", "1.0", "True", "a"]
TIMES = {"compile_time": 100.0, "verification_time": 0.0, "benchmark_time": 10.0}

one_of_equals = st.lists(st.sampled_from(POOL), min_size=1, max_size=4, unique=True)
any_values = st.lists(st.sampled_from(POOL), min_size=1, max_size=4, unique_by=repr)
booleans = st.permutations([False, True])
small_numbers = st.lists(st.integers(0, 20), min_size=1, max_size=4, unique=True)


def exactly(config: Any) -> tuple[str, ...]:
    """A config with the types of its values, which Python's comparison ignores."""
    return tuple(map(repr, config))


def document(tune_params: dict[str, list[Any]], costs: dict[tuple[str, ...], tuple[Any, float]]) -> dict[str, Any]:
    entries = {
        ",".join(map(str, config)): dict(zip(tune_params, config, strict=True)) | {"time": cost} | TIMES
        for config, cost in costs.values()
    }
    header = {"kernel_name": "k", "device_name": "d", "problem_size": 1, "objective": "time"}
    return header | {"tune_params_keys": list(tune_params), "tune_params": tune_params, "cache": entries}


def described(tune_params: dict[str, list[Any]], restriction: str) -> dict[str, Any]:
    parameters = [{"Name": name, "Type": "any", "Values": repr(values)} for name, values in tune_params.items()]
    conditions = [{"Expression": restriction, "Parameters": list(tune_params)}] if restriction else []
    return {"ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions}}


def check(space: RecordedSpace, costs: dict[tuple[str, ...], tuple[Any, float]]) -> None:
    """The space is the dictionary, and Kernel Tuner's search space over it numbers configs and values alike."""
    configs = param_configs(space.tune_params, space.value_indices)
    assert {exactly(config): cost for config, cost in zip(configs, space.costs.tolist(), strict=True)} == {
        key: cost for key, (_, cost) in costs.items()
    }
    searchspace = build_searchspace(space.tune_params, space.value_indices)
    assert list(map(exactly, searchspace.list)) == list(map(exactly, configs))
    assert searchspace.get_list_param_indices_numpy().tolist() == space.value_indices.tolist()
    assert [searchspace.get_param_config_index(config) for config in configs] == list(range(space.size))
    for config, indices in zip(configs, space.value_indices.tolist(), strict=True):
        assert list(searchspace.get_param_indices(config)) == indices
        assert exactly(searchspace.get_param_config_from_param_indices(tuple(indices))) == exactly(config)


def draw_costs(data: st.DataObject, tune_params: dict[str, list[Any]]) -> dict[tuple[str, ...], tuple[Any, float]]:
    configs = list(product(*tune_params.values()))
    numbers = data.draw(st.permutations(range(1, len(configs) + 1)))
    return {exactly(config): (config, float(number)) for config, number in zip(configs, numbers, strict=True)}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), choices=st.lists(one_of_equals | booleans | small_numbers, min_size=1, max_size=3))
def test_every_config_keeps_its_cost(data: st.DataObject, choices: list[list[Any]], tmp_path: Path) -> None:
    tune_params = {f"p{number}": list(values) for number, values in enumerate(choices)}
    costs = draw_costs(data, tune_params)
    path = tmp_path / "saxpy" / "cache.json"
    path.parent.mkdir(exist_ok=True)
    path.with_name("T1.json").unlink(missing_ok=True)
    cache = document(tune_params, costs)
    if len(cache["cache"]) < len(costs):
        return  # texts that look like numbers beside those have the same keys, which no cache can hold
    if not data.draw(st.booleans()):
        del cache["tune_params"]
    path.write_text(json.dumps(cache))
    check(load_space(path), costs)
    if data.draw(st.booleans()):
        path.with_name("T1.json").write_text(json.dumps(described(tune_params, "")))
        check(load_space(path), costs)
    t4, back = path.with_name("t4.json"), path.with_name("back.json")
    cache_to_t4(path, t4)
    check(load_space(t4), costs)
    t4_to_cache(t4, back)
    check(load_space(back), costs)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), choices=st.lists(any_values, min_size=1, max_size=3))
def test_values_that_kernel_tuner_cannot_tell_apart_are_refused(
    data: st.DataObject, choices: list[list[Any]], tmp_path: Path
) -> None:
    tune_params = {f"p{number}": list(values) for number, values in enumerate(choices)}
    costs = draw_costs(data, tune_params)
    kept = data.draw(st.sets(st.sampled_from(sorted(costs)), min_size=1))
    costs = {key: costs[key] for key in costs if key in kept}
    occurring = [{repr(config[i]): config[i] for config, _ in costs.values()} for i in range(len(tune_params))]
    path = tmp_path / "results.json"
    results = [
        {
            "configuration": dict(zip(tune_params, config, strict=True)),
            "times": {"compilation": 1.0},
            "measurements": [{"name": "time", "value": cost, "unit": "ms"}],
            "objectives": ["time"],
        }
        for config, cost in costs.values()
    ]
    kept_header = {"kernel_tuner_cache": {"tune_params": tune_params}} if data.draw(st.booleans()) else {}
    path.write_text(json.dumps({"metadata": kept_header, "results": results}))
    if all(len(set(values.values())) == len(values) for values in occurring):
        check(load_space(path), costs)
    else:
        with pytest.raises(SpaceFileError, match=r"has both .* which Kernel Tuner cannot tell apart") as error:
            load_space(path)
        assert "\n" not in str(error.value)


def brute_forced(path: Path, tune_params: dict[str, list[Any]], restrictions: list[str]) -> list[dict[str, Any]]:
    results, _ = tune_kernel(
        *("k", "float k() { return 1; }", 1, [], tune_params),
        restrictions=restrictions,
        lang="C",
        cache=str(path),
        simulation_mode=True,
        strategy="brute_force",
        quiet=True,
    )
    return list(results)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), choices=st.lists(booleans | small_numbers, min_size=1, max_size=4))
def test_brute_force_in_simulation_finds_the_same_configs_and_optimum(
    data: st.DataObject, choices: list[list[Any]], tmp_path: Path
) -> None:
    tune_params = {f"p{number}": list(values) for number, values in enumerate(choices)}
    costs = draw_costs(data, tune_params)
    path = tmp_path / "k" / "cache.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document(tune_params, costs)))
    restriction = f"p0 != {choices[0][0]}" if len(choices[0]) > 1 and data.draw(st.booleans()) else ""
    path.with_name("T1.json").write_text(json.dumps(described(tune_params, restriction)))
    space = load_space(path)
    results = brute_forced(path, tune_params, [restriction] if restriction else [])
    measured = [exactly(result[name] for name in tune_params) for result in results]
    assert sorted(map(exactly, param_configs(space.tune_params, space.value_indices))) == sorted(measured)
    best = min(results, key=lambda result: float(result["time"]))
    assert space.optimum == best["time"]
    index = int(space.costs.argmin())
    assert exactly(space.param_config(index)) == exactly(best[name] for name in tune_params)


def test_declared_values_that_do_not_occur_may_be_equal(write: Callable[..., Path]) -> None:
    values = ["test", 1, True, 2.45]
    for occurring, left in ((2.45, ("test", 1, 2.45)), (True, ("test", True, 2.45)), (1.0, ("test", 1, 2.45))):
        cost = {exactly((16, occurring)): ((16, occurring), 3.0)}
        space = load_space(write(document({"block": [16], "mixed": values}, cost)))
        assert exactly(space.tune_params["mixed"]) == exactly(left)
        assert space.costs.tolist() == [3.0]


def test_a_description_with_equal_values_is_refused(write: Callable[..., Path]) -> None:
    path = write(document({"x": [1, 2]}, {("1",): ((1,), 1.0), ("2",): ((2,), 2.0)}))
    write(described({"x": [1, 2, True]}, ""), "saxpy/T1.json")
    with pytest.raises(SpaceFileError, match="has both 1 and True as values of the parameter 'x'"):
        load_space(path)


def test_caches_cannot_hold_texts_beside_numbers_that_look_alike(write: Callable[..., Path]) -> None:
    results = [
        {"configuration": {"x": x}, "times": {}, "measurements": [{"name": "time", "value": cost}]}
        for x, cost in ((1, 1.0), ("1", 2.0))
    ]
    path = write({"results": results})
    assert load_space(path).costs.tolist() == [1.0, 2.0]
    with pytest.raises(SpaceFileError, match="has both 1 and '1' as values of the parameter 'x'"):
        t4_to_cache(path, path.with_name("cache.json"))
    assert not path.with_name("cache.json").exists()


def test_nor_can_such_a_kernel_be_recorded(tmp_path: Path) -> None:
    folder = write_kernel_folder(tmp_path / "doubled")
    path = folder / "doubled.json"
    t1 = json.loads(path.read_text())
    t1["ConfigurationSpace"]["TuningParameters"][1]["Values"] = "[1, 2, '1']"
    path.write_text(json.dumps(t1))
    with pytest.raises(RecordingError, match="has both 1 and '1' as values of the parameter 'tile'"):
        KernelFolder.load(folder)


def test_costs_of_booleans_alone(write: Callable[..., Path]) -> None:
    tune_params = {"a": [False, True], "b": [True, False]}
    costs = {exactly(config): (config, 1.0 + number) for number, config in enumerate(product(*tune_params.values()))}
    path = write(document(tune_params, costs))
    write(described(tune_params, "a or b"), "saxpy/T1.json")
    space = load_space(path)
    assert sorted(param_configs(space.tune_params, space.value_indices)) == [(False, True), (True, False), (True, True)]
    assert not any(map(math.isnan, space.costs))
