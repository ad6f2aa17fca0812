"""`evolve --hpo-trials`: what was spent where, the same with any number of jobs and after kill -9, and exported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from in_process import run_program

from llamea_tune.evolution.run_directory import RunDirectory
from llamea_tune.exporting import read_record
from llamea_tune.testing.cache_files import write_cache
from llamea_tune.testing.synthetic_spaces import synthetic_space

pytestmark = pytest.mark.xdist_group("evolution tunes")
QUICK = (
    *("--max-candidates", "6", "--parents", "2", "--offspring", "3", "--repeats", "2", "--confirm-repeats", "3"),
    *("--final-repeats", "3", "--final-candidates", "2", "--final-strategies", "random_sample"),
    *("--quiet", "--json", "--seed", "2"),
    *("--hpo-trials", "6", "--hpo-runs", "80"),
)


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("caches")
    write_cache(synthetic_space(5), folder / "space.json")

    def make(name: str, *arguments) -> list[str]:
        fixed = ("--spaces", folder, *QUICK) if name == "evolve" else ()
        return [name, *map(str, (*fixed, *arguments))]

    return make


@pytest.fixture(scope="module")
def run(command, tmp_path_factory) -> tuple[Path, dict]:
    """A run with one job, and what it printed."""
    path = tmp_path_factory.mktemp("runs") / "run"
    done = run_program(*command("evolve", "--run-dir", path, "--jobs", "1"))
    assert done.returncode == 0, done.stderr
    return path, json.loads(done.stdout)


def leaderboard(path: Path) -> dict:
    return json.loads((path / "leaderboard.json").read_text())


def test_it_tells_what_was_spent_where(run):
    path, told = run
    tunings = RunDirectory.open_existing(path).tunings()
    assert told["tuning"] == [tuning.summary() for tuning in tunings.values()]
    assert 2 <= len(tunings) <= 4
    assert 0 < sum(tuning.all_runs for tuning in tunings.values()) <= 80
    for tuning in tunings.values():
        assert tuning.confirm_runs == (3 if tuning.gain is not None else 0)
        assert (tuning.evaluation is not None) == bool(tuning.hyperparameters)


def test_what_is_kept_is_better_on_fresh_seeds_and_scored_with_its_tuned_values(run):
    directory = RunDirectory.open_existing(run[0])
    kept = {key: tuning for key, tuning in directory.tunings().items() if tuning.hyperparameters}
    assert kept, "the case should be one in which tuning helps"
    for key, tuning in kept.items():
        assert tuning.gain > 0
        assert directory.candidates()[key].candidate.hyperparameters == tuning.hyperparameters
        assert directory.confirmations()[key] == tuning.evaluation


def test_killed_while_it_tunes_and_resumed_with_other_jobs_it_ends_the_same(run, command, tmp_path):
    path = tmp_path / "run"
    line = [sys.executable, "-m", "llamea_tune", *command("evolve", "--run-dir", path, "--jobs", "1")]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journals = path / "studies"
    deadline = time.monotonic() + 120
    while not (journals.is_dir() and any(j.stat().st_size > 3000 for j in journals.glob("*/journal.log"))):
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert not (path / "leaderboard.json").exists()
    assert run_program("resume", path, "--jobs", "2", "--quiet").returncode == 0
    assert leaderboard(path) == leaderboard(run[0])
    whole, resumed = (RunDirectory.open_existing(folder).tunings() for folder in (run[0], path))
    assert [tuning.summary() for tuning in resumed.values()] == [tuning.summary() for tuning in whole.values()]


def test_a_tuned_candidate_is_exported_with_its_tuned_values(run, command, tmp_path):
    directory = RunDirectory.open_existing(run[0])
    key, tuning = next((key, tuning) for key, tuning in directory.tunings().items() if tuning.hyperparameters)
    done = run_program("export", run[0], "--candidate", key, "--name", "tuned_one", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    record = read_record(tmp_path / "tuned_one.py")
    tuned = {name: entry.default for name, entry in record.hyperparameters.items() if entry.tuned}
    assert tuned == tuning.hyperparameters


def test_a_negative_allowance_is_refused(command, tmp_path):
    refused = run_program(*command("evolve", "--run-dir", tmp_path, "--hpo-runs", "-1"))
    assert refused.returncode == 2
    assert "--hpo-runs is -1; it must not be negative" in refused.stderr
