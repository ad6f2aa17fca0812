"""Whatever is changed in a file, loading either works or says in one sentence why not."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces import cache_to_t4, load_space, t4_to_cache

NO_VALUES = [None, True, 0, -1, 10**400, 1.5, float("nan"), float("inf"), [], {}, [[]], [None], {"x": 1}, [1, [2]]]
TEXTS = ["", "x", "InvalidConfig", "[1, 2]", "range(3)", "1 +", "block_size_x > 16", "a" * 1000, "\ud800"]
ODD_VALUES = st.sampled_from([*NO_VALUES, *TEXTS, ["x"], {"Expression": 5}])


def places(document: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    members = (
        document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    )
    return [here, *(place for key, value in members for place in places(value, (*here, key)))]


def changed(document: Any, place: tuple[Any, ...], value: Any, delete: bool) -> Any:
    if not place:
        return value
    document = copy.deepcopy(document)
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    if delete:
        del holder[place[-1]]
    else:
        holder[place[-1]] = value
    return document


def load_or_refuse(path: Path) -> None:
    try:
        space = load_space(path)
    except SpaceFileError as err:
        assert "\n" not in str(err)
        assert str(path.parent) in str(err)
    else:
        assert space.valid.any()
        assert len(space.value_indices) == len(space.costs) == len(space.failures) == len(space.stage_times_ms)
        assert space.stage_times_ms.min() >= 0.0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("kind", ["cache", "t1", "t4"])
def test_any_change(kind: str, data: st.DataObject, cache: dict[str, Any], t1: dict[str, Any], tmp_path: Path) -> None:
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "block_size_x <= 64", "Parameters": []}]
    folder = tmp_path / "saxpy"
    folder.mkdir(exist_ok=True)
    path = folder / "A100.json"
    (folder / "saxpy.json").write_text(json.dumps(t1))
    path.write_text(json.dumps(cache))
    if kind == "t4":
        cache_to_t4(path, path)
    target = folder / "saxpy.json" if kind == "t1" else path
    document = json.loads(target.read_text())
    place = data.draw(st.sampled_from(places(document)))
    mutant = changed(document, place, data.draw(ODD_VALUES), data.draw(st.booleans()))
    target.write_text(json.dumps(mutant))
    load_or_refuse(path)
    try:
        (t4_to_cache if kind == "t4" else cache_to_t4)(path, folder / "out.json")
    except SpaceFileError as err:
        assert "\n" not in str(err)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_to_the_text(data: st.DataObject, cache: dict[str, Any], tmp_path: Path) -> None:
    content = bytearray(json.dumps(cache).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(content) - 1))
        content[start : start + data.draw(st.integers(0, 5))] = data.draw(st.binary(max_size=3))
    path = tmp_path / "A100.json"
    path.write_bytes(content)
    load_or_refuse(path)
