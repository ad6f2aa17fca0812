"""Cache to T4 and back, T4 to cache and back: nothing is lost, and Kernel Tuner reads what is written."""

from __future__ import annotations

import gzip
import json
import math
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernel_tuner.file_utils import output_file_schema
from kernel_tuner.util import read_cache

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces import cache_to_t4, load_space, t4_to_cache


def read(path: Path) -> Any:
    content = path.read_bytes()
    return json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)


def same_spaces(one: Path, other: Path) -> bool:
    first, second = load_space(one), load_space(other)
    return (
        all(
            np.array_equal(getattr(first, a), getattr(second, a))
            for a in ("value_indices", "failures", "stage_times_ms")
        )
        and np.array_equal(first.costs, second.costs, equal_nan=True)
        and first.tune_params == second.tune_params
        and (first.objective, first.higher_is_better) == (second.objective, second.higher_is_better)
    )


def test_a_cache_survives_t4(cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path) -> None:
    entries = list(cache["cache"].values())
    entries[1] |= {"__error__": "ErrorConfig", "note": "ä", "clocks": [1, 2], "nothing": None}
    entries[2] |= {"timestamp": "2026-01-01", "strategy_time": 0.25, "framework_time": 1}
    cache["tune_params"]["block_size_x"] = [64, 16, 128, 32]
    cache |= {"version": "1.2", "objective_higher_is_better": [False], "objective": ["time"]}
    original, t4, back = write(cache, "k/A.json"), tmp_path / "k" / "A_T4.json.gz", tmp_path / "back" / "A.json"
    cache_to_t4(original, t4)
    t4_to_cache(t4, back)
    assert read(back) == cache
    assert same_spaces(original, back)
    assert same_spaces(original, t4)
    loaded = load_space(t4)
    assert (loaded.kernel_name, loaded.device_name, loaded.problem_size) == ("saxpy", "Test GPU", [1024, 1])
    jsonschema.validate({**read(t4), "results": [r for r in read(t4)["results"] if None not in values(r)]}, schema())
    assert not list(back.parent.glob(".*"))


def values(result: dict[str, Any]) -> list[Any]:
    return [measured["value"] for measured in result["measurements"]]


def schema() -> Any:
    return output_file_schema("results")[1]


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
measurements = st.dictionaries(
    st.text("abctime_/", min_size=1, max_size=8).filter(lambda name: name not in {"a", "b"}),
    scalars | st.lists(scalars, max_size=3),
    max_size=5,
)
stage_times = st.dictionaries(
    st.sampled_from(
        ["compile_time", "benchmark_time", "verification_time", "strategy_time", "framework_time", "times"]
    ),
    st.floats(0, 1e4) | st.lists(st.floats(0, 1e4), max_size=3),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fields=st.lists(st.tuples(measurements, stage_times), min_size=1, max_size=4))
def test_every_field_of_any_cache_survives(fields: list[Any], tmp_path: Path) -> None:
    entries = {}
    for number, (measured, times) in enumerate(fields):
        entries[f"{number},x"] = {"a": number, "b": "x"} | measured | times
    entries["99,x"] = {"a": 99, "b": "x", "time": 1.0}
    cache = {"tune_params_keys": ["a", "b"], "objective": "time", "cache": entries}
    (tmp_path / "cache.json").write_text(json.dumps(cache))
    cache_to_t4(tmp_path / "cache.json", tmp_path / "t4.json")
    t4_to_cache(tmp_path / "t4.json", tmp_path / "back.json")
    assert read(tmp_path / "back.json") == cache


@st.composite
def t4_results(draw: st.DrawFn) -> dict[str, Any]:
    results = []
    for number in range(draw(st.integers(1, 4))):
        result: dict[str, Any] = {"configuration": {"a": number, "b": True}}
        names = [
            "compilation",
            "benchmark",
            "validation",
            "runtimes",
            "framework",
            "search_algorithm",
            "compilation_time",
        ]
        result["times"] = draw(st.dictionaries(st.sampled_from([*names, "other"]), st.floats(0, 10.0)))
        kinds = ["correct", "compile", "runtime", "timeout", "constraints", "correctness"]
        result |= {"invalidity": draw(st.sampled_from(kinds)), "correctness": draw(st.sampled_from([0, 1, 0.5]))}
        measured = draw(st.lists(st.tuples(st.sampled_from(["time", "power", "a"]), st.floats(0.1, 9)), max_size=3))
        result["measurements"] = [
            {"name": n, "value": v, "unit": draw(st.sampled_from(["", "ms"]))} for n, v in measured
        ]
        result["objectives"] = ["time"]
        results.append(result | draw(st.sampled_from([{}, {"timestamp": "now"}, {"extra": {"deep": [1]}}])))
    unit = draw(st.sampled_from(["milliseconds", "seconds", "microseconds"]))
    return {"schema_version": "1.0.0", "metadata": {"timeunit": unit, "zenodo": {"doi": 1}}, "results": results}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(document=t4_results())
def test_every_field_of_any_t4_file_survives(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "t4.json").write_text(json.dumps(document))
    t4_to_cache(tmp_path / "t4.json", tmp_path / "cache.json")
    cache_to_t4(tmp_path / "cache.json", tmp_path / "back.json")
    assert read(tmp_path / "back.json") == document


def test_kernel_tuner_reads_a_converted_cache(
    cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    cache_to_t4(write(cache), tmp_path / "A_T4.json")
    t4_to_cache(tmp_path / "A_T4.json", tmp_path / "A.json")
    loaded = read_cache(str(tmp_path / "A.json"), open_cache=False)
    assert loaded["cache"].keys() == cache["cache"].keys()
    assert type(loaded["cache"]["16,False,a,0.5"]["__error__"]).__name__ == "CompilationFailedConfig"


def test_failures_of_t4_become_kernel_tuners(tmp_path: Path) -> None:
    kinds = {"correct": None, "compile": "CompilationFailedConfig", "timeout": "RuntimeFailedConfig"}
    kinds |= {"runtime": "RuntimeFailedConfig", "constraints": "InvalidConfig", "correctness": "ErrorConfig"}
    results = []
    for number, kind in enumerate(kinds):
        result = {"configuration": {"x": number}, "times": {"compilation": 1.0}, "invalidity": kind, "correctness": 1}
        results.append(result | {"measurements": [{"name": "time", "value": 2.0}] if kind == "correct" else []})
    folder = tmp_path / "saxpy"
    folder.mkdir()
    (folder / "A100_T4.json").write_text(json.dumps({"results": results, "metadata": {"timeunit": "seconds"}}))
    t4_to_cache(folder / "A100_T4.json", folder / "A100.json")
    cache = read(folder / "A100.json")
    assert [entry.get("__error__") for entry in cache["cache"].values()] == list(kinds.values())
    assert (cache["device_name"], cache["kernel_name"]) == ("A100", "saxpy")
    assert cache["cache"]["0"]["compile_time"] == 1000.0
    assert same_spaces(folder / "A100_T4.json", folder / "A100.json")


def test_the_hub_survives(hub: Path, tmp_path: Path) -> None:
    folder = hub / "cachefiles" / "convolution_milo"
    cache_to_t4(folder / "A100.json.gz", tmp_path / "A100_T4.json")
    t4_to_cache(tmp_path / "A100_T4.json", tmp_path / "A100.json.gz")
    assert read(tmp_path / "A100.json.gz") == read(folder / "A100.json.gz")
    t4_to_cache(folder / "A100_T4.json.gz", tmp_path / "cache.json")
    cache_to_t4(tmp_path / "cache.json", tmp_path / "t4.json")
    assert read(tmp_path / "t4.json") == read(folder / "A100_T4.json.gz")


def test_nothing_is_left_of_a_file_that_cannot_be_written(
    cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SpaceFileError, match="cannot be written"):
        cache_to_t4(write(cache), tmp_path / "file" / "out.json")
    broken = write(json.dumps(cache)[:-300], "broken/A.json")
    with pytest.raises(SpaceFileError, match="no valid JSON"):
        cache_to_t4(broken, tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
    assert not list(tmp_path.glob(".*"))
    assert math.isfinite(load_space(write(cache)).optimum)


@pytest.mark.parametrize(("convert", "reason"), [(cache_to_t4, "is no Kernel Tuner cache"), (t4_to_cache, "'results'")])
@pytest.mark.parametrize("document", [{"a": 1}, [1]])
def test_other_files_are_not_converted(
    convert: Callable[[Path, Path], None], reason: str, document: Any, write: Callable[..., Path], tmp_path: Path
) -> None:
    with pytest.raises(SpaceFileError, match=reason if isinstance(document, dict) else "holds no JSON object"):
        convert(write(document), tmp_path / "out.json")


def test_nothing_is_left_when_the_disk_is_full(
    cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path
) -> None:
    path = write(cache)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
            cache_to_t4(path, tmp_path / "out" / "full.json")
        except SpaceFileError as err:
            status = 0 if "cannot be written" in str(err) else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list((tmp_path / "out").iterdir()) == []
