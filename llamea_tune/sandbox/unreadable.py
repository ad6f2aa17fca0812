"""Installed packages that a guest may not read are not there for its imports."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType


def hide_unreadable() -> None:
    """Have imports of this process take what must not be read for what is not installed.

    Libraries import what they can do without where it is installed, and go on where it is missing; they are not ready for
    a `PermissionError`.
    """
    sys.meta_path.insert(sys.meta_path.index(PathFinder), _Readable())


class _Readable(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Where a module is.

        Raises:
            ModuleNotFoundError: It must not be read.
        """
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.has_location and spec.origin is not None:
            try:
                Path(spec.origin).open("rb").close()
            except PermissionError as err:
                raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname) from err
        return spec
