"""Studies survive being killed: what was finished is there, and the rest comes out as if nothing had happened."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from study_process import TRIALS, make_study

from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.hpo.storage import StudyDirectory

SCRIPT = Path(__file__).with_name("study_process.py")


def run_until(directory: Path, jobs: int, trials: int) -> subprocess.Popen:
    """Start a study, wait until some of its trials are done, leave it running."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(directory), str(jobs)], stdout=subprocess.PIPE, text=True
    )
    for _ in range(trials):
        assert process.stdout.readline(), "the study ended too soon"
    return process


def states(directory: Path) -> list[optuna.trial.TrialState]:
    return [trial.state for trial in StudyDirectory(directory).load().get_trials()]


def outcomes(result) -> list:
    return [(trial.values, trial.value, trial.outcome, trial.runs) for trial in result.trials]


def test_a_killed_study_goes_on_to_the_same_result(tmp_path):
    undisturbed = make_study(tmp_path / "undisturbed")
    for trials in (1, 4, 3):
        process = run_until(tmp_path / "killed", 1, trials)
        process.send_signal(signal.SIGKILL)
        process.wait()
    interrupted = make_study(tmp_path / "killed")
    assert outcomes(interrupted) == outcomes(undisturbed)
    found = states(tmp_path / "killed")
    assert optuna.trial.TrialState.RUNNING not in found
    assert found.count(optuna.trial.TrialState.COMPLETE) == TRIALS


def test_a_study_of_several_workers_can_be_killed(tmp_path):
    process = run_until(tmp_path / "study", 3, 5)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    result = make_study(tmp_path / "study", jobs=2)
    assert len(result.trials) == TRIALS
    assert result.default is not None
    assert states(tmp_path / "study").count(optuna.trial.TrialState.FAIL) <= 3


def test_ctrl_c_ends_a_study_and_its_workers(tmp_path):
    process = run_until(tmp_path / "study", 2, 3)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    assert workers
    process.send_signal(signal.SIGINT)
    assert process.wait(20) != 0
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
    assert len(make_study(tmp_path / "study").trials) == TRIALS


def test_a_study_in_use_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr("llamea_tune.hpo.storage._PATIENCE_S", 0.2)
    process = run_until(tmp_path / "study", 1, 1)
    try:
        with pytest.raises(RunDirectoryError, match="in use by another process"):
            make_study(tmp_path / "study")
    finally:
        process.kill()
        process.wait()


def test_a_half_written_line_is_dropped(tmp_path):
    whole = make_study(tmp_path / "study")
    journal = tmp_path / "study" / "journal.log"
    before = journal.read_bytes()
    journal.write_bytes(before + b'{"op_code":8,"wor')
    assert outcomes(make_study(tmp_path / "study")) == outcomes(whole)


def test_a_directory_with_something_else_in_it_is_refused(tmp_path):
    (tmp_path / "study").write_text("a file")
    with pytest.raises(RunDirectoryError, match="cannot be used for a study"):
        make_study(tmp_path / "study")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "study.json").write_text("{")
    with pytest.raises(RunDirectoryError, match="is no JSON"):
        make_study(tmp_path / "broken")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "journal.log").write_text("")
    with pytest.raises(RunDirectoryError, match=r"without study\.json"):
        make_study(tmp_path / "foreign")
