"""What readers of files fill, measurement by measurement."""

from __future__ import annotations

import math
import re
import reprlib
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.json_stream import JsonStream
from llamea_tune.spaces.param_values import alike, is_param_value
from llamea_tune.spaces.recording import Recording, number_or_nan
from llamea_tune.spaces.space import FailureKind, ParamValue

_MOST_VALUES = 1 << 16
_TIMES = {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time", "profiling_time"}
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.IGNORECASE)


class MeasurementTable:
    """Grows by one measurement at a time; keeps numbers in arrays, so that a million take little memory."""

    def __init__(self, param_names: Sequence[str], declared: Mapping[str, Sequence[ParamValue]]) -> None:
        """Start an empty table.

        Args:
            param_names: Names of the tunable parameters, in order.
            declared: Their values as far as the file declares them; others are added as they turn up.
        """
        self._declared = declared
        # By `repr`, as Python takes 1, 1.0 and True for the same key.
        self._codes: dict[str, dict[str, int]] = {}
        self._choices: dict[str, list[ParamValue]] = {}
        for name in param_names:
            choices = {repr(value): value for value in declared.get(name, ())}
            self._codes[name] = {text: code for code, text in enumerate(choices)}
            self._choices[name] = list(choices.values())
        self._columns = [array("H") for _ in param_names]
        self._values = array("d")
        self._failures = bytearray()
        self._times = array("d")
        self._other_objectives: dict[str, None] = {}
        self._n_not_numbers = 0
        self._not_a_number = ""

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
                code = codes.get(repr(config[name]))
            except KeyError as err:
                raise ValueError(f"has no value for the parameter {name!r}") from err
            column.append(self._new_code(name, config[name]) if code is None else code)
        self._values.append(value)
        self._failures.append(failure)
        self._times.extend([number_or_nan(time) for time in times_ms])

    def _new_code(self, name: str, value: Any) -> int:
        if not is_param_value(value):
            raise ValueError(f"has {value!r} for the parameter {name!r}")
        codes = self._codes[name]
        if len(codes) == _MOST_VALUES:
            raise ValueError(
                f"has the {_MOST_VALUES + 1}th value of the parameter {name!r}, one more than is supported"
            )
        self._choices[name].append(value)
        return codes.setdefault(repr(value), len(codes))

    def note_lack(self, measured: Mapping[str, Any], objective: str) -> None:
        """Note why a measurement that did not fail has no value of the objective.

        Args:
            measured: What it has, by name.
            objective: Name of the objective.
        """
        value = measured.get(objective)
        if isinstance(value, (list, dict)) or (isinstance(value, str) and _NUMBER.fullmatch(value.strip())):
            self._n_not_numbers += 1
            self._not_a_number = self._not_a_number or reprlib.repr(value)
            return
        for name in measured.keys() - self._codes.keys() - _TIMES - self._other_objectives.keys():
            if not math.isnan(number_or_nan(measured[name])):
                self._other_objectives[name] = None

    def recording(self, source: Path, stream: JsonStream, *, time_unit_ms: float = 1.0, **facts: Any) -> Recording:
        """The finished table as a recording.

        Args:
            source: The file that it was read from.
            stream: How it was read.
            time_unit_ms: What the times are in.
            **facts: What else the file says, by the names of `Recording`.

        Raises:
            SpaceFileError: Kernel Tuner cannot tell all values of a parameter apart.
        """
        try:
            tune_params = self.tune_params()
        except ValueError as err:
            raise SpaceFileError(f"{source} {err}") from err
        return Recording(
            tune_params=tune_params,
            value_indices=self.value_indices(tune_params),
            objective_values=self.objective_values(),
            failures=self.failures(),
            stage_times_ms=self.stage_times_ms() * time_unit_ms,
            unfinished=stream.unclosed,
            salvaged=stream.salvage,
            dropped=stream.dropped,
            other_objectives=tuple(sorted(self._other_objectives)),
            n_not_numbers=self._n_not_numbers,
            not_a_number=self._not_a_number,
            **facts,
        )

    def tune_params(self) -> dict[str, tuple[ParamValue, ...]]:
        """Values of each parameter: as declared; in ascending order where that was so, or where none were declared.

        Of values that are equal, such as 1 and True, there is only the one that occurs.

        Raises:
            ValueError: Several of them occur.
        """
        return {
            name: self._in_order(name, self._distinct(name, column))
            for name, column in zip(self._codes, self._columns, strict=True)
        }

    def _distinct(self, name: str, column: array[int]) -> tuple[ParamValue, ...]:
        choices, n_declared = self._choices[name], len({repr(value) for value in self._declared.get(name, ())})
        if len(set(choices)) == len(choices):
            return tuple(choices)
        chosen: dict[ParamValue, ParamValue] = {}
        occurring: dict[ParamValue, ParamValue] = {}
        present = set(column)
        for code, value in enumerate(choices):
            chosen.setdefault(value, value)
            if code in present:
                if value in occurring:
                    raise ValueError(alike(name, occurring[value], value))
                occurring[value] = value
                if code < n_declared:
                    chosen[value] = value
        return tuple(chosen.values())

    def _in_order(self, name: str, values: tuple[ParamValue, ...]) -> tuple[ParamValue, ...]:
        declared = list(self._declared.get(name, ()))
        if len(values) == len(set(declared)) or any(isinstance(value, str) for value in values):
            return values
        return tuple(sorted(values)) if declared == sorted(declared) else values

    def value_indices(self, tune_params: Mapping[str, tuple[ParamValue, ...]]) -> NDArray[np.uint16]:
        """Shape `(n, n_params)`: index of each config's values in `tune_params`."""
        matrix = np.empty((len(self), len(self._columns)), dtype=np.uint16)
        for number, (column, (name, choices)) in enumerate(zip(self._columns, self._choices.items(), strict=True)):
            place = {value: index for index, value in enumerate(tune_params[name])}
            index_of_code = np.array([place[value] for value in choices], dtype=np.uint16)
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
