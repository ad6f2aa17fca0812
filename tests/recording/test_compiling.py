"""Compiling ahead, and the workers it is done in."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from llamea_tune.recording import KernelFolder
from llamea_tune.recording.ahead import CompileAhead
from llamea_tune.recording.compiling import Toolchain, compile_variant
from llamea_tune.recording.json_worker import Worker, WorkerDiedError
from llamea_tune.recording.machine import device_label
from llamea_tune.recording.recording_file import config_key

CUDA_SOURCE = """
#if block_size_x == 96
#error "no such block"
#endif
extern "C"
#define element float
__global__ void twice(element *out, const element *in, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) {
        out[i] = 2 * in[i];
    }
}
"""

ANSWERER = """
import os, time
from llamea_tune.recording.json_worker import serve

def start(settings):
    def answer(message):
        print("noise on standard output")
        if message["do"] == "die":
            os.abort()
        if message["do"] == "sleep":
            time.sleep(60)
        return {"settings": settings, "pid": os.getpid(), "cwd": os.getcwd(), "said": message}
    return answer

serve(start)
"""


@pytest.fixture
def answerer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "answerer_for_tests.py").write_text(ANSWERER)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "modules")])
    return "answerer_for_tests"


def test_a_worker_answers_dies_and_is_replaced(answerer: str):
    with Worker(answerer, {"n": 1}) as worker:
        first = worker.request({"do": "speak", "text": "a\nb"}, 60)
        assert first["settings"] == {"n": 1}
        assert first["said"]["text"] == "a\nb"
        assert worker.request({"do": "speak"}, 60)["pid"] == first["pid"]
        with pytest.raises(WorkerDiedError, match="ended by signal 6"):
            worker.request({"do": "die"}, 60)
        assert not Path(first["cwd"]).exists()
        second = worker.request({"do": "speak"}, 60)
        assert second["pid"] != first["pid"]
        start = time.monotonic()
        with pytest.raises(WorkerDiedError, match="no answer within 1 s"):
            worker.request({"do": "sleep"}, 1.0)
        assert time.monotonic() - start < 30
    assert not Path(second["cwd"]).exists()


def test_variants_are_compiled_in_batches_and_removed(make_kernel: Callable[..., KernelFolder]):
    kernel = make_kernel("none", "compile")
    toolchain = Toolchain("c", "gcc", tuple(kernel.compiler_options))
    configs = kernel.param_configs[:9]
    seen = {}
    with CompileAhead(kernel, toolchain, 2) as ahead:
        for config, artefact in ahead.compile(configs):
            fine = config[-1] == "none"
            assert bool(artefact.path) == fine
            assert ("does not compile" in artefact.error) != fine
            assert artefact.compile_ms > 0.0
            if fine:
                assert Path(artefact.path).is_file()
            seen[config_key(config)] = artefact.path
    assert list(seen) == [config_key(config) for config in configs]
    assert not any(Path(path).is_file() for path in seen.values())


def test_a_missing_compiler_is_an_error_of_the_variant(tmp_path: Path):
    artefact = compile_variant(Toolchain("c", "no-such-compiler", ()), "f", "int f;", tmp_path / "variant")
    assert "no-such-compiler" in artefact.error
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def cuda_kernel(tmp_path: Path) -> KernelFolder:
    t1 = {
        "ConfigurationSpace": {
            "TuningParameters": [{"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 96, 128]"}],
            "Conditions": [],
        },
        "KernelSpecification": {
            "Language": "CUDA",
            "KernelName": "twice",
            "KernelFile": "twice.cu",
            "GlobalSize": {"X": "1"},
            "LocalSize": {"X": "block_size_x"},
            "ProblemSize": [512],
        },
    }
    (tmp_path / "twice.cu").write_text(CUDA_SOURCE)
    (tmp_path / "twice.json").write_text(json.dumps(t1))
    return KernelFolder.load(tmp_path / "twice.json")


def compile_all(kernel: KernelFolder, toolchain: Toolchain) -> dict[int, str]:
    """Symbol of each block size that compiles, empty where it does not."""
    symbols = {}
    with CompileAhead(kernel, toolchain, 1) as ahead:
        for config, artefact in ahead.compile(kernel.param_configs):
            assert ("no such block" in artefact.error) == (config == (96,))
            if artefact.path:
                assert Path(artefact.path).read_bytes()[:4] == b"\x7fELF"
            symbols[config[0]] = "" if artefact.error else artefact.symbol
    return symbols


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_nvcc_makes_cubins_without_a_gpu(cuda_kernel: KernelFolder):
    symbols = compile_all(cuda_kernel, Toolchain("nvcc", "", (), "90"))
    assert symbols == {32: "twice", 64: "twice", 96: "", 128: "twice"}


def test_nvrtc_makes_cubins_without_a_gpu(cuda_kernel: KernelFolder):
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    try:
        nvrtc.nvrtcVersion()
    except RuntimeError:
        pytest.skip("NVRTC is not installed")
    symbols = compile_all(cuda_kernel, Toolchain("nvrtc", "", (), "90"))
    assert symbols == {32: "twice", 64: "twice", 96: "", 128: "twice"}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("NVIDIA H100 80GB HBM3", "H100_80GB_HBM3"),
        ("Intel(R) Xeon(R) Processor, 2 cores", "Xeon_2_cores"),
        ("AMD EPYC 9654 96-Core Processor, 16 cores", "EPYC_9654_96-Core_16_cores"),
        ("", "device"),
    ],
)
def test_devices_get_names_fit_for_files(name: str, label: str):
    assert device_label(name) == label
