"""Runs on a Ray cluster, all of whose nodes are on this machine: the contract, and what happens when parts of it are lost."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec

import pytest

from llamea_tune.exceptions import ClusterError, ClusterWarning, SandboxError, SettingsError
from llamea_tune.execution import LocalExecutor, NamedStrategy, make_executor
from llamea_tune.execution.conditions import conditions, disagreement
from llamea_tune.execution.ray_executor import RayExecutor
from llamea_tune.strategies import register_file
from llamea_tune.testing.executor_contract import CANDIDATE, NAMED, SPACES, ExecutorContract, make_runs, same
from llamea_tune.testing.live_spaces import pretend_live
from llamea_tune.testing.processes import alive, wait_until
from llamea_tune.testing.ray_clusters import kill_node, ray_cluster

slow = pytest.mark.slow
pytestmark = [
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'llamea-tune[ray]'"),
    pytest.mark.xdist_group("ray"),  # one cluster for all
]


@slow
class TestRayExecutor(ExecutorContract):
    chunks_at_once = 2

    @pytest.fixture(autouse=True)
    def _cluster(self, cluster):
        self.cluster = cluster

    def make_executor(self, spaces, jobs):
        return RayExecutor(spaces, address=self.cluster.address, jobs=jobs)

    def lose_a_worker(self):
        with suppress(ProcessLookupError, ValueError):
            os.kill(max(self.cluster.workers()), signal.SIGKILL)


def made_here(runs):
    with LocalExecutor(SPACES, jobs=2) as executor:
        return dict(executor.each(runs))


@slow
def test_many_short_runs_at_a_time_are_the_same(cluster):
    runs = make_runs(NAMED, CANDIDATE, seeds=range(60))
    with make_executor(f"ray:{cluster.address}", SPACES) as executor:
        found = dict(executor.each(runs, ahead=True))
    expected = made_here(runs)
    assert all(same(found[run], expected[run]) for run in runs)


@slow
def test_a_node_that_is_killed_and_one_that_joins(cluster):
    """The runs of the first are made again, the second takes its share, and each run has one result, the right one."""
    runs = make_runs(NAMED, CANDIDATE.with_hyperparameters({"idle_s": 0.1}), seeds=range(40))
    node = cluster.add_node(cpus=2)
    found = []
    with RayExecutor(SPACES, address=cluster.address) as executor:
        for made in executor.each(runs, ahead=True):
            found.append(made)
            if len(found) == 30:
                before = cluster.workers()
                kill_node(node)
                cluster.add_node(cpus=1)
        assert cluster.workers() - before
    assert sorted(map(runs.index, dict(found))) == list(range(len(runs))) and len(found) == len(runs)
    expected = made_here(runs)
    assert all(same(result, expected[run]) for run, result in found)


@slow
def test_a_strategy_of_the_users_own_is_sent(cluster, tmp_path):
    path = tmp_path / "only_here.py"
    path.write_text("from kernel_tuner.strategies.random_sample import _options, tune\n")
    register_file(path)
    runs = make_runs(NamedStrategy("mine", "only_here"), seeds=[1])
    with RayExecutor(SPACES, address=cluster.address, jobs=1) as executor:
        found = dict(executor.each(runs))
    expected = made_here(runs)
    assert all(result.state.scorable and same(result, expected[run]) for run, result in found.items())


WEAK = """
import sys

if any("default_worker" in word for word in sys.orig_argv):
    from llamea_tune.exceptions import SandboxError
    from llamea_tune.sandbox.host import Sandbox

    def refuse(self, layers):
        if not self._allow_weak:
            raise SandboxError("it lacks a filter")

    Sandbox._refuse_weak = refuse
"""


@slow
def test_a_node_with_a_weak_sandbox_takes_no_candidates_and_says_so(cluster, tmp_path):
    """The others make them; where there are none, it is an error; and named strategies run there all the same."""
    (tmp_path / "sitecustomize.py").write_text(WEAK)
    runs = make_runs(NAMED, CANDIDATE.with_hyperparameters({"idle_s": 0.1}), seeds=range(10))
    weak = {"PYTHONPATH": str(tmp_path)}
    node = cluster.add_node(cpus=1, env_vars=weak)
    with RayExecutor(SPACES, address=cluster.address) as executor:
        wait_until(lambda: list(executor.each(make_runs(NAMED, seeds=[1]))) and executor.n_ready >= 3, 60.0)
        with pytest.warns(ClusterWarning, match="takes no candidates: it lacks a filter"):
            found = dict(executor.each(runs))
    kill_node(node)
    expected = made_here(runs)
    assert all(same(found[run], expected[run]) for run in runs)
    with ray_cluster(cpus=1, env_vars=weak) as only_weak, RayExecutor(SPACES, address=only_weak.address) as executor:
        with pytest.warns(ClusterWarning), pytest.raises(SandboxError, match="it lacks a filter"):
            list(executor.each(runs))
        assert len(list(executor.each(make_runs(NAMED)))) == 8


INTERRUPTED = """
import sys
from llamea_tune.execution.ray_executor import RayExecutor
from llamea_tune.testing.executor_contract import CANDIDATE, NAMED, SPACES, make_runs

with RayExecutor(SPACES, address=sys.argv[1]) as executor:
    list(executor.each(make_runs(NAMED, CANDIDATE)))
    print("ready", flush=True)
    for _ in executor.each(make_runs(CANDIDATE.with_hyperparameters({"idle_s": 50.0}), seeds=range(1000))):
        pass
"""


@slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_cluster_is_free_soon_after_the_driver_is_gone(cluster, how):
    others = cluster.workers()
    command = [sys.executable, "-c", INTERRUPTED, cluster.address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        started = cluster.workers() - others
        assert started
        time.sleep(1.0)
        process.send_signal(how)
        since = time.monotonic()
        assert process.wait(timeout=30) != 0
        wait_until(lambda: not alive(started))
        assert time.monotonic() - since < 15


def test_conditions_that_differ_are_named():
    ours = conditions()
    assert disagreement(ours, dict(ours)) == ""
    assert disagreement(ours, {**ours, "numpy": "1.0"}) == f"numpy is 1.0 there and {ours['numpy']} here"
    assert disagreement(ours, {**ours, "scipy": None}).startswith("scipy is not installed there")
    assert "the sources of llamea_tune" in disagreement(ours, {**ours, "the sources of llamea_tune": "0"})


def test_where_there_is_no_cluster_it_says_so_at_once():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"the Ray cluster at {address}, where nothing answers"):
            RayExecutor(SPACES, address=address)
    with pytest.raises(ClusterError, match="start the program on a machine of the cluster"):
        RayExecutor(SPACES, address="ray://127.0.0.1:10001")


def test_what_makes_no_sense_is_refused_before_anything_is_started():
    with pytest.raises(SettingsError, match="at least one job, not 0"):
        make_executor("ray", SPACES, jobs=0)
    with pytest.raises(SettingsError, match="measured live, on this machine"):
        make_executor("ray", [pretend_live(SPACES[0], sample=20)])
    with pytest.raises(SettingsError, match="executor 'slurm' is not known; choose one of local, ray"):
        make_executor("slurm", SPACES)
    with pytest.raises(SettingsError, match="local takes nothing"):
        make_executor("local:4", SPACES)
