"""What is whole of a file that is cut off can be used, and it is told what cannot."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llamea_tune.exceptions import SpaceFileError, SpaceFileWarning
from llamea_tune.spaces import cache_to_t4, load_space, t4_to_cache


def as_kernel_tuner_writes(cache: dict[str, Any]) -> str:
    head = json.dumps(cache | {"cache": {}}, indent="")[:-3]
    return head + "".join("\n" + json.dumps({key: entry})[1:-1] + "," for key, entry in cache["cache"].items())


def salvaged(path: Path, whole: int, dropped: int) -> None:
    with pytest.warns(SpaceFileWarning) as warned:
        space = load_space(path, salvage=True)
    entries = "1 entry" if dropped == 1 else f"{dropped} entries"
    assert f"{path} is cut off: {whole} config{'s' * (whole != 1)} used, {entries} dropped" in str(warned[-1].message)
    assert space.size == whole
    assert space.partial


def test_a_cache_cut_anywhere_in_its_entries(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    cache["cache"]["64,False,a,0.5"]["note"] = "süß"
    cache["tune_params"]["block_size_x"].append(128)
    text = as_kernel_tuner_writes(cache).replace("\\u00fc", "ü").replace("\\u00df", "ß").encode()
    first = text.index(b'"16,True,a')
    start = text.index(b'"cache"')
    ends = [number for number in range(start, len(text)) if text[number : number + 2] == b"},"]
    for length in range(first, len(text), 5):
        path = write("")
        path.write_bytes(text[:length])
        whole = sum(end < length for end in ends)
        clean = text[:length].rstrip().endswith((b"}", b"},"))
        salvaged(path, whole, 0 if clean else 1)
        path.write_bytes(gzip.compress(text[:length]))
        salvaged(path, whole, 0 if clean else 1)


def test_a_trailing_comma_needs_no_salvage(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    path = write(as_kernel_tuner_writes(cache))
    assert load_space(path).size == 12
    assert not load_space(path).partial
    cache["tune_params"]["mode"].append("c")
    assert load_space(write(as_kernel_tuner_writes(cache))).partial


def test_compressed_data_that_is_cut_off(cache: dict[str, Any], tmp_path: Path) -> None:
    data = gzip.compress(as_kernel_tuner_writes(cache).encode())
    path = tmp_path / "cut.json.gz"
    path.write_bytes(data[:-40])
    with pytest.raises(SpaceFileError, match="--salvage"):
        load_space(path)
    with pytest.warns(SpaceFileWarning, match="dropped"):
        assert 1 <= load_space(path, salvage=True).size < 12


def test_results_that_are_cut_off(cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path) -> None:
    t4, back = tmp_path / "t4.json", tmp_path / "back.json"
    cache_to_t4(write(cache), t4)
    t4.write_text(t4.read_text()[:-300])
    with pytest.raises(SpaceFileError, match="--salvage"):
        load_space(t4)
    salvaged(t4, 11, 1)
    with pytest.warns(SpaceFileWarning, match="11 configs used, 1 entry dropped"):
        t4_to_cache(t4, back, salvage=True)
    assert list(json.loads(back.read_text())["cache"]) == list(cache["cache"])[:11]


def test_a_whole_file_is_read_as_ever(cache: dict[str, Any], write: Callable[..., Path], recwarn: Any) -> None:
    space = load_space(write(cache), salvage=True)
    assert (space.size, space.partial, space.notes) == (12, False, ())
    assert not recwarn.list


def test_what_is_broken_in_the_middle_is_refused(cache: dict[str, Any], write: Callable[..., Path]) -> None:
    text = as_kernel_tuner_writes(cache)
    with pytest.raises(SpaceFileError, match="is no valid JSON from"):
        load_space(write(text.replace('"mode": "b"', '"mode": b', 1)), salvage=True)
