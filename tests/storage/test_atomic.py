"""Files are there whole or not at all, whatever fails while they are written."""

import os
import stat
import subprocess
import sys
import threading

import pytest
from full_disk import on_a_full_disk
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.storage import atomic_file, write_bytes, write_text, write_together

FULL_DISK = """
from llamea_tune.storage import write_bytes, write_together
try:
    {call}
except OSError as err:
    print(err.strerror)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "file"


@given(content=st.binary(max_size=200), text=st.text(st.characters(codec="utf-8")))
def test_what_was_written_is_there_and_nothing_else(path, content, text):
    write_bytes(path, content)
    assert path.read_bytes() == content
    write_text(path, text)
    assert path.read_bytes() == text.encode()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_an_error_while_writing_leaves_everything_as_it_was(tmp_path, error):
    write_text(tmp_path / "file", "old")

    def write(name):
        with atomic_file(tmp_path / name) as file:
            file.write(b"new")
            raise error

    for name in ("file", "other"):
        with pytest.raises(error):
            write(name)
    assert {place.name: place.read_text() for place in tmp_path.iterdir()} == {"file": "old"}


def test_a_full_disk_leaves_everything_as_it_was(tmp_path):
    write_text(tmp_path / "file", "old")
    script = FULL_DISK.format(call="write_bytes(path, bytes(10_000))")
    assert on_a_full_disk(script, tmp_path / "file", room=1000).strip() == os.strerror(27)
    assert {place.name: place.read_text() for place in tmp_path.iterdir()} == {"file": "old"}


def test_files_that_belong_together_are_written_together(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    write_together({one: "1", two: "2"})
    write_together({one: "3", two: "4"})
    script = FULL_DISK.format(call="write_together({path: 'short', path.with_name('two'): 'x' * 10_000})")
    assert on_a_full_disk(script, one, room=1000).strip() == os.strerror(27)
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_together({one: "5", tmp_path / "new": "6", tmp_path / "folder": "7"})
    assert (one.read_text(), two.read_text()) == ("3", "4")
    assert {place.name for place in tmp_path.iterdir()} == {"one", "two", "folder"}


def test_places_that_cannot_be_written_say_why(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_text(tmp_path / "absent" / "file", "")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_text(tmp_path / "folder", "")
    assert [place.name for place in tmp_path.iterdir()] == ["folder"]


READ_ONLY = """
import os, sys
from pathlib import Path
from llamea_tune.storage import write_text
os.chdir(sys.argv[1])
os.chmod(".", 0o555)
if os.geteuid() == 0:  # who may write everywhere
    os.setuid(65534)
try:
    write_text(Path("file"), "new")
except OSError as err:
    print(err.strerror)
"""


def test_a_read_only_folder_says_so(tmp_path):
    command = [sys.executable, "-c", READ_ONLY, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    tmp_path.chmod(0o755)
    assert done.stdout.strip() == os.strerror(13)
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_what_the_user_lets_them(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_reader_sees_one_version_or_the_other(tmp_path):
    versions = ["a" * 5000, "b" * 70_000]
    path = tmp_path / "file"
    write_text(path, versions[0])
    writers = [
        threading.Thread(target=lambda text=text: [write_text(path, text) for _ in range(30)]) for text in versions
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_text() in versions
    assert list(tmp_path.iterdir()) == [path]
