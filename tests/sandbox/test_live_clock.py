"""A candidate's wall clock stands still while it waits for a live measurement, and only then."""

from __future__ import annotations

from llamea_tune.runners import RunBudget, RunState
from llamea_tune.sandbox import Limits, Sandbox, SandboxedCandidate
from llamea_tune.testing.live_spaces import pretend_live
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = pretend_live(synthetic_space(1), sample=20, seconds=0.25)

CODE = """
import time

from kernel_tuner.strategies.wrapper import OptAlg


class Searcher(OptAlg):
    def __init__(self, idle_s=0.0):
        self.idle_s = idle_s

    def __call__(self, func, searchspace):
        for config in searchspace.get_random_sample(12):
            func(config)
            end = time.perf_counter() + self.idle_s
            while time.perf_counter() < end:
                pass
"""


def run(idle_s: float, wall_s: float = 1.5):
    with Sandbox([SPACE], limits=Limits(wall_s=wall_s), allow_weak=True) as sandbox:
        sandbox.run(SandboxedCandidate(CODE, "Searcher"), 0, 1, RunBudget(max_fevals=1))  # start the fork server
        return sandbox.run(SandboxedCandidate(CODE, "Searcher", {"idle_s": idle_s}), 0, 1, RunBudget(max_fevals=12))


def test_waiting_for_measurements_is_free():
    result = run(0.0)  # 12 measurements of 0.25 s, twice the limit
    assert result.state is RunState.BUDGET_SPENT, result.reason
    assert len(result.trace) == 12


def test_computing_between_them_is_not():
    result = run(0.4)
    assert result.state is RunState.TIMED_OUT
    assert "ran longer than 1.5 s" in result.reason
    assert 2 <= len(result.trace) <= 5
