"""The append-only log survives crashes, corruption and a full disk."""

import resource
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.evolution.journal import Journal
from llamea_tune.exceptions import RunDirectoryError

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(records=st.lists(st.dictionaries(st.text(), json_values, max_size=4), max_size=6))
def test_what_was_appended_is_read_back(records, tmp_path_factory):
    journal = Journal(tmp_path_factory.mktemp("journal") / "log.jsonl")
    for record in records:
        journal.append(record)
    assert list(journal.records()) == records


@given(cut=st.integers(1, 60))
def test_a_half_written_last_line_is_dropped_and_appending_goes_on(cut, tmp_path_factory):
    journal = Journal(tmp_path_factory.mktemp("journal") / "log.jsonl")
    journal.append({"number": 1})
    journal.append({"text": "x" * 60})
    content = journal.path.read_bytes()
    journal.path.write_bytes(content[:-cut])
    assert list(journal.records()) == [{"number": 1}]
    assert journal.repair()
    journal.append({"number": 2})
    assert list(journal.records()) == [{"number": 1}, {"number": 2}]
    assert not journal.repair()


@pytest.mark.parametrize("line", ["{", "[1]", "\x00\x00", ""])
def test_corruption_before_the_last_line_names_file_and_line(line, tmp_path):
    journal = Journal(tmp_path / "log.jsonl")
    journal.path.write_text(f'{{"number": 1}}\n{line}\n{{"number": 2}}\n')
    with pytest.raises(RunDirectoryError, match=r"line 2 of .*log\.jsonl is corrupt"):
        list(journal.records())


def test_a_full_disk_leaves_the_log_as_it_was(tmp_path):
    """A file-size limit stands in for the full disk: the write fails midway in the same way."""
    journal = Journal(tmp_path / "log.jsonl")
    journal.append({"number": 1})
    before = journal.path.read_bytes()
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from llamea_tune.evolution.journal import Journal\n"
        "from llamea_tune.exceptions import RunDirectoryError\n"
        "try:\n"
        "    Journal(Path(sys.argv[1])).append({'text': 'x' * 10_000})\n"
        "except RunDirectoryError as err:\n"
        "    print(err)\n"
    )

    def limit_file_size():
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    done = subprocess.run(
        [sys.executable, "-c", script, str(journal.path)],
        preexec_fn=limit_file_size,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "could not be written (File too large)" in done.stdout
    assert journal.path.read_bytes() == before


def test_numbers_that_are_not_json_are_refused(tmp_path):
    with pytest.raises(ValueError, match="Out of range"):
        Journal(tmp_path / "log.jsonl").append({"value": float("nan")})
