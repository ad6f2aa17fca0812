"""The live runner: Kernel Tuner compiles and benchmarks each config that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from llamea_tune._closing import Closing
from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.bench import Bench
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.machine import device_name
from llamea_tune.runners.runner import Measurement
from llamea_tune.spaces.recording import KIND_OF_ERROR
from llamea_tune.spaces.space import FailureKind

_STAGES = ("compile_time", "verification_time", "benchmark_time")


def measurement_of(entry: Mapping[str, Any]) -> Measurement:
    """The measurement that an entry of a Kernel Tuner cache stands for.

    Args:
        entry: With `time` in milliseconds, or `__error__`; and the times of the three stages in milliseconds.
    """
    time_us = sum(round(entry[stage] * 1000.0) for stage in _STAGES)
    if "__error__" in entry:
        return Measurement(float("nan"), KIND_OF_ERROR.get(entry["__error__"], FailureKind.OTHER), time_us)
    return Measurement(float(entry["time"]), FailureKind.NONE, time_us)


class LiveDevice(Protocol):
    """A device that measures configs of one kernel, here or elsewhere; each request is measured, one at a time."""

    @property
    def kernel(self) -> KernelFolder:
        """The kernel, whose `param_configs` are numbered."""

    @property
    def device_name(self) -> str:
        """Full name of the device."""

    @property
    def host(self) -> str | None:
        """This machine's address for runs on others, which ask for measurements too; None if all runs are made here."""

    def measure_entry(self, index: int) -> dict[str, Any]:
        """Measure config number `index`: an entry of a Kernel Tuner cache."""

    def close(self) -> None:
        """End it; may be called twice, and from another thread than the one that measures."""


class LiveRunner(Closing):
    """Measures configs of a kernel on a device, in a worker process that a crashing kernel may take down.

    Configs are numbered as in `KernelFolder.param_configs`. Every request is measured; `RecordingRunner` remembers.
    """

    takes_time = True
    host: str | None = None

    def __init__(self, kernel: KernelFolder, *, device: int = 0, iterations: int = 7, seed: int = 0) -> None:
        """Start the device.

        Args:
            kernel: What to measure.
            device: Number of the GPU; ignored on a CPU.
            iterations: Runs of each benchmark.
            seed: Of the kernel's arguments.

        Raises:
            RecordingError: There is no such device or compiler, or the kernel can't be used.
        """
        self.kernel = kernel
        self._closed = False
        self._bench = Bench(kernel, device=device, iterations=iterations, seed=seed)

    def close(self) -> None:
        """End the worker; a measurement that is under way in another thread raises an error."""
        self._closed = True
        self._bench.close()

    @property
    def size(self) -> int:
        """Number of configs that can be asked for."""
        return len(self.kernel.param_configs)

    @property
    def device_name(self) -> str:
        """Full name of the device."""
        return device_name(self.kernel, self._bench.device)

    def measure(self, index: int) -> Measurement:
        """Compile, verify and benchmark config number `index`."""
        return measurement_of(self.measure_entry(index))

    def measure_entry(self, index: int) -> dict[str, Any]:
        """The same, as an entry of a Kernel Tuner cache.

        Raises:
            RecordingError: The device stopped working, or the runner was closed before the measurement was done.
        """
        entry = {} if self._closed else self._bench.measure(self.kernel.param_configs[index])
        if self._closed:  # then whatever the worker's end looks like says nothing about the config
            raise RecordingError(f"the device was closed before {self.kernel.name} was measured on it")
        return entry
