"""The journal: a Kernel Tuner cache file that grows by one durable line per measurement, shared by many processes.

The format is the one that Kernel Tuner itself appends to: a header whose last braces are left open, then an entry a
line. So Kernel Tuner reads a journal as it is, finished or not.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from llamea_tune._closing import Closing
from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.recording_file import Entry
from llamea_tune.storage import append, whole_lines

_IDENTITY = ("device_name", "kernel_name", "problem_size", "tune_params", "fingerprint")
_OPENING = '"cache": {'


class Journal(Closing):
    """Entries by Kernel Tuner's key, in memory and on disk.

    An entry is on disk before `append` returns. A line that a crash cut short is removed by whoever opens the file
    next. Hold `lock` to append, and to be sure that nobody else measures meanwhile.
    """

    def __init__(self, path: Path, header: Mapping[str, Any], *, wait: bool = True) -> None:
        """Open a journal, or start one.

        Args:
            path: The file.
            header: As from `cache_file.cache_header`; that of an existing file has to say the same.
            wait: Whether to wait for another process that holds the lock, or to refuse.

        Raises:
            RecordingError: The file is no journal, or of another kernel, version of it, or device, or in use.
        """
        self.path = path
        self.entries: dict[str, Entry] = {}
        self._read_to = 0
        self._locks = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as err:
            raise RecordingError(f"{path} cannot be opened ({err.strerror}); choose another place") from err
        with self.lock(wait=wait):
            if os.fstat(self._file).st_size == 0:
                append(self._file, (json.dumps(header)[:-1] + f", {_OPENING}\n").encode())
            self._read_header(header)
            self.refresh()

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    @contextlib.contextmanager
    def lock(self, *, wait: bool = True) -> Iterator[None]:
        """Exclude other processes; may be nested. What they wrote before is in `entries` once inside."""
        if not self._locks:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as err:
                raise RecordingError(f"{self.path} is in use by another process; wait until it has ended") from err
        self._locks += 1
        try:
            if self._read_to:
                self.refresh()
            yield
        finally:
            self._locks -= 1
            if not self._locks:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def append(self, key: str, entry: Entry) -> None:
        """Add a measurement, durably.

        Raises:
            RecordingError: It can't be written, as on a full disk; nothing is left half-written.
        """
        with self.lock():
            line = (json.dumps({key: entry})[1:-1] + ",\n").encode()
            try:
                append(self._file, line)
            except OSError as err:
                raise RecordingError(f"{self.path} cannot be written ({err.strerror}); free space and resume") from err
            self._read_to += len(line)
            self.entries[key] = entry

    def refresh(self) -> None:
        """Read what others have written; with the lock held, cut off a line that a crash left short."""
        data = os.pread(self._file, os.fstat(self._file).st_size - self._read_to, self._read_to)
        complete = whole_lines(data)
        for line in complete.splitlines():
            text = line.strip().rstrip(b",")
            try:
                self.entries.update(json.loads(b"{" + text + b"}"))
            except ValueError as err:
                where = f"near byte {self._read_to} ({err})"
                raise RecordingError(f"{self.path} is damaged {where}; remove the lines from there on") from err
        self._read_to += len(complete)
        if self._locks and len(complete) < len(data):
            os.ftruncate(self._file, self._read_to)

    def _read_header(self, header: Mapping[str, Any]) -> None:
        data = os.pread(self._file, os.fstat(self._file).st_size, 0)
        end = data.find(_OPENING.encode())
        try:
            if end < 0:
                raise ValueError("it has no cache")
            found = json.loads(data[:end].rstrip().rstrip(b",") + b"}")
        except ValueError as err:
            raise RecordingError(
                f"{self.path} is no Kernel Tuner cache that can be resumed ({err}); move it away"
            ) from err
        wanted = json.loads(json.dumps(header))
        for key in _IDENTITY:
            if found.get(key) != wanted[key]:
                raise RecordingError(
                    f"{self.path} was recorded with another {key.replace('_', ' ')} than now; "
                    "move it away, or record to another place"
                )
        self._read_to = end + len(_OPENING)
