"""What doctor looks at in a Ray cluster."""

from __future__ import annotations

from collections.abc import Iterator

from llamea_tune.cli.doctor_checks import Check, sandbox_verdict
from llamea_tune.exceptions import LlameaTuneError


def cluster_checks(address: str) -> Iterator[Check]:
    """One check for the cluster, and two for each node: whether it gives this machine's results, and runs candidates."""
    from llamea_tune.execution.conditions import conditions, disagreement
    from llamea_tune.execution.ray_cluster import RayConnection
    from llamea_tune.execution.ray_worker import processor

    try:
        connection = RayConnection(address)
    except LlameaTuneError as problem:
        yield Check("cluster", "fail", str(problem))
        return
    try:
        nodes = connection.nodes()
        yield Check("cluster", "ok" if nodes else "fail", f"{len(nodes)} nodes with {connection.cpus()} CPUs in all")
        ours, our_processor = conditions(), processor()
        for node, facts in connection.look_at(nodes):
            if isinstance(facts, str):
                yield Check(f"node {node}", "fail", facts)
                continue
            differs = disagreement(ours, facts.conditions)
            if differs:
                yield Check(f"node {node}", "fail", f"would give other results, as {differs}; install the same there")
            elif facts.processor != our_processor:
                detail = "has another kind of processor than this machine; the last bits of results may not be the same"
                yield Check(f"node {node}", "warn", detail)
            else:
                yield Check(f"node {node}", "ok", "gives the results of this machine")
            verdict = sandbox_verdict(facts.layers)
            yield Check(f"node {node}: sandbox", "ok" if verdict.status == "ok" else "warn", verdict.detail)
    finally:
        connection.close()
