"""Writes a strategy file and its record: both, or neither."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

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
        with tempfile.TemporaryDirectory(prefix=".export-", dir=folder) as scratch:
            _write_and_move(texts, Path(scratch))
    except OSError as err:
        raise ExportError(
            f"The strategy cannot be written to {folder} ({err.strerror or err}); free space or choose another folder."
        ) from err


def _write_and_move(texts: Mapping[Path, str], scratch: Path) -> None:
    for path, text in texts.items():
        with (scratch / path.name).open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    replaced: dict[Path, Path | None] = {}
    try:
        for path in texts:
            kept = scratch / f"{path.name}.kept" if path.exists() else None
            if kept:
                shutil.copyfile(path, kept)
            replaced[path] = kept
            (scratch / path.name).replace(path)
    except OSError:
        _restore(replaced)
        raise


def _restore(replaced: Mapping[Path, Path | None]) -> None:
    for path, kept in replaced.items():
        with contextlib.suppress(OSError):
            if kept:
                kept.replace(path)
            else:
                path.unlink(missing_ok=True)
