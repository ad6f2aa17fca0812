"""Recording with a real compiler: what is measured, kept, resumed and refused."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from kernel_tuner import tune_kernel

from llamea_tune.exceptions import RecordingError, SettingsError
from llamea_tune.recording import KernelFolder, Progress, record
from llamea_tune.recording.recording_file import read_cache

MakeKernel = Callable[..., KernelFolder]


def quick(kernel: KernelFolder, out: Path, **settings):
    return record(kernel, out, **{"label": "cpu", "iterations": 2, "noise_sample": 0, **settings})


def test_whole_space_is_recorded_and_kernel_tuner_simulates_on_it(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    seen: list[Progress] = []
    recorded = quick(kernel, tmp_path / "out", on_progress=seen.append)

    assert recorded.cache == tmp_path / "out" / "cpu.json.gz"
    assert (recorded.configs, recorded.valid, recorded.measured) == (12, 12, 12)
    assert [progress.done for progress in seen] == list(range(1, 13))
    assert sorted(path.name for path in recorded.cache.parent.iterdir()) == ["cpu.json.gz", "cpu.provenance.json"]

    plain = tmp_path / "cache.json"
    plain.write_bytes(gzip.decompress(recorded.cache.read_bytes()))
    results, _ = tune_kernel(
        "twice",
        str(kernel.source_path),
        (512,),
        kernel.reference.arguments((512,), np.random.default_rng(0)),
        {name: list(values) for name, values in kernel.tune_params.items()},
        restrictions=list(kernel.restrictions),
        lang="C",
        cache=str(plain),
        simulation_mode=True,
        quiet=True,
    )
    assert len(results) == 12
    assert min(result["time"] for result in results) == pytest.approx(recorded.optimum_ms, rel=1e-5)
    assert all(result["compile_time"] > 1.0 and result["benchmark_time"] > 0.0 for result in results)


def test_provenance_says_what_it_was_recorded_with(make_kernel: MakeKernel, tmp_path: Path):
    quick(make_kernel(), tmp_path, sample=4, noise_sample=2)
    about = json.loads((tmp_path / "cpu.provenance.json").read_text())
    assert about["coverage"] == "a random sample of 4 configs"
    assert about["noise"]["configs"] == 2
    assert about["noise"]["measurements_each"] == 3
    assert 0 <= about["noise"]["median_relative_spread"] <= about["noise"]["p95_relative_spread"]
    assert about["recorded_with"]["versions"]["kernel_tuner"]
    assert "gcc" in about["recorded_with"]["compiler"]
    assert about["recorded_with"]["iterations"] == 2


def test_a_finished_recording_is_not_measured_again(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    first = quick(kernel, tmp_path)
    before = first.cache.read_bytes()
    assert quick(kernel, tmp_path).measured == 0
    assert first.cache.read_bytes() == before


def test_a_sample_can_be_completed_later(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    sample = quick(kernel, tmp_path, sample=5)
    _, entries = read_cache(sample.cache)
    assert sample.configs == len(entries) == 5
    assert "random sample of 5" in (tmp_path / "cpu.provenance.json").read_text()

    whole = quick(kernel, tmp_path)
    assert (whole.configs, whole.measured) == (12, 7)
    _, completed = read_cache(whole.cache)
    assert {key: completed[key] for key in entries} == entries


def test_parts_make_a_whole(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    parts = [quick(kernel, tmp_path, part=(number, 3)) for number in (1, 2, 3)]
    assert [part.measured for part in parts] == [4, 4, 4]
    assert [part.cache is None for part in parts] == [True, True, False]
    assert parts[-1].configs == 12
    assert len(json.loads((tmp_path / "cpu.provenance.json").read_text())["other_parts"]) == 2
    assert len(list(tmp_path.glob("cpu*"))) == 2


def test_a_part_or_sample_that_makes_no_sense_is_refused(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    with pytest.raises(SettingsError, match="no part 4 of 3"):
        quick(kernel, tmp_path, part=(4, 3))
    with pytest.raises(SettingsError, match="sample of 0"):
        quick(kernel, tmp_path, sample=0)


def test_kill_9_loses_and_repeats_nothing(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    journal = tmp_path / "out" / "twice" / "cpu.journal"
    command = [
        sys.executable,
        "-m",
        "llamea_tune",
        "spaces",
        "record",
        str(kernel.t1_path.parent),
        "--out",
        str(tmp_path / "out"),
    ]
    command += ["--label", "cpu", "--noise-sample", "0", "--compilers", "1"]
    kills = 0
    kept: dict[str, str] = {}
    for least in (2, 6):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        while len(_lines(journal)) < least and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += process.returncode == -signal.SIGKILL
        now = _lines(journal)
        assert least <= len(now) < 12
        assert kept.items() <= now.items()
        kept = now
    assert kills == 2

    torn = '"1,1,none": {"block": 1, "unro'
    with journal.open("a") as stream:
        stream.write(torn)
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "12 configs, 12 valid" in finished.stdout
    _, entries = read_cache(journal.with_name("cpu.json.gz"))
    for key, line in kept.items():
        assert entries[key]["time"] == pytest.approx(json.loads(f"{{{line}}}")[key]["time"], rel=1e-5)


def _lines(journal: Path) -> dict[str, str]:
    """Complete entries of a journal, by key; none may be there twice."""
    if not journal.is_file():
        return {}
    lines = [line.rstrip(",") for line in journal.read_text().split('"cache": {\n')[-1].split("\n")[:-1]]
    found = {next(iter(json.loads(f"{{{line}}}"))): line for line in lines if line.startswith('"')}
    assert len(found) == len(lines)
    return found


def test_a_time_limit_stops_in_time_and_can_be_resumed(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    stopped = quick(kernel, tmp_path, time_limit_s=0.0)
    assert stopped.cache is None
    assert stopped.configs == 0
    resumed = quick(kernel, tmp_path)
    assert resumed.configs == 12


def test_a_wrong_result_stops_the_session_and_names_the_config(make_kernel: MakeKernel, tmp_path: Path):
    with pytest.raises(RecordingError, match=r"twice gives a wrong result with block=\d+, unroll=\d, trouble=wrong"):
        quick(make_kernel("none", "wrong"), tmp_path)


def test_wrong_results_can_be_recorded_as_failures(make_kernel: MakeKernel, tmp_path: Path):
    recorded = quick(make_kernel("none", "wrong"), tmp_path, sample=12, stop_on_wrong_result=False)
    _, entries = read_cache(recorded.cache)
    assert 0 < recorded.valid < 12
    for entry in entries.values():
        assert ("time" in entry) == (entry["trouble"] == "none")
        assert entry.get("__error__") == (None if entry["trouble"] == "none" else "RuntimeFailedConfig")
    about = json.loads((tmp_path / "cpu.provenance.json").read_text())
    assert about["wrong_results"] == 12 - recorded.valid


def test_failures_of_compiling_and_crashes_are_recorded(make_kernel: MakeKernel, tmp_path: Path):
    recorded = quick(make_kernel("none", "compile", "crash"), tmp_path, sample=12)
    _, entries = read_cache(recorded.cache)
    errors = {"none": None, "compile": "CompilationFailedConfig", "crash": "RuntimeFailedConfig"}
    assert {entry["trouble"] for entry in entries.values()} == set(errors)
    for entry in entries.values():
        assert entry.get("__error__") == errors[entry["trouble"]]
        assert entry["compile_time"] > 0.0


def test_a_kernel_that_fails_everywhere_is_given_up(make_kernel: MakeKernel, tmp_path: Path):
    with pytest.raises(RecordingError, match=r"failed with all 12 configs tried .*does not compile"):
        quick(make_kernel("compile"), tmp_path)
    with pytest.raises(RecordingError, match="failed with all 3 configs tried"):
        quick(make_kernel("compile", name="again"), tmp_path / "out", sample=3)


def test_no_compiler_is_one_sentence(make_kernel: MakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    kernel = make_kernel()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RecordingError, match=r"the compiler 'gcc', which .*twice\.json asks for, is not on PATH"):
        quick(kernel, tmp_path)


def test_no_gpu_is_one_sentence(make_kernel: MakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    kernel = KernelFolder.load(make_kernel().t1_path, backend="CUDA")
    with pytest.raises(RecordingError, match="backend CUDA cannot use device 0 here"):
        quick(kernel, tmp_path)


def test_a_changed_kernel_is_not_mixed_with_an_old_recording(make_kernel: MakeKernel, tmp_path: Path):
    kernel = make_kernel()
    quick(kernel, tmp_path / "done", sample=2)
    quick(kernel, tmp_path / "begun", part=(1, 2), sample=2)
    kernel.source_path.write_text(kernel.source_path.read_text() + "\n")
    changed = KernelFolder.load(kernel.t1_path)
    with pytest.raises(RecordingError, match="another version of the kernel"):
        quick(changed, tmp_path / "done")
    with pytest.raises(RecordingError, match="another fingerprint"):
        quick(changed, tmp_path / "begun", part=(1, 2), sample=2)


def test_the_command_reports_what_it_cannot_record_and_goes_on(make_kernel: MakeKernel, tmp_path: Path):
    good = make_kernel().t1_path.parent
    command = [sys.executable, "-m", "llamea_tune", "spaces", "record", str(tmp_path / "missing"), str(good)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "out"), "--sample", "2", "--noise-sample", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "neither a kernel folder nor a T1 file" in done.stderr
    assert "Traceback" not in done.stderr
    assert "twice: 2 configs, 2 valid" in done.stdout
