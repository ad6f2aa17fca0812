"""What a file records, whatever its format: configs with what measuring each gave."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.spaces.space import FailureKind, ParamValue

KIND_OF_ERROR = {
    "ErrorConfig": FailureKind.OTHER,
    "InvalidConfig": FailureKind.INVALID,
    "CompilationFailedConfig": FailureKind.COMPILE,
    "RuntimeFailedConfig": FailureKind.RUNTIME,
}

# Kernel Tuner wrote 1e20 for failed configs before it had names for them; the largest float stands for them inside it.
_SENTINELS = frozenset({1e20, sys.float_info.max})


@dataclass(frozen=True, eq=False)
class Recording:
    """The content of one file, configs in the file's order.

    Attributes:
        kernel_name: Name of the kernel, possibly empty.
        device_name: Name of the device, possibly empty.
        problem_size: As recorded; None where it is not.
        objective: Name of the objective.
        higher_is_better: Whether the objective is maximised; None where the file does not say.
        tune_params: Values of each tunable parameter, in order.
        value_indices: Shape `(n, n_params)`: index of each config's values.
        objective_values: Shape `(n,)`: as recorded; NaN where the measurement failed.
        failures: Shape `(n,)`: a `FailureKind` for each config.
        stage_times_ms: Shape `(n, 3)`: compile, verification and benchmark time; NaN where missing.
        unfinished: Whether the file was never closed.
        salvaged: Whether it was read so that what is cut off is left out.
        dropped: How many configs were left out so.
        other_objectives: Names of what was measured where the objective was not.
        n_not_numbers: How many configs count as failed because the file gives the objective as a list or a text.
        not_a_number: What one of these looks like.
    """

    kernel_name: str
    device_name: str
    problem_size: object
    objective: str
    higher_is_better: bool | None
    tune_params: dict[str, tuple[ParamValue, ...]]
    value_indices: NDArray[np.uint16]
    objective_values: NDArray[np.float64]
    failures: NDArray[np.uint8]
    stage_times_ms: NDArray[np.float64]
    unfinished: bool = False
    salvaged: bool = False
    dropped: int = 0
    other_objectives: tuple[str, ...] = ()
    n_not_numbers: int = 0
    not_a_number: str = ""


def number_or_nan(value: Any) -> float:
    """A finite number, or NaN for anything else: missing, a string, a boolean, infinite, a sentinel for failure."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) not in _SENTINELS:
        number = float(value) if abs(value) <= sys.float_info.max else math.inf
        return number if math.isfinite(number) else math.nan
    return math.nan


def config_keys(value_indices: NDArray[np.uint16], value_counts: Sequence[int]) -> NDArray[np.int64]:
    """One number for each row, equal where the rows are equal.

    Args:
        value_indices: Shape `(n, n_params)`.
        value_counts: Number of values of each parameter.
    """
    keys = np.zeros(len(value_indices), dtype=np.int64)
    bound = 1
    for column, count in zip(value_indices.T, value_counts, strict=True):
        if bound * count >= 1 << 62:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            bound = len(value_indices)
        keys = keys * count + column
        bound *= count
    return keys


def without_repeats(recording: Recording) -> tuple[Recording, int]:
    """The recording with each config once, and how many configs had different measurements.

    As where Python reads a JSON object: a config stays where it was first, and its last measurement counts.
    """
    keys = config_keys(recording.value_indices, [len(values) for values in recording.tune_params.values()])
    _, first, config_of_row = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) == len(keys):
        return recording, 0
    last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
    measured = np.column_stack([recording.objective_values, recording.failures, recording.stage_times_ms])
    counting = measured[last[config_of_row]]
    same = (measured == counting) | (np.isnan(measured) & np.isnan(counting))
    rows = last[np.argsort(first)]
    once = replace(
        recording,
        value_indices=recording.value_indices[rows],
        objective_values=recording.objective_values[rows],
        failures=recording.failures[rows],
        stage_times_ms=recording.stage_times_ms[rows],
    )
    return once, len(np.unique(keys[~same.all(axis=1)]))
