"""What a measurement was made with: device, driver, clocks, compilers, versions, date."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from llamea_tune.recording.bench import DeviceInfo
from llamea_tune.recording.compiling import nvrtc_version
from llamea_tune.recording.kernel_folder import KernelFolder

_GPU_FIELDS = (
    "name",
    "driver_version",
    "vbios_version",
    "clocks.current.sm",
    "clocks.current.memory",
    "clocks.max.sm",
    "clocks.max.memory",
    "clocks_event_reasons.active",
    "persistence_mode",
    "compute_mode",
    "ecc.mode.current",
    "mig.mode.current",
    "power.limit",
    "temperature.gpu",
)
_PACKAGES = ("kernel_tuner", "llamea-tune", "numpy", "cuda-bindings", "cupy-cuda13x", "cupy-cuda12x", "pycuda")
_NOISE_WORDS = re.compile(r"\((R|TM|C)\)|\bNVIDIA\b|\bIntel\b|\bAMD\b|\bCPU\b|\bProcessor\b|@.*$", re.IGNORECASE)


def device_name(kernel: KernelFolder, device: DeviceInfo) -> str:
    """Full name of the device: for a CPU, which Kernel Tuner leaves nameless, its model and cores."""
    return cpu_name() if kernel.on_cpu else device.name


def device_label(name: str) -> str:
    """A short name fit for a file: `H100_80GB_HBM3` for `NVIDIA H100 80GB HBM3`."""
    return re.sub(r"[^A-Za-z0-9.+-]+", "_", _NOISE_WORDS.sub(" ", name)).strip("_") or "device"


def cpu_name() -> str:
    """Model of the CPU and the number of cores that may be used."""
    model = ""
    if Path("/proc/cpuinfo").is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found.group(1).strip() if found else ""
    return f"{model or platform.processor() or platform.machine()}, {usable_cores()} cores"


def gpu_count() -> int:
    """NVIDIA GPUs that this process may use, which are numbered from 0."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([entry for entry in visible.split(",") if entry.strip()])
    return len(_output(["nvidia-smi", "--list-gpus"]).splitlines())


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def describe_machine(kernel: KernelFolder, device: DeviceInfo, number: int) -> dict[str, Any]:
    """Everything about this machine that a measurement may depend on.

    Args:
        kernel: What is measured.
        device: The device.
        number: Its number.
    """
    described: dict[str, Any] = {
        "device": device_name(kernel, device),
        "backend": {"lang": kernel.backend, "module": device.backend},
        "compiler": _compiler(kernel, device),
        "compiler_options": kernel.compiler_options,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
        "system": {"name": platform.system(), "machine": platform.machine(), "cores": usable_cores()},
    }
    described["clock_state"] = clock_state(kernel, number)
    if kernel.on_cpu:
        described["environment"] = {
            key: value for key, value in os.environ.items() if key.startswith(("OMP_", "GOMP_"))
        }
    else:
        described["driver"] = described["clock_state"].get("driver_version", "unknown")
        described["cuda_version"] = device.environment.get("cuda_version", "")
        described["compute_capability"] = device.compute_capability
    return described


def clock_state(kernel: KernelFolder, number: int) -> dict[str, Any]:
    """Clocks and what moves them, as they are now.

    Args:
        kernel: What is measured, on a CPU or on a GPU.
        number: Number of the GPU.
    """
    if kernel.on_cpu:
        return {"governor": _governor(), "load_average": round(os.getloadavg()[0], 2)}
    return dict(_nvidia_smi(number))


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _compiler(kernel: KernelFolder, device: DeviceInfo) -> str:
    if kernel.on_cpu:
        return next(iter(_output([kernel.compiler or "g++", "--version"]).splitlines()), "unknown")
    if device.backend == "pycuda":
        return next(iter(_output(["nvcc", "--version"]).splitlines()[-1:]), "unknown")
    return f"NVRTC {nvrtc_version()}" if device.backend in ("nvcuda", "cupy") else "the backend's own"


def _governor() -> str:
    path = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    return path.read_text().strip() if path.is_file() else "unknown"


def _nvidia_smi(number: int) -> dict[str, str]:
    query = ["nvidia-smi", f"--id={number}", f"--query-gpu={','.join(_GPU_FIELDS)}", "--format=csv,noheader"]
    values = [value.strip() for value in _output(query).strip().split(",")]
    return dict(zip(_GPU_FIELDS, values, strict=True)) if len(values) == len(_GPU_FIELDS) else {}


def _output(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
