from __future__ import annotations

import os
import threading
import time

import pytest

from llamea_tune.execution.time_limit import process_ends_after
from llamea_tune.execution.worker_process import ProcessEndedError, WorkerProcess


@pytest.fixture
def start():
    """Starts a worker that does a task."""
    started = []

    def start(do):
        started.append(WorkerProcess(do))
        return started[-1]

    yield start
    for worker in started:
        worker.kill()


def test_it_does_task_after_task(start):
    squarer = start(lambda n: n * n)
    assert [squarer.do(n) for n in range(5)] == [0, 1, 4, 9, 16]


def test_a_process_that_dies_says_so(start):
    fragile = start(lambda n: os._exit(1) if n == 1 else n)
    assert fragile.do(0) == 0
    with pytest.raises(ProcessEndedError) as caught:
        fragile.do(1)
    assert not caught.value.at_limit
    assert not fragile.alive


@pytest.mark.parametrize("spin", ["pass", "sum(range(10**10))", "time.sleep(60)"])
def test_a_task_ends_at_its_limit_whatever_it_does(start, spin):
    def do(n):
        with process_ends_after(0.2):
            while n:
                exec(spin)
        return n

    limited = start(do)
    assert limited.do(0) == 0
    started = time.monotonic()
    with pytest.raises(ProcessEndedError) as caught:
        limited.do(1)
    assert caught.value.at_limit
    assert time.monotonic() - started < 10


def test_numerical_libraries_use_one_thread(start):
    def threads(_):
        import scipy.linalg  # noqa: F401  brings a library of its own
        import sklearn.ensemble  # noqa: F401
        from threadpoolctl import threadpool_info

        return [entry["num_threads"] for entry in threadpool_info()]

    counts = start(threads).do(None)
    assert len(counts) >= 2
    assert set(counts) == {1}


def test_errors_come_back(start):
    divider = start(lambda n: 1 // n)
    with pytest.raises(ZeroDivisionError):
        divider.do(0)
    assert divider.do(1) == 1


def test_what_a_task_prints_stays_unseen(start, capfd):
    start(lambda _: print("loud", flush=True)).do(1)
    assert capfd.readouterr().out == ""


def test_another_thread_may_end_it(start):
    sleeper = start(time.sleep)
    threading.Timer(0.3, sleeper.kill).start()
    started = time.monotonic()
    with pytest.raises(ProcessEndedError):
        sleeper.do(60)
    assert time.monotonic() - started < 20
