"""The journal: durable lines, whatever cuts them short."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from full_disk import on_a_full_disk
from hypothesis import given
from hypothesis import strategies as st
from kernel_tuner.util import read_cache

from llamea_tune.exceptions import RecordingError
from llamea_tune.recording import Journal

HEADER = {
    "device_name": "cpu",
    "kernel_name": "twice",
    "problem_size": [512],
    "tune_params_keys": ["block"],
    "tune_params": {"block": [1, 2, 4, 8]},
    "objective": ["time"],
    "fingerprint": "f00",
}


def filled(path: Path, n: int = 4) -> Path:
    with Journal(path, HEADER) as journal:
        for block in range(n):
            journal.append(str(block), {"block": block, "time": 1.0 / (1 + block)})
    return path


def test_kernel_tuner_reads_a_journal_that_is_still_open(tmp_path: Path):
    found = read_cache(str(filled(tmp_path / "cache.json")), open_cache=False)
    assert found["device_name"] == "cpu"
    assert [entry["block"] for entry in found["cache"].values()] == [0, 1, 2, 3]


@given(cut=st.integers(0, 10_000))
def test_what_was_complete_survives_any_cut(cut: int):
    with tempfile.TemporaryDirectory() as folder:
        path = filled(Path(folder) / "cache.json")
        data = path.read_bytes()
        header = data.index(b'"cache": {\n') + len(b'"cache": {\n')
        path.write_bytes(data[: header + cut % (len(data) - header + 1)])
        complete = path.read_bytes()[header:].count(b"\n")
        with Journal(path, HEADER) as journal:
            assert list(journal.entries) == [str(block) for block in range(complete)]
            journal.append("9", {"block": 9, "time": 9.0})
        assert len(read_cache(str(path), open_cache=False)["cache"]) == complete + 1


def test_two_journals_on_a_file_see_each_others_entries(tmp_path: Path):
    path = filled(tmp_path / "cache.json", 1)
    with Journal(path, HEADER) as one, Journal(path, HEADER) as other:
        one.append("1", {"time": 1.0})
        other.append("2", {"time": 2.0})
        assert list(other.entries) == ["0", "1", "2"]
        with one.lock():
            assert list(one.entries) == ["0", "1", "2"]
    lines = path.read_text().splitlines()[1:]
    assert [json.loads(f"{{{line.rstrip(',')}}}").popitem()[0] for line in lines] == ["0", "1", "2"]


def test_a_file_in_use_is_said_to_be(tmp_path: Path):
    path = filled(tmp_path / "cache.json", 1)
    with (
        Journal(path, HEADER) as one,
        one.lock(),
        pytest.raises(RecordingError, match=r"cache\.json is in use by another process"),
    ):
        Journal(path, HEADER, wait=False)


@pytest.mark.parametrize("key", ["device_name", "kernel_name", "problem_size", "tune_params", "fingerprint"])
def test_a_file_of_something_else_is_refused(tmp_path: Path, key: str):
    path = filled(tmp_path / "cache.json", 1)
    with pytest.raises(RecordingError, match=f"another {key.replace('_', ' ')}"):
        Journal(path, {**HEADER, key: "other"})


def test_damage_in_the_middle_is_reported(tmp_path: Path):
    path = filled(tmp_path / "cache.json")
    path.write_text(path.read_text().replace('"1": {', '"1": {{'))
    with pytest.raises(RecordingError, match="is damaged near byte"):
        Journal(path, HEADER)


def test_a_place_that_cannot_be_written_is_reported(tmp_path: Path):
    with pytest.raises(RecordingError, match="cannot be opened"):
        Journal(tmp_path, HEADER)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path):
    path = filled(tmp_path / "cache.json", 1)
    before = path.read_bytes()
    script = f"""
from llamea_tune.exceptions import RecordingError
from llamea_tune.recording import Journal
with Journal(path, {HEADER}) as journal:
    try:
        journal.append("1", {{"time": 1.0, "text": "x" * 10_000}})
    except RecordingError as err:
        print(err, list(journal.entries))
"""
    printed = on_a_full_disk(script, path, room=1000)
    assert "cannot be written (File too large); free space and resume ['0']" in printed
    assert path.read_bytes() == before


def test_a_finished_cache_is_written_whole_or_not_at_all(tmp_path: Path):
    path = tmp_path / "cache.json"
    script = f"""
from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.recording_file import write_cache
entries = {{str(n): {{"block": n, "__error__": "x", **dict.fromkeys(("compile_time", "verification_time", "benchmark_time"), 0)}} for n in range(99)}}
try:
    write_cache(path, {HEADER}, entries)
except RecordingError as err:
    print(err)
"""
    assert "cache.json cannot be written (File too large); free space" in on_a_full_disk(script, path, room=1000)
    assert list(tmp_path.iterdir()) == []
