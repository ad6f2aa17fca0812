"""What the results of runs depend on besides the runs: versions and sources of the packages that make them."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from llamea_tune.exceptions import StrategyError
from llamea_tune.strategies.outside import LIBRARIES, Library

PACKAGES = (
    *("kernel_tuner", "numpy", "scipy", "scikit-learn", "python-constraint2"),
    *("pymoo", "scikit-optimize"),
)
SOURCES = ("kernel_tuner", "llamea_tune")

_ROOMS_OF_TRACES = ("candidate_code", "spaces", "runners", "sandbox", "strategies", "execution", "scoring")


def package_versions(libraries: Iterable[Library] | None = None) -> dict[str, str | None]:
    """Versions of the packages that runs depend on; None for those that are not installed.

    Args:
        libraries: The libraries that the optimizers come from; None for all that there are.
    """
    found: dict[str, str | None] = {"python": platform.python_version()}
    used = _all_libraries() if libraries is None else libraries
    for name in (*PACKAGES, *(package for library in used for package in library.packages)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


def _all_libraries() -> Iterator[Library]:
    for prefix in sorted(LIBRARIES):
        with suppress(StrategyError):  # no run depends on one that cannot be loaded
            yield LIBRARIES.load(prefix)


@lru_cache
def sources_digest(package: str) -> str:
    """Digest of a package's Python sources. Of this one, only of the rooms that make traces."""
    spec = find_spec(package)
    folders = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    if package == "llamea_tune":
        folders = [folder / room for folder in folders for room in (*_ROOMS_OF_TRACES, "kernel_tuner_internals.py")]
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            digest.update(str(path.relative_to(folder.parent)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def conditions() -> dict[str, str | None]:
    """All of it by name; machines where it is the same make the same runs, if their processors are of one kind."""
    return {**package_versions(), **{f"the sources of {package}": sources_digest(package) for package in SOURCES}}


def disagreement(ours: Mapping[str, str | None], theirs: Mapping[str, str | None]) -> str:
    """The first thing that is not the same here and there, as a clause; empty where all is.

    Args:
        ours: The conditions of this machine.
        theirs: Those of another one.
    """
    for name, here in ours.items():
        there = theirs.get(name)
        if here != there:
            if name.startswith("the sources of"):
                return f"{name} are not the same"
            return f"{name} is {there or 'not installed'} there and {here or 'not installed'} here"
    return ""
