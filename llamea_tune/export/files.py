"""Writes a strategy file and its record: both, or neither."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from llamea_tune import storage
from llamea_tune.exceptions import ExportError


def write_together(texts: Mapping[Path, str], *, force: bool) -> None:
    """Write several text files of one folder so that all of them appear, or none.

    Args:
        texts: Text by path.
        force: Whether to replace files that exist.

    Raises:
        ExportError: A file exists and `force` is off, or they cannot be written; then everything is as it was.
    """
    for path in texts:
        if path.exists() and not force:
            raise ExportError(f"{path} exists already; choose another name, or use --force to replace it.")
    folder = next(iter(texts)).parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        storage.write_together(texts)
    except OSError as err:
        raise ExportError(
            f"The strategy cannot be written to {folder} ({err.strerror or err}); free space or choose another folder."
        ) from err
