"""Runs all adversaries as an ordinary user and prints a report; started by root.

Where an ordinary user could not even start this Python, as below a private home folder, the folders it needs are made
reachable in a mount namespace that only this process has.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy

import llamea_tune

UID = 54321
SKIPPED = 77
_CLONE_NEWNS, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x20000, 4096, 16384, 1 << 18


def make_reachable(folders: list[Path]) -> None:
    """Put an open folder over each private one above these, with nothing but these in it."""
    hidden = {ancestor for folder in folders if (ancestor := _private_ancestor(folder)) is not None}
    if not hidden:
        return
    libc = ctypes.CDLL(None, use_errno=True)

    def mount(source: str, target: Path, kind: str | None, flags: int, data: str | None = None) -> None:
        text = [None if value is None else value.encode() for value in (source, str(target), kind, data)]
        if libc.mount(text[0], text[1], text[2], ctypes.c_ulong(flags), text[3]) != 0:
            sys.exit(f"mount {target}: {os.strerror(ctypes.get_errno())}")

    if libc.unshare(_CLONE_NEWNS) != 0:
        print("an ordinary user cannot reach this Python, and mounts are not allowed", file=sys.stderr)
        sys.exit(SKIPPED)
    mount("none", Path("/"), None, _MS_REC | _MS_PRIVATE)
    needed = [folder for folder in folders if _private_ancestor(folder) is not None]
    keep = Path(tempfile.mkdtemp())
    mount("none", keep, "tmpfs", 0)
    for number, folder in enumerate(needed):
        (keep / str(number)).mkdir()
        mount(str(folder), keep / str(number), None, _MS_BIND)
    for ancestor in hidden:
        mount("none", ancestor, "tmpfs", 0, "mode=755")
    for number, folder in enumerate(needed):
        folder.mkdir(parents=True, exist_ok=True)
        mount(str(keep / str(number)), folder, None, _MS_BIND)


def _private_ancestor(folder: Path) -> Path | None:
    """The outermost folder on the way that others may not pass."""
    way = [*reversed(folder.parents), folder]
    return next((place for place in way if place.exists() and not place.stat().st_mode & 0o001), None)


def main() -> None:
    if os.geteuid() == 0:
        packages = {Path(module.__file__).parent.parent for module in (llamea_tune, numpy) if module.__file__}
        make_reachable([Path(sys.base_prefix), Path(sys.prefix), *packages, Path(__file__).parent])
        os.setgroups([])
        os.setgid(UID)
        os.setuid(UID)
        os.execve(sys.executable, [sys.executable, __file__], {"PATH": "/usr/bin:/bin", "HOME": "/"})

    sys.path.insert(0, str(Path(__file__).parent))
    from adversaries import ADVERSARIES
    from gauntlet import gauntlet, makes_sense_here

    states, problems = {}, {}
    with gauntlet() as course:
        for adversary in filter(makes_sense_here, ADVERSARIES):
            result, found = course.run(adversary)
            states[adversary.name] = result.state.value
            if found:
                problems[adversary.name] = found
        layers = {layer.name: layer.active for layer in course.sandbox._worker.layers}
    print(json.dumps({"uid": os.getuid(), "states": states, "problems": problems, "layers": layers}))


if __name__ == "__main__":
    main()
