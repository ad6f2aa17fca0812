"""Load search spaces from files, folders and globs."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from llamea_tune._bundled import bundled_path
from llamea_tune.exceptions import SpaceFileError, SpaceFileWarning
from llamea_tune.spaces.compile import compile_space, freeze
from llamea_tune.spaces.find import find_space_files, find_t1, skip, space_name, unique_names
from llamea_tune.spaces.readers import find_reader
from llamea_tune.spaces.space import RecordedSpace
from llamea_tune.spaces.space_file import FileKind, file_digest, file_kind
from llamea_tune.spaces.store import load_compiled, save_compiled
from llamea_tune.spaces.t1_file import read_t1


@dataclass(frozen=True)
class Reading:
    """How files are read, beyond what they say themselves: the options of `load_spaces`, to be handed on together."""

    t1: Path | None = None
    objective: str | None = None
    salvage: bool = False


def load_space(
    path: str | Path,
    *,
    t1: Path | None = None,
    name: str | None = None,
    objective: str | None = None,
    higher_is_better: bool | None = None,
    salvage: bool = False,
) -> RecordedSpace:
    """Load a Kernel Tuner cache, a T4 file, or what a reader of another package reads.

    With a T1 description the configs are those that its restrictions permit, numbered as in
    `tune_kernel(..., simulation_mode=True)`. Where some of these were never recorded, and where there is no
    description, the configs are the recorded ones in the file's order. Recorded configs that the restrictions forbid
    are left out, as Kernel Tuner leaves them out. Of a config that is recorded more than once the last entry counts.

    What people should know of the file is in the space's `notes`, and warned of with `SpaceFileWarning`.

    Args:
        path: The file, gzip-compressed or not.
        t1: Its T1 description; by default one is looked for where `find_t1` says.
        name: Name of the space; by default made of the folder's and the file's.
        objective: Name of the objective; by default the file's own, else `"time"`.
        higher_is_better: Whether the objective is maximised, where the file does not say; by default what Kernel
            Tuner knows of the objective.
        salvage: Whether to use what is whole of a file that is cut off.

    Raises:
        SpaceFileError: The file, or its description, cannot be used.
    """
    path = Path(path)
    name = name or space_name(path)
    content = f"{file_digest(path)} {objective} {higher_is_better}" + (" salvaged" if salvage else "")
    t1_path = find_t1(path, salvage=salvage) if t1 is None else Path(t1)
    content_hash = hashlib.sha256(f"{content} {file_digest(t1_path) if t1_path else ''}".encode()).hexdigest()
    stored = load_compiled(content_hash, name=name, source=path)
    if stored is not None:
        return _with_warnings(freeze(stored))

    reader = find_reader(path, salvage=salvage)
    if reader is None:
        if file_kind(path, salvage=salvage) is FileKind.T1:
            raise SpaceFileError(
                f"{path} is a T1 description, which holds no measurements; name the cache it describes"
            )
        raise SpaceFileError(
            f"{path} is neither a Kernel Tuner cache nor T4 results, or was cut off; name another file"
        )
    space = compile_space(
        reader.read(path, objective, salvage=salvage),
        read_t1(t1_path) if t1_path else None,
        name=name,
        source=path,
        content_hash=content_hash,
        higher_is_better=higher_is_better,
    )
    save_compiled(space)
    return _with_warnings(space)


def _with_warnings(space: RecordedSpace) -> RecordedSpace:
    for note in space.notes:
        warnings.warn(note, SpaceFileWarning, stacklevel=3)
    return space


def load_spaces(
    specs: Sequence[str | Path], *, t1: Path | None = None, objective: str | None = None, salvage: bool = False
) -> list[RecordedSpace]:
    """Load the spaces that files, folders and globs stand for, each once, under names that are unique among them.

    A file that cannot be used is left out with a `SpaceFileWarning` where it is one of many in a folder or glob.

    Args:
        specs: Files, folders or globs.
        t1: The T1 description of all of them; by default each one's own is looked for.
        objective: Name of the objective in all of them; by default each file's own.
        salvage: Whether to use what is whole of files that are cut off.

    Raises:
        SpaceFileError: One stands for no space, or a file cannot be used that was named itself.
    """
    found = [path for spec in specs for path in find_space_files(spec, salvage=salvage)]
    paths = list({path.resolve(): path for path in reversed(found)}.values())[::-1]
    if not paths:
        raise SpaceFileError("no search space is named; name a Kernel Tuner cache, a T4 file, a folder or a glob")
    if t1 is not None:
        read_t1(t1)  # refused once, rather than with each file
    named_themselves = {Path(spec).resolve() for spec in specs}
    loaded = []
    for path, name in zip(paths, unique_names(paths), strict=True):
        try:
            loaded.append(load_space(path, t1=t1, name=name, objective=objective, salvage=salvage))
        except SpaceFileError as err:
            if path.resolve() in named_themselves:
                raise
            skip(err)
    if not loaded:
        raise SpaceFileError("none of the files that were found can be used; name others")
    return loaded


def bundled_spaces() -> list[Path]:
    """The files of the bundled search spaces, by name."""
    folder = bundled_path("searchspaces")
    return sorted(folder.glob("*/caches/*.json.gz"))
