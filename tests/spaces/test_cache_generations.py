"""The same measurements load to the same space, whichever generation of the format holds them."""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llamea_tune.spaces import FailureKind, RecordedSpace, load_space

Measurement = tuple[float | str, tuple[float, float, float]]

ERRORS = {
    "CompilationFailedConfig": FailureKind.COMPILE,
    "RuntimeFailedConfig": FailureKind.RUNTIME,
    "InvalidConfig": FailureKind.INVALID,
    "ErrorConfig": FailureKind.OTHER,
}
VALUES = st.one_of(
    st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=4, unique=True),
    st.lists(st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
    st.lists(st.text("abcXYZ_ ,{}\"'é", min_size=1, max_size=5), min_size=1, max_size=3, unique=True),
)
POSITIVE = st.floats(0.0, 1e6, allow_nan=False)


@st.composite
def recordings(draw: st.DrawFn) -> tuple[dict[str, list[Any]], dict[tuple[Any, ...], Measurement]]:
    names = draw(
        st.lists(st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,5}", fullmatch=True), min_size=1, max_size=4, unique=True)
    )
    reserved = {"time", "times", "compile_time", "verification_time", "benchmark_time"}
    tune_params = {f"p_{name}" if name in reserved else name: draw(VALUES) for name in names}
    value = st.one_of(st.floats(1e-6, 1e6, allow_nan=False), st.sampled_from(list(ERRORS)))
    times = st.tuples(POSITIVE, POSITIVE, POSITIVE)
    config = st.tuples(*(st.sampled_from(values) for values in tune_params.values()))
    measured = draw(st.dictionaries(config, st.tuples(value, times), min_size=1, max_size=12))
    some = draw(st.sampled_from(list(measured)))
    measured[some] = (draw(st.floats(1e-6, 1e6, allow_nan=False)), measured[some][1])
    return tune_params, measured


def entry(names: list[str], config: tuple[Any, ...], measured: Measurement, generation: str) -> dict[str, Any]:
    value, (compile_ms, verify_ms, benchmark_ms) = measured
    fields: dict[str, Any] = dict(zip(names, config, strict=True))
    if generation == "error field" and isinstance(value, str):
        fields["__error__"] = value
    else:
        fields["time"] = value
    fields |= {"compile_time": compile_ms, "verification_time": verify_ms, "benchmark_time": benchmark_ms}
    return fields | {"unheard_of": {"nested": [1, "}", None]}, "timestamp": "2026-01-01 00:00:00+00:00"}


def cache_text(tune_params: dict[str, list[Any]], measured: dict[tuple[Any, ...], Measurement], generation: str) -> str:
    names = list(tune_params)
    document: dict[str, Any] = {"device_name": "GPU", "kernel_name": "k", "problem_size": 100}
    document |= {"tune_params_keys": names, "tune_params": tune_params}
    document |= {"objective list": {"objective": ["time"]}, "no objective": {}}.get(generation, {"objective": "time"})
    entries = {",".join(map(str, config)): entry(names, config, m, generation) for config, m in measured.items()}
    if generation == "entries first":
        return json.dumps({"cache": entries, "unknown": None} | document, sort_keys=True)
    if generation == "indented":
        return json.dumps(document | {"cache": entries}, indent=3)
    head = json.dumps(document | {"cache": {}}, indent="")[:-3]
    lines = "".join("\n" + json.dumps({key: fields})[1:-1] + "," for key, fields in entries.items())
    if generation == "killed run":
        return head + lines
    if generation == "killed run, no comma":
        return head + lines[:-1]
    return head + lines[:-1] + "}\n}"


GENERATIONS = (
    *("names as values", "error field", "objective list", "no objective", "entries first"),
    *("indented", "killed run", "killed run, no comma"),
)


def keys_differ(measured: dict[tuple[Any, ...], Measurement]) -> bool:
    return len({",".join(map(str, config)) for config in measured}) == len(measured)


def check(
    space: RecordedSpace, tune_params: dict[str, list[Any]], measured: dict[tuple[Any, ...], Measurement]
) -> None:
    assert {name: list(values) for name, values in space.tune_params.items()} == tune_params
    assert [type(v) for vs in space.tune_params.values() for v in vs] == [
        type(v) for vs in tune_params.values() for v in vs
    ]
    assert space.size == len(measured)
    for index in range(space.size):
        value, times = measured[space.param_config(index)]
        assert space.failures[index] == (ERRORS[value] if isinstance(value, str) else FailureKind.NONE)
        assert math.isnan(space.costs[index]) if isinstance(value, str) else space.costs[index] == value
        assert tuple(space.stage_times_ms[index]) == times
    assert (space.objective, space.higher_is_better, space.has_times) == ("time", False, True)
    assert (space.kernel_name, space.device_name, space.problem_size) == ("k", "GPU", 100)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recording=recordings())
def test_every_generation_loads_to_the_same_space(
    recording: tuple[dict[str, list[Any]], dict[tuple[Any, ...], Measurement]],
    tmp_path: Path,
) -> None:
    tune_params, measured = recording
    if not keys_differ(measured):
        return
    for generation in GENERATIONS:
        path = tmp_path / "recording.json"
        path.write_text(cache_text(tune_params, measured, generation), encoding="utf-8")
        check(load_space(path), tune_params, measured)
        if generation != "entries first":
            in_order = [load_space(path).param_config(i) for i in range(len(measured))]
            assert in_order == list(measured)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recording=recordings())
def test_t4_loads_to_the_same_measurements(
    recording: tuple[dict[str, list[Any]], dict[tuple[Any, ...], Measurement]],
    tmp_path: Path,
) -> None:
    tune_params, measured = recording
    invalidity = {
        "CompilationFailedConfig": "compile",
        "RuntimeFailedConfig": "runtime",
        "InvalidConfig": "constraints",
    }
    results = []
    for config, (value, (compile_ms, verify_ms, benchmark_ms)) in measured.items():
        failed = isinstance(value, str)
        times = {"compilation": compile_ms, "validation": verify_ms, "benchmark": benchmark_ms, "runtimes": [1.0]}
        result = {"configuration": dict(zip(tune_params, config, strict=True)), "times": times, "objectives": ["time"]}
        result |= {"invalidity": invalidity.get(value, "correctness") if failed else "correct", "correctness": 1}
        results.append(result | {"measurements": [] if failed else [{"name": "time", "value": value, "unit": "ms"}]})
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"results": results, "schema_version": "1.0.0"}).encode()))
    space = load_space(path)
    assert [space.param_config(i) for i in range(space.size)] == list(measured)
    for index, (value, times_ms) in enumerate(measured.values()):
        assert space.failures[index] == (ERRORS[value] if isinstance(value, str) else FailureKind.NONE)
        assert math.isnan(space.costs[index]) if isinstance(value, str) else space.costs[index] == value
        assert tuple(space.stage_times_ms[index]) == times_ms


@pytest.mark.parametrize(
    "value", [None, "NaN", float("nan"), float("inf"), True, [1.0], 1e20, sys.float_info.max, 10**400]
)
def test_what_is_no_finite_number_is_a_failure(
    cache: dict[str, Any], write: Callable[..., Path], value: object
) -> None:
    next(iter(cache["cache"].values()))["time"] = value
    space = load_space(write(cache))
    assert (space.failures[0], math.isnan(space.costs[0])) == (FailureKind.OTHER, True)


def test_a_missing_objective_value_is_a_failure(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    del list(cache["cache"].values())[2]["time"]
    assert load_space(write(cache)).failures[2] == FailureKind.OTHER


def test_an_error_of_an_unknown_name_is_a_failure(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    entries = list(cache["cache"].values())
    entries[1]["__error__"], entries[2]["__error__"] = "SomethingNew", None
    space = load_space(write(cache))
    assert space.failures[1] == FailureKind.OTHER
    assert space.failures[2] == FailureKind.NONE


def test_maximised_objectives_have_negative_costs(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    space = load_space(write(cache), objective="GFLOP/s")
    assert space.higher_is_better
    assert space.costs[1] == -99.0
    assert space.optimum == -99.0
    assert math.isnan(space.costs[0])


def test_the_direction_is_that_of_the_objective_asked_for(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    cache["objective_higher_is_better"] = False
    assert load_space(write(cache), objective="GFLOP/s").optimum == -99.0
    cache |= {"objective": ["time", "GFLOP/s"], "objective_higher_is_better": [True, False]}
    assert load_space(write(cache), objective="GFLOP/s").optimum == 89.0
    assert load_space(write(cache)).higher_is_better


def test_the_objective_of_results_is_what_most_of_them_name(write: Callable[..., Path]) -> None:
    def result(x: int, *objectives: str) -> dict[str, Any]:
        measured = [{"name": name, "value": value} for name, value in (("time", 1.0 + x), ("energy", 9.0 - x))]
        found = {"configuration": {"x": x}, "times": {}, "measurements": measured if objectives else []}
        return found | {"objectives": list(objectives), "invalidity": "correct" if objectives else "compile"}

    for results in (
        [result(0), result(1, "energy"), result(2, "energy")],
        [result(0, "time"), result(1, "energy", "time"), result(2, "energy")],
    ):
        path = write({"results": results})
        space = load_space(path)
        assert (space.objective, space.costs[1:].tolist()) == ("energy", [8.0, 7.0])
        assert load_space(path, objective="time").costs[1:].tolist() == [2.0, 3.0]


def test_the_direction_comes_from_the_file_then_the_argument(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    for fields in cache["cache"].values():
        fields["hits"] = fields["time"]
    cache["objective"] = ["hits", "time"]
    assert load_space(write(cache), higher_is_better=True).costs[1] == -11.0
    assert load_space(write(cache), higher_is_better=False).costs[1] == 11.0
    cache["objective_higher_is_better"] = [True, False]
    assert load_space(write(cache)).costs[1] == -11.0
    assert load_space(write(cache), higher_is_better=False).costs[1] == -11.0


def test_a_file_without_times_counts_one_second_each(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    for fields in cache["cache"].values():
        for stage in ("compile_time", "verification_time", "benchmark_time"):
            del fields[stage]
    space = load_space(write(cache))
    assert not space.has_times
    assert (space.evaluation_times_s == 1.0).all()


def test_a_missing_time_is_the_median_or_nothing_for_a_failed_config(
    cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    entries = list(cache["cache"].values())
    entries[0]["compile_time"], entries[1]["compile_time"] = None, -1.0
    space = load_space(write(cache))
    assert space.has_times
    assert space.stage_times_ms[0].tolist() == [0.0, 1.0, 20.0]
    assert space.stage_times_ms[1, 0] == np.median(
        [f["compile_time"] for f in entries if isinstance(f["time"], float)][1:]
    )


def test_values_recorded_later_join_the_declared_ones_in_order(
    cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    extra = dict(cache["cache"]["64,True,b,0.5"], block_size_x=48, mode="0")
    cache["cache"]["48,True,0,0.5"] = extra
    space = load_space(write(cache))
    assert space.tune_params["block_size_x"] == (16, 32, 48, 64)
    assert space.tune_params["mode"] == ("a", "b", "0")
    assert space.param_config(space.size - 1) == (48, True, "0", 0.5)
    assert space.param_config(0) == (16, False, "a", 0.5)


def test_the_oldest_caches_name_parameters_only_by_their_keys(
    cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    expected = load_space(write(cache))
    for name in ("tune_params", "tune_params_keys", "objective"):
        del cache[name]
    oldest = load_space(write(cache))
    assert oldest.tune_params == expected.tune_params
    assert np.array_equal(oldest.value_indices, expected.value_indices)


def test_compression_is_told_by_content_not_by_name(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(cache)
    expected = load_space(path)
    path.write_bytes(gzip.compress(path.read_bytes()))
    space = load_space(path)
    assert np.array_equal(space.costs, expected.costs, equal_nan=True)
    assert space.content_hash != expected.content_hash


def test_a_t4_time_unit_is_applied_and_run_times_stand_for_the_benchmark(write: Callable[..., Path]) -> None:
    times = {"compilation": 2.0, "validation": 0.5, "runtimes": [0.25, 0.5]}
    result = {"configuration": {"x": 1}, "times": times, "invalidity": "correct", "correctness": 1}
    result |= {"measurements": [{"name": "time", "value": 3.0, "unit": "s"}], "objectives": ["time"]}
    timed_out = dict(result, configuration={"x": 2}, invalidity="timeout", measurements=[])
    wrong = dict(result, configuration={"x": 3}, correctness=0)
    results = [result, timed_out, wrong]
    space = load_space(write({"results": results, "metadata": {"timeunit": "seconds"}}))
    assert space.stage_times_ms[0].tolist() == [2000.0, 500.0, 750.0]
    assert space.costs[0] == 3.0
    assert space.failures.tolist() == [FailureKind.NONE, FailureKind.RUNTIME, FailureKind.OTHER]


def test_arrays_are_read_only(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(cache)
    for _cold_then_warm in range(2):
        space = load_space(path)
        with pytest.raises(ValueError, match="read-only"):
            space.costs[0] = 0.0
