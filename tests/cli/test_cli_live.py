"""Evolving and benchmarking on a live kernel, with a real compiler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from llamea_tune.testing.kernels import write_kernel_folder

SCRIPT = Path(sys.executable).with_name("llamea-tune")

QUICK = (
    *("--live-sample", "24", "--repeats", "2", "--confirm-repeats", "2", "--final-repeats", "3"),
    *("--final-candidates", "2", "--max-candidates", "4", "--parents", "2", "--offspring", "2"),
    *("--final-strategies", "random_sample", "--run-dir", "run"),
)


@pytest.fixture
def kernel(own_folders: Path) -> Path:
    return write_kernel_folder(own_folders / "doubled")


def recorded(folder: Path) -> list[str]:
    """Keys of what was measured, in order."""
    found = list(folder.glob("live/doubled/*.json"))
    return [line.split('"')[1] for path in found for line in path.read_text().splitlines()[1:]]


def test_an_interrupted_evolution_resumes_and_measures_nothing_twice(command, kernel: Path):
    folder = kernel.parent
    line = [SCRIPT, "evolve", "--live", str(kernel), *QUICK, "--allow-weak-sandbox"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ))
    log = folder / "run" / "candidates.jsonl"
    while process.poll() is None and not (log.is_file() and log.read_bytes().count(b"\n") >= 1):
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = recorded(folder)
    assert len(before) >= 24

    resumed = command("resume", "run", "--json", "--allow-weak-sandbox")
    assert resumed.code == 0, resumed.err
    rows = resumed.json["rows"]
    assert {row["candidate"] is None for row in rows} == {True, False}
    assert all(row["mean"] is not None for row in rows)
    after = recorded(folder)
    assert after[: len(before)] == before
    assert len(after) == len(set(after))

    header = json.loads((folder / "run" / "run.json").read_text())
    assert header["spaces"][0]["live"]["reference"] >= 1.0
    again = command("resume", "run", "--json", "--allow-weak-sandbox")
    assert again.json["rows"] == rows
    assert recorded(folder) == after


def test_two_strategies_are_compared_live_and_later_calls_cost_nothing(command, kernel: Path):
    line = ("benchmark", "simulated_annealing", "random_sample", "--live", kernel, "--live-sample", "24")
    first = command(*line, "--repeats", "4", "--json")
    assert first.code == 0, first.err
    assert {row["strategy"] for row in first.json["strategies"]} == {"simulated_annealing", "random_sample"}
    measured = recorded(kernel.parent)
    assert 24 < len(measured) == len(set(measured))

    again = command(*line, "--repeats", "4", "--json")
    assert again.json["strategies"] == first.json["strategies"]
    assert recorded(kernel.parent) == measured


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--spaces", "somewhere"), "both given"),
        (("--live-sample", "2"), "must be at least 10"),
        (("--live-budget", "-1"), "above 0"),
        (("--ioh", "out"), "leave it out with --live"),
        (("--charge-own-compute",), "--charge-own-compute needs recorded spaces"),
        (("--stop-at-target",), "--stop-at-target needs recorded spaces"),
    ],
)
def test_what_makes_no_sense_is_refused(command, kernel: Path, arguments, message: str):
    refused = command("benchmark", "pso", "--live", kernel, *arguments)
    assert refused.is_refusal(), refused.err
    assert message in refused.err


def test_a_device_that_is_no_number_is_refused(command, kernel: Path):
    t1 = kernel / "doubled.json"
    t1.write_text(t1.read_text().replace('"Backend": "C"', '"Backend": "CUDA"'))
    refused = command("benchmark", "pso", "--live", kernel, "--device", "first")
    assert refused.is_refusal(), refused.err
    assert "--device is 'first'" in refused.err


def test_all_devices_of_a_machine_without_any_are_refused(command, kernel: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    t1 = kernel / "doubled.json"
    t1.write_text(t1.read_text().replace('"Backend": "C"', '"Backend": "CUDA"'))
    refused = command("benchmark", "pso", "--live", kernel, "--device", "all")
    assert refused.is_refusal(), refused.err
    assert "finds no NVIDIA GPU" in refused.err
    refused = command("benchmark", "pso", "--live", kernel, "--device", "all", "--executor", "ray")
    assert refused.is_refusal(), refused.err
    assert "write a number for each GPU wanted" in refused.err
