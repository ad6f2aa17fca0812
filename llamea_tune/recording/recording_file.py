"""The finished cache: a Kernel Tuner cache file, small, and never half-written."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces.space import ParamConfig
from llamea_tune.storage import write_bytes

Entry = dict[str, Any]

_STAGES = ("compile_time", "verification_time", "benchmark_time")


def config_key(config: ParamConfig) -> str:
    """Kernel Tuner's key of a config in a cache."""
    return ",".join(str(value) for value in config)


def cache_header(kernel: KernelFolder, device_name: str) -> dict[str, Any]:
    """What Kernel Tuner writes before the entries of a cache, and by what we know that two recordings go together.

    Args:
        kernel: What is measured.
        device_name: On which device.
    """
    return {
        "device_name": device_name,
        "kernel_name": kernel.kernel_name,
        "problem_size": list(kernel.problem_size),
        "tune_params_keys": list(kernel.tune_params),
        "tune_params": {name: list(values) for name, values in kernel.tune_params.items()},
        "objective": ["time"],
        "fingerprint": kernel.fingerprint,
    }


def compact(entry: Mapping[str, Any], param_names: Iterable[str]) -> Entry:
    """A measurement as a finished cache holds it: six digits of the time, microseconds of the stages.

    Args:
        entry: As from `Bench.measure`.
        param_names: Names of the tunable parameters.
    """
    small: Entry = {name: entry[name] for name in param_names}
    if "__error__" in entry:
        small["__error__"] = entry["__error__"]
    else:
        small["time"] = float(f"{entry['time']:.6g}")
    small.update({stage: round(entry[stage], 3) for stage in _STAGES})
    return small


def write_cache(path: Path, header: Mapping[str, Any], entries: Mapping[str, Entry]) -> None:
    """Write a cache that Kernel Tuner reads in simulation; compressed if its name ends in `.gz`.

    The same content gives the same bytes.

    Args:
        path: Where to.
        header: As from `cache_header`.
        entries: By `config_key`, in the order wanted.
    """
    lines = [json.dumps({key: compact(entry, header["tune_params_keys"])})[1:-1] for key, entry in entries.items()]
    head = json.dumps(header)[:-1]
    text = f'{head}, "cache": {{\n' + ",\n".join(lines) + "}\n}"
    data = text.encode()
    write_file(path, gzip.compress(data, compresslevel=9, mtime=0) if path.suffix == ".gz" else data)


def read_cache(path: Path) -> tuple[dict[str, Any], dict[str, Entry]]:
    """Read a finished cache: its header and its entries.

    Raises:
        RecordingError: It is no cache.
    """
    try:
        data = path.read_bytes()
        document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
        entries = document.pop("cache")
    except (OSError, EOFError, ValueError, KeyError, AttributeError, zlib.error) as err:
        raise RecordingError(f"{path} is no Kernel Tuner cache ({err}); move it away and record again") from err
    return document, entries


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that at every moment it is there as a whole, old or new.

    Raises:
        RecordingError: It can't be written, as on a full disk.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, data)
    except OSError as err:
        raise RecordingError(f"{path} cannot be written ({err.strerror}); free space and resume") from err
