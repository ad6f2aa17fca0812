"""Readers of files that hold a space; to add one, write its file and name it in `READERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from llamea_tune._registry import Registry
from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.recording import Recording


class Read(Protocol):
    """Reads a file, with the name of the objective or None for the file's own."""

    def __call__(self, path: Path, objective: str | None, /, *, salvage: bool) -> Recording:
        """`salvage` says whether to use what is whole of a file that is cut off."""


@dataclass(frozen=True)
class SpaceReader:
    """A format of files.

    Attributes:
        recognises: Tells whether a file is of this format, by as little of it as will do.
        read: Reads a file; the second argument names the objective, or is None for the file's own. What is wrong with
            the file is a `SpaceFileError`. Both are told whether to use what is whole of a file that is cut off.
    """

    recognises: Callable[[Path, bool], bool]
    read: Read


READERS: Registry[SpaceReader] = Registry(
    "llamea_tune.space_readers",
    "space reader",
    SpaceFileError,
    {"cache": "llamea_tune.spaces.cache_file:READER", "t4": "llamea_tune.spaces.t4_file:READER"},
)


def find_reader(path: Path, *, salvage: bool = False, added_only: bool = False) -> SpaceReader | None:
    """The reader of a file, those of other packages asked first, or alone; None where it is of no known format.

    Raises:
        SpaceFileError: The file cannot be read.
    """
    names = READERS.added() if added_only else [*READERS.added(), *READERS]
    return next((reader for reader in map(READERS.load, names) if reader.recognises(path, salvage)), None)
