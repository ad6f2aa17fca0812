"""Where things lie: the T1 description of a file, the spaces in a folder or glob, the names they get."""

from __future__ import annotations

import glob
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from llamea_tune.exceptions import SpaceFileError, SpaceFileWarning
from llamea_tune.spaces.cache_file import read_header
from llamea_tune.spaces.readers import find_reader
from llamea_tune.spaces.space_file import FileKind, file_kind
from llamea_tune.spaces.t1_file import read_t1

_SUFFIXES = (".json.gz", ".json")
PLAIN_FOLDERS = frozenset({"caches", "cachefiles"})
_LEVELS_UP = 3
_LARGEST_T1 = 1 << 20
_T4_MARKS = ("_T4", "-T4", ".T4", "_t4", "-t4", ".t4")


def stem(path: Path) -> str:
    """File name without `.json` or `.json.gz`."""
    for suffix in _SUFFIXES:
        if path.name.endswith(suffix):
            return path.name.removesuffix(suffix)
    return path.name


def plain_stem(path: Path) -> str:
    """The same, without a mark that the file is T4."""
    name = stem(path)
    return next((name.removesuffix(mark) for mark in _T4_MARKS if name.endswith(mark)), name)


def kernel_folder(path: Path) -> str:
    """Name of the folder that a file belongs to, which is above one called `caches`."""
    parents = path.absolute().parents
    return next((folder.name for folder in parents if folder.name not in PLAIN_FOLDERS), "")


def space_name(path: Path) -> str:
    """The name of a file's space: `matmul/X` for `searchspaces/matmul/caches/X.json.gz`."""
    return f"{kernel_folder(path)}/{stem(path)}".lstrip("/")


def find_t1(path: Path, *, salvage: bool = False) -> Path | None:
    """Find the T1 description of a cache or T4 file; None if there is none.

    Looked for, in this order: `T1.json` and `<stem>_T1.json` beside the file; then, in its folder and up to three
    above, `<kernel folder>.json` in a folder of that name and `kernels/<kernel folder>.json`; then any T1 file beside
    it whose kernel has the name that the file records.

    Raises:
        SpaceFileError: A file by such a name is broken.
    """
    folder, kernel = path.absolute().parent, kernel_folder(path)
    places = [folder / "T1.json", folder / f"{stem(path)}_T1.json", folder / f"{kernel}.json"]
    for above in (folder, *folder.parents[:_LEVELS_UP]):
        places += [above / f"{kernel}.json"] if above.name == kernel else []
        places.append(above / "kernels" / f"{kernel}.json")
    for place in places:
        if place.is_file() and place != path.absolute() and file_kind(place) is FileKind.T1:
            return place
    return _t1_by_kernel_name(path, salvage)


def _t1_by_kernel_name(path: Path, salvage: bool) -> Path | None:
    folder = path.absolute().parent
    beside = [place for place in sorted(folder.glob("*.json")) if place != path.absolute() and _may_be_t1(place)]
    if not beside or find_reader(path, salvage=salvage, added_only=True):
        return None
    is_cache = file_kind(path, salvage=salvage) is FileKind.CACHE
    kernel_name = read_header(path, salvage=salvage).get("kernel_name") if is_cache else None
    matching = [place for place in beside if kernel_name and read_t1(place).kernel_name == kernel_name]
    return matching[0] if len(matching) == 1 else None


def _may_be_t1(place: Path) -> bool:
    try:
        return place.stat().st_size <= _LARGEST_T1 and file_kind(place) is FileKind.T1
    except (SpaceFileError, OSError):
        return False


def find_space_files(spec: str | Path, *, salvage: bool = False) -> list[Path]:
    """The caches and T4 files that a file, folder or glob stands for.

    A folder stands for all those in it and below, hidden ones excepted. In folders and globs, T1 descriptions and
    other JSON are skipped, and so is a T4 file beside the cache that it was made from, by its name; a file that cannot
    be read is left out with a warning.

    Raises:
        SpaceFileError: There is none.
    """
    path = Path(spec)
    if path.is_dir():
        return _spaces_among(files_of(spec), salvage) or _nothing(
            f"the folder {path} holds no Kernel Tuner cache or T4 file"
        )
    if glob.has_magic(str(spec)) and not path.exists():
        return _spaces_among(files_of(spec), salvage) or _nothing(f"{spec} matches no Kernel Tuner cache or T4 file")
    return [path]


def files_of(spec: str | Path) -> list[Path]:
    """All files that a file, folder or glob stands for: of a folder those in it and below, hidden ones excepted."""
    path = Path(spec)
    matches = [path] if path.exists() else map(Path, glob.glob(str(spec), recursive=True))  # noqa: PTH207 (absolute patterns)
    return sorted({file for match in matches for file in (_files_below(match) if match.is_dir() else [match])})


def _files_below(folder: Path) -> list[Path]:
    return [
        file
        for file in folder.rglob("*")
        if not any(part.startswith(".") for part in file.relative_to(folder).parts) and _is_file(file)
    ]


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError:  # such as a link to where nobody else may look
        return False


def _nothing(message: str) -> list[Path]:
    raise SpaceFileError(f"{message}; name a file, folder or glob that has some")


def skip(err: SpaceFileError) -> None:
    """Tell that one of many files is left out."""
    warnings.warn(f"skipped: {err}", SpaceFileWarning, stacklevel=3)


def _spaces_among(files: Sequence[Path], salvage: bool) -> list[Path]:
    kinds: dict[Path, FileKind | None] = {}  # None for a format that another package reads
    for place in files:
        if place.is_file():
            try:
                if find_reader(place, salvage=salvage, added_only=True):
                    kinds[place] = None
                elif place.name.endswith(_SUFFIXES):
                    kinds[place] = file_kind(place, salvage=salvage)
            except SpaceFileError as err:
                skip(err)
    caches = {(place.parent, stem(place)) for place, kind in kinds.items() if kind is FileKind.CACHE}
    return [
        place
        for place, kind in kinds.items()
        if kind in (None, FileKind.CACHE) or (kind is FileKind.T4 and (place.parent, plain_stem(place)) not in caches)
    ]


def unique_names(paths: Sequence[Path]) -> list[str]:
    """A name for each file's space: short, with more folders where that is needed to tell them apart."""
    names = [space_name(path) for path in paths]
    for levels in range(2, 2 + max(len(path.absolute().parts) for path in paths)):
        counts = Counter(names)
        if max(counts.values()) == 1:
            break
        names = [
            "/".join((*path.absolute().parts[-levels:-1], stem(path))).lstrip("/") if counts[name] > 1 else name
            for path, name in zip(paths, names, strict=True)
        ]
    counts = Counter(names)
    return [path.name if counts[name] > 1 else name for path, name in zip(paths, names, strict=True)]
