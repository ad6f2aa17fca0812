"""The append-only log survives crashes, corruption and a full disk."""

import os

import pytest
from full_disk import on_a_full_disk
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.exceptions import RecordingError, RunDirectoryError
from llamea_tune.storage import Journal, repair

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


records_of_any_kind = st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=6)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("journal") / "log.jsonl"


def filled(path, records):
    path.unlink(missing_ok=True)
    journal = Journal(path, RunDirectoryError)
    for record in records:
        journal.append(record)
    return journal


@given(records=records_of_any_kind)
def test_what_was_appended_is_read_back(path, records):
    assert list(filled(path, records).records()) == records


@given(records=records_of_any_kind, data=st.data())
def test_a_cut_at_any_byte_costs_no_whole_record(path, records, data):
    journal = filled(path, records)
    content = path.read_bytes() if records else b""
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    whole = records[: content[:cut].count(b"\n")]
    assert list(journal.records()) == whole
    assert journal.repair() is (not content[:cut].endswith(b"\n") and cut > 0)
    assert not journal.repair()
    journal.append({"next": 1})
    assert list(journal.records()) == [*whole, {"next": 1}]
    assert path.read_bytes().startswith(content[: content[:cut].rfind(b"\n") + 1])


def test_what_is_not_there_is_empty_and_needs_no_repair(tmp_path):
    assert list(Journal(tmp_path / "absent", RunDirectoryError).records()) == []
    assert not repair(tmp_path / "absent")


@pytest.mark.parametrize("line", ["{", "[1]", "\x00\x00", ""])
def test_corruption_before_the_last_line_names_file_and_line(line, tmp_path):
    journal = Journal(tmp_path / "log.jsonl", RunDirectoryError)
    journal.path.write_text(f'{{"number": 1}}\n{line}\n{{"number": 2}}\n')
    with pytest.raises(RunDirectoryError, match=r"line 2 of .*log\.jsonl is corrupt"):
        list(journal.records())


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path):
    journal = filled(tmp_path / "log.jsonl", [{"number": 1}])
    before = journal.path.read_bytes()
    script = """
from llamea_tune.exceptions import RecordingError
from llamea_tune.storage import Journal
try:
    Journal(path, RecordingError).append({"text": "x" * 10_000})
except RecordingError as err:
    print(err)
"""
    assert "could not be written (File too large)" in on_a_full_disk(script, journal.path, room=1000)
    assert journal.path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_the_callers_error(tmp_path):
    (tmp_path / "log.jsonl").mkdir()
    with pytest.raises(RecordingError, match=rf"log\.jsonl could not be written \({os.strerror(21)}\)"):
        Journal(tmp_path / "log.jsonl", RecordingError).append({})


def test_numbers_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Out of range"):
        Journal(tmp_path / "log.jsonl", RunDirectoryError).append({"value": float("nan")})
