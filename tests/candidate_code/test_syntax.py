"""Replies are parsed in several threads at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import llamea_tune
from llamea_tune.candidate_code import CandidateCode

CODE = Path(llamea_tune.__file__).with_name("candidate.py").read_text(encoding="utf-8") * 3


class Cyclic:
    """Garbage whose finalizer runs Python, and so may hand the turn to another thread."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(20))


@pytest.fixture
def many_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def parse_deep_down(depth: int) -> str:
    """Parse at some depth of the stack, which CPython 3.11 counts for all threads together."""
    if depth:
        return parse_deep_down(depth - 1)
    for _ in range(5):
        Cyclic()
    return type(CandidateCode.read(CODE).tree).__name__


def test_threads_that_parse_do_not_disturb_each_other(many_switches: None) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(parse_deep_down, [0, 7, 14, 21] * 100)) == {"Module"}
