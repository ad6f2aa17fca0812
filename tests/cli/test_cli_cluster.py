"""`--executor`: a cluster's results are those of one machine, the output is ours alone, and nonsense is one sentence."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from llamea_tune.testing.ray_clusters import kill_node

pytest.importorskip("ray", reason="Ray is not installed: pip install 'llamea-tune[ray]'")
pytestmark = pytest.mark.xdist_group("ray")  # one cluster for all

FAST = ("--baseline", "published")
SIZES = ("--max-candidates", 2, "--offspring", 1, "--parents", 1, "--repeats", 2, "--confirm-repeats", 2)
FINAL = ("--final-repeats", 2, "--final-candidates", 1, "--final-strategies", "pso", "--allow-weak-sandbox")


@pytest.mark.slow
def test_a_benchmark_on_a_cluster_that_loses_a_node_is_that_of_one_machine(script, caches, cluster):
    node = cluster.add_node(cpus=1)
    arguments = ("benchmark", "pso", "mls", "simulated_annealing", "-s", caches, "-n", 40, "--fresh", "--json", *FAST)
    there_before = cluster.workers()
    killer = threading.Thread(target=_kill_when_busy, args=(cluster, node, there_before))
    killer.start()
    on_cluster = script(*arguments, "--executor", f"ray:{cluster.address}")
    killer.join()
    assert on_cluster.code == 0, on_cluster.err
    assert on_cluster.json == script(*arguments).json
    assert "raylet" not in on_cluster.err and "Ray" not in on_cluster.err


def _kill_when_busy(cluster, node, before):
    from llamea_tune.testing.processes import wait_until

    wait_until(lambda: len(cluster.workers() - before) >= 2, 90.0)
    kill_node(node)


@pytest.mark.slow
def test_an_evolution_on_a_cluster_that_loses_a_node_is_that_of_one_machine(script, caches, cluster):
    node = cluster.add_node(cpus=1)
    killer = threading.Thread(target=_kill_when_busy, args=(cluster, node, cluster.workers()))
    killer.start()
    for executor, run in ((f"ray:{cluster.address}", "far"), ("local", "here")):
        done = script(
            *("evolve", "-s", caches, *SIZES, *FINAL, *FAST, "--run-dir", run, "--executor", executor, "--quiet")
        )
        assert done.code == 0, done.err
    killer.join()
    assert Path("far/leaderboard.json").read_bytes() == Path("here/leaderboard.json").read_bytes()


@pytest.mark.slow
def test_doctor_looks_at_each_node(script, cluster):
    done = script("doctor", "--executor", f"ray:{cluster.address}", "--json")
    checks = {check["check"]: check for check in done.json}
    nodes = [name for name in checks if name.startswith("node ") and not name.endswith("sandbox")]
    assert nodes and all(checks[name]["status"] == "ok" for name in nodes)
    assert all(f"{name}: sandbox" in checks for name in nodes)


def test_nonsense_is_refused_in_one_sentence(command, caches):
    for executor, said in (
        ("slurm", "executor 'slurm' is not known; choose one of local, ray"),
        ("local:3", "local takes nothing"),
        ("ray:127.0.0.1:1", "nothing answers"),
        ("ray:here", "ray start"),
    ):
        done = command("benchmark", "pso", "-s", caches, "--executor", executor)
        assert done.is_refusal() and said in done.err, done.err
    assert not Path("runs").exists()
