"""A Ray cluster of several nodes, all of them processes of this machine that talk over loopback only, for tests.

To be imported before Ray is, which reads its environment then.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from llamea_tune._imports import require
from llamea_tune.testing.processes import children_of

os.environ |= {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # nodes know themselves by their loopback address
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "500",  # so that it is soon found out that a node is gone
}


class RayCluster:
    """A running cluster; its head takes part in the work."""

    def __init__(self, cluster: Any) -> None:
        self._cluster = cluster
        self.address: str = cluster.address

    def add_node(self, cpus: int, env_vars: Mapping[str, str] | None = None, *, gpus: int = 0) -> int:
        """Start another node, with these variables in its environment and pretended GPUs; the id of its raylet's process."""
        options = {"num_cpus": cpus, "num_gpus": gpus, "env_vars": dict(env_vars or {})}
        node = self._cluster.add_node(node_ip_address="127.0.0.1", **options)
        return _raylet(node)

    def workers(self) -> set[int]:
        """Ids of the processes that make runs, of all nodes."""
        return self._actors("RayWorker")

    def devices(self) -> set[int]:
        """Ids of the processes that hold the devices of live kernels, of all nodes."""
        return self._actors("RayDevice")

    def _actors(self, kind: str) -> set[int]:
        raylets = [_raylet(node) for node in self._cluster.list_all_nodes()]
        return {pid for raylet in raylets for pid in children_of(raylet) if kind in _title(pid)}


@contextmanager
def ray_cluster(cpus: int, env_vars: Mapping[str, str] | None = None) -> Iterator[RayCluster]:
    """A cluster with a head of so many CPUs and these variables in its environment; leaving the context ends it."""
    require("ray", "ray")
    from ray.cluster_utils import Cluster

    head = {
        "num_cpus": cpus,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
        "env_vars": dict(env_vars or {}),
    }
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield RayCluster(cluster)
    finally:
        cluster.shutdown()


def kill_node(raylet: int) -> None:
    """Kill a node with signal 9; its workers end when they find it gone."""
    os.kill(raylet, signal.SIGKILL)
    os.waitpid(raylet, 0)  # its workers take a zombie for alive


def _raylet(node: Any) -> int:
    return int(node.all_processes["raylet"][0].process.pid)


def _title(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""
