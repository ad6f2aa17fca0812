"""Files of search spaces: opened plain or compressed, told apart, hashed; every trouble becomes one sentence."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.json_stream import JsonError, JsonStream, TextAfterEndError

_GZIP_MAGIC = b"\x1f\x8b"
_LFS_POINTER = b"version https://git-lfs"
_WHOLE_CHARACTERS = "llamea_tune.whole_characters"
_CUT_GZIP = (EOFError, zlib.error, gzip.BadGzipFile)


class FileKind(StrEnum):
    """What a JSON file is, told by its top-level keys."""

    CACHE = "Kernel Tuner cache"
    T4 = "T4 results"
    T1 = "T1 description"
    OTHER = "something else"


@contextmanager
def open_json(path: Path, *, salvage: bool = False) -> Iterator[JsonStream]:
    """Open a file of JSON, gzip-compressed or not whatever its name.

    Args:
        path: The file.
        salvage: Whether a file that is cut off ends there; see `JsonStream`.

    Raises:
        SpaceFileError: The file cannot be read, or turns out not to be JSON while it is read.
    """
    again = "fetch or record it again" + (
        "" if salvage else ", or use what is whole with --salvage (in Python, salvage=True)"
    )
    with _telling_os_errors(path), path.open("rb") as file:
        start = file.peek(len(_LFS_POINTER))
        if start.startswith(_LFS_POINTER):
            raise SpaceFileError(
                f"{path} is a Git LFS pointer, which stands for the file and holds none of it; "
                "run git lfs pull in its repository"
            )
        plain = gzip.GzipFile(fileobj=file) if start.startswith(_GZIP_MAGIC) else file
        binary = io.BufferedReader(_UpToDamage(plain)) if salvage else plain
        text = io.TextIOWrapper(binary, encoding="utf-8-sig", errors=_WHOLE_CHARACTERS if salvage else "strict")
        try:
            stream = JsonStream(text, salvage=salvage)
            if not stream.peek():
                raise SpaceFileError(f"{path} is empty; expected a Kernel Tuner cache, T4 results or a T1 description")
            yield stream
        except _CUT_GZIP as err:
            raise SpaceFileError(
                f"{path} is cut off or damaged: its compressed data cannot be read to the end; {again}"
            ) from err
        except UnicodeDecodeError as err:
            if err.reason == "unexpected end of data":
                raise SpaceFileError(f"{path} is cut off within a character; {again}") from err
            raise SpaceFileError(f"{path} is no UTF-8 text, so no JSON; name a Kernel Tuner cache or T4 file") from err
        except TextAfterEndError as err:
            raise SpaceFileError(
                f"{path} goes on after its end, at {err}, as two files in one do, or entries that were added after it was "
                "closed; part the files, or move the closing braces to the end"
            ) from err
        except JsonError as err:
            if err.cut_off:
                raise SpaceFileError(f"{path} is cut off: it is no valid JSON from {err}; {again}") from err
            raise SpaceFileError(f"{path} is no valid JSON from {err}; mend that place, or fetch it again") from err


def _leave_out_half_a_character(err: UnicodeError) -> tuple[str, int]:
    """Handles errors of decoding: only what lacks its rest is left out."""
    if isinstance(err, UnicodeDecodeError) and err.reason == "unexpected end of data":
        return "", err.end
    raise err


codecs.register_error(_WHOLE_CHARACTERS, _leave_out_half_a_character)


class _UpToDamage(io.RawIOBase):
    """A file of which the rest is left out where it cannot be decompressed."""

    def __init__(self, plain: Any) -> None:
        self._plain = plain

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        try:
            found: bytes = self._plain.read1(len(target))
        except _CUT_GZIP:
            return 0
        target[: len(found)] = found
        return len(found)


def file_kind(path: Path, *, salvage: bool = False) -> FileKind:
    """Tell what a JSON file is, reading no more of it than needed.

    Args:
        path: The file.
        salvage: See `open_json`.

    Raises:
        SpaceFileError: The file cannot be read, or is not JSON.
    """
    with open_json(path, salvage=salvage) as stream:
        if stream.peek() != "{":
            stream.value()
            return FileKind.OTHER
        for key in stream.members(open_ended=True):
            if key == "ConfigurationSpace":
                return FileKind.T1
            if key == "cache" and stream.peek() == "{":
                return FileKind.CACHE
            if key == "results" and stream.peek() == "[":
                return FileKind.T4 if _holds_configurations(stream) else FileKind.OTHER
            stream.value()
    return FileKind.OTHER


def file_digest(path: Path) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits.

    Raises:
        SpaceFileError: The file cannot be read.
    """
    with _telling_os_errors(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _holds_configurations(stream: JsonStream) -> bool:
    first = next(stream.values(), None)
    return first is None or (isinstance(first, dict) and "configuration" in first)


@contextmanager
def _telling_os_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as err:
        raise SpaceFileError(f"{path} does not exist; name a Kernel Tuner cache or T4 file") from err
    except IsADirectoryError as err:
        raise SpaceFileError(f"{path} is a folder; name one of the files in it") from err
    except PermissionError as err:
        raise SpaceFileError(f"{path} may not be read by this user; change its permissions") from err
    except OSError as err:
        raise SpaceFileError(f"{path} cannot be read: {err.strerror or err}") from err
