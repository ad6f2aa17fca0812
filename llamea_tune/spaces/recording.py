"""What a file records, whatever its format: configs with what measuring each gave."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.space import FailureKind, ParamValue

KIND_OF_ERROR = {
    "ErrorConfig": FailureKind.OTHER,
    "InvalidConfig": FailureKind.INVALID,
    "CompilationFailedConfig": FailureKind.COMPILE,
    "RuntimeFailedConfig": FailureKind.RUNTIME,
}

# Kernel Tuner wrote 1e20 for failed configs before it had names for them; the largest float stands for them inside it.
_SENTINELS = frozenset({1e20, sys.float_info.max})
_MOST_VALUES = 1 << 16


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


def number_or_nan(value: Any) -> float:
    """A finite number, or NaN for anything else: missing, a string, a boolean, infinite, a sentinel for failure."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) not in _SENTINELS:
        number = float(value) if abs(value) <= sys.float_info.max else math.inf
        return number if math.isfinite(number) else math.nan
    return math.nan


class MeasurementTable:
    """Grows by one measurement at a time; keeps numbers in arrays, so that a million take little memory."""

    def __init__(self, param_names: Sequence[str], declared: Mapping[str, Sequence[ParamValue]]) -> None:
        """Start an empty table.

        Args:
            param_names: Names of the tunable parameters, in order.
            declared: Their values as far as the file declares them; others are added as they turn up.
        """
        self._declared = declared
        self._codes: dict[str, dict[ParamValue, int]] = {}
        for name in param_names:
            self._codes[name] = {value: code for code, value in enumerate(dict.fromkeys(declared.get(name, ())))}
        self._columns = [array("H") for _ in param_names]
        self._values = array("d")
        self._failures = bytearray()
        self._times = array("d")

    def __len__(self) -> int:
        return len(self._values)

    @property
    def param_names(self) -> tuple[str, ...]:
        """Names of the tunable parameters, in order."""
        return tuple(self._codes)

    def add(self, config: Mapping[str, Any], value: float, failure: FailureKind, times_ms: Sequence[Any]) -> None:
        """Add one measurement.

        Args:
            config: Holds the value of each parameter; other keys are ignored.
            value: The objective's value; NaN where the measurement failed.
            failure: Why it failed, or `FailureKind.NONE`.
            times_ms: Compile, verification and benchmark time in milliseconds, as found in the file.

        Raises:
            ValueError: A parameter has no value, or one that no parameter may have.
        """
        for column, (name, codes) in zip(self._columns, self._codes.items(), strict=True):
            try:
                code = codes.get(config[name])
            except KeyError as err:
                raise ValueError(f"has no value for the parameter {name!r}") from err
            except TypeError as err:
                raise ValueError(f"has {config[name]!r} for the parameter {name!r}") from err
            column.append(self._new_code(name, config[name]) if code is None else code)
        self._values.append(value)
        self._failures.append(failure)
        self._times.extend([number_or_nan(time) for time in times_ms])

    def _new_code(self, name: str, value: Any) -> int:
        if not isinstance(value, (int, float, bool, str)) or value != value:  # noqa: PLR0124 (NaN)
            raise ValueError(f"has {value!r} for the parameter {name!r}")
        codes = self._codes[name]
        if len(codes) == _MOST_VALUES:
            raise ValueError(
                f"has the {_MOST_VALUES + 1}th value of the parameter {name!r}, one more than is supported"
            )
        codes[value] = len(codes)
        return codes[value]

    def tune_params(self) -> dict[str, tuple[ParamValue, ...]]:
        """Values of each parameter: as declared; in ascending order where that was so, or where none were declared."""
        return {name: self._in_order(name, tuple(codes)) for name, codes in self._codes.items()}

    def _in_order(self, name: str, values: tuple[ParamValue, ...]) -> tuple[ParamValue, ...]:
        declared = list(self._declared.get(name, ()))
        if len(values) == len(dict.fromkeys(declared)) or any(isinstance(value, str) for value in values):
            return values
        return tuple(sorted(values)) if declared == sorted(declared) else values

    def value_indices(self, tune_params: Mapping[str, tuple[ParamValue, ...]]) -> NDArray[np.uint16]:
        """Shape `(n, n_params)`: index of each config's values in `tune_params`."""
        matrix = np.empty((len(self), len(self._columns)), dtype=np.uint16)
        for number, (column, (name, codes)) in enumerate(zip(self._columns, self._codes.items(), strict=True)):
            place = {value: index for index, value in enumerate(tune_params[name])}
            index_of_code = np.array([place[value] for value in codes], dtype=np.uint16)
            matrix[:, number] = index_of_code[np.frombuffer(column, dtype=np.uint16)]
        return matrix

    def objective_values(self) -> NDArray[np.float64]:
        """Shape `(n,)`: the objective's values."""
        return np.array(self._values, dtype=np.float64)

    def failures(self) -> NDArray[np.uint8]:
        """Shape `(n,)`: a `FailureKind` for each config."""
        return np.frombuffer(bytes(self._failures), dtype=np.uint8)

    def stage_times_ms(self) -> NDArray[np.float64]:
        """Shape `(n, 3)`: the times, NaN where missing or negative."""
        times = np.array(self._times, dtype=np.float64).reshape(-1, 3)
        return np.where(times >= 0.0, times, np.nan)


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


def refuse_duplicates(recording: Recording, source: object) -> None:
    """Refuse a recording that holds a config twice.

    Raises:
        SpaceFileError: It does.
    """
    keys = config_keys(recording.value_indices, [len(values) for values in recording.tune_params.values()])
    order = np.argsort(keys, kind="stable")
    repeats = order[1:][keys[order[1:]] == keys[order[:-1]]]
    if len(repeats):
        first = int(repeats.min())
        values = zip(recording.tune_params.values(), recording.value_indices[first], strict=True)
        config = ",".join(str(choices[index]) for choices, index in values)
        raise SpaceFileError(
            f"{source} records the config {config!r} more than once; remove all but one of its entries"
        )
