"""The bench: measures one config after the other on one device, and survives what kernels do to it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llamea_tune._closing import Closing
from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.compiling import Artefact, Toolchain
from llamea_tune.recording.json_worker import Worker, WorkerDiedError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.spaces.space import ParamConfig

START_TIMEOUT_S = 300.0
MEASURE_TIMEOUT_S = 60.0
WRONG_RESULT = "wrong result"


@dataclass(frozen=True)
class DeviceInfo:
    """What is known of the device at hand.

    Attributes:
        name: As Kernel Tuner names it; empty for most CPUs.
        backend: Kernel Tuner's backend, such as `"nvcuda"`.
        compute_capability: Of a CUDA device, such as `"90"`; else empty.
        environment: Kernel Tuner's description of it.
    """

    name: str
    backend: str
    compute_capability: str
    environment: Mapping[str, str]


class Bench(Closing):
    """Measures configs of one kernel on one device, alone, in a worker process."""

    def __init__(
        self,
        kernel: KernelFolder,
        *,
        device: int = 0,
        iterations: int = 7,
        seed: int = 0,
        timeout_s: float = MEASURE_TIMEOUT_S,
    ) -> None:
        """Start the worker and the device.

        Args:
            kernel: What to measure.
            device: Number of the GPU; ignored on a CPU.
            iterations: Runs of each benchmark.
            seed: Of the kernel's arguments.
            timeout_s: Longest time one measurement may take, in seconds; one that takes longer failed.

        Raises:
            RecordingError: There is no such device or compiler, or the kernel can't be used.
        """
        if kernel.on_cpu and kernel.compiler and not shutil.which(kernel.compiler):
            raise RecordingError(
                f"the compiler {kernel.compiler!r}, which {kernel.t1_path} asks for, is not on PATH; "
                "install it, or name another one"
            )
        self.kernel = kernel
        self._timeout_s = timeout_s
        settings = {
            "path": str(kernel.t1_path.resolve()),
            "problem_size": kernel.problem_size,
            "backend": kernel.backend,
            "compiler": kernel.compiler,
            "device": device,
            "iterations": iterations,
            "seed": seed,
        }
        self._worker = Worker("llamea_tune.recording.bench_worker", settings)
        self._started = False
        self.device = self._describe(device)

    def close(self) -> None:
        """End the worker."""
        self._worker.close()

    def toolchain(self) -> Toolchain | None:
        """How variants can be compiled ahead of being measured; None where only the backend itself can."""
        kinds = {"compiler": "c", "nvcuda": "nvrtc", "cupy": "nvrtc", "pycuda": "nvcc"}
        kind = kinds.get(self.device.backend)
        if kind is None or self.kernel.backend.upper() == "FORTRAN":
            return None
        compiler = self.kernel.compiler or "g++"
        return Toolchain(kind, compiler, tuple(self.kernel.compiler_options), self.device.compute_capability)

    def measure(self, config: ParamConfig, artefact: Artefact | None = None) -> dict[str, Any]:
        """Measure one config.

        Args:
            config: Values of the parameters, in order.
            artefact: The compiled variant; without one it is compiled here.

        Returns:
            An entry of a Kernel Tuner cache: the parameters, the time and times in milliseconds or `__error__` with
            `error_message`, and the times that compiling, verifying and benchmarking took in milliseconds.
        """
        message = {"do": "measure", "config": list(config), "artefact": asdict(artefact) if artefact else None}
        entry: dict[str, Any] = dict(zip(self.kernel.tune_params, config, strict=True))
        timeout_s = self._timeout_s if self._started else START_TIMEOUT_S + self._timeout_s
        try:
            reply = self._worker.request(message, timeout_s)
        except WorkerDiedError as err:
            self._started = False
            failed = {"__error__": "RuntimeFailedConfig", "error_message": f"the process {err}"}
            times = {"compile_time": artefact.compile_ms if artefact else 0.0, "verification_time": 0.0}
            return {**entry, **failed, **times, "benchmark_time": 0.0}
        self._started = True
        if "failure" in reply:
            raise RecordingError(f"the device stopped working ({reply['failure']}); check it and resume")
        if not reply["usable"]:
            self._worker.close()
            self._started = False
        if reply["error"]:
            entry["error_message"] = reply["error"]
        return {**entry, **reply["result"]}

    def _describe(self, device: int) -> DeviceInfo:
        try:
            reply = self._worker.request({"do": "describe"}, START_TIMEOUT_S)
        except WorkerDiedError as err:
            raise RecordingError(f"the process that should measure {self.kernel.name} {err}; check the device") from err
        if "failure" in reply:
            self._worker.close()
            raise RecordingError(self._failure(reply, device))
        self._started = True
        return DeviceInfo(reply["name"], reply["backend"], reply["cc"], reply["environment"])

    def _failure(self, reply: dict[str, Any], device: int) -> str:
        if reply["kind"] == "kernel":
            return str(reply["failure"])
        if reply["kind"] == "arguments":
            return f"the arguments of {self.kernel.name} don't fit its kernel ({reply['failure']}); mend reference.py"
        return (
            f"Kernel Tuner's backend {self.kernel.backend} cannot use device {device} here ({reply['failure']}); "
            "check that the device and the backend's Python package are there, or name another backend"
        )
