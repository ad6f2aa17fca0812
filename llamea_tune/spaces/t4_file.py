"""T4 files: auto-tuning results in the community's exchange format."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.cache_file import DEFAULT_OBJECTIVE, declared_values, stated_direction, stated_objectives
from llamea_tune.spaces.json_stream import JsonStream
from llamea_tune.spaces.measurement_table import MeasurementTable
from llamea_tune.spaces.readers import SpaceReader
from llamea_tune.spaces.recording import KIND_OF_ERROR, Recording, number_or_nan
from llamea_tune.spaces.space import FailureKind
from llamea_tune.spaces.space_file import FileKind, file_kind, open_json

KIND_OF_INVALIDITY = {
    "correct": FailureKind.NONE,
    "compile": FailureKind.COMPILE,
    "runtime": FailureKind.RUNTIME,
    "timeout": FailureKind.RUNTIME,
    "constraints": FailureKind.INVALID,
    "correctness": FailureKind.OTHER,
}
MILLISECONDS = {"nanoseconds": 1e-6, "microseconds": 1e-3, "milliseconds": 1.0, "miliseconds": 1.0, "seconds": 1e3}


def read_t4_file(path: Path, objective: str | None = None, *, salvage: bool = False) -> Recording:
    """Read a T4 file. It names neither kernel nor device; its parameters' values are those that occur, in order.

    Unless it was a cache before: then it keeps that cache's header.

    Where a result records no benchmark time, the sum of its run times stands for it.

    Args:
        path: The file, gzip-compressed or not.
        objective: Name of the objective; by default the one that most results name first.
        salvage: Whether to leave out a result in which the file is cut off.

    Raises:
        SpaceFileError: The file cannot be read, or is no T4 file.
    """
    likely = objective or next(filter(None, map(_first_objective, results(path, salvage=salvage))), DEFAULT_OBJECTIVE)
    table, header, named, stream = _read_results(path, likely, salvage)
    own = max(named, key=named.__getitem__, default=DEFAULT_OBJECTIVE)
    objective = objective or own
    if objective != likely:
        table, header, named, stream = _read_results(path, objective, salvage)
    if table is None:
        raise SpaceFileError(f"{path} records no config: it has no 'results'; name a file that has some")
    metadata, was_cache = header.get("metadata"), cache_header(header)
    unit = metadata.get("timeunit", "milliseconds") if isinstance(metadata, dict) else "milliseconds"
    if str(unit) not in MILLISECONDS:
        raise SpaceFileError(f"{path}: the timeunit {unit!r} is unknown; write one of {', '.join(MILLISECONDS)}")
    stated = was_cache | header
    return table.recording(
        path,
        stream,
        time_unit_ms=MILLISECONDS[str(unit)],
        kernel_name=str(was_cache.get("kernel_name") or ""),
        device_name=str(was_cache.get("device_name") or ""),
        problem_size=was_cache.get("problem_size"),
        objective=objective,
        higher_is_better=stated_direction(
            stated.get("objective_higher_is_better"), stated_objectives(stated) or [own], objective
        ),
    )


def results(path: Path, *, salvage: bool = False) -> Iterator[Any]:
    """The results of a T4 file, one by one.

    Raises:
        SpaceFileError: The file cannot be read.
    """
    with open_json(path, salvage=salvage) as stream:
        for key in stream.members() if stream.peek() == "{" else ():
            if key == "results" and stream.peek() == "[":
                yield from stream.values()
            else:
                stream.value()


def _read_results(
    path: Path, objective: str, salvage: bool
) -> tuple[MeasurementTable | None, dict[str, Any], Counter[str], JsonStream]:
    """Read the results; returns them with everything else, and how many results name each objective first."""
    table: MeasurementTable | None = None
    header: dict[str, Any] = {}
    named: Counter[str] = Counter()
    with open_json(path, salvage=salvage) as stream:
        if stream.peek() != "{":
            raise SpaceFileError(f"{path} is no T4 file: it holds no JSON object; name another file")
        for key in stream.members():
            if key != "results" or stream.peek() != "[":
                header[key] = stream.value()
                continue
            for number, result in enumerate(stream.values()):
                stream.landmark = place = f"results[{number}]"
                try:
                    if table is None:
                        names = list(_member(result, "configuration"))
                        table = MeasurementTable(names, declared_values(path, cache_header(header), names))
                    _add_result(table, result, objective)
                except ValueError as err:
                    raise SpaceFileError(f"{path}: {place} {err}; repair or remove it") from err
                named.update(filter(None, [_first_objective(result)]))
        stream.end()
    return table, header, named, stream


def cache_header(top_level: Mapping[str, Any]) -> dict[str, Any]:
    """The header of the cache that a T4 file was converted from, as its metadata keep it; empty where it was none."""
    metadata = top_level.get("metadata")
    kept = metadata.get("kernel_tuner_cache") if isinstance(metadata, dict) else None
    return kept if isinstance(kept, dict) else {}


def measured_values(result: Mapping[str, Any]) -> dict[str, Any]:
    """A result's measurements by name, the first of each; malformed ones are left out."""
    entries = result.get("measurements")
    entries = entries if isinstance(entries, list) else []
    found: dict[str, Any] = {}
    for entry in entries:
        if isinstance(entry, dict) and isinstance(entry.get("name"), str):
            found.setdefault(entry["name"], entry.get("value"))
    return found


def stated_failure(result: Mapping[str, Any]) -> FailureKind:
    """Why a result is invalid, by its `invalidity` and `correctness`."""
    failure = KIND_OF_INVALIDITY.get(str(result.get("invalidity", "correct")), FailureKind.OTHER)
    return FailureKind.OTHER if not failure and result.get("correctness", 1) == 0 else failure


def _add_result(table: MeasurementTable, result: Any, objective: str) -> None:
    config, times = _member(result, "configuration"), _member(result, "times")
    measured = measured_values(result)
    failure = _failure(result, measured)
    value = math.nan if failure else number_or_nan(measured.get(objective))
    if not failure and math.isnan(value):
        failure = FailureKind.OTHER
        table.note_lack(measured, objective)
    benchmark = times.get("benchmark")
    if benchmark is None and isinstance(times.get("runtimes"), list):
        benchmark = math.fsum(time for time in map(number_or_nan, times["runtimes"]) if not math.isnan(time))
    compilation = times.get("compilation", times.get("compilation_time"))
    table.add(config, value, failure, (compilation, times.get("validation"), benchmark))


def _failure(result: Mapping[str, Any], measured: Mapping[str, Any]) -> FailureKind:
    for value in measured.values():
        if type(value) is str and value in KIND_OF_ERROR:
            return KIND_OF_ERROR[value]
    return stated_failure(result)


def _member(result: Any, name: str) -> dict[str, Any]:
    found = result.get(name) if isinstance(result, dict) else None
    if not isinstance(found, dict):
        raise ValueError(f"has no {name!r}")
    return found


def _first_objective(result: Any) -> str | None:
    objectives = result.get("objectives") if isinstance(result, dict) else None
    return objectives[0] if isinstance(objectives, list) and objectives and isinstance(objectives[0], str) else None


READER = SpaceReader(lambda path, salvage: file_kind(path, salvage=salvage) is FileKind.T4, read_t4_file)
