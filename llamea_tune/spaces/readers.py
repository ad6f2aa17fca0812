"""Readers of files that hold a space; to add one, write its file and name it in `READERS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from llamea_tune._registry import Registry
from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.recording import Recording


@dataclass(frozen=True)
class SpaceReader:
    """A format of files.

    Attributes:
        recognises: Tells whether a file is of this format, by as little of it as will do.
        read: Reads a file; the second argument names the objective, or is None for the file's own. What is wrong with
            the file is a `SpaceFileError`.
    """

    recognises: Callable[[Path], bool]
    read: Callable[[Path, str | None], Recording]


READERS: Registry[SpaceReader] = Registry(
    "llamea_tune.space_readers",
    "space reader",
    SpaceFileError,
    {"cache": "llamea_tune.spaces.cache_file:READER", "t4": "llamea_tune.spaces.t4_file:READER"},
)


def find_reader(path: Path, *, added_only: bool = False) -> SpaceReader | None:
    """The reader of a file, those of other packages asked first, or alone; None where it is of no known format.

    Raises:
        SpaceFileError: The file cannot be read.
    """
    names = READERS.added() if added_only else [*READERS.added(), *READERS]
    return next((reader for reader in map(READERS.load, names) if reader.recognises(path)), None)
