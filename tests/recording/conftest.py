"""A kernel small enough to be recorded in seconds, which can be told to go wrong in every way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from llamea_tune.recording import KernelFolder

SOURCE = r"""
#include <omp.h>
#include <stdlib.h>
#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define TROUBLE_none 0
#define TROUBLE_compile 1
#define TROUBLE_wrong 2
#define TROUBLE_crash 3
#define TROUBLE_hang 4
#define TROUBLE CONCAT(TROUBLE_, trouble)
#if TROUBLE == TROUBLE_compile
#error "this variant does not compile"
#endif
#ifdef __cplusplus
extern "C"
#endif
float twice(float *out, const float *in, int n) {
    double start = omp_get_wtime();
#pragma omp parallel for num_threads(1) schedule(static, block)
    for (int i = 0; i < n; i++) {
        out[i] = (TROUBLE == TROUBLE_wrong ? 3.0f : 2.0f) * in[i];
    }
    if (TROUBLE == TROUBLE_crash) {
        abort();
    }
    while (TROUBLE == TROUBLE_hang) {
    }
    return (float)((omp_get_wtime() - start) * 1000.0) + 1.0f / block + unroll;
}
"""

REFERENCE = """
import numpy as np

def arguments(problem_size, rng):
    values = rng.random(problem_size[0], dtype=np.float32)
    return [np.zeros_like(values), values, np.int32(len(values))]

def answer(arguments):
    return [2 * arguments[1], None, None]
"""


def write_kernel(folder: Path, troubles: tuple[str, ...] = ("none",)) -> Path:
    """Write a kernel folder of 12 permitted configs for each trouble."""
    parameters = {"block": [1, 2, 4], "unroll": [1, 2, 3, 4, 5], "trouble": list(troubles)}
    t1 = {
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": "string" if name == "trouble" else "int", "Values": str(values)}
                for name, values in parameters.items()
            ],
            "Conditions": [{"Parameters": ["unroll"], "Expression": "unroll != 3"}],
        },
        "KernelSpecification": {
            "Language": "CUDA",
            "Backend": "C",
            "Compiler": "gcc",
            "CompilerOptions": ["-O1", "-fopenmp"],
            "KernelName": "twice",
            "KernelFile": "twice.c",
            "GlobalSize": {"X": "1"},
            "LocalSize": {"X": "1"},
            "ProblemSize": [512],
        },
    }
    folder.mkdir(parents=True)
    (folder / "twice.c").write_text(SOURCE)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / f"{folder.name}.json").write_text(json.dumps(t1))
    return folder


@pytest.fixture
def make_kernel(tmp_path: Path) -> Callable[..., KernelFolder]:
    """Make a kernel folder and load it."""

    def make(*troubles: str, name: str = "twice") -> KernelFolder:
        return KernelFolder.load(write_kernel(tmp_path / name, troubles or ("none",)))

    return make
