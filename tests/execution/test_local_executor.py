"""Runs in processes of this machine: the contract, and what happens when it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing, suppress

import pytest

from llamea_tune.exceptions import SettingsError
from llamea_tune.execution import LocalExecutor
from llamea_tune.testing.executor_contract import CANDIDATE, NAMED, SPACES, ExecutorContract, make_runs, same
from llamea_tune.testing.processes import alive, children_of, descendants_of, wait_until


class TestLocalExecutor(ExecutorContract):
    def make_executor(self, spaces, jobs):
        return LocalExecutor(spaces, jobs=jobs)

    def lose_a_worker(self):
        with suppress(ProcessLookupError):
            os.kill(max(children_of(os.getpid())), signal.SIGKILL)


def test_there_must_be_a_job():
    with pytest.raises(SettingsError, match="at least one job, not 0"):
        LocalExecutor(SPACES, jobs=0)


def test_a_worker_that_died_while_idle_costs_no_run():
    others = children_of(os.getpid())
    with LocalExecutor(SPACES) as executor:
        runs = make_runs(NAMED)
        list(executor.each(runs))
        (worker,) = children_of(os.getpid()) - others
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # its last thread is gone, and it is not reaped
        assert all(result.state.scorable for _, result in executor.each(runs))


def test_what_is_given_up_leaves_no_worker_behind():
    with LocalExecutor(SPACES, jobs=3) as executor:
        others = children_of(os.getpid())
        with closing(executor.each(make_runs(NAMED, seeds=range(50)))) as results:
            next(results)
        assert len(alive(children_of(os.getpid()) - others)) <= 1


def test_a_candidate_that_was_lost_with_its_worker_is_made_once_more():
    slow = make_runs(CANDIDATE.with_hyperparameters({"idle_s": 0.3}), seeds=range(3))
    others = children_of(os.getpid())
    with LocalExecutor(SPACES, jobs=2) as executor:
        expected = dict(executor.each(slow))
        found = {}
        for run, result in executor.each(slow):
            if not found:
                for worker in children_of(os.getpid()) - others:  # one of them is making a run now
                    os.kill(worker, signal.SIGKILL)
            found[run] = result
    assert all(same(found[run], expected[run]) for run in slow)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they end when they find that nobody is there")
def test_fork_servers_end_with_their_workers_whatever_they_are_doing():
    others = descendants_of(os.getpid())
    with LocalExecutor(SPACES, jobs=2) as executor:
        list(executor.each(make_runs(CANDIDATE)))
        fork_servers = descendants_of(os.getpid()) - children_of(os.getpid()) - others
        assert len(fork_servers) == 2
        for pid in fork_servers:
            os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: not alive(fork_servers), 1.0)


INTERRUPTED = """
import os
from llamea_tune.execution import LocalExecutor
from llamea_tune.testing.executor_contract import CANDIDATE, NAMED, SPACES, make_runs
from llamea_tune.testing.processes import descendants_of

with LocalExecutor(SPACES, jobs=2, allow_weak=True) as executor:
    list(executor.each(make_runs(NAMED, CANDIDATE)))
    print(*descendants_of(os.getpid()), flush=True)
    for _ in executor.each(make_runs({busy}, seeds=range(100_000))):
        pass
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "busy", ["NAMED", "CANDIDATE.with_hyperparameters({'idle_s': 50.0})"], ids=["named", "candidate"]
)
def test_no_process_outlives_an_interruption(how, busy):
    script = INTERRUPTED.replace("{busy}", busy)
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        started = {int(pid) for pid in process.stdout.readline().split()}
        assert len(started) >= 6  # two workers of each kind, two fork servers
        time.sleep(0.5)
        process.send_signal(how)
        since = time.monotonic()
        assert process.wait(timeout=30) != 0
        assert time.monotonic() - since < 5
        wait_until(lambda: not alive(started))
        assert ("KeyboardInterrupt" in process.stderr.read()) == (how is signal.SIGINT)
