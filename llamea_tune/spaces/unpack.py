"""Unpack an archive from elsewhere: nothing outside its folder, no links, no devices, and all of it or nothing."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from llamea_tune.exceptions import FetchError

LARGEST_BYTES = 20 << 30
_SUFFIXES = (".zip", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz")

_Member = tuple[str, int, bool, IO[bytes] | None]  # name, size, whether a file or folder, content of a file


def is_archive(name: str) -> bool:
    """Whether a file of that name is unpacked."""
    return name.endswith(_SUFFIXES)


def unpack(archive: Path, name: str, target: Path) -> None:
    """Unpack an archive into a folder, which appears as a whole and replaces an older one.

    Args:
        archive: The archive, whatever it is called.
        name: Its proper name.
        target: The folder.

    Raises:
        FetchError: It is damaged, too large, or holds what would land outside the folder or is no plain file.
    """
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        inside = work / "new"
        inside.mkdir()
        written = 0
        for member, size, is_plain, stream in _members(archive, name):
            place = inside / _safe(name, member)
            if not is_plain:
                raise FetchError(f"{name} holds {member!r}, which is a link or device; nothing was unpacked")
            written += size
            if written > LARGEST_BYTES:
                raise FetchError(f"{name} would unpack to more than {LARGEST_BYTES >> 30} GiB; nothing was unpacked")
            if stream is None:
                place.mkdir(parents=True, exist_ok=True)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            with stream, place.open("xb") as file:
                shutil.copyfileobj(stream, file)
        if target.exists():
            target.replace(work / "old")
        inside.replace(target)
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, FileExistsError, NotADirectoryError, RuntimeError) as err:
        raise FetchError(f"{name} cannot be unpacked ({err}); fetch it again") from err
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _safe(archive: str, member: str) -> Path:
    path = PurePosixPath(member)
    if path.is_absolute() or ".." in path.parts or "\\" in member or ":" in member or "\0" in member:
        raise FetchError(f"{archive} holds {member!r}, which would land outside its folder; nothing was unpacked")
    return Path(*path.parts)


def _members(archive: Path, name: str) -> Iterator[_Member]:
    if name.endswith(".zip"):
        with zipfile.ZipFile(archive) as packed:
            for file in packed.infolist():
                is_plain = file.external_attr >> 28 in (0, 0o10, 0o4)
                yield file.filename, file.file_size, is_plain, None if file.is_dir() else packed.open(file)
    else:
        with tarfile.open(archive) as tape:
            for info in tape:
                is_plain = info.isfile() or info.isdir()
                yield info.name, info.size, is_plain, tape.extractfile(info) if info.isfile() else None
