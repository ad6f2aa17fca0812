"""The system calls of Linux that the sandbox needs and Python's standard library lacks."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import Any

IS_LINUX = sys.platform == "linux"
CLONE_NEWUSER, CLONE_NEWIPC, CLONE_NEWNET = 0x10000000, 0x08000000, 0x40000000

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_KEEPCAPS = 1, 4, 8
_PR_SET_SECCOMP, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 22, 36, 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


class FilterProgram(ctypes.Structure):
    """`struct sock_fprog`: a program for the kernel's packet filter machine."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def system_call(number: int, *arguments: Any) -> int:
    """Make a system call by number.

    Raises:
        OSError: The kernel refused it.
    """
    if not IS_LINUX:
        raise OSError(errno.ENOSYS, "it exists on Linux only")
    return _checked("syscall", ctypes.c_long(number), *arguments)


def unshare(flags: int) -> None:
    """Move this process into new namespaces."""
    _checked("unshare", ctypes.c_int(flags))


def die_with_parent(signal_number: int) -> None:
    """Have this process killed when the thread that forked it ends. Changing the user undoes this."""
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> None:
    """Make this process the parent of its descendants whose own parents die."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide_memory() -> None:
    """Let no process of the same user trace this one or read its memory, and write no core dump."""
    _prctl(_PR_SET_DUMPABLE, 0)


def give_up_privileges_for_good() -> None:
    """Set `no_new_privs`: no program that this process starts gains rights."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def keep_capabilities() -> None:
    """Keep permitted capabilities over the next change of user."""
    _prctl(_PR_SET_KEEPCAPS, 1)


def set_capabilities(numbers: frozenset[int]) -> None:
    """Hold exactly these capabilities, which must be permitted already."""
    header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
    data = (_CapabilityData * 2)()
    for number in numbers:
        data[number // 32].effective |= 1 << number % 32
        data[number // 32].permitted |= 1 << number % 32
    _checked("capset", ctypes.byref(header), data)


def set_seccomp_filter(instructions: bytes) -> None:
    """Filter all further system calls of this thread.

    Args:
        instructions: Packed `struct sock_filter`s, eight bytes each.
    """
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = FilterProgram(len(instructions) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    _checked("prctl", _PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program), 0, 0)


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _checked("prctl", ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)


def _checked(name: str, *arguments: Any) -> int:
    function = getattr(_libc, name, None)
    if function is None:
        raise OSError(errno.ENOSYS, "it exists on Linux only")
    ctypes.set_errno(0)
    result: int = function(*arguments)
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result
