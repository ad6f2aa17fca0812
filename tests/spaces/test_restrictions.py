"""T1 descriptions: values and restrictions read safely, configs numbered as Kernel Tuner numbers them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_tuner import tune_kernel

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces import build_searchspace, load_space, param_configs
from llamea_tune.spaces.expressions import check_restriction, evaluate_values


@pytest.mark.parametrize(
    "expression",
    [
        "[16, 32, 48]",
        "[32 * i for i in range(1, 32)]",
        "[1] + [2 * i for i in range(1, 11)]",
        "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))",
        "[2**i for i in range(0, 6)]",
        "[i * j for i in [1, 2] for j in (3, 5) if i != j and not i > 3 or j == 5]",
        "[1 << i if i % 2 else -i for i in range(8)]",
        "sorted([*range(3), *[7, 5]])",
        "['row', \"column\"]",
        "[True, False]",
        "list(map_) if False else [0.5, 1e-3]".replace("map_", "[1]"),
        "(1, 2)",
        "[i for i in range(6) if i in {1, 5}]",
        "range(4)",
        "[min(i, 4) for i in range(6) if i in (1, 5)]",
        "5",
    ],
)
def test_values_are_what_python_makes_of_them(expression: str) -> None:
    assert evaluate_values(expression) == eval(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').getcwd()",
        "[x for x in ().__class__.__bases__]",
        "open('/etc/passwd')",
        "[9**9**9]",
        "[2**2000]",
        "[1 << 100000]",
        "[0] * 10**9",
        "list(range(10**9))",
        "[i for i in range(10**4) for j in range(10**4)]",
        "'a' * 10**9",
        "(lambda: [1])()",
        "[1 / 0]",
        "[unknown]",
        "[1, 2",
        "{}",
        "[i for i in 5]",
        "f'{1}'",
        "b'abc'",
        "len(obj=[1])",
        "[1 @ 2]",
        "[1 if 1 is 1 else 2]",
        "[i for i, j in [(1, 2)]]",
        "[2**1000 * 2**1000]",
        "[1, 2][2]",
        "[1, 2][0:1]",
        "{}['a']",
        "5[0]",
    ],
)
def test_anything_but_plain_values_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        evaluate_values(expression)


def test_names_stand_for_what_they_are_given() -> None:
    names = {"ProblemSize": [4096, 512], "filter_width": (3, 17), "x": 2.5}
    for expression in ("(ProblemSize[0] + max(filter_width) - 1) * ProblemSize[-1]", "x * len(filter_width)"):
        assert evaluate_values(expression, names) == eval(expression, dict(names))
    with pytest.raises(ValueError, match="not known"):
        evaluate_values("ProblemSize[0] * y", names)


@settings(deadline=None)
@given(st.text("abi0123456789+-*/%()[], <>=.'\"#\\\n", max_size=30))
def test_any_text_is_evaluated_or_refused(text: str) -> None:
    try:
        value = evaluate_values(text)
    except ValueError:
        return
    assert isinstance(value, (int, float, str, list, tuple, complex))


@pytest.mark.parametrize(
    "expression",
    [
        "x * y <= 1024",
        "32 <= x * y <= 1024",
        "y == 0 or (x + (y - 1)) * 2 < 12*1024 and not x == 7",
        "x % ((x * y)/y) == 0",
        "method == 'row-major' or x in (1, 2)",
        "max(x, y) // 2 >= min(abs(x), 3) ** 2",
        "(x if y else 1) != 3",
    ],
)
def test_harmless_restrictions_pass(expression: str) -> None:
    check_restriction(expression, ["x", "y", "method"])


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("__import__('os').system('true') == 0", "unknown|other than"),
        ("x.__class__ == 1", "attribute"),
        ("x <= 1 #<= __import__('os').getcwd()", "comment"),
        ("method == '__import__(\"os\").getcwd()'", "special characters"),
        ("method == '\\x28'", "backslash"),
        ("(lambda: x)() > 1", "other than"),
        ("[i for i in range(x)] == 1", "listcomp|unknown"),
        ("z > 1", "'z'"),
        ("max(x, key=abs) > 1", "other than"),
        ("x > ", "no Python expression"),
        ("x && y", "no Python expression"),
        ("9**9**9 > x", "exponent"),
        ("(x := 3) > 2", "namedexpr"),
        ("x is None", "None|is"),
        ("x == b'a'", "b'a'"),
    ],
)
def test_harmful_or_unknown_restrictions_are_refused(expression: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        check_restriction(expression, ["x", "y", "method"])


def simulated_configs(cache_file: Path, tune_params: dict[str, list[Any]], restrictions: list[str]) -> list[Any]:
    """The configs of `tune_kernel` in simulation, in its order."""
    document = json.loads(cache_file.read_text())
    seen: list[Any] = []

    class Observer:
        def tune(self, searchspace: Any, _runner: Any, _options: Any) -> list[Any]:
            seen.extend(searchspace.list)
            return []

    tune_kernel(
        document["kernel_name"],
        "__global__ void kernel() {}",
        document["problem_size"],
        [],
        tune_params,
        restrictions=restrictions,
        lang="CUDA",
        cache=str(cache_file),
        simulation_mode=True,
        strategy=Observer(),
        quiet=True,
    )
    return seen


@pytest.mark.parametrize(
    "restrictions",
    [[], ["block_size_x > 16 or fast"], ["block_size_x * scale <= 16", "mode == 'a' or not fast"]],
)
def test_configs_are_numbered_as_in_simulation(
    restrictions: list[str], cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": r, "Parameters": []} for r in restrictions]
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    space = load_space(path)
    configs = param_configs(space.tune_params, space.value_indices)
    assert configs == simulated_configs(path, cache["tune_params"], restrictions)
    assert space.restrictions == tuple(restrictions)
    for config, cost in zip(configs, space.costs, strict=True):
        recorded = cache["cache"][",".join(map(str, config))]["time"]
        assert cost == recorded or (isinstance(recorded, str) and np.isnan(cost))


@pytest.mark.parametrize("kernel", ["convolution_milo", "dedispersion_milo", "pnpoly"])
def test_hub_spaces_are_numbered_as_in_simulation(kernel: str, hub: Path, tmp_path: Path) -> None:
    for compressed in sorted((hub / "cachefiles" / kernel).glob("*[0-9].json.gz")):
        cache_file = tmp_path / f"{compressed.stem}"
        text = gzip.decompress(compressed.read_bytes()).decode()
        document = json.loads(text)
        cache_file.write_text(text)
        space = load_space(compressed)
        configs = param_configs(space.tune_params, space.value_indices)
        if "T4" not in compressed.name:
            assert configs == simulated_configs(cache_file, document["tune_params"], list(space.restrictions))
            assert len(configs) == len(document["cache"])


def test_the_searchspace_has_the_same_configs_and_numbers(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    space = load_space(write(cache))
    searchspace = build_searchspace(space.tune_params, space.value_indices)
    configs = param_configs(space.tune_params, space.value_indices)
    assert searchspace.list == configs
    assert [searchspace.get_param_config_index(config) for config in configs] == list(range(space.size))
    assert np.array_equal(searchspace.get_list_param_indices_numpy(), space.value_indices)


def test_a_sampled_recording_is_the_space(
    cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    cache["cache"] = dict(list(cache["cache"].items())[3:9])
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "block_size_x > 16 or fast", "Parameters": []}]
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    space = load_space(path)
    configs = [",".join(map(str, space.param_config(i))) for i in range(space.size)]
    assert configs == list(cache["cache"])
    assert space.partial
    assert space.n_permitted == 10
    assert load_space(path).n_permitted == 10


def test_a_sample_of_a_huge_space_needs_no_enumeration(write: Callable[..., Path]) -> None:
    names = [f"p{i}" for i in range(20)]
    parameters = [{"Name": name, "Type": "int", "Values": "list(range(32))"} for name in names]
    entries = {str(i): dict.fromkeys(names, i) | {"time": 1.0 + i} for i in range(8)}
    path = write({"tune_params_keys": names, "cache": entries})
    write({"ConfigurationSpace": {"TuningParameters": parameters}}, "saxpy/saxpy.json")
    space = load_space(path)
    assert space.costs.tolist() == [1.0 + i for i in range(8)]
    assert len(space.tune_params["p0"]) == 32


def test_recorded_configs_that_are_forbidden_are_left_out(
    cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "block_size_x != 32", "Parameters": []}]
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    space = load_space(path)
    assert space.size == 8
    assert 32 not in {space.param_config(i)[0] for i in range(space.size)}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda ps: ps.pop(), "its parameters are block_size_x, fast, mode and the recorded ones are"),
        (lambda ps: ps.reverse(), "its parameters are scale, mode, fast, block_size_x"),
        (lambda ps: ps[0].update(Values="[16, 32]"), "with block_size_x = 64, which is none of its values"),
        (lambda ps: ps[1].update(Values="[False, True"), r"TuningParameters\[1\] \(fast\): .* is no Python expression"),
        (lambda ps: ps[2].update(Values="[]"), "are no numbers or strings"),
        (lambda ps: ps[2].pop("Values"), r"TuningParameters\[2\] has no Name or no Values"),
        (lambda ps: ps[0].update(Name="block size"), "is no identifier"),
        (lambda ps: ps.clear(), "is no T1 description"),
    ],
)
def test_a_description_that_does_not_fit_is_one_sentence(
    change: Callable[[Any], Any], reason: str, cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    change(t1["ConfigurationSpace"]["TuningParameters"])
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    with pytest.raises(SpaceFileError, match=reason) as error:
        load_space(path)
    assert "saxpy.json" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("restriction", "reason"),
    [
        ("block_size_x == 16 and mode == 'c'", "permits no config at all"),
        ("block_size_x > 1000", "Kernel Tuner cannot apply its restrictions"),
        ("block_size_x % (scale - 0.5) == 0", "Kernel Tuner cannot apply its restrictions"),
        ("open('x')", "'open', which is a function unknown"),
        (None, "a condition without an Expression"),
    ],
)
def test_a_broken_restriction_is_one_sentence(
    restriction: str | None, reason: str, cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": restriction, "Parameters": []}]
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    with pytest.raises(SpaceFileError, match=reason):
        load_space(path)


def test_a_description_that_permits_nothing_recorded_or_only_failures(
    cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "block_size_x == 16", "Parameters": []}]
    path = write(dict(cache, cache=dict(list(cache["cache"].items())[8:])))
    write(t1, "saxpy/saxpy.json")
    with pytest.raises(SpaceFileError, match="permits none of the recorded configs"):
        load_space(path)
    t1["ConfigurationSpace"]["Conditions"][0]["Expression"] = "block_size_x == 16 and not fast and mode == 'a'"
    write(cache)
    write(t1, "saxpy/saxpy.json")
    with pytest.raises(SpaceFileError, match="all the configs that it permits failed"):
        load_space(path)
