"""Where live kernels find their devices, by the name of what makes the runs."""

from __future__ import annotations

from functools import partial

from llamea_tune.runners.open_live import Devices, this_machine


def devices_for(executor: str) -> Devices:
    """The devices of the cluster for the executor `ray`; of this machine for all others.

    Args:
        executor: A spec, see `make_executor`.
    """
    name, _, argument = executor.partition(":")
    if name != "ray":
        return this_machine
    from llamea_tune.execution.ray_devices import cluster_devices

    return partial(cluster_devices, argument)
