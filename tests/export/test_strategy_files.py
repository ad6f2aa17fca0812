"""Strategy and record are written together or not at all."""

import json
import subprocess
import sys

import pytest

from llamea_tune._bundled import bundled_path
from llamea_tune.exceptions import ExportError
from llamea_tune.exporting import export_strategy
from llamea_tune.exporting.reopen import reopen_strategy


def test_refuses_to_overwrite(walker, request_for, tmp_path):
    export_strategy(request_for(walker), tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ExportError, match="exists already"):
        export_strategy(request_for(walker, hyperparameters={"step": 3.0}), tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("path", sorted(bundled_path("strategies_generated").glob("*.py")), ids=lambda path: path.stem)
def test_bundled_strategies_are_what_export_writes_today(path, tmp_path):
    made = export_strategy(reopen_strategy(path), tmp_path)
    assert made.code_path.read_text() == path.read_text()
    assert made.record_path.read_text() == path.with_suffix(".json").read_text()


@pytest.mark.parametrize("suffix", [".py", ".json"])
def test_one_of_the_files_is_in_the_way(walker, request_for, tmp_path, suffix):
    (tmp_path / f"walk{suffix}").write_text("mine")
    with pytest.raises(ExportError, match="exists already"):
        export_strategy(request_for(walker), tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_force_replaces_both(walker, request_for, tmp_path):
    export_strategy(request_for(walker), tmp_path)
    exported = export_strategy(request_for(walker, hyperparameters={"step": 3.0}), tmp_path, force=True)
    assert "step=3.0" in exported.code_path.read_text()
    assert json.loads(exported.record_path.read_text())["hyperparameters"]["step"]["default"] == 3.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["walk.json", "walk.py"]


@pytest.mark.parametrize("kept", [["walk.json"], []], ids=["a file before", "no file before"])
def test_failure_half_way_restores_everything(walker, request_for, tmp_path, kept):
    for name in kept:
        (tmp_path / name).write_text("kept")
    (tmp_path / "walk.py").mkdir()
    with pytest.raises(ExportError, match="cannot be written"):
        export_strategy(request_for(walker), tmp_path, force=True)
    assert [(tmp_path / name).read_text() for name in kept] == ["kept" for _ in kept]
    assert sorted(path.name for path in tmp_path.iterdir()) == [*kept, "walk.py"]


def test_folder_that_cannot_be_made(walker, request_for, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        export_strategy(request_for(walker), tmp_path / "file" / "folder")


FULL_DISK = """
import pathlib, resource, signal, sys
from llamea_tune.candidate import Candidate
from llamea_tune.exceptions import ExportError
from llamea_tune.exporting import ExportRequest, export_strategy

folder, limit = pathlib.Path(sys.argv[1]), int(sys.argv[2])
candidate = Candidate("1", "Walker", pathlib.Path(sys.argv[3]).read_text(), "Walks.", "hand", "initial", 0)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    export_strategy(ExportRequest("walk", candidate, "2026-01-31"), folder, force=True)
except ExportError as err:
    print("refused:", err)
"""


@pytest.mark.parametrize("limit", [100, 2000])
def test_no_room_leaves_nothing_half_written(walker, request_for, tmp_path, limit):
    """A limit on the size of files stands for a full disk: writing fails part of the way."""
    folder = tmp_path / "out"
    export_strategy(request_for(walker, hyperparameters={"step": 3.0}), folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert max(len(content) for content in before.values()) > limit
    source = tmp_path / "walker.py"
    source.write_text(walker)
    command = [sys.executable, "-c", FULL_DISK, str(folder), str(limit), str(source)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stdout.startswith("refused:"), run.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
