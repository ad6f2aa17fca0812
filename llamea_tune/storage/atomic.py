"""Files that appear whole or not at all, and replace an older one in one step.

An `OSError` says why one could not be written; then everything is as it was before. Folders are not made.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write, which takes its place on the disk when the block ends without an error.

    Args:
        path: Where it will be. Until then it is a hidden file beside that place.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; see `atomic_file`."""
    with atomic_file(path) as file:
        file.write(content)


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8; see `atomic_file`."""
    write_bytes(path, text.encode())


def write_together(texts: Mapping[Path, str]) -> None:
    """Write several text files of one folder so that all of them appear, or none."""
    folder = next(iter(texts)).parent
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=folder) as scratch, ExitStack() as undo:
        for path, text in texts.items():
            write_text(Path(scratch, path.name), text)
        for path in texts:
            if path.exists():
                kept = Path(scratch, f"{path.name}.kept")
                shutil.copyfile(path, kept)
                undo.callback(kept.replace, path)
            else:
                undo.callback(path.unlink, missing_ok=True)
            Path(scratch, path.name).replace(path)
        undo.pop_all()
