"""What a language model writes when it is asked for a function that knows what programmers know of all kernels.

The answers are in `recorded_runs/practice/answers.tar.xz`. Each is one function of parameters, restrictions, values and device that
gives the expected logarithm of every config's cost over the median; what is expected here is the mean over several answers.

- `practice`: the six that saw the request alone, and nothing that was measured. None was chosen.
- `practice-improved`: three that were shown the second of these and what was measured of half of the kernels, and asked for a better one; each space
  gets those that were shown the other half.

The recorded code is run as it is, in this process.
"""

from __future__ import annotations

import functools
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces import RecordedSpace
from llamea_tune.spaces.prior import Prior

PRACTICE, IMPROVED = "practice", "practice-improved"
ANSWERS = Path(__file__).parent / "recorded_runs" / "practice" / "answers.tar.xz"
SHOWN_IN_A = {"convolution", "nbody", "reduction", "matmul"}
"""Kernels whose measurements were shown in the prompt A; prompt B showed all others."""

Function = Callable[[Mapping[str, Sequence[Any]], Sequence[str], Mapping[str, NDArray[Any]], str], NDArray[np.float64]]

_SD = 1.0  # in the unit of the mean; none of the functions says how sure it is


def with_practice(space: RecordedSpace, kind: str) -> RecordedSpace:
    """The space with what the functions expect as its prior."""
    functions = _functions(_folder(space, kind))
    made = [
        function(space.tune_params, space.restrictions, _columns(space), space.device_name) for function in functions
    ]
    mean = np.mean(made, axis=0)
    told = f"{len(functions)} functions that a language model wrote"
    return replace(space, prior=Prior(mean - np.median(mean), np.full(space.size, _SD), told))


def _folder(space: RecordedSpace, kind: str) -> str:
    if kind == PRACTICE:
        return "blind"
    return "told_of_B" if re.split(r"[/_]", space.name)[0] in SHOWN_IN_A else "told_of_A"


@functools.cache
def _functions(folder: str) -> list[Function]:
    """The functions of the answers in a folder of the archive."""
    functions = []
    with tarfile.open(ANSWERS) as archive:
        for name in sorted(archive.getnames()):
            if re.fullmatch(rf"{folder}/p\d\.md", name) and (file := archive.extractfile(name)):
                (code,) = re.findall(r"```python\n(.*?)```", file.read().decode(), re.DOTALL)
                names: dict[str, Any] = {}
                exec(compile(code, name, "exec"), names)
                functions.append(names["practice"])
    return functions


def _columns(space: RecordedSpace) -> dict[str, NDArray[Any]]:
    """Each parameter's value in every config: whole numbers where all are (truth values count as such), numbers, or objects."""
    return {
        name: _array(values)[indices]
        for (name, values), indices in zip(space.tune_params.items(), space.value_indices.T, strict=True)
    }


def _array(values: Sequence[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    return np.array(values, dtype=np.float64 if any(isinstance(value, float) for value in values) else np.int64)
