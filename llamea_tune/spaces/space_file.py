"""Files of search spaces: opened plain or compressed, told apart, hashed; every trouble becomes one sentence."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from llamea_tune.exceptions import SpaceFileError
from llamea_tune.spaces.json_stream import JsonError, JsonStream

_GZIP_MAGIC = b"\x1f\x8b"


class FileKind(StrEnum):
    """What a JSON file is, told by its top-level keys."""

    CACHE = "Kernel Tuner cache"
    T4 = "T4 results"
    T1 = "T1 description"
    OTHER = "something else"


@contextmanager
def open_json(path: Path) -> Iterator[JsonStream]:
    """Open a file of JSON, gzip-compressed or not whatever its name.

    Raises:
        SpaceFileError: The file cannot be read, or turns out not to be JSON while it is read.
    """
    with _telling_os_errors(path), path.open("rb") as file:
        compressed = file.peek(2)[:2] == _GZIP_MAGIC
        plain = gzip.GzipFile(fileobj=file) if compressed else file
        try:
            stream = JsonStream(io.TextIOWrapper(plain, encoding="utf-8-sig"))
            if not stream.peek():
                raise SpaceFileError(f"{path} is empty; expected a Kernel Tuner cache, T4 results or a T1 description")
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile) as err:
            raise SpaceFileError(
                f"{path} is cut off or damaged: its compressed data cannot be read to the end; fetch or record it again"
            ) from err
        except UnicodeDecodeError as err:
            raise SpaceFileError(f"{path} is no UTF-8 text, so no JSON; name a Kernel Tuner cache or T4 file") from err
        except JsonError as err:
            raise SpaceFileError(
                f"{path} is no valid JSON from {err}; it may have been cut off: fetch or record it again"
            ) from err


def file_kind(path: Path) -> FileKind:
    """Tell what a JSON file is, reading no more of it than needed.

    Raises:
        SpaceFileError: The file cannot be read, or is not JSON.
    """
    with open_json(path) as stream:
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
    for _ in stream.elements():
        first = stream.value()
        return isinstance(first, dict) and "configuration" in first
    return True


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
