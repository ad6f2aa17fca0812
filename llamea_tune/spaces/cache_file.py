"""Kernel Tuner cache files, of every generation of the format."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.json_stream import JsonStream
from llamea_tune.spaces.measurement_table import MeasurementTable
from llamea_tune.spaces.param_values import is_param_value
from llamea_tune.spaces.readers import SpaceReader
from llamea_tune.spaces.recording import KIND_OF_ERROR, Recording, number_or_nan
from llamea_tune.spaces.space import FailureKind, ParamValue
from llamea_tune.spaces.space_file import FileKind, file_kind, open_json

DEFAULT_OBJECTIVE = "time"
_STAGES = ("compile_time", "verification_time", "benchmark_time")
_SHAPES_ENTRIES = ("tune_params_keys", "tune_params", "objective")


def read_cache_file(path: Path, objective: str | None = None, *, salvage: bool = False) -> Recording:
    """Read a cache file, including one that a killed run never closed.

    Args:
        path: The file, gzip-compressed or not.
        objective: Name of the objective; by default the file's own, the first if it has several.
        salvage: Whether to leave out an entry in which the file is cut off.

    Raises:
        SpaceFileError: The file cannot be read, or is no cache.
    """
    before_entries = read_header(path, salvage=salvage)
    table, header, stream = _read_entries(path, before_entries, objective, salvage)
    if any(header.get(name) != before_entries.get(name) for name in _SHAPES_ENTRIES):
        table, header, stream = _read_entries(path, header, objective, salvage)
    if table is None:
        raise SpaceFileError(f"{path} is no Kernel Tuner cache: it has no 'cache' entries; name another file")
    if not len(table):
        raise SpaceFileError(f"{path} records no config: its 'cache' is empty; record some measurements first")
    objectives = stated_objectives(header) or [DEFAULT_OBJECTIVE]
    objective = objective or objectives[0]
    return table.recording(
        path,
        stream,
        kernel_name=str(header.get("kernel_name") or ""),
        device_name=str(header.get("device_name") or ""),
        problem_size=header.get("problem_size"),
        objective=objective,
        higher_is_better=stated_direction(header.get("objective_higher_is_better"), objectives, objective),
    )


def read_header(path: Path, *, salvage: bool = False) -> dict[str, Any]:
    """Everything but the entries, as far as it is needed to read those: no further than to them, where that is enough.

    Raises:
        SpaceFileError: The file cannot be read.
    """
    header: dict[str, Any] = {}
    with open_json(path, salvage=salvage) as stream:
        if stream.peek() != "{":
            raise SpaceFileError(f"{path} is no Kernel Tuner cache: it holds no JSON object; name another file")
        for key in stream.members(open_ended=True):
            if key != "cache" or stream.peek() != "{":
                header[key] = stream.value()
                continue
            if any(isinstance(header.get(name), (list, dict)) for name in ("tune_params_keys", "tune_params")):
                return header
            for entry_key, entry in stream.entries():
                stream.landmark = f"the entry {entry_key!r}"
                header.setdefault("tune_params_keys", _names_from_key(entry_key, entry))
    return header


def error_kind(entry: Mapping[str, Any]) -> FailureKind:
    """Why the measurement failed, by a name of one of Kernel Tuner's errors in `__error__` or as any field's value."""
    error = entry.get("__error__")
    if error is not None:
        return KIND_OF_ERROR.get(str(error), FailureKind.OTHER)
    for value in entry.values():
        if type(value) is str and value in KIND_OF_ERROR:
            return KIND_OF_ERROR[value]
    return FailureKind.NONE


def stated_direction(stated: Any, objectives: Sequence[str], objective: str) -> bool | None:
    """Whether an objective is maximised, by a file's `objective_higher_is_better`: a boolean, or one for each objective."""
    directions = dict(zip(objectives, stated if isinstance(stated, list) else [stated], strict=False))
    direction = directions.get(objective)
    return direction if isinstance(direction, bool) else None


def _read_entries(
    path: Path, header: dict[str, Any], objective: str | None, salvage: bool
) -> tuple[MeasurementTable | None, dict[str, Any], JsonStream]:
    """Read the entries as the header has it; returns them with the complete header, parts after them included."""
    table: MeasurementTable | None = None
    complete: dict[str, Any] = {}
    objective = objective or next(iter(stated_objectives(header)), DEFAULT_OBJECTIVE)
    with open_json(path, salvage=salvage) as stream:
        for key in stream.members(open_ended=True):
            if key != "cache" or stream.peek() != "{":
                complete[key] = stream.value()
                continue
            table = _empty_table(path, header)
            for entry_key, entry in stream.entries():
                stream.landmark = place = f"the entry {entry_key!r}"
                try:
                    _add_entry(table, entry, objective)
                except ValueError as err:
                    raise SpaceFileError(f"{path}: {place} {err}; repair or remove it") from err
        stream.end()
    complete.setdefault("tune_params_keys", header.get("tune_params_keys"))
    return table, complete, stream


def _add_entry(table: MeasurementTable, entry: Any, objective: str) -> None:
    if not isinstance(entry, dict):
        raise ValueError("is no object")
    failure = error_kind(entry)
    value = math.nan if failure else number_or_nan(entry.get(objective))
    if not failure and math.isnan(value):
        failure = FailureKind.OTHER
        table.note_lack(entry, objective)
    table.add(entry, value, failure, [entry.get(stage) for stage in _STAGES])


def _empty_table(path: Path, header: Mapping[str, Any]) -> MeasurementTable:
    declared = header.get("tune_params")
    names = header.get("tune_params_keys") or list(declared if isinstance(declared, dict) else {})
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SpaceFileError(f"{path}: 'tune_params_keys' is no list of names; restore the file's header")
    return MeasurementTable(names, declared_values(path, header, names))


def declared_values(path: Path, header: Mapping[str, Any], names: Sequence[str]) -> dict[str, Sequence[ParamValue]]:
    """The values of each parameter as far as a header gives them in `tune_params`.

    Raises:
        SpaceFileError: Some are no values.
    """
    declared = header.get("tune_params")
    declared = declared if isinstance(declared, dict) else {}
    found = {name: declared[name] for name in names if declared.get(name) is not None}
    for name, values in found.items():
        if not isinstance(values, list) or not all(is_param_value(value) for value in values):
            raise SpaceFileError(f"{path}: the values of {name!r} in 'tune_params' are no list of numbers or strings")
    return found


def _names_from_key(entry_key: str, entry: Any) -> list[str]:
    """The oldest caches name no parameters; but an entry's key joins their values, which are its first fields."""
    return list(entry)[: entry_key.count(",") + 1] if isinstance(entry, dict) else []


def stated_objectives(header: Mapping[str, Any]) -> list[str]:
    """The objectives that a header names, one or a list of them."""
    stated = header.get("objective")
    return [name for name in (stated if isinstance(stated, list) else [stated]) if isinstance(name, str) and name]


READER = SpaceReader(lambda path, salvage: file_kind(path, salvage=salvage) is FileKind.CACHE, read_cache_file)
