"""Whole runs in real processes: the same seed gives the same run, whatever interrupts it."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from llamea_tune.evolution.settings import Settings

pytestmark = pytest.mark.xdist_group("evolve runs")


def journal(run: Path) -> list[dict]:
    return [json.loads(line) for line in (run / "candidates.jsonl").read_text().splitlines()]


def processes_in_session(leader: int) -> list[int]:
    """Processes of the session that `leader` led, and of those started from there by the sandbox."""
    alive = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if state[0] != "Z" and (int(state[3]) == leader or f"MARK={leader}".encode() in environment):
            alive.append(int(entry.name))
    return alive


@pytest.fixture(scope="module")
def finished(cli, tmp_path_factory):
    run = tmp_path_factory.mktemp("runs") / "finished"
    done = cli("evolve", "--run-dir", run, "--seed", "3")
    assert done.returncode == 0, done.stderr
    return run, done


def test_a_run_shows_progress_a_leaderboard_and_how_to_export(finished):
    run, done = finished
    assert "making the leaderboard: 4 contenders" in done.stderr
    board = json.loads((run / "leaderboard.json").read_text())
    assert {row["label"] for row in board["rows"] if row["candidate"] is None} == {"genetic_algorithm", "random_sample"}
    means = [row["mean"] for row in board["rows"]]
    assert means == sorted(means, reverse=True)
    winner = next(row["candidate"] for row in board["rows"] if row["candidate"])
    assert f"llamea-tune export {run} --candidate {winner} --name" in done.stdout


def test_everything_is_logged(finished):
    run, _ = finished
    header = json.loads((run / "run.json").read_text())
    assert header["settings"]["seed"] == 3
    assert {space["name"] for space in header["spaces"]} == {"synthetic/gpu_one", "synthetic/gpu_two"}
    judged = [record for record in journal(run) if record["kind"] == "judged"]
    assert sorted(record["candidate"]["id"] for record in judged) == [f"{number:04d}" for number in range(8)]
    for record in judged:
        candidate = record["candidate"]
        code = run / "candidates" / f"{candidate['id']}_{candidate['class_name']}.py"
        assert code.read_text() == candidate["code"]
    by_id = {record["candidate"]["id"]: record["candidate"] for record in judged}
    for candidate in by_id.values():
        assert all(by_id[parent]["generation"] < candidate["generation"] for parent in candidate["parents"])


def test_survivors_were_confirmed_on_fresh_seeds(finished):
    run, _ = finished
    records = journal(run)
    confirmed = [record for record in records if record["kind"] == "confirmed"]
    first = {r["candidate"]["id"]: r["evaluation"] for r in records if r["kind"] == "judged"}
    assert len(confirmed) >= 2
    assert all(record["evaluation"]["scores"] != first[record["id"]]["scores"] for record in confirmed)


def test_the_same_seed_gives_the_same_leaderboard_whatever_the_jobs(finished, cli, tmp_path):
    run, _ = finished
    again = tmp_path / "again"
    assert cli("evolve", "--run-dir", again, "--seed", "3", "--jobs", "1").returncode == 0
    assert (again / "leaderboard.json").read_bytes() == (run / "leaderboard.json").read_bytes()


def test_killed_ten_times_and_resumed_it_ends_the_same(finished, command, tmp_path):
    """`kill -9` of the main process at random moments; nothing it started outlives it for long."""
    uninterrupted, _ = finished
    run = tmp_path / "killed"
    rng = random.Random(0)
    line = command("evolve", "--run-dir", run, "--seed", "3", "--quiet")
    kills = 0
    while kills < 10:
        process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            process.wait(timeout=rng.uniform(0.8, 2.5))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            if not (run / "run.json").exists():
                continue  # killed before there was a run: the same command starts it
        else:
            assert process.returncode == 0, process.stderr.read()
            if (run / "leaderboard.json").exists():
                # Finished in between: take its last lines away, as if it had been killed there.
                (run / "leaderboard.json").unlink()
                log = run / "candidates.jsonl"
                content = log.read_bytes()
                log.write_bytes(content[: rng.randrange(len(content) // 2, len(content))])
        finally:
            process.stderr.close()
        deadline = time.monotonic() + 10
        while processes_in_session(process.pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not processes_in_session(process.pid)
        line = command("resume", run, "--quiet", "--jobs", "2")
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (run / "leaderboard.json").read_bytes() == (uninterrupted / "leaderboard.json").read_bytes()


@pytest.mark.slow
def test_a_steady_state_that_is_killed_and_resumed_ends_the_same(command, cli, tmp_path):
    """With one prompt at a time the order of the answers is the same; `kill -9` after one, three and five candidates."""
    options = ("--seed", "3", "--steady-state", "--asked-at-once", "1", "--quiet")
    assert cli("evolve", "--run-dir", tmp_path / "whole", *options).returncode == 0
    run = tmp_path / "killed"
    log = run / "candidates.jsonl"
    line = command("evolve", "--run-dir", run, *options)
    for judged in (1, 3, 5):
        with subprocess.Popen(line, start_new_session=True) as process:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and (not log.exists() or log.read_text().count('"judged"') < judged):
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        line = command("resume", run, "--quiet")
    assert subprocess.run(line, check=False).returncode == 0
    assert (run / "leaderboard.json").read_bytes() == (tmp_path / "whole" / "leaderboard.json").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(number, finished, command, cli, tmp_path):
    """Ctrl-C reaches the whole foreground group, a batch system's SIGTERM the main process."""
    uninterrupted, _ = finished
    run = tmp_path / "stopped"
    line = command("evolve", "--run-dir", run, "--seed", "3")
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + 60
    while not (run / "candidates.jsonl").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert f"llamea-tune resume {run}" in errors
    assert "Traceback" not in errors
    assert not processes_in_session(process.pid)
    assert cli("resume", run, "--quiet", "--jobs", "1").returncode == 0
    assert (run / "leaderboard.json").read_bytes() == (uninterrupted / "leaderboard.json").read_bytes()


def test_resuming_a_finished_run_changes_nothing(finished, cli):
    run, _ = finished
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert cli("resume", run).returncode == 0
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_finished_run_goes_on_to_more_candidates_and_ends_as_the_longer_one(finished, cli, tmp_path):
    run, _ = finished
    longer = tmp_path / "longer"
    assert cli("evolve", "--run-dir", longer, "--seed", "3", "--max-candidates", "3", "--jobs", "1").returncode == 0
    before = (longer / "candidates.jsonl").read_bytes()
    done = cli("resume", longer, "--max-candidates", "8", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert (longer / "candidates.jsonl").read_bytes().startswith(before)
    assert (longer / "leaderboard.json").read_bytes() == (run / "leaderboard.json").read_bytes()


def test_a_run_cannot_be_made_shorter_than_it_is(finished, cli):
    run, _ = finished
    header = (run / "run.json").read_bytes()
    done = cli("resume", run, "--max-candidates", "7")
    assert done.returncode == 2
    assert done.stderr.strip() == f"error: --max-candidates is 7, but {run} has 8 candidates already; raise it."
    assert (run / "run.json").read_bytes() == header


def test_what_tuning_may_take_grows_with_the_run():
    longer = Settings(max_candidates=8, hpo_trials=5, hpo_runs=100).with_max_candidates(24)
    assert (longer.max_candidates, longer.hpo_runs) == (24, 300)


def test_a_winner_is_exported_and_works_by_name(finished, cli, command, strategies_folder, tmp_path):
    run, _ = finished
    done = cli("export", run, "--name", "evolved_here")
    assert done.returncode == 0, done.stderr
    record = json.loads((strategies_folder / "evolved_here.json").read_text())
    assert record["proposer"] == "offline"
    assert record["training_score"]["repeats"] == 3
    assert {entry["name"] for entry in record["training"]} == {"synthetic/gpu_one", "synthetic/gpu_two"}
    final = ("--final-strategies", "evolved_here", "--max-candidates", "2")
    line = command("evolve", "--run-dir", tmp_path / "next", *final)
    listed = subprocess.run(line, capture_output=True, text=True, check=False)
    assert listed.returncode == 0, listed.stderr
    assert "evolved_here" in listed.stdout
