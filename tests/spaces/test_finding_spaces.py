"""Files, folders and globs; T1 descriptions beside or above them; names."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from llamea_tune.exceptions import SpaceFileError, SpaceFileWarning
from llamea_tune.spaces import bundled_spaces, find_t1, load_space, load_spaces

T4 = {
    "results": [
        {
            "configuration": {"x": 1},
            "times": {"compilation": 1.0},
            "invalidity": "correct",
            "correctness": 1,
            "measurements": [{"name": "time", "value": 2.0, "unit": "ms"}],
            "objectives": ["time"],
        }
    ]
}


@pytest.mark.parametrize(
    ("file", "description"),
    [
        ("matmul/caches/X.json", "matmul/matmul.json"),
        ("matmul/X.json", "matmul/matmul.json"),
        ("hub/cachefiles/matmul/X.json", "hub/kernels/matmul.json"),
        ("caches/matmul/X.json", "kernels/matmul.json"),
        ("any/X.json", "any/T1.json"),
        ("any/X.json", "any/X_T1.json"),
        ("any/X.json", "any/described.json"),
    ],
)
def test_a_description_is_found(
    file: str, description: str, cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "block_size_x > 16", "Parameters": []}]
    path, described = write(cache, file), write(t1, description)
    assert find_t1(path) == described
    assert load_space(path).restrictions == ("block_size_x > 16",)


@pytest.mark.parametrize("description", ["other/matmul.json", "any/kernels/other.json", "any/unrelated.json"])
def test_other_descriptions_are_left_alone(
    description: str, cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    t1["KernelSpecification"]["KernelName"] = "matmul"
    path = write(cache, "any/X.json")
    write(t1, description)
    write("broken", "any/broken.json")
    write(cache, "any/any.json")
    assert find_t1(path) is None
    assert load_space(path).restrictions == ()


def test_a_given_description_wins(cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(cache)
    write(t1, "saxpy/saxpy.json")
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "fast", "Parameters": []}]
    given = write(t1, "elsewhere/mine.json")
    assert load_space(path).size == 12
    assert load_space(path, t1=given).restrictions == ("fast",)
    with pytest.raises(SpaceFileError, match="does not exist"):
        load_space(path, t1=given.with_name("absent.json"))


def test_a_folder_holds_its_caches_and_nothing_else(
    tmp_path: Path, cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path]
) -> None:
    root = tmp_path / "searchspaces"
    packed = write(cache, "searchspaces/saxpy/caches/X.json.gz")
    packed.write_bytes(gzip.compress(packed.read_bytes()))
    write(cache, "searchspaces/saxpy/caches/Y.json")
    write(t1, "searchspaces/saxpy/saxpy.json")
    write({"driver": "1.2", "kernel": "saxpy"}, "searchspaces/saxpy/caches/X.provenance.json")
    write(T4, "searchspaces/saxpy/caches/Y_T4.json")
    write(T4, "searchspaces/t4/only.json")
    write(cache, "searchspaces/.hidden/Z.json")
    write("words", "searchspaces/README.txt")
    expected = ["saxpy/X", "saxpy/Y", "t4/only"]
    assert [space.name for space in load_spaces([root])] == expected
    assert [space.name for space in load_spaces([f"{root}/*"])] == expected
    assert [space.name for space in load_spaces([f"{root}/**/*.json*"])] == expected
    assert [space.name for space in load_spaces([root, root / "t4", f"{root}/t4/*.json"])] == expected
    named = load_spaces([root / "t4" / "only.json", root / "saxpy"])
    assert [space.name for space in named] == ["t4/only", "saxpy/X", "saxpy/Y"]


def test_a_t4_copy_loads_when_named(write: Callable[..., Path], cache: dict[str, Any]) -> None:
    write(cache, "k/A.json")
    copy = write(T4, "k/A_T4.json")
    assert [space.name for space in load_spaces([copy])] == ["k/A_T4"]


def test_names_are_unique(tmp_path: Path, cache: dict[str, Any], write: Callable[..., Path]) -> None:
    for place in ("one/k/A.json", "two/k/A.json", "two/k/B.json", "k/caches/C.json", "k/C.json"):
        write(cache, place)
    write(cache, "k/D.json.gz")
    write(cache, "k/D.json")
    names = [space.name for space in load_spaces([tmp_path])]
    assert len(set(names)) == len(names) == 7
    assert {"one/k/A", "two/k/A", "k/B"} <= set(names)
    assert load_space(tmp_path / "k" / "C.json", name="mine").name == "mine"


def test_broken_files_among_many_are_named_and_left_out(
    tmp_path: Path, cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    good = write(cache, "k/A.json")
    broken = {
        write("", "k/B.json"): "is empty",
        write("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "k/C.json"): "git lfs pull",
        write(cache | {"objective": "hits"}, "k/D.json"): "whether a higher 'hits' is better",
        write(json.dumps(cache)[:-40], "k/E.json"): "--salvage",
    }
    for spec in (tmp_path, f"{tmp_path}/k/*.json"):
        with pytest.warns(SpaceFileWarning) as warned:
            assert [space.source for space in load_spaces([spec])] == [str(good)]
        said = [str(warning.message) for warning in warned]
        assert len(said) == len(broken)
        for path, reason in broken.items():
            (message,) = (text for text in said if text.startswith(f"skipped: {path} "[:-1]))
            assert reason in message and "\n" not in message
    for path, reason in broken.items():
        with (
            pytest.warns(SpaceFileWarning) if path.name != "C.json" else nullcontext(),
            pytest.raises(SpaceFileError, match=reason),
        ):
            load_spaces([tmp_path / "k", path] if path.name != "C.json" else [path])


def test_a_folder_of_nothing_but_broken_files_is_an_error(
    tmp_path: Path, cache: dict[str, Any], write: Callable[..., Path]
) -> None:
    write(cache | {"objective": "hits"}, "k/A.json")
    with pytest.warns(SpaceFileWarning), pytest.raises(SpaceFileError, match="none of the files that"):
        load_spaces([tmp_path])
    with pytest.raises(SpaceFileError, match=r"absent\.json does not exist"):
        load_spaces([tmp_path], t1=tmp_path / "absent.json")


def test_bundled_spaces_are_caches() -> None:
    for path in bundled_spaces():
        assert path.name.endswith(".json.gz")
        assert path.parent.name == "caches"
        space = load_space(path)
        assert space.restrictions
        assert space.valid.sum() >= 300


HUB_SIZES = {
    "convolution_milo/A100": (4362, 4201, 3.3),
    "convolution_milo/A4000": (4362, 4201, 3.2),
    "convolution_milo/MI250X": (4362, 4362, 30),
    "dedispersion_milo/A100": (11130, 11130, 1.06),
    "dedispersion_milo/A4000": (11130, 11130, 1.13),
    "dedispersion_milo/MI250X": (11130, 11130, 2.4),
    "gemm/RTX_2080_Ti": (17956, 17956, 2.5),
    "gemm/RTX_3090": (17956, 17956, 2.6),
    "pnpoly/RTX_2080_Ti": (4092, 3734, 1.5),
    "pnpoly/RTX_3090": (4092, 3774, 1.55),
}


def test_the_hub_loads(hub: Path) -> None:
    spaces = {space.name: space for space in load_spaces([hub])}
    assert spaces.keys() == HUB_SIZES.keys()
    for name, (size, valid, ratio) in HUB_SIZES.items():
        space = spaces[name]
        assert (space.size, int(space.valid.sum())) == (size, valid)
        median = sorted(space.costs[space.valid])[valid // 2]
        assert median / space.optimum == pytest.approx(ratio, rel=0.05)
        assert bool(space.restrictions) == name.startswith(("convolution", "dedispersion"))


@pytest.mark.parametrize("device", ["A100", "MI250X"])
def test_t4_and_cache_of_the_hub_agree(device: str, hub: Path) -> None:
    folder = hub / "cachefiles" / "convolution_milo"
    cache, t4 = load_space(folder / f"{device}.json.gz"), load_space(folder / f"{device}_T4.json.gz")
    assert t4.tune_params == cache.tune_params
    assert (t4.value_indices == cache.value_indices).all()
    assert (t4.failures == cache.failures).all()
    assert t4.costs.tobytes() == cache.costs.tobytes()
    assert (t4.stage_times_ms[:, :2] == cache.stage_times_ms[:, :2]).all()
    document = json.loads(gzip.decompress((folder / f"{device}.json.gz").read_bytes()))
    key = ",".join(map(str, cache.param_config(5)))
    assert t4.stage_times_ms[5, 2] == pytest.approx(sum(document["cache"][key]["times"]))
