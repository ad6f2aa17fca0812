"""Append-only files of lines that survive a crash at any moment: what it leaves is a half-written last line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import LlameaTuneError


def append(file: int, data: bytes, *, durable: bool = True) -> None:
    """Append to a file.

    Args:
        file: Descriptor of the file, open to write.
        data: Whole lines.
        durable: Whether to wait until they are on the disk.

    Raises:
        OSError: It could not be written; the file is as it was before.
    """
    end = os.lseek(file, 0, os.SEEK_END)
    try:
        while data:
            data = data[os.write(file, data) :]
        if durable:
            os.fsync(file)
    except BaseException:  # an interrupt too
        os.ftruncate(file, end)
        raise


def whole_lines(data: bytes) -> bytes:
    """What comes before a half-written last line."""
    return data[: data.rfind(b"\n") + 1]


def repair(path: Path) -> bool:
    """Drop the half-written last line of a file, if there is such a file. Returns whether it had one."""
    if not path.exists():
        return False
    content = path.read_bytes()
    whole = len(whole_lines(content))
    if whole < len(content):
        os.truncate(path, whole)
    return whole < len(content)


class Journal:
    """Records as JSON objects, one per line."""

    def __init__(self, path: Path, error: type[LlameaTuneError]) -> None:
        """Name a journal; the file is made with its first record.

        Args:
            path: The file.
            error: What to raise for a file that cannot be written, or is corrupt.
        """
        self.path = path
        self._error = error

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record and wait until it is on the disk.

        Raises:
            LlameaTuneError: It could not be written; the file is as it was before.
        """
        line = json.dumps(record, allow_nan=False).encode() + b"\n"
        try:
            with self.path.open("ab") as file:
                append(file.fileno(), line)
        except OSError as err:
            reason = err.strerror or err
            message = f"{self.path} could not be written ({reason}); nothing is lost: make room, then resume."
            raise self._error(message) from err

    def repair(self) -> bool:
        """Drop a half-written last line. Returns whether there was one."""
        return repair(self.path)

    def records(self) -> Iterator[dict[str, Any]]:
        """The records in order; a half-written last line is passed over.

        Raises:
            LlameaTuneError: A line before the last one is corrupt.
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
                raise self._error(message) from err
            yield record
