"""The connection to a Ray cluster: one that runs, or one that is started here for as long as it is needed."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from llamea_tune._imports import require
from llamea_tune.exceptions import ClusterError
from llamea_tune.execution.conditions import disagreement
from llamea_tune.execution.ray_worker import NodeFacts, node_facts

_FIELDS = ("executor",)
_ANSWER_S = 5.0
_LOOK_S = 120.0
_LOCAL = "local"
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # what it would print of workers and nodes; the output is ours
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_LOOPBACK = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"
}  # a new cluster talks to itself only: what Ray calls it elsewhere

SAME_EVERYWHERE = "install the same llamea-tune, with its extra ray, in the environment of `ray start` on each node"


class RayConnection:
    """This process's place in a cluster. One that was there before, by `ray.init`, is used as it is and left so."""

    def __init__(self, address: str, cpus: int | None = None) -> None:
        """Connect.

        Args:
            address: `HOST:PORT` of the head; `"auto"` for the cluster that runs on this machine; empty for the one that
                `$RAY_ADDRESS` names, else a new one, of this machine alone.
            cpus: CPUs of a new one; all by default.

        Raises:
            MissingDependencyError: Ray is not installed.
            ClusterError: No cluster answers, or it is not of our version.
        """
        address = address or os.environ.get("RAY_ADDRESS") or _LOCAL
        for name, value in {**_QUIET, **(_LOOPBACK if address == _LOCAL else {})}.items():
            os.environ.setdefault(name, value)  # before Ray is imported, which reads them then
        self.ray: ModuleType = require("ray", "ray")
        self._ours = not self.ray.is_initialized()
        if self._ours:
            self._connect(address, cpus)

    def close(self) -> None:
        """Leave the cluster, which ends all that was started there; and end one that was started here."""
        if self._ours:
            self.ray.shutdown()

    def cpus(self) -> int:
        """CPUs of the cluster, of all its nodes that are there now."""
        return int(self.ray.cluster_resources().get("CPU", 0))

    def nodes(self) -> Mapping[str, str]:
        """Address and name of each node that is there, by its id."""
        nodes = [node for node in self.ray.nodes() if node["Alive"]]
        return {node["NodeID"]: f"{node['NodeManagerAddress']} ({node['NodeManagerHostname']})" for node in nodes}

    def look_at(self, nodes: Mapping[str, str]) -> Iterator[tuple[str, NodeFacts | str]]:
        """What each node tells of itself, with its sandbox tried out; or why it does not.

        Args:
            nodes: Their names by their ids.
        """
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        asked = {}
        for node_id, name in nodes.items():
            there = NodeAffinitySchedulingStrategy(node_id, soft=False)
            ask = self.ray.remote(num_cpus=0, max_retries=0, scheduling_strategy=there)(node_facts)
            asked[name] = ask.remote(with_sandbox=True)
        for name, answer in asked.items():
            try:
                yield name, self.ray.get(answer, timeout=_LOOK_S)
            except Exception as err:  # whatever is wrong there
                yield name, f"does not answer as it should ({str(err).strip().splitlines()[-1]}); {SAME_EVERYWHERE}"

    def _connect(self, address: str, cpus: int | None) -> None:
        where = f"the Ray cluster at {address}"
        if "://" in address:
            message = f"executor names {address}; start the program on a machine of the cluster, and give HOST:PORT of its head"
            raise ClusterError(message, fields=_FIELDS)
        host, colon, port = address.rpartition(":")
        if colon:
            _check_answer(host, port, where)
        alone: dict[str, Any] = {"num_cpus": cpus, "_node_ip_address": "127.0.0.1"} if address == _LOCAL else {}
        options = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.CRITICAL}
        try:
            with _own_sigterm():
                self.ray.init(address=address, **options, **alone)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as err:
            why = " ".join(str(err).split())[:300]
            advice = "start it with `ray start --head`, with the same Ray and Python as here"
            raise ClusterError(f"executor cannot use {where} ({why}); {advice}", fields=_FIELDS) from err


def _check_answer(host: str, port: str, where: str) -> None:
    """Find out within seconds that nobody is there; Ray itself tries for a minute."""
    try:
        socket.create_connection((host, int(port)), _ANSWER_S).close()
    except (OSError, ValueError, OverflowError) as err:
        message = f"executor names {where}, where nothing answers ({err}); start it with `ray start --head`, or give HOST:PORT of its head"
        raise ClusterError(message, fields=_FIELDS) from err


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep this process's way to end, which Ray would replace."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, handler)


def check_same_conditions(ours: Mapping[str, str | None], theirs: NodeFacts) -> None:
    """Refuse a node that would make other runs.

    Raises:
        ClusterError: Something that results depend on is not the same there.
    """
    differs = disagreement(ours, theirs.conditions)
    if differs:
        raise ClusterError(
            f"the node {theirs.node} would give other results, as {differs}; install the same on all nodes",
        )
