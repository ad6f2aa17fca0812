"""Live kernels on a Ray cluster: each has a device to itself on whichever node has one, and is recorded by the driver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from llamea_tune._closing import Closing
from llamea_tune.exceptions import ClusterError, LlameaTuneError, RecordingError
from llamea_tune.execution.conditions import conditions
from llamea_tune.execution.ray_cluster import SAME_EVERYWHERE, RayConnection, check_same_conditions
from llamea_tune.execution.ray_device import DeviceFacts, RayDevice, thread_settings
from llamea_tune.runners.open_live import LiveKernel, StartDevice
from llamea_tune.runners.sent_kernel import SentKernel

_FREE_S = 3.0  # how long a GPU may take to be free: one that was in use a moment ago is not known to be so yet
_CLOSING_S = 5.0

Place = Mapping[str, Any]
"""Where an actor is to be, as options of Ray."""


def needs_gpu(kernel: SentKernel) -> bool:
    """Whether a kernel is measured on a GPU."""
    return not kernel.on_cpu


@contextmanager
def cluster_devices(
    address: str, lives: Sequence[LiveKernel], *, on_gpu: Callable[[SentKernel], bool] = needs_gpu
) -> Iterator[Sequence[StartDevice]]:
    """Reserve a device of the cluster for each live kernel: a free GPU, or for a CPU kernel a node, the driver's own first.

    Args:
        address: See `RayConnection`.
        lives: What is to be measured; the numbers of their devices say nothing here.
        on_gpu: Which kernels need a GPU.

    Raises:
        LlameaTuneError: A kernel cannot be used.
        MissingDependencyError: Ray is not installed.
        ClusterError: No cluster answers, or there are not as many devices.
    """
    kernels = [SentKernel.of(live.load()) for live in lives]
    with closing(RayConnection(address)) as connection:
        n_gpus = sum(map(on_gpu, kernels))
        nodes = _nodes(connection, len(kernels) - n_gpus)
        with _gpus(connection, n_gpus) as gpus:
            places = [gpus.pop(0) if on_gpu(kernel) else nodes.pop(0) for kernel in kernels]
            yield [
                partial(RemoteDevice, connection, live, kernel, place)
                for live, kernel, place in zip(lives, kernels, places, strict=True)
            ]


def _nodes(connection: RayConnection, n_wanted: int) -> list[Place]:
    """As many different nodes: CPU kernels on the same one would disturb each other."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    own = connection.ray.get_runtime_context().get_node_id()
    nodes = sorted(connection.nodes(), key=lambda node: (node != own, node))
    if n_wanted > len(nodes):
        raise ClusterError(
            f"{n_wanted} live kernels for CPUs need a node each, and the cluster has {len(nodes)}; name fewer"
        )
    return [{"scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)} for node in nodes]


@contextmanager
def _gpus(connection: RayConnection, n_wanted: int) -> Iterator[list[Place]]:
    """Reserve GPUs, all or none. Ray would wait for ever for those that are not there."""
    if not n_wanted:
        yield []
        return
    from ray.util import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    n_there = int(connection.ray.cluster_resources().get("GPU", 0))
    wanted = "1 live kernel needs a GPU" if n_wanted == 1 else f"{n_wanted} live kernels need a GPU each"
    if n_wanted > n_there:
        raise ClusterError(f"{wanted}, and the cluster has {n_there}; name fewer, or have nodes with GPUs join it")
    group = placement_group([{"GPU": 1}] * n_wanted)
    try:
        if not group.wait(_FREE_S):
            n_free = int(connection.ray.available_resources().get("GPU", 0))
            raise ClusterError(
                f"{wanted}, and {n_free} of the cluster's {n_there} are free; name fewer, or wait until others have ended"
            )
        there = [PlacementGroupSchedulingStrategy(group, bundle) for bundle in range(n_wanted)]
        yield [{"num_gpus": 1, "scheduling_strategy": bundle} for bundle in there]
    finally:
        remove_placement_group(group)


class RemoteDevice(Closing):
    """A `LiveDevice` on a node of the cluster."""

    def __init__(self, connection: RayConnection, live: LiveKernel, sent: SentKernel, place: Place) -> None:
        """Start it.

        Args:
            connection: To the cluster.
            live: What to measure.
            sent: The same, to be sent.
            place: Where.

        Raises:
            LlameaTuneError: It cannot be used there.
            ClusterError: The node would not measure as this machine would have it.
        """
        self._ray = connection.ray
        self.kernel = live.load()
        self.host = str(self._ray.util.get_node_ip_address())
        self._closed = False
        self._where = ""
        options = {
            "num_cpus": 0,
            "max_restarts": 0,
            "max_concurrency": 2,
            **place,
        }  # so that it can be closed meanwhile
        self._actor = self._ray.remote(**options)(RayDevice).remote()
        try:
            facts: DeviceFacts = self._answer(self._actor.open.remote(sent, thread_settings()))
            check_same_conditions(conditions(), facts.node)
        except BaseException:
            self.close()
            raise
        self._where = f"the node {facts.node.node}"
        self.device_name = facts.device_name

    def measure_entry(self, index: int) -> dict[str, Any]:
        """Measure config number `index`, see `LiveRunner`.

        Raises:
            RecordingError: The device stopped working, was lost, or was closed before the measurement was done.
        """
        entry: dict[str, Any] = self._answer(self._actor.measure_entry.remote(index))
        return entry

    def close(self) -> None:
        """End the actor; a measurement that is under way in another thread raises an error."""
        if not self._closed:
            self._closed = True
            self._ray.wait([self._actor.close.remote()], timeout=_CLOSING_S)
            self._ray.kill(self._actor)

    def _answer(self, asked: Any) -> Any:
        try:
            answer = self._ray.get(asked)
        except self._ray.exceptions.RayTaskError:  # an error of ours, not of the cluster
            raise
        except self._ray.exceptions.RayError as err:
            if self._closed:
                raise RecordingError(f"the device was closed before {self.kernel.name} was measured on it") from err
            why = str(err).strip().splitlines()[-1].strip()
            if not self._where:
                raise ClusterError(f"no node can open {self.kernel.name} ({why}); {SAME_EVERYWHERE}") from err
            raise RecordingError(
                f"{self._where}, which measures {self.kernel.name}, was lost ({why}); all but its last measurement is "
                "recorded: go on with `resume`, or the same command, once the cluster has a device like it"
            ) from err
        if isinstance(answer, LlameaTuneError):
            raise answer
        return answer
