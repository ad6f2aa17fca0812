"""The far end of the Ray executor: an actor that makes runs on a node, with a local executor of one job."""

from __future__ import annotations

import platform
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.execution.conditions import conditions
from llamea_tune.execution.local import LocalExecutor
from llamea_tune.execution.run import Run
from llamea_tune.runners.trace import RunResult
from llamea_tune.sandbox import layers
from llamea_tune.sandbox.layers import LayerStatus
from llamea_tune.sandbox.sandboxed import Limits
from llamea_tune.strategies.register import register_file

_SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True)
class NodeFacts:
    """What a node tells of itself.

    Attributes:
        node_id: Its id in the cluster.
        node: Its address and name, for messages.
        conditions: What the results of runs depend on; see `conditions`.
        processor: What numpy uses of its processor, on which the last bits of floating-point results may depend.
        layers: The layers of its sandbox, where they were asked for.
    """

    node_id: str
    node: str
    conditions: Mapping[str, str | None]
    processor: str
    layers: Sequence[LayerStatus] = ()


def node_facts(with_sandbox: bool = False) -> NodeFacts:
    """The facts of this node; inside of Ray only.

    Args:
        with_sandbox: Whether to try its sandbox out, which takes a second.

    Raises:
        SandboxError: Nothing can be run there.
    """
    import ray

    node = f"{ray.util.get_node_ip_address()} ({platform.node()})"
    node_id = ray.get_runtime_context().get_node_id()
    return NodeFacts(node_id, node, conditions(), processor(), layers() if with_sandbox else ())


def processor() -> str:
    """The processor's architecture, and which of its vector instructions numpy finds."""
    import numpy as np

    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return " ".join([platform.machine(), *found])


@dataclass(frozen=True)
class Chunk:
    """Runs to be made one after the other.

    Attributes:
        number: Greater than those of all chunks that this worker had before.
        runs: The runs.
        strategies: Source of the user's own strategies among them, by name, which a node need not have.
    """

    number: int
    runs: Sequence[Run]
    strategies: Mapping[str, str]


@dataclass(frozen=True)
class ChunkOutcome:
    """What came of a chunk.

    Attributes:
        results: Of the first runs, all if there was no error; with the wall-clock seconds that each took.
        error: Why the next run could not be made.
    """

    results: Sequence[tuple[RunResult, float]]
    error: LlameaTuneError | None = None


class RayWorker:
    """Makes runs for one driver, a chunk at a time; the next chunk may wait, and `stop` comes in beside. Ends with its driver."""

    CALLS_AT_ONCE = 3

    def __init__(self, spaces: Sequence[Any], limits: Limits, allow_weak: bool) -> None:
        """Prepare to make runs.

        Args:
            spaces: References to the spaces in the object store, whose arrays all workers of a node share.
            limits: What one run may use.
            allow_weak: Whether candidates may run where the node offers only a weaker sandbox.
        """
        import ray

        self._executor = LocalExecutor(ray.get(list(spaces)), limits=limits, allow_weak=allow_weak)
        self._stopped_up_to = 0
        self._turn = threading.Lock()
        self._making = 0  # number of the chunk
        self._made = threading.Condition()
        self._own: dict[str, str] = {}

    def facts(self) -> NodeFacts:
        """Where this is."""
        return node_facts()

    def make(self, chunk: Chunk) -> ChunkOutcome:
        """Make the runs of a chunk, up to where it is stopped."""
        with self._turn:
            with self._made:
                self._making = chunk.number
            try:
                return self._make(chunk)
            finally:
                with self._made:
                    self._making = 0
                    self._made.notify_all()

    def stop(self, number: int) -> None:
        """End the chunks up to a number, whose results are no longer wanted, wherever they are."""
        self._stopped_up_to = number
        with self._made:
            while 0 < self._making <= number:
                self._executor.end_runs()
                self._made.wait(_SECONDS_BETWEEN_LOOKS)  # a run that was being begun just now is ended a moment later

    def _make(self, chunk: Chunk) -> ChunkOutcome:
        results: list[tuple[RunResult, float]] = []
        try:
            self._register(chunk.strategies)
            since = time.monotonic()
            with closing(self._executor.each(self._wanted(chunk))) as made:
                for _, result in made:
                    now = time.monotonic()
                    results.append((result, now - since))
                    since = now
        except LlameaTuneError as error:
            return ChunkOutcome(results, error)
        return ChunkOutcome(results)

    def _wanted(self, chunk: Chunk) -> Iterator[Run]:
        return (run for run in chunk.runs if chunk.number > self._stopped_up_to)

    def _register(self, strategies: Mapping[str, str]) -> None:
        """Know strategies by the driver's source, whatever this node has under their names."""
        for name, source in strategies.items():
            if self._own.get(name) != source:
                path = Path(tempfile.mkdtemp(prefix="llamea-tune-")) / f"{name}.py"
                path.write_text(source, encoding="utf-8")
                register_file(path, replace=True)
                self._own[name] = source
