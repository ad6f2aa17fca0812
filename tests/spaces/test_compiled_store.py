"""Compiled spaces on disk: used when sound, replaced when not, never in the way."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llamea_tune.spaces import RecordedSpace, load_space
from llamea_tune.spaces.store import kept_array


def same(one: RecordedSpace, other: RecordedSpace) -> bool:
    fields = (
        "kernel_name",
        "device_name",
        "problem_size",
        "restrictions",
        "objective",
        "higher_is_better",
        "has_times",
    )
    arrays = ("value_indices", "costs", "failures", "stage_times_ms")
    return (
        all(getattr(one, field) == getattr(other, field) for field in (*fields, "name", "source", "content_hash"))
        and list(one.tune_params.items()) == list(other.tune_params.items())
        and all(np.array_equal(getattr(one, a), getattr(other, a), equal_nan=a == "costs") for a in arrays)
    )


def stored_files(store: Path) -> list[Path]:
    return sorted(store.iterdir()) if store.is_dir() else []


def test_a_compiled_space_is_kept_and_used(cache: dict[str, Any], write: Callable[..., Path], store: Path) -> None:
    path = write(cache)
    cold = load_space(path)
    [kept] = stored_files(store)
    assert same(load_space(path), cold)
    with np.load(kept) as stored:
        arrays = dict(stored)
    arrays["costs"] = arrays["costs"] + 1.0
    np.savez(kept, **arrays)
    assert np.array_equal(load_space(path).costs, cold.costs + 1.0, equal_nan=True)


def test_name_and_source_are_those_of_now(cache: dict[str, Any], write: Callable[..., Path], store: Path) -> None:
    load_space(write(cache))
    moved = write(cache, "moved/B.json")
    space = load_space(moved)
    assert (space.name, space.source) == ("moved/B", str(moved))
    assert len(stored_files(store)) == 1


def test_any_change_of_content_is_another_space(
    cache: dict[str, Any], t1: dict[str, Any], write: Callable[..., Path], store: Path
) -> None:
    path = write(cache)
    hashes = {load_space(path).content_hash, load_space(path, objective="GFLOP/s").content_hash}
    described = write(t1, "saxpy/saxpy.json")
    hashes.add(load_space(path).content_hash)
    t1["ConfigurationSpace"]["Conditions"] = [{"Expression": "fast", "Parameters": []}]
    write(t1, "saxpy/saxpy.json")
    hashes.add(load_space(path).content_hash)
    described.unlink()
    cache["cache"]["64,True,b,0.5"]["time"] = 1.0
    hashes.add(load_space(write(cache)).content_hash)
    assert len(hashes) == 5
    assert len(stored_files(store)) == 5


@pytest.mark.parametrize(
    "damage", ["empty", "cut", "flipped", "text", "shapes", "types", "pickled", "missing", "folder"]
)
def test_a_damaged_one_is_compiled_again(
    damage: str, cache: dict[str, Any], write: Callable[..., Path], store: Path
) -> None:
    path = write(cache)
    expected = load_space(path)
    [kept] = stored_files(store)
    content = kept.read_bytes()
    with np.load(kept) as stored:
        arrays = dict(stored)
    if damage == "empty":
        kept.write_bytes(b"")
    elif damage == "cut":
        kept.write_bytes(content[: len(content) // 2])
    elif damage == "flipped":
        middle = content.index(expected.costs.tobytes())
        kept.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    elif damage == "text":
        np.savez(kept, **arrays | {"texts": np.frombuffer(b"[1]", dtype=np.uint8)})
    elif damage == "shapes":
        np.savez(kept, **arrays | {"costs": arrays["costs"][:-1]})
    elif damage == "types":
        np.savez(kept, **arrays | {"failures": arrays["failures"].astype(np.float64)})
    elif damage == "pickled":
        np.savez(kept, **arrays | {"costs": np.array([object()])})
    elif damage == "missing":
        np.savez(kept, texts=arrays["texts"])
    else:
        kept.unlink()
        kept.mkdir()
    assert same(load_space(path), expected)
    assert same(load_space(path), expected)
    if damage != "folder":
        assert kept.read_bytes() == content


def test_an_unwritable_store_is_no_trouble(
    cache: dict[str, Any], write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LLAMEA_TUNE_CACHE", str(tmp_path / "file" / "below"))
    assert load_space(write(cache)).size == 12


def _load_with_little_disk(path: Path, answers: Any) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    answers.put(load_space(path).size)


def test_a_full_disk_is_no_trouble(cache: dict[str, Any], write: Callable[..., Path], store: Path) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=_load_with_little_disk, args=(write(cache), answers))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert answers.get() == 12
    assert stored_files(store) == []


def _load_often(path: Path, start: Any, answers: Any) -> None:
    start.wait()
    spaces = [load_space(path) for _ in range(5)]
    answers.put((spaces[0].costs.tobytes(), all(same(space, spaces[0]) for space in spaces)))


def test_concurrent_processes_agree(cache: dict[str, Any], write: Callable[..., Path], store: Path) -> None:
    path = write(cache)
    context = multiprocessing.get_context("spawn")
    start, answers = context.Event(), context.Queue()
    processes = [context.Process(target=_load_often, args=(path, start, answers)) for _ in range(4)]
    for process in processes:
        process.start()
    start.set()
    found = [answers.get(timeout=120) for _ in processes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert {costs for costs, _ in found} == {load_space(path).costs.tobytes()}
    assert all(agreed for _, agreed in found)
    assert len(stored_files(store)) == 1


def test_loading_is_fast(hub: Path) -> None:
    path = hub / "cachefiles" / "dedispersion_milo" / "A100.json.gz"
    durations = []
    for _cold_then_warm in range(2):
        start = time.process_time()
        load_space(path)
        durations.append(time.process_time() - start)
    assert durations[0] < 2.0
    assert durations[1] < 0.1


def test_an_array_is_computed_once_and_again_where_it_is_damaged(store: Path) -> None:
    computed = []

    def compute() -> Any:
        computed.append(1)
        return np.array([1.0, 2.0])

    for _ in range(2):
        assert kept_array("some", compute).tolist() == [1.0, 2.0]
    assert len(computed) == 1
    [kept] = stored_files(store)
    kept.write_bytes(kept.read_bytes()[:-30])
    assert kept_array("some", compute).tolist() == [1.0, 2.0]
    assert len(computed) == 2
    assert kept_array("other", lambda: np.zeros(1)).tolist() == [0.0]


def test_an_array_is_there_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("LLAMEA_TUNE_CACHE", str(tmp_path / "file" / "below"))
    assert kept_array("some", lambda: np.ones(2)).tolist() == [1.0, 1.0]
