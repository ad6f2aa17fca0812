"""Where reports are written, and which there are; to add one, write its function and name it in `REPORTS`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from llamea_tune import storage
from llamea_tune._imports import require
from llamea_tune._registry import Registry
from llamea_tune.exceptions import SettingsError

if TYPE_CHECKING:
    from llamea_tune.scoring.benchmarking import Benchmark
    from llamea_tune.spaces.space import Space

_PLOTS = (".png", ".pdf", ".svg")


class Report(Protocol):
    """What a benchmark came to, as the content of a file; the same outcome gives the same bytes."""

    def __call__(self, outcome: Benchmark, spaces: Sequence[Space], *, timings: bool) -> bytes:
        """Make it; `timings` allows it to tell own compute, which no two benchmarks measure alike."""


REPORTS: Registry[Report] = Registry(
    "llamea_tune.reports",
    "kind of report",
    SettingsError,
    {
        "csv": "llamea_tune.report.benchmark_data:csv_report",
        "json": "llamea_tune.report.benchmark_data:json_report",
        "pdf": "llamea_tune.report.benchmark_plot:pdf_report",
        "png": "llamea_tune.report.benchmark_plot:png_report",
        "svg": "llamea_tune.report.benchmark_plot:svg_report",
    },
)


def report_of(path: Path) -> Report:
    """The report that a file's suffix names.

    Raises:
        SettingsError: There is none.
    """
    return REPORTS.load(path.suffix.lower().removeprefix("."))


def check_targets(*, reports: Sequence[Path] = (), texts: Sequence[Path] = (), folders: Sequence[Path] = ()) -> None:
    """Refuse places that cannot be written, and formats that are unknown, before any work is done.

    Args:
        reports: Files to write as their suffix says.
        texts: Files to write.
        folders: Folders that must not hold anything yet.

    Raises:
        SettingsError: A place cannot be written, or a report's suffix is unknown.
        MissingDependencyError: Plots or IOHprofiler data are asked for, and the package for them is not installed.
    """
    for path in reports:
        report_of(path)
    if any(path.suffix.lower() in _PLOTS for path in reports):
        require("matplotlib", "report")
    if folders:
        require("ioh", "ioh")
    for path in (*reports, *texts):
        if path.is_dir():
            raise SettingsError(f"{path} is a folder; name a file in it")
        if not path.absolute().parent.is_dir():
            raise SettingsError(f"{path} cannot be written: there is no folder {path.parent}; make it first")
        if not os.access(path.absolute().parent, os.W_OK):
            raise SettingsError(f"{path} cannot be written: {path.absolute().parent} is not yours to write to")
    for path in folders:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise SettingsError(f"{path} exists already; name a new folder, or an empty one")


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, which appears whole or not at all.

    Raises:
        SettingsError: It cannot be written.
    """
    try:
        storage.write_bytes(path, content)
    except OSError as err:
        raise SettingsError(f"{path} cannot be written ({err.strerror or err}); choose another place") from err
