"""A kernel for tests of live measuring: any C compiler builds it in a moment, and it says itself how long it took."""

from __future__ import annotations

import json
from pathlib import Path

_SOURCE = r"""
#ifdef __cplusplus
extern "C"
#endif
float doubled(float *out, const float *in, int n) {
#if block == 13
#error "an unlucky block"
#endif
    for (int i = 0; i < n; i++) {
        out[i] = 2.0f * in[i];
    }
    float away = (float)(block - 8) / 8.0f;
    return 1.0f + away * away + 0.2f * (tile - 3) * (tile - 3) + 0.1f * unroll * tile;
}
"""

_REFERENCE = """
import numpy as np


def arguments(problem_size, rng):
    values = rng.random(problem_size[0], dtype=np.float32)
    return [np.zeros_like(values), values, np.int32(len(values))]


def answer(arguments):
    return [2 * arguments[1], None, None]
"""

_PARAMETERS = {"block": list(range(1, 17)), "tile": [1, 2, 3, 4, 5], "unroll": [0, 1]}


def write_kernel_folder(folder: Path) -> Path:
    """Write a kernel folder with 150 permitted configs.

    What a config costs is calculated, so it never varies: 1 is the optimum, at `block=8`, `tile=3`, `unroll=0`. Configs
    with `block=13` don't compile. Compiling and verifying take the time that they take, some tens of milliseconds.

    Args:
        folder: Where to; made.

    Returns:
        The folder.
    """
    t1 = {
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": name, "Type": "int", "Values": str(values)} for name, values in _PARAMETERS.items()
            ],
            "Conditions": [{"Parameters": ["block"], "Expression": "block != 16"}],
        },
        "KernelSpecification": {
            "Language": "CUDA",
            "Backend": "C",
            "Compiler": "gcc",
            "CompilerOptions": ["-O1"],
            "KernelName": "doubled",
            "KernelFile": "doubled.c",
            "GlobalSize": {"X": "1"},
            "LocalSize": {"X": "1"},
            "ProblemSize": [64],
        },
    }
    folder.mkdir(parents=True)
    (folder / "doubled.c").write_text(_SOURCE)
    (folder / "reference.py").write_text(_REFERENCE)
    (folder / f"{folder.name}.json").write_text(json.dumps(t1))
    return folder
