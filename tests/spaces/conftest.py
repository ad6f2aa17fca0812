"""Every test keeps compiled spaces in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled spaces."""
    folder = tmp_path / "store"
    monkeypatch.setenv("LLAMEA_TUNE_CACHE", str(folder))
    return folder / "spaces"


@pytest.fixture
def cache() -> dict[str, Any]:
    """A small cache with every kind of parameter value and of failure."""
    entries = {}
    for number, (size, fast, mode) in enumerate((s, f, m) for s in (16, 32, 64) for f in (False, True) for m in "ab"):
        entry: dict[str, Any] = {"block_size_x": size, "fast": fast, "mode": mode, "scale": 0.5}
        entry |= {"time": 10.0 + number, "times": [10.0, 10.0 + 2 * number], "GFLOP/s": 100.0 - number}
        entry |= {"compile_time": 100.0 + number, "verification_time": 1.0, "benchmark_time": 20.0}
        entries[f"{size},{fast},{mode},0.5"] = entry
    for key, error in (("16,False,a,0.5", "CompilationFailedConfig"), ("32,False,b,0.5", "RuntimeFailedConfig")):
        entries[key]["time"] = error
        del entries[key]["GFLOP/s"]
    return {
        "device_name": "Test GPU",
        "kernel_name": "saxpy",
        "problem_size": [1024, 1],
        "tune_params_keys": ["block_size_x", "fast", "mode", "scale"],
        "tune_params": {"block_size_x": [16, 32, 64], "fast": [False, True], "mode": ["a", "b"], "scale": [0.5]},
        "objective": "time",
        "cache": entries,
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a document as JSON, or a text as it is, somewhere below the test's folder."""

    def write(document: Any, name: str = "saxpy/A100.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return path

    return write


@pytest.fixture
def t1() -> dict[str, Any]:
    """The description that fits the small cache."""
    parameters = [
        {"Name": "block_size_x", "Type": "int", "Values": "[2**i for i in range(4, 7)]"},
        {"Name": "fast", "Type": "bool", "Values": "[False, True]"},
        {"Name": "mode", "Type": "string", "Values": "['a', 'b']"},
        {"Name": "scale", "Type": "float", "Values": "[0.5]"},
    ]
    return {
        "ConfigurationSpace": {"TuningParameters": parameters, "Conditions": []},
        "KernelSpecification": {"KernelName": "saxpy", "ProblemSize": [1024, 1]},
    }
