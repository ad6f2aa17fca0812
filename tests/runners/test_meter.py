from __future__ import annotations

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llamea_tune.runners import CachedRunner, Meter, RunBudget
from llamea_tune.runners.cached import measurement_times_us
from llamea_tune.runners.meter import STALL_MINIMUM, Target
from llamea_tune.spaces import FailureKind
from llamea_tune.testing.synthetic_spaces import synthetic_space

SPACE = synthetic_space(0, kept=0.05, failing=0.2)
TIMES_US = measurement_times_us(SPACE)


def spend(meter, indices):
    replies = []
    for index in indices:
        if meter.done:
            break
        replies.append(meter.request(index))
    return replies


@given(st.lists(st.integers(0, SPACE.size - 1), max_size=200), st.integers(1, 10_000_000), st.integers(1, 100))
def test_only_first_visits_are_paid_for_until_a_limit_is_reached(indices, time_limit_us, max_fevals):
    meter = Meter(CachedRunner(SPACE), RunBudget(time_limit_us, max_fevals))
    spend(meter, indices)
    trace, counts = meter.trace(), meter.counts()
    assert len(set(trace.indices.tolist())) == len(trace) == counts.paid <= max_fevals
    np.testing.assert_array_equal(trace.elapsed_us, np.cumsum(TIMES_US[trace.indices]))
    np.testing.assert_array_equal(trace.costs, SPACE.costs[trace.indices])
    assert counts.failed == np.isnan(trace.costs).sum()
    assert (trace.elapsed_us[:-1] <= time_limit_us).all()
    over = bool(len(trace)) and trace.elapsed_us[-1] > time_limit_us
    assert meter.done == (over or len(trace) == min(max_fevals, SPACE.size))
    assert 0.0 <= meter.spent_fraction <= 1.0
    assert (meter.spent_fraction == 1.0) == (meter.done or (bool(len(trace)) and trace.elapsed_us[-1] == time_limit_us))


def test_a_repeated_request_is_free_and_answered_alike():
    meter = Meter(CachedRunner(SPACE), RunBudget(max_fevals=5))
    first, again = meter.request(3), meter.request(3)
    assert (first.cost, first.failure) == (again.cost, again.failure) or np.isnan(first.cost)
    assert first.time_us == TIMES_US[3]
    assert again.time_us == 0
    assert (meter.counts().paid, meter.counts().repeated) == (1, 1)


def test_failed_measurements_cost_their_time():
    number = int(np.flatnonzero(~SPACE.valid)[0])
    meter = Meter(CachedRunner(SPACE), RunBudget())
    reply = meter.request(number)
    assert reply.failure is FailureKind(SPACE.failures[number])
    assert np.isnan(reply.cost)
    assert meter.clock_us == TIMES_US[number]


def test_the_whole_space_is_a_limit():
    meter = Meter(CachedRunner(SPACE), RunBudget())
    assert len(spend(meter, range(SPACE.size))) == SPACE.size
    assert meter.done


def test_own_compute_can_end_a_run():
    meter = Meter(CachedRunner(SPACE), RunBudget(time_limit_us=1_000_000))
    meter.charge(1_000_000)
    assert not meter.done
    meter.charge(1)
    assert meter.done


def test_a_run_ends_with_the_best_config_or_where_scoring_does():
    best, worst = int(np.nanargmin(SPACE.costs)), int(np.nanargmax(SPACE.costs))
    lowest = float(SPACE.costs[best])
    meter = Meter(CachedRunner(SPACE), RunBudget(max_fevals=9, target=Target(lowest, inf)))
    replies = spend(meter, [worst, best])
    assert [(reply.done, reply.spent_fraction) for reply in replies] == [(False, 1 / 9), (True, 1.0)]
    assert meter.target_reached
    meter = Meter(CachedRunner(SPACE), RunBudget(target=Target(-inf, float(TIMES_US[worst]))))
    replies = spend(meter, [worst, best])
    assert [reply.done for reply in replies] == [False, True]  # the one that crosses the end is there, as with limits
    unreached = Meter(CachedRunner(SPACE), RunBudget(max_fevals=1, target=Target(lowest, inf)))
    spend(unreached, [worst])
    assert unreached.done and not unreached.target_reached


@pytest.mark.parametrize("ask", [lambda meter: meter.request(0), lambda meter: meter.count_invalid()])
def test_stalls_when_nothing_new_is_asked_for(ask):
    meter = Meter(CachedRunner(SPACE), RunBudget())
    for _ in range(STALL_MINIMUM):
        ask(meter)
    assert not meter.stalled
    ask(meter)
    ask(meter)
    assert meter.stalled
    meter.request(1)
    assert not meter.stalled


def test_each_stage_is_rounded_to_microseconds_by_itself():
    assert SPACE.stage_times_ms.shape[1] == 3
    expected = sum(np.rint(SPACE.stage_times_ms[:, stage] * 1000.0) for stage in range(3))
    np.testing.assert_array_equal(TIMES_US, expected)
