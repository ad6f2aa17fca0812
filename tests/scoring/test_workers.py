from __future__ import annotations

import os
import time

import pytest

from llamea_tune.scoring.time_limit import process_ends_after
from llamea_tune.scoring.workers import Lost, Workers


def test_every_task_is_done_once_whatever_the_order():
    with Workers(lambda n: n * n, 3) as workers:
        for _ in range(2):
            assert sorted(workers.results(range(20), last=lambda _: False)) == [(n, n * n) for n in range(20)]


def test_what_was_begun_before_a_last_result_is_finished():
    with Workers(lambda n: (time.sleep(0.2 if n == 0 else 0.0), n)[1], 2) as workers:
        done = dict(workers.results(range(100), last=lambda n: n == 3))
    assert {0, 1, 2, 3} <= set(done)
    assert len(done) <= 5


def test_a_process_that_dies_is_replaced():
    with Workers(lambda n: os._exit(1) if n == 1 else n, 1) as workers:
        assert dict(workers.results([0, 1, 2], last=lambda _: False)) == {0: 0, 1: Lost(timed_out=False)}
        assert dict(workers.results([2, 3], last=lambda _: False)) == {0: 2, 1: 3}


@pytest.mark.parametrize("spin", ["pass", "sum(range(10**10))", "time.sleep(60)"])
def test_a_task_ends_at_its_limit_whatever_it_does(spin):
    def do(n):
        with process_ends_after(0.2):
            while n:
                exec(spin)
        return n

    with Workers(do, 1) as workers:
        started = time.monotonic()
        assert dict(workers.results([0, 1], last=lambda _: False)) == {0: 0, 1: Lost(timed_out=True)}
        assert time.monotonic() - started < 10
        assert dict(workers.results([0], last=lambda _: False)) == {0: 0}


def test_numerical_libraries_use_one_thread():
    def threads(_):
        import scipy.linalg  # noqa: F401  brings a library of its own
        import sklearn.ensemble  # noqa: F401
        from threadpoolctl import threadpool_info

        return [entry["num_threads"] for entry in threadpool_info()]

    with Workers(threads, 1) as workers:
        ((_, counts),) = workers.results([0], last=lambda _: False)
    assert len(counts) >= 2
    assert set(counts) == {1}


def test_errors_come_back():
    with Workers(lambda n: 1 // n, 2) as workers:
        with pytest.raises(ZeroDivisionError):
            list(workers.results([1, 0, 1], last=lambda _: False))
        assert dict(workers.results([1], last=lambda _: False)) == {0: 1}


def test_what_a_task_prints_stays_unseen(capfd):
    with Workers(lambda _: print("loud", flush=True), 1) as workers:
        list(workers.results([1], last=lambda _: False))
    assert capfd.readouterr().out == ""


def test_nothing_is_started_while_an_error_ends_everything():
    with Workers(lambda n: time.sleep(60 * n), 2) as workers:
        busy = workers.results([0, 1, 1], last=lambda _: False)
        next(busy)
        busy.close()
        assert len(workers._processes) <= 1


def test_giving_up_early_ends_what_is_under_way():
    with Workers(lambda n: time.sleep(60 * n), 2) as workers:
        started = time.monotonic()
        for _ in workers.results([0, 1, 1], last=lambda _: False):
            break
        assert dict(workers.results([0, 0], last=lambda _: False)) == {0: None, 1: None}
        assert len(workers._processes) == 2
        assert time.monotonic() - started < 20
