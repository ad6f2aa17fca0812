"""The kernel's packet filter machine, as far as seccomp filters use it, to try them without a kernel."""

from __future__ import annotations

import struct

ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, ABSENT = 0x00050001, 0x00050026  # EPERM, ENOSYS

_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06


def verdict(candidate: bytes, architecture: int, number: int, arguments: tuple[int, ...] = ()) -> int:
    """What a filter says to a system call."""
    padded = (*arguments, 0, 0, 0, 0, 0, 0)[:6]
    data = struct.pack("<iIQ6Q", number - (1 << 32) if number >= 1 << 31 else number, architecture, 0, *padded)
    accumulator, at = 0, 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("<HBBI", candidate, 8 * at)
        at += 1
        if code == _RETURN:
            return operand
        if code == _LOAD:
            (accumulator,) = struct.unpack_from("<I", data, operand)
        elif code == _AND:
            accumulator &= operand
        elif code == _EQUAL:
            at += if_true if accumulator == operand else if_false
        elif code == _AT_LEAST:
            at += if_true if accumulator >= operand else if_false
        else:
            raise ValueError(f"unknown instruction {code:#x}")
