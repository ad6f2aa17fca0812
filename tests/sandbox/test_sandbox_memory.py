"""A guest's memory holds no measurement that it did not pay for: a candidate searches all of it."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest
from test_sandbox_runs import short

from llamea_tune.runners import RunState
from llamea_tune.sandbox import Limits, Sandbox, SandboxedCandidate
from llamea_tune.spaces.space import Space
from llamea_tune.testing.synthetic_spaces import synthetic_space

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/self/maps")

COST_MARK, TIME_MARK = 0x5EC2E7C057, 0x5EC2E771E5  # lowest 40 bits of every cost, and of every time

# The marks are put together at run time, so that the searcher's own code is no find. Finds are counted by value.
SEARCHER = """
import ctypes
paid = [func(config) for config in searchspace.get_random_sample(3)]
found = {"cost": set(), "time": set()}
for kind, parts in (("cost", (0x5EC2E, 0x7C057)), ("time", (0x5EC2E, 0x771E5))):
    needle = ((parts[0] << 20) | parts[1]).to_bytes(5, "little")
    for line in open("/proc/self/maps").read().splitlines():
        span, rights, *_ = line.split()
        if not rights.startswith("rw"):
            continue
        start, end = (int(edge, 16) for edge in span.split("-"))
        memory = ctypes.string_at(start, end - start)
        at = memory.find(needle)
        while at >= 0:
            high = int.from_bytes(memory[at + 5 : at + 8], "little")
            if 0x3FF000 <= high < 0x400000:  # a number from 1 to 2
                found[kind].add(high)
            at = memory.find(needle, at + 1)
        del memory
unpaid = found["cost"] - {int.from_bytes(__import__("struct").pack("<d", cost)[5:], "little") for cost in paid}
raise ValueError(f"{len(paid)} paid, {len(found['cost'])} costs, {len(unpaid)} unpaid, {len(found['time'])} times")
"""


def marked(count: int, mark: int) -> np.ndarray:
    """Different numbers from 1 to 2 that all have the same lowest 40 bits."""
    high = 0x3FF000 + np.arange(1, count + 1, dtype=np.uint64)
    return ((high << np.uint64(40)) | np.uint64(mark)).view(np.float64)


def marked_space(name: str) -> Space:
    plain = synthetic_space(11, name=name, failing=0.0)
    times = marked(3 * plain.size, TIME_MARK).reshape(-1, 3)
    return dataclasses.replace(plain, costs=marked(plain.size, COST_MARK), stage_times_ms=times)


def test_the_memory_of_a_guest_holds_only_what_it_paid_for() -> None:
    with Sandbox([marked_space("first"), marked_space("second")], limits=Limits(memory_mb=1024)) as sandbox:
        earlier = short("for config in searchspace.get_random_sample(50): func(config)")
        assert len(sandbox.run(earlier, 0, 1).trace) == 50  # others' payments must be no find either
        result = sandbox.run(short(SEARCHER), 0, 2)
    assert result.state is RunState.FAILED
    assert result.reason.startswith("ValueError: 3 paid, 3 costs, 0 unpaid, 0 times")


def test_the_search_finds_what_is_there(evolver: SandboxedCandidate) -> None:
    planted = "import numpy as np\nhidden = (np.arange(0x3FF001, 0x3FF006) << 40 | 0x5EC2E7C057)\n"
    with Sandbox([marked_space("only")], limits=Limits(memory_mb=1024)) as sandbox:
        result = sandbox.run(short(planted + SEARCHER.strip()), 0, 2)
    assert "5 unpaid" in result.reason or "4 unpaid" in result.reason
