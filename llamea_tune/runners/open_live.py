"""Open a kernel on a device as a live space: start the device, then measure the sample that scoring rests on."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from llamea_tune.exceptions import RecordingError, SettingsError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.recording.machine import device_label
from llamea_tune.runners.live_runner import LiveDevice, LiveRunner
from llamea_tune.runners.live_space import LiveSpace
from llamea_tune.runners.measuring import MeasuringService
from llamea_tune.runners.runner import Measurement
from llamea_tune.spaces.space import ParamValue, RecordedSpace
from llamea_tune.wording import counted

SMALLEST_SAMPLE = 10
_SAMPLE_SEED = 0  # the same sample in every run, so that later ones find it in the recording

OnSampled = Callable[[str, int, int], None]

StartDevice = Callable[[], LiveDevice]
"""Starts the device of a live kernel, which is closed by who starts it."""


@dataclass(frozen=True)
class LiveKernel:
    """What to measure live, and how scores are made of it. Plain data, so that a run can be resumed from it.

    Attributes:
        kernel: Kernel folder or T1 file.
        recordings: Folder for the recordings; one for each kernel and device, found again by later runs.
        backend: Kernel Tuner's `lang`, where it is not to be the kernel's own.
        compiler: Compiler of the C backend, where it is not to be the kernel's own.
        device: Number of the GPU. A cluster chooses GPUs itself; there it only tells spaces apart.
        sample: How many random configs to measure first.
        budget_s: Seconds of measuring that a run may spend; None for the published budget of the sample.
        reference: Lowest cost that scores are relative to; None for the lowest that is recorded after sampling.
        device_name: Full name that the device has to have; None for whatever is there.
    """

    kernel: str
    recordings: str
    backend: str | None = None
    compiler: str | None = None
    device: int = 0
    sample: int = 80
    budget_s: float | None = None
    reference: float | None = None
    device_name: str | None = None

    def __post_init__(self) -> None:
        """Refuse what makes no sense.

        Raises:
            SettingsError: The sample is too small, or there is no budget.
        """
        if self.sample < SMALLEST_SAMPLE:
            message = f"sample is {self.sample}; it must be at least {SMALLEST_SAMPLE}"
            raise SettingsError(message, fields=("sample",))
        if self.budget_s is not None and not 0.0 < self.budget_s < float("inf"):
            message = f"budget_s is {self.budget_s:g}; it must be a number of seconds above 0"
            raise SettingsError(message, fields=("budget_s",))

    def load(self) -> KernelFolder:
        """The kernel as it lies on disk.

        Raises:
            LlameaTuneError: See `KernelFolder.load`.
        """
        return KernelFolder.load(Path(self.kernel), backend=self.backend, compiler=self.compiler)

    def start(self) -> LiveRunner:
        """Start the device, which is one of this machine.

        Raises:
            LlameaTuneError: There is no such kernel, device or compiler.
        """
        return LiveRunner(self.load(), device=self.device)


Devices = Callable[[Sequence[LiveKernel]], AbstractContextManager[Sequence[StartDevice]]]
"""Where live kernels find their devices: for each, in order, what starts it."""


@contextmanager
def this_machine(lives: Sequence[LiveKernel]) -> Iterator[Sequence[StartDevice]]:
    """The devices of this machine, by their numbers."""
    yield [live.start for live in lives]


@contextmanager
def open_all(
    lives: Sequence[LiveKernel], on_sampled: OnSampled | None = None, devices: Devices = this_machine
) -> Iterator[list[LiveSpace]]:
    """Open several, their samples being measured at the same time; see `open_live`."""
    stopped = threading.Event()

    def tell(name: str, done: int, total: int) -> None:
        if stopped.is_set():
            raise RecordingError(f"sampling {name} was stopped")
        if on_sampled is not None:
            on_sampled(name, done, total)

    with devices(lives) as starts, ExitStack() as opened:
        with ThreadPoolExecutor(len(lives), thread_name_prefix="sampling") as pool:
            try:
                opening = [open_live(live, tell, start) for live, start in zip(lives, starts, strict=True)]
                futures = [pool.submit(opened.enter_context, space) for space in opening]
                spaces = [future.result() for future in futures]
            except BaseException:
                stopped.set()
                raise
        yield spaces


@contextmanager
def open_live(
    live: LiveKernel, on_sampled: OnSampled | None = None, start: StartDevice | None = None
) -> Iterator[LiveSpace]:
    """Open a kernel on a device as a space; leaving the context ends the device's process.

    Args:
        live: What to open.
        on_sampled: Called with the space's name, configs of the sample that are measured, and its size.
        start: Starts the device; by default `live.start`.

    Raises:
        LlameaTuneError: There is no such kernel, device or compiler, the recording is that of something else, or
            nothing in the sample works.
    """
    with closing((start or live.start)()) as device:
        kernel = device.kernel
        if live.device_name not in (None, device.device_name):
            raise RecordingError(
                f"{kernel.name} was measured on {live.device_name}, and the device is now {device.device_name}; "
                "go on where the first is, or start anew"
            )
        label = device_label(device.device_name) + ("" if kernel.on_cpu else f".gpu{live.device}")
        cache = Path(live.recordings) / kernel.name / f"{label}.json"
        name = f"{kernel.name}/{label}"
        with MeasuringService(device, cache) as service:
            order = np.random.default_rng(_SAMPLE_SEED).permutation(len(kernel.param_configs))[: live.sample]
            measured = []
            for index in order.tolist():
                measured.append(service.measure(index))
                if on_sampled is not None:
                    on_sampled(name, len(measured), len(order))
            if all(measurement.failure for measurement in measured):
                raise RecordingError(
                    f"{kernel.name} failed with all {counted(len(order), 'config')} of the sample; record it with "
                    f"`llamea-tune spaces record` to see why, mend it, and remove {cache}, which keeps failures too"
                )
            yield _space(live, device, name, cache, service, order, measured)


def _space(
    live: LiveKernel,
    device: LiveDevice,
    name: str,
    cache: Path,
    service: MeasuringService,
    order: np.ndarray[Any, np.dtype[np.int64]],
    measured: Sequence[Measurement],
) -> LiveSpace:
    kernel, device_name = device.kernel, device.device_name
    tune_params = dict(kernel.tune_params)
    value_indices = _value_indices(kernel, tune_params)
    costs = np.array([measurement.cost for measurement in measured])
    failures = np.array([measurement.failure for measurement in measured], dtype=np.uint8)
    stage_times_ms = np.zeros((len(measured), 3))
    stage_times_ms[:, 2] = [measurement.time_us / 1000.0 for measurement in measured]
    facts: dict[str, Any] = {
        "name": name,
        "kernel_name": kernel.kernel_name,
        "device_name": device_name,
        "problem_size": list(kernel.problem_size),
        "tune_params": tune_params,
        "restrictions": kernel.restrictions,
        "objective": "time",
        "higher_is_better": False,
        "content_hash": hashlib.sha256(f"{kernel.fingerprint} {device_name} {len(order)}".encode()).hexdigest(),
        "source": str(cache),
    }
    sample = RecordedSpace(
        **facts,
        value_indices=value_indices[order],
        costs=costs,
        failures=failures,
        stage_times_ms=stage_times_ms,
        has_times=True,
    )
    client = service.client()
    reference = client.lowest_cost() if live.reference is None else live.reference
    return LiveSpace(
        **facts,
        value_indices=value_indices,
        runner=client,
        sample=sample,
        reference=reference,
        budget_s=live.budget_s,
        lowest_cost=client.lowest_cost,
        anywhere=device.host is not None,
        on_cpu=kernel.on_cpu,
        opened_as=asdict(replace(live, reference=reference, device_name=device_name)),
    )


def _value_indices(
    kernel: KernelFolder, tune_params: dict[str, tuple[ParamValue, ...]]
) -> np.ndarray[Any, np.dtype[np.uint16]]:
    """Index of each config's values, in Kernel Tuner's order of the configs."""
    places = [{value: place for place, value in enumerate(values)} for values in tune_params.values()]
    rows = [[place[value] for place, value in zip(places, config, strict=True)] for config in kernel.param_configs]
    return np.array(rows, dtype=np.uint16)
