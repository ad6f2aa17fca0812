"""What a guest may read: the parts of the Python installation that a late import may need."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import llamea_tune

_PACKAGES = ("kernel_tuner", "numpy", "scipy", "sklearn", "joblib", "threadpoolctl")
_LIBRARY_FOLDERS = ("numpy.libs", "scipy.libs", "scikit_learn.libs")
_NOT_STANDARD = ("site-packages", "dist-packages")


def readable_paths() -> list[Path]:
    """Files and folders that a guest may read.

    The standard library, the packages that candidates may import with what those import, and shared libraries. Not the
    other installed packages, and never this one: recorded search spaces come with it, and lie beside others.
    """
    own = Path(llamea_tune.__file__).resolve().parent
    paths = {path.resolve() for path in (*_standard_library(), *_packages(), *_shared_libraries())}
    return sorted(path for path in paths if not own.is_relative_to(path) and not path.is_relative_to(own))


def _standard_library() -> Iterator[Path]:
    for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}:
        if Path(folder).is_dir():
            yield from (path for path in Path(folder).iterdir() if path.name not in _NOT_STANDARD)


def _packages() -> Iterator[Path]:
    """The packages for candidates, and whatever is imported already from the folders where those lie."""
    homes = set()
    for name in _PACKAGES:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            package = Path(spec.origin).parent
            homes.add(package.parent)
            yield package
    for home in homes:
        yield from (home / name for name in _LIBRARY_FOLDERS)
    for name, module in list(sys.modules.items()):
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if "." in name or origin is None or "/" not in origin:
            continue
        path = Path(origin).parent if Path(origin).stem == "__init__" else Path(origin)
        if path.parent in homes:
            yield path


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
