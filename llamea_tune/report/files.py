"""Where reports are written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from llamea_tune import storage
from llamea_tune._imports import require
from llamea_tune.exceptions import SettingsError

PLOT_SUFFIXES = (".png", ".pdf", ".svg")


def check_targets(*, plots: Sequence[Path] = (), texts: Sequence[Path] = (), folders: Sequence[Path] = ()) -> None:
    """Refuse places that cannot be written, and formats that are unknown, before any work is done.

    Args:
        plots: Files to draw.
        texts: Files to write.
        folders: Folders that must not hold anything yet.

    Raises:
        SettingsError: A place cannot be written, or a plot's suffix is unknown.
        MissingDependencyError: Plots or IOHprofiler data are asked for, and the package for them is not installed.
    """
    if plots:
        require("matplotlib", "report")
    if folders:
        require("ioh", "ioh")
    for path in plots:
        if path.suffix.lower() not in PLOT_SUFFIXES:
            raise SettingsError(f"{path} is no plot: its suffix must be one of {', '.join(PLOT_SUFFIXES)}")
    for path in (*plots, *texts):
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


def write_text(path: Path, text: str) -> None:
    """Write a text file; see `write_bytes`."""
    write_bytes(path, text.encode())
