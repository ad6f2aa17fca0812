"""Fetch the files of a public record: resumable, checked against its checksums, and unpacked with care.

A record is what Zenodo's API gives for one: JSON with `files`, each with `key`, `size`, `checksum` and `links`, and
`metadata` with the title and the license.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import FetchError
from llamea_tune.spaces.unpack import is_archive, unpack
from llamea_tune.storage import write_text

HUB_URL = "https://zenodo.org/api/records/15364124"

_MARKER = ".fetched.json"
_CHUNK = 1 << 18
_TIMEOUT_S = 60.0
_ATTEMPTS = 4
_PAUSE_S = 0.5
_LARGEST_RECORD = 10 << 20

OnBytes = Callable[[str, int, int], None]


@dataclass(frozen=True)
class RemoteFile:
    """A file of a record.

    Attributes:
        name: Its name, a plain one.
        size: Bytes.
        checksum: Algorithm and hexadecimal digest, such as `"md5:900150983cd24fb0d6963f7d28e17f72"`.
        url: Where its content is.
    """

    name: str
    size: int
    checksum: str
    url: str


@dataclass(frozen=True)
class Record:
    """What is to be fetched.

    Attributes:
        title: Title.
        license: Name of the license; "not stated" where the record has none.
        doi: DOI, possibly empty.
        files: The files.
    """

    title: str
    license: str
    doi: str
    files: tuple[RemoteFile, ...]


def read_record(url: str) -> Record:
    """Read what a record holds.

    Raises:
        FetchError: It cannot be reached, or is no such record.
    """
    try:
        with urllib.request.urlopen(_request(url), timeout=_TIMEOUT_S) as response:
            document = json.loads(response.read(_LARGEST_RECORD))
        metadata = document.get("metadata") or {}
        stated = metadata.get("license") or "not stated"
        return Record(
            title=str(metadata.get("title") or "untitled"),
            license=str(stated.get("id") or "not stated") if isinstance(stated, dict) else str(stated),
            doi=str(document.get("doi") or metadata.get("doi") or ""),
            files=tuple(_remote_file(entry) for entry in document["files"]),
        )
    except (OSError, http.client.HTTPException) as err:
        raise FetchError(f"{url} cannot be read ({_reason(err)}); check the address and the network") from err
    except (ValueError, KeyError, TypeError, AttributeError) as err:
        raise FetchError(f"{url} is no record with files ({err}); give the address of a Zenodo record's API") from err


def fetch(record: Record, folder: Path, on_bytes: OnBytes | None = None) -> list[Path]:
    """Fetch all files of a record; archives are unpacked into folders of their names.

    What is there already is not fetched again, and what broke off is resumed.

    Args:
        record: What to fetch.
        folder: Where to; made.
        on_bytes: Called with a file's name, bytes there and bytes in all.

    Returns:
        The files and folders.

    Raises:
        FetchError: A transfer breaks off again and again, a file is not what the record says, an archive is unsafe, or
            the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [_fetch_one(file, folder, on_bytes or (lambda *_: None)) for file in record.files]
    except OSError as err:
        raise FetchError(f"{folder} cannot be written ({err.strerror or err}); make room or choose another") from err


def _fetch_one(file: RemoteFile, folder: Path, on_bytes: OnBytes) -> Path:
    target = folder / (re.sub(r"\.(zip|tar\.\w+|tgz|tar)$", "", file.name) if is_archive(file.name) else file.name)
    if _fetched(folder).get(file.name) == file.checksum and target.exists():
        on_bytes(file.name, file.size, file.size)
        return target
    part = folder / f"{file.name}.part"
    _download(file, part, on_bytes)
    if not _is_right(file, part):
        part.unlink()
        raise FetchError(f"{file.url} is not what the record says: wrong checksum; it was removed, try again later")
    if is_archive(file.name):
        unpack(part, file.name, target)
        part.unlink()
    else:
        part.replace(target)
    _mark(folder, file)
    return target


def _download(file: RemoteFile, part: Path, on_bytes: OnBytes) -> None:
    reason = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S * attempt)
        try:
            _transfer(file, part, on_bytes)
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as err:
            reason = _reason(err)
            if isinstance(err, urllib.error.HTTPError) and err.code < 500:
                raise FetchError(f"{file.url} cannot be fetched ({reason}); try again later") from err
        if part.is_file() and _size(part) >= file.size:
            return
    message = f"{file.url} broke off at {_size(part):,} of {file.size:,} bytes{f' ({reason})' if reason else ''}"
    raise FetchError(f"{message}; the same command goes on from there")


def _transfer(file: RemoteFile, part: Path, on_bytes: OnBytes) -> None:
    """One attempt, from where the last one ended."""
    there = _size(part)
    if there == file.size and part.is_file():
        return
    there = there if there < file.size else 0
    request = _request(file.url)
    if there:
        request.add_header("Range", f"bytes={there}-")
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as response:
        if response.status != 206 or not response.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
            there = 0  # a server that knows no ranges sends all of it
        with part.open("r+b" if there else "wb") as stream:
            stream.seek(there)
            stream.truncate()
            while there <= file.size and (chunk := response.read(_CHUNK)):
                stream.write(chunk)
                there += len(chunk)
                on_bytes(file.name, min(there, file.size), file.size)


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _is_right(file: RemoteFile, path: Path) -> bool:
    algorithm, _, digest = file.checksum.partition(":")
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, algorithm).hexdigest() == digest.lower()


def _fetched(folder: Path) -> dict[str, str]:
    """Checksums of what was fetched to a folder, by name."""
    try:
        found = json.loads((folder / _MARKER).read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _mark(folder: Path, file: RemoteFile) -> None:
    write_text(folder / _MARKER, json.dumps({**_fetched(folder), file.name: file.checksum}, indent=2))


def _remote_file(entry: dict[str, Any]) -> RemoteFile:
    name, checksum, url = str(entry["key"]), str(entry["checksum"]), str(entry["links"]["self"])
    if Path(name).name != name or name.startswith(".") or "\\" in name:
        raise ValueError(f"a file called {name!r}")
    if checksum.partition(":")[0] not in ("md5", "sha1", "sha256", "sha512"):
        raise ValueError(f"the checksum {checksum!r}")
    return RemoteFile(name, int(entry["size"]), checksum, url)


def _request(url: str) -> urllib.request.Request:
    if not url.startswith(("https://", "http://")):
        raise FetchError(f"{url!r} is no web address; give one that begins with https://")
    return urllib.request.Request(url, headers={"User-Agent": "llamea-tune"})


def _reason(err: Exception) -> str:
    if isinstance(err, urllib.error.HTTPError):
        return f"HTTP {err.code} {err.reason}"
    return str(getattr(err, "reason", "") or err) or type(err).__name__
