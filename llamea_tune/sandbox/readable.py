"""What a guest may read: the parts of the Python installation that a late import may need."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import llamea_tune

_PACKAGES = ("kernel_tuner", "numpy", "scipy", "sklearn", "joblib", "narwhals", "threadpoolctl")
_LIBRARY_FOLDERS = ("numpy.libs", "scipy.libs", "scikit_learn.libs")
_EXTENSIONS = "lib-dynload"  # the one folder of modules on the path that may be read as a whole
_NOT_STANDARD = ("site-packages", "dist-packages")


def readable_paths() -> list[Path]:
    """Files and folders that a guest may read.

    The standard library, the packages that candidates may import with what those import, and shared libraries. Not the
    other installed packages, and never this one: recorded search spaces come with it, and lie beside others.
    """
    own = Path(llamea_tune.__file__).resolve().parent
    too_much = {own, *(Path(path).resolve() for path in sys.path if path and not path.endswith(_EXTENSIONS))}
    paths = {path.resolve() for path in (*_standard_library(), *_packages(), *_shared_libraries())}
    return sorted(
        path
        for path in paths
        if not path.is_relative_to(own) and not any(folder.is_relative_to(path) for folder in too_much)
    )


def _standard_library() -> Iterator[Path]:
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}:
        if Path(folder).is_dir():
            yield from (path for path in Path(folder).iterdir() if path.name not in _NOT_STANDARD)


def _packages() -> Iterator[Path]:
    """The packages for candidates, and whatever is imported already from the folders where those lie."""
    own_files = [path for name in _PACKAGES if (path := _files_of(find_spec(name))) is not None]
    homes = {path.parent for path in own_files}
    yield from own_files
    for home in homes:
        yield from (home / name for name in _LIBRARY_FOLDERS)
    for name, module in list(sys.modules.items()):
        path = _files_of(getattr(module, "__spec__", None))
        if "." not in name and path is not None and path.parent in homes:
            yield path


def _files_of(spec: ModuleSpec | None) -> Path | None:
    """The folder of a package, or the file of a module."""
    if spec is None or spec.origin is None or not Path(spec.origin).is_absolute():
        return None
    origin = Path(spec.origin)
    return origin.parent if spec.submodule_search_locations else origin


def _shared_libraries() -> Iterator[Path]:
    """Folders of the libraries that this process has loaded from outside the Python packages, and their index."""
    yield Path("/etc/ld.so.cache")
    try:
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for file in {line.split(maxsplit=5)[-1] for line in lines if ".so" in line}:
        if not any(name in file for name in _NOT_STANDARD) and file.startswith("/"):
            yield Path(file).parent
