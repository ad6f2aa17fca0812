"""Live and recording runners on a real kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from llamea_tune.exceptions import RecordingError
from llamea_tune.recording import Bench, KernelFolder
from llamea_tune.runners.live_runner import LiveRunner, measurement_of
from llamea_tune.runners.recording_runner import RecordingRunner
from llamea_tune.spaces.space import FailureKind

MakeKernel = Callable[..., KernelFolder]


def index_of(kernel: KernelFolder, **values: object) -> int:
    names = list(kernel.tune_params)
    return next(
        i
        for i, config in enumerate(kernel.param_configs)
        if all(config[names.index(name)] == value for name, value in values.items())
    )


def test_live_measurements_say_what_happened(make_kernel: MakeKernel):
    kernel = make_kernel("none", "compile", "wrong", "crash")
    with LiveRunner(kernel, iterations=2) as runner:
        assert runner.size == 48
        fine = runner.measure(index_of(kernel, trouble="none", block=4, unroll=2))
        assert fine.failure is FailureKind.NONE
        assert 2.25 <= fine.cost < 50.0
        assert fine.time_us > 1000
        kinds = {
            trouble: runner.measure(index_of(kernel, trouble=trouble)).failure
            for trouble in ("compile", "wrong", "crash")
        }
        assert kinds == {
            "compile": FailureKind.COMPILE,
            "wrong": FailureKind.RUNTIME,
            "crash": FailureKind.RUNTIME,
        }
        assert runner.measure(index_of(kernel, trouble="none")).failure is FailureKind.NONE


def test_a_hanging_kernel_is_ended(make_kernel: MakeKernel):
    kernel = make_kernel("none", "hang")
    configs = kernel.param_configs
    with Bench(kernel, iterations=2, timeout_s=3.0) as bench:
        assert "time" in bench.measure(configs[index_of(kernel, trouble="none")])
        hung = bench.measure(configs[index_of(kernel, trouble="hang")])
        assert hung["__error__"] == "RuntimeFailedConfig"
        assert "no answer within 3 s" in hung["error_message"]


def test_time_is_rounded_stage_by_stage():
    entry = {"time": 1.5, "compile_time": 0.0004, "verification_time": 0.0004, "benchmark_time": 2.0006}
    assert measurement_of(entry).time_us == 2001
    failed = measurement_of({**entry, "__error__": "InvalidConfig"})
    assert failed.failure is FailureKind.INVALID
    assert failed.cost != failed.cost


def test_a_config_is_measured_once_in_a_file(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel("none", "compile")
    cache = tmp_path / "live.json"
    fine, broken = index_of(kernel, trouble="none"), index_of(kernel, trouble="compile")
    with LiveRunner(kernel, iterations=2) as live:
        with RecordingRunner(live, cache) as runner:
            first = [runner.measure(index) for index in (fine, broken, fine)]
            assert (runner.measured, runner.served) == (2, 1)
        with RecordingRunner(live, cache) as again:
            assert str([again.measure(index) for index in (fine, broken, fine)]) == str(
                first
            )  # NaN equals itself as text
            assert (again.measured, again.served) == (0, 3)
    assert first[0] == first[2]
    assert first[1].failure is FailureKind.COMPILE


PROCESS = """
import json, sys
from pathlib import Path
from llamea_tune.recording import KernelFolder
from llamea_tune.runners.live_runner import LiveRunner
from llamea_tune.runners.recording_runner import RecordingRunner

kernel = KernelFolder.load(Path(sys.argv[1]))
with LiveRunner(kernel, iterations=1) as live, RecordingRunner(live, Path(sys.argv[2])) as runner:
    order = range(runner.size) if sys.argv[3] == "up" else reversed(range(runner.size))
    costs = {index: runner.measure(index).cost for index in order}
    print(json.dumps({"costs": costs, "measured": runner.measured, "served": runner.served}))
"""


def test_processes_share_their_measurements(make_kernel: MakeKernel, tmp_path: Path):
    kernel, cache = make_kernel(), tmp_path / "live.json"
    command = [sys.executable, "-c", PROCESS, str(kernel.t1_path), str(cache)]
    processes = [subprocess.Popen([*command, way], stdout=subprocess.PIPE, text=True) for way in ("up", "down")]
    answers = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert answers[0]["costs"] == answers[1]["costs"]
    assert sum(answer["measured"] for answer in answers) == 12
    assert sum(answer["served"] for answer in answers) == 12
    keys = [line.split('"')[1] for line in cache.read_text().splitlines()[1:]]
    assert len(keys) == len(set(keys)) == 12


def test_a_file_of_another_kernel_is_refused(make_kernel: MakeKernel, tmp_path: Path):
    kernel, cache = make_kernel(), tmp_path / "live.json"
    with LiveRunner(kernel, iterations=1) as live, RecordingRunner(live, cache):
        pass
    kernel.source_path.write_text(kernel.source_path.read_text() + "\n")
    changed = KernelFolder.load(kernel.t1_path)
    with LiveRunner(changed, iterations=1) as live, pytest.raises(RecordingError, match="another fingerprint"):
        RecordingRunner(live, cache)
    cache.write_text("{}")
    with LiveRunner(changed, iterations=1) as live, pytest.raises(RecordingError, match="no Kernel Tuner cache"):
        RecordingRunner(live, cache)
