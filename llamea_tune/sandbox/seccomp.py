"""The seccomp filter: the system calls that a guest may make, as a program for the kernel's filter machine.

An allow-list. What it does not name is refused with EPERM, which Python code meets as a `PermissionError`; what no
optimizer calls by accident kills the process. The filter holds for the system call interface of this machine only:
a call through another one (32-bit, x32) kills the process too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import platform
import struct
import sys
from collections.abc import Iterable

from llamea_tune.sandbox import syscalls

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column of the tables, AUDIT_ARCH_*
_X32_BIT = 0x40000000

_LOAD_WORD, _JUMP_EQUAL, _JUMP_GREATER_OR_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_ARGUMENTS = 0, 4, 16  # in struct seccomp_data

_ALLOW, _KILL_PROCESS = 0x7FFF0000, 0x80000000
_REFUSE = 0x00050000 | errno.EPERM
_ABSENT = 0x00050000 | errno.ENOSYS

_O_TMPFILE = 0o20000000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | _O_TMPFILE
_F_DUPFD_CLOEXEC = getattr(fcntl, "F_DUPFD_CLOEXEC", 1030)
_DESCRIPTOR_COMMANDS = (fcntl.F_DUPFD, fcntl.F_GETFD, fcntl.F_SETFD, fcntl.F_GETFL, fcntl.F_SETFL, _F_DUPFD_CLOEXEC)


def build_filter(own_pid: int, *, may_open: bool, machine: str = platform.machine()) -> bytes:
    """Assemble the filter for one guest.

    Args:
        own_pid: Process id of the guest, the only one it may send signals to.
        may_open: Whether it may open files to read them; false where nothing else says which.
        machine: The machine's architecture, as `platform.machine` names it.

    Returns:
        Packed `struct sock_filter`s.

    Raises:
        OSError: No filter is known for this machine.
    """
    if machine not in _ARCHITECTURES or sys.platform != "linux" or sys.maxsize < 2**32:
        raise OSError(errno.ENOSYS, f"no filter is known for {sys.platform} on {machine}")
    column, architecture = _ARCHITECTURES[machine]

    def numbers(table: Iterable[syscalls.Numbers]) -> list[int]:
        return [number for entry in table if (number := entry[column]) is not None]

    program = [
        (_LOAD_WORD, 0, 0, _OFFSET_ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD_WORD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_GREATER_OR_EQUAL, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL_PROCESS),
    ]
    for number in numbers(syscalls.ALLOWED.values()):
        program += _on(number, [(_RETURN, 0, 0, _ALLOW)])
    if may_open:
        for number in numbers([syscalls.OPENAT]):
            program += _on(number, _if_without_bits(2, _WRITING))
        for number in numbers([syscalls.OPEN]):
            program += _on(number, _if_without_bits(1, _WRITING))
    for number in numbers([syscalls.FCNTL]):
        program += _on(number, _if_one_of(1, _DESCRIPTOR_COMMANDS))
    for number in numbers([syscalls.TGKILL]):
        program += _on(number, _if_one_of(0, [own_pid]))
    for number in numbers([syscalls.PRLIMIT64]):
        program += _on(number, _if_null(2))
    for number in numbers(syscalls.ABSENT.values()):
        program += _on(number, [(_RETURN, 0, 0, _ABSENT)])
    for number in numbers(syscalls.HOSTILE.values()):
        program += _on(number, [(_RETURN, 0, 0, _KILL_PROCESS)])
    program += [
        (_JUMP_GREATER_OR_EQUAL, 0, 1, syscalls.LAST_KNOWN),
        (_RETURN, 0, 0, _ABSENT),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


_Instruction = tuple[int, int, int, int]


def _on(number: int, block: list[_Instruction]) -> list[_Instruction]:
    """Run a block, which returns, if the accumulator holds this number."""
    return [(_JUMP_EQUAL, 0, len(block), number), *block]


def _load_argument(position: int, *, high: bool = False) -> _Instruction:
    return (_LOAD_WORD, 0, 0, _OFFSET_ARGUMENTS + 8 * position + (4 if high else 0))


def _if_without_bits(position: int, bits: int) -> list[_Instruction]:
    """Allow the call if an argument has none of these bits."""
    return [
        _load_argument(position),
        (_AND, 0, 0, bits),
        (_JUMP_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]


def _if_one_of(position: int, values: Iterable[int]) -> list[_Instruction]:
    """Allow the call if the lower half of an argument, of type int, is one of these values."""
    checks: list[_Instruction] = []
    for value in values:
        checks += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [_load_argument(position), *checks, (_RETURN, 0, 0, _REFUSE)]


def _if_null(position: int) -> list[_Instruction]:
    """Allow the call if a pointer is null."""
    return [
        _load_argument(position),
        (_JUMP_EQUAL, 0, 3, 0),
        _load_argument(position, high=True),
        (_JUMP_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
