"""Landlock: the kernel refuses a guest all files but those it may read, without any right of the caller's.

Numbers and structures are those of the kernel's `include/uapi/linux/landlock.h`. What the running kernel does not know
is left out, by the version of its interface (ABI): 1 files, 4 TCP, 5 device ioctls, 6 signals and abstract sockets.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from llamea_tune.sandbox.linux import system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ABI_QUERY = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3


def interface_version() -> int:
    """The version of the kernel's Landlock interface.

    Raises:
        OSError: The kernel has none, or it is switched off.
    """
    return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ABI_QUERY))


def restrict(readable: Iterable[Path]) -> None:
    """Let this process read below some paths, for good, and do nothing else that Landlock can refuse.

    Needs `no_new_privs`.

    Args:
        readable: Files and folders; those that do not exist or cannot be reached are left out.

    Raises:
        OSError: The kernel has no Landlock.
    """
    attributes = _attributes(interface_version())
    ruleset = system_call(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    try:
        for path in readable:
            with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow_reading(ruleset, path)
        system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _attributes(abi: int) -> bytes:
    """`struct landlock_ruleset_attr`, as long as the kernel's version knows it."""
    file_rights = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)  # execute, write, read, ..., refer, truncate, ioctl
    attributes = struct.pack("<Q", (1 << file_rights) - 1)
    if abi >= 4:
        attributes += struct.pack("<Q", 0b11)  # bind and connect TCP
    if abi >= 6:
        attributes += struct.pack("<Q", 0b11)  # abstract Unix sockets and signals to processes outside
    return attributes


def _allow_reading(ruleset: int, path: Path) -> None:
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
        rule = struct.pack("<Qi", _READ_FILE | (_READ_DIR if is_folder else 0), fd)
        system_call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0))
    finally:
        os.close(fd)
