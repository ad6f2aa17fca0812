"""The system call filter, tried on a model of the kernel's machine, for both architectures."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

import pytest
from filter_machine import ABSENT, ALLOW, KILL, REFUSE, verdict
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.sandbox import syscalls
from llamea_tune.sandbox.seccomp import build_filter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a filter of Linux")

ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
SPECIAL = {
    "openat": syscalls.OPENAT,
    "open": syscalls.OPEN,
    "fcntl": syscalls.FCNTL,
    "prlimit64": syscalls.PRLIMIT64,
    "tgkill": syscalls.TGKILL,
}
PID = 4321
MACHINES = pytest.mark.parametrize("machine", ARCHITECTURES)


def ask(machine: str, number: int | None, *arguments: int, may_open: bool = True) -> int:
    if number is None:
        return -1
    program = build_filter(PID, may_open=may_open, machine=machine)
    return verdict(program, ARCHITECTURES[machine][1], number, arguments)


@MACHINES
def test_calls_are_allowed_killed_or_absent_by_the_tables(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    for table, answer in ((syscalls.ALLOWED, ALLOW), (syscalls.HOSTILE, KILL), (syscalls.ABSENT, ABSENT)):
        for name, numbers in table.items():
            assert ask(machine, numbers[column]) in (answer, -1), name


@MACHINES
@given(number=st.integers(0, syscalls.LAST_KNOWN - 1))
def test_what_no_table_names_is_refused(machine: str, number: int) -> None:
    column = ARCHITECTURES[machine][0]
    tables = (syscalls.ALLOWED, syscalls.HOSTILE, syscalls.ABSENT, SPECIAL)
    named = {numbers[column] for table in tables for numbers in table.values()}
    if number not in named:
        assert ask(machine, number) == REFUSE


@MACHINES
def test_other_interfaces_kill(machine: str) -> None:
    program = build_filter(PID, may_open=True, machine=machine)
    for _, architecture in ARCHITECTURES.values():
        if architecture != ARCHITECTURES[machine][1]:
            assert verdict(program, architecture, 0) == KILL
    assert verdict(program, 0x40000003, 1) == KILL  # 32-bit x86
    assert ask(machine, 0x40000000 | 1) == KILL  # x32
    assert ask(machine, 2**32 - 1) == KILL


@MACHINES
def test_calls_newer_than_the_tables_are_absent(machine: str) -> None:
    assert ask(machine, syscalls.LAST_KNOWN) == ask(machine, 1000) == ABSENT


@MACHINES
@given(flags=st.integers(0, 2**32 - 1))
def test_files_open_for_reading_only(machine: str, flags: int) -> None:
    column = ARCHITECTURES[machine][0]
    writing = flags & (os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000)
    expected = REFUSE if writing else ALLOW
    assert ask(machine, syscalls.OPENAT[column], 0, 0, flags) == expected
    assert ask(machine, syscalls.OPEN[column], 0, flags) in (expected, -1)
    assert ask(machine, syscalls.OPENAT[column], 0, 0, flags, may_open=False) == REFUSE
    assert ask(machine, syscalls.OPEN[column], 0, flags, may_open=False) in (REFUSE, -1)


@MACHINES
def test_arguments_decide_over_signals_limits_and_descriptors(machine: str) -> None:
    column = ARCHITECTURES[machine][0]
    tgkill, prlimit, fcntl = (SPECIAL[name][column] for name in ("tgkill", "prlimit64", "fcntl"))
    assert ask(machine, tgkill, PID, PID, 6) == ALLOW
    assert ask(machine, tgkill, PID + 1, PID + 1, 9) == REFUSE
    assert ask(machine, prlimit, 0, 3, 0, 0x7FFF0000) == ALLOW
    assert ask(machine, prlimit, 0, 3, 0x1000) == ask(machine, prlimit, 0, 3, 1 << 32) == REFUSE
    assert ask(machine, fcntl, 3, 1) == ask(machine, fcntl, 3, 1030) == ALLOW
    assert ask(machine, fcntl, 3, 8) == ask(machine, fcntl, 3, 1031) == REFUSE  # F_SETOWN, F_SETPIPE_SZ


def test_an_unknown_machine_is_an_error() -> None:
    with pytest.raises(OSError, match="riscv64"):
        build_filter(PID, may_open=True, machine="riscv64")


@pytest.mark.parametrize(
    ("header", "column"),
    [
        (f"/usr/include/{platform.machine()}-linux-gnu/asm/unistd_64.h", 0),
        ("/usr/include/asm-generic/unistd.h", 1),
    ],
)
def test_numbers_are_those_of_the_kernels_headers(header: str, column: int) -> None:
    if not Path(header).exists():
        pytest.skip(f"{header} is not installed")
    defined = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    known = {name: int(number) for name, number in reversed(defined)}
    known.setdefault("newfstatat", known.get("fstatat", -1))
    tables = (syscalls.ALLOWED, syscalls.HOSTILE, syscalls.ABSENT, SPECIAL)
    ours = {name: numbers[column] for table in tables for name, numbers in table.items()}
    assert {name: number for name, number in ours.items() if number is not None} == {
        name: known.get(name) for name, number in ours.items() if number is not None
    }
