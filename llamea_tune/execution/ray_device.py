"""The far end of live kernels on a Ray cluster: an actor that holds a device of its node, and measures one kernel on it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llamea_tune.exceptions import LlameaTuneError
from llamea_tune.execution.ray_worker import NodeFacts, node_facts
from llamea_tune.runners.live_runner import LiveRunner
from llamea_tune.runners.sent_kernel import SentKernel


@dataclass(frozen=True)
class DeviceFacts:
    """What an actor tells of its device: the full name, and its node."""

    device_name: str
    node: NodeFacts


def thread_settings() -> dict[str, str]:
    """What this process's environment says of OpenMP, by which CPU kernels are fast or slow; Ray has a mind of its own."""
    return {name: value for name, value in os.environ.items() if name.startswith(("OMP_", "GOMP_"))}


class RayDevice:
    """Measures configs of one kernel; the driver asks for one at a time. Errors for people are returned, not raised."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._folder = tempfile.TemporaryDirectory(prefix="llamea-tune-", ignore_cleanup_errors=True)
        self._runner: LiveRunner | None = None

    def open(self, kernel: SentKernel, threads: Mapping[str, str]) -> DeviceFacts | LlameaTuneError:
        """Start the device that Ray has assigned, the only one that can be seen here.

        Args:
            kernel: What to measure.
            threads: The driver's `thread_settings`.
        """
        for name in thread_settings():
            del os.environ[name]
        os.environ.update(threads)
        try:
            self._runner = kernel.start(Path(self._folder.name))
        except LlameaTuneError as error:
            return error
        return DeviceFacts(self._runner.device_name, node_facts())

    def measure_entry(self, index: int) -> dict[str, Any] | LlameaTuneError:
        """Compile, verify and benchmark config number `index`: an entry of a Kernel Tuner cache."""
        assert self._runner is not None, "it is opened first"
        try:
            return self._runner.measure_entry(index)
        except LlameaTuneError as error:
            return error

    def close(self) -> None:
        """End the device's process, whatever it is doing, and leave no files."""
        if self._runner is not None:
            self._runner.close()
        self._folder.cleanup()
