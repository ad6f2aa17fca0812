"""Between Kernel Tuner caches and T4 files, there and back without loss.

What the other format has no place for is kept in it under a name of its own: a cache's header as `kernel_tuner_cache`
in the metadata of the T4 file; those parts of a T4 file that its cache would not give back as `t4` in the cache.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from llamea_tune.exceptions import SpaceFileError, SpaceFileWarning
from llamea_tune.spaces.cache_file import DEFAULT_OBJECTIVE, error_kind, read_cache_file
from llamea_tune.spaces.compile import notes_on
from llamea_tune.spaces.find import kernel_folder, plain_stem
from llamea_tune.spaces.param_values import same_keys
from llamea_tune.spaces.recording import KIND_OF_ERROR, Recording, number_or_nan
from llamea_tune.spaces.space import FailureKind
from llamea_tune.spaces.space_file import open_json
from llamea_tune.spaces.t4_file import (
    MILLISECONDS,
    cache_header,
    measured_values,
    read_t4_file,
    results,
    stated_failure,
)
from llamea_tune.storage import atomic_file

_TIMES = {
    "compile_time": "compilation",
    "benchmark_time": "benchmark",
    "framework_time": "framework",
    "strategy_time": "search_algorithm",
    "verification_time": "validation",
    "times": "runtimes",
}
_INVALIDITY = {
    FailureKind.NONE: "correct",
    FailureKind.COMPILE: "compile",
    FailureKind.RUNTIME: "runtime",
    FailureKind.INVALID: "constraints",
    FailureKind.OTHER: "correctness",
}
_ERROR = {kind: name for name, kind in KIND_OF_ERROR.items()}


def cache_to_t4(path: Path, out: Path, *, objective: str | None = None, salvage: bool = False) -> None:
    """Convert a Kernel Tuner cache to a T4 file.

    Args:
        path: The cache, gzip-compressed or not.
        out: The T4 file to write, compressed if its name ends in `.gz`; replaced in one step where it exists.
        objective: Name of the objective; by default the file's own.
        salvage: Whether to convert what is whole of a file that is cut off.

    Raises:
        SpaceFileError: The cache cannot be read, or the file not be written.
    """
    recording = read_cache_file(path, objective, salvage=salvage)
    _warn(recording, path)
    names = list(recording.tune_params)
    header = _top_level(path, "cache", salvage)
    kept = header.pop("t4", {})
    metadata = {"timeunit": "milliseconds", "kernel_tuner_cache": header}
    with _writing(out) as file:
        top = {"schema_version": "1.0.0", "metadata": metadata} | kept
        file.write(json.dumps(top)[:-1] + ', "results": [')
        for number, entry in enumerate(_entries(path, salvage)):
            file.write(("," if number else "") + "\n" + json.dumps(_result(entry, names, recording.objective)))
        file.write("\n]}\n")


def t4_to_cache(path: Path, out: Path, *, objective: str | None = None, salvage: bool = False) -> None:
    """Convert a T4 file to a Kernel Tuner cache.

    A T4 file that was no cache before names neither kernel nor device; its folder and its own name stand for them.

    Args:
        path: The T4 file, gzip-compressed or not.
        out: The cache to write, compressed if its name ends in `.gz`; replaced in one step where it exists.
        objective: Name of the objective; by default the file's own.
        salvage: Whether to convert what is whole of a file that is cut off.

    Raises:
        SpaceFileError: The T4 file cannot be read, a cache cannot hold it, or it cannot be written.
    """
    recording = read_t4_file(path, objective, salvage=salvage)
    _warn(recording, path)
    names = list(recording.tune_params)
    if confused := same_keys(recording.tune_params):
        raise SpaceFileError(f"{path} {confused}")
    top = _top_level(path, "results", salvage)
    metadata = top.get("metadata")
    was_cache = cache_header(top)
    scale = MILLISECONDS[metadata.get("timeunit", "milliseconds")] if isinstance(metadata, dict) else 1.0
    header = was_cache or _new_header(path, recording) | {"t4": top}
    with _writing(out) as file:
        file.write(json.dumps(header | {"cache": {}}, indent="")[:-3])
        for number, result in enumerate(results(path, salvage=salvage)):
            entry = _entry(result, recording.objective, scale, names_failures=not was_cache)
            key = ",".join(str(entry[name]) for name in names)
            file.write(("," if number else "") + "\n" + json.dumps({key: entry})[1:-1])
        file.write("}\n}")


def _warn(recording: Recording, path: Path) -> None:
    for note in notes_on(recording, path):
        warnings.warn(note, SpaceFileWarning, stacklevel=3)


def _result(entry: Mapping[str, Any], names: list[str], objective: str) -> dict[str, Any]:
    """A cache's entry as a T4 result."""
    failure = error_kind(entry)
    if not failure and math.isnan(number_or_nan(entry.get(objective))):
        failure = FailureKind.OTHER
    elsewhere = {*names, *_TIMES, "timestamp", "t4"}
    result: dict[str, Any] = {"timestamp": entry["timestamp"]} if "timestamp" in entry else {}
    return result | {
        "configuration": {name: entry[name] for name in names},
        "times": {t4: entry[name] for name, t4 in _TIMES.items() if name in entry},
        "invalidity": _INVALIDITY[failure],
        "correctness": 0 if failure else 1,
        "measurements": [
            {"name": name, "value": value, "unit": "ms" if name.startswith("time") else ""}
            for name, value in entry.items()
            if name not in elsewhere
        ],
        "objectives": [objective],
        **entry.get("t4", {}),
    }


def _entry(result: Mapping[str, Any], objective: str, scale: float, names_failures: bool) -> dict[str, Any]:
    """A T4 result as a cache's entry; with what would not come back from it, if there is any.

    Kernel Tuner knows a failure only by an error's name, so a result from elsewhere gets one.
    """
    entry: dict[str, Any] = dict(result["configuration"])
    for name, t4 in _TIMES.items():
        if t4 in result["times"]:
            entry[name] = _scaled(result["times"][t4], scale)
    entry = measured_values(result) | entry
    if "timestamp" in result:
        entry["timestamp"] = result["timestamp"]
    if names_failures and not error_kind(entry):
        failure = stated_failure(result)
        if failure or math.isnan(number_or_nan(entry.get(objective))):
            entry["__error__"] = _ERROR[failure or FailureKind.OTHER]
    returned = _result(entry, list(result["configuration"]), objective)
    lost = {key: value for key, value in result.items() if returned.get(key) != value}
    return entry | ({"t4": lost} if lost else {})


def _scaled(times: Any, scale: float) -> Any:
    if scale == 1.0:
        return times
    if isinstance(times, list):
        return [_scaled(time, scale) for time in times]
    return times * scale if isinstance(times, (int, float)) else times


def _new_header(path: Path, recording: Recording) -> dict[str, Any]:
    header: dict[str, Any] = {"device_name": plain_stem(path), "kernel_name": kernel_folder(path)}
    header |= {"tune_params_keys": list(recording.tune_params), "tune_params": recording.tune_params}
    header["objective"] = recording.objective or DEFAULT_OBJECTIVE
    if recording.higher_is_better is not None:
        header["objective_higher_is_better"] = recording.higher_is_better
    return header


def _top_level(path: Path, but: str, salvage: bool) -> dict[str, Any]:
    """All members of a file's object but one, which is read over part by part."""
    found: dict[str, Any] = {}
    with open_json(path, salvage=salvage) as stream:
        for key in stream.members(open_ended=True):
            if key != but:
                found[key] = stream.value()
                continue
            for _ in stream.entries() if stream.peek() == "{" else stream.values():
                pass
    return found


def _entries(path: Path, salvage: bool) -> Iterator[dict[str, Any]]:
    with open_json(path, salvage=salvage) as stream:
        for key in stream.members(open_ended=True):
            if key != "cache":
                stream.value()
                continue
            for _, entry in stream.entries():
                yield entry


@contextmanager
def _writing(out: Path) -> Iterator[TextIO]:
    """Write a file that is there whole or not at all."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic_file(out) as file,
            gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
            if out.name.endswith(".gz")
            else nullcontext(file) as plain,
        ):
            text = io.TextIOWrapper(plain, encoding="utf-8")
            yield text
            text.detach()
    except OSError as err:
        raise SpaceFileError(f"{out} cannot be written: {err.strerror or err}; name another place") from err
