"""An append-only file of JSON lines that survives a crash at any moment."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import RunDirectoryError


class Journal:
    """Appends records durably; a half-written last line is what a crash leaves, and is dropped when reopened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record and wait until it is on disk.

        Raises:
            RunDirectoryError: It could not be written; the file is as it was before.
        """
        line = (json.dumps(record, allow_nan=False) + "\n").encode()
        try:
            with self.path.open("ab") as file:
                end = file.tell()
                try:
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
                except OSError:
                    os.ftruncate(file.fileno(), end)
                    raise
        except OSError as err:
            reason = err.strerror or err
            message = f"{self.path} could not be written ({reason}); nothing is lost: make room, then resume the run."
            raise RunDirectoryError(message) from err

    def repair(self) -> bool:
        """Drop a half-written last line. Returns whether there was one."""
        if not self.path.exists():
            return False
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        if end == len(content):
            return False
        os.truncate(self.path, end)
        return True

    def records(self) -> Iterator[dict[str, Any]]:
        """The records in order; a half-written last line is passed over.

        Raises:
            RunDirectoryError: A line before the last one is corrupt.
        """
        if not self.path.exists():
            return
        for number, line in enumerate(self.path.read_bytes().split(b"\n")[:-1], start=1):
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("not an object")
            except ValueError as err:
                message = (
                    f"line {number} of {self.path} is corrupt ({err}); restore the file from a copy, or delete that "
                    "line and all after it and resume from there."
                )
                raise RunDirectoryError(message) from err
            yield record
