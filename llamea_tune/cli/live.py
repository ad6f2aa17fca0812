"""The options of commands that measure live, and what they open."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from llamea_tune.cli.console import Lines, escape

if TYPE_CHECKING:
    from llamea_tune.runners.open_live import LiveKernel, OnSampled
    from llamea_tune.spaces import Reading


Kernels = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="KERNEL",
        help="Measure live instead: kernel folder, T1 file, or name of a bundled kernel; may be repeated.",
        show_default=False,
    ),
]
Backend = Annotated[
    str | None,
    typer.Option(
        help="Kernel Tuner's backend: CUDA, nvcuda, cupy, pycuda, HIP, OpenCL, C; by default the kernel's own.",
        show_default=False,
    ),
]
Compiler = Annotated[str | None, typer.Option(help="Compiler of the C backend.", show_default=False)]
Devices = Annotated[
    str, typer.Option("--device", help="Numbers of the GPUs, such as 0 or 0,1, or all; each is a space of its own.")
]
Sample = Annotated[int, typer.Option("--live-sample", help="Random configs to measure first; scores rest on them.")]
Budget = Annotated[
    float | None,
    typer.Option(
        "--live-budget",
        metavar="SECONDS",
        help="What one run may spend on measuring; by default the published budget of the sample.",
        show_default=False,
    ),
]
Recordings = Annotated[
    Path, typer.Option("--live-recordings", help="Folder of all measurements, each of which is made once.")
]


def find_kernel(text: str) -> Path:
    """A kernel folder or T1 file, or the bundled kernel of that name."""
    from llamea_tune._bundled import bundled_path

    bundled = bundled_path("searchspaces") / text
    return bundled if not Path(text).exists() and "/" not in text and bundled.is_dir() else Path(text)


def live_kernels(
    kernels: Sequence[str] | None,
    *,
    backend: str | None,
    compiler: str | None,
    devices: str,
    executor: str,
    sample: int,
    budget_s: float | None,
    recordings: Path,
) -> list[LiveKernel]:
    """What to open: each kernel on each device.

    Raises:
        LlameaTuneError: A kernel or a device is not there, or a setting makes no sense.
    """
    if not kernels:
        return []
    from llamea_tune.recording import KernelFolder
    from llamea_tune.runners.open_live import LiveKernel

    lives = []
    for text in kernels:
        kernel = KernelFolder.load(find_kernel(text), backend=backend, compiler=compiler)
        lives += [
            LiveKernel(
                kernel=str(kernel.t1_path.resolve()),
                recordings=str(recordings.resolve()),
                backend=backend,
                compiler=compiler,
                device=device,
                sample=sample,
                budget_s=budget_s,
            )
            for device in ([0] if kernel.on_cpu else device_numbers(devices, executor))
        ]
    return lives


def device_numbers(text: str, executor: str) -> list[int]:
    """Numbers of devices as people write them: `0`, `0,1`, or `all`.

    Raises:
        SettingsError: It is written otherwise, or `all` finds none, or would have to look at a whole cluster.
    """
    from llamea_tune.exceptions import SettingsError
    from llamea_tune.execution.devices import devices_for
    from llamea_tune.recording.machine import gpu_count
    from llamea_tune.runners.open_live import this_machine

    if text == "all" and devices_for(executor) is not this_machine:
        raise SettingsError(
            "--device all is for this machine; on a cluster write a number for each GPU wanted, such as 0,1"
        )
    if text == "all":
        if count := gpu_count():
            return list(range(count))
        raise SettingsError("--device all finds no NVIDIA GPU on this machine; write the numbers, such as 0,1")
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts) or len(set(parts)) < len(parts):
        raise SettingsError(f"--device is {text!r}; write distinct numbers, such as 0,1, or all")
    return [int(part) for part in parts]


def one_kind(
    spaces: list[str] | None, reading: Reading, lives: Sequence[LiveKernel]
) -> Sequence[str] | Sequence[LiveKernel] | None:
    """What a command names: recorded spaces, or live ones, or nothing.

    Raises:
        SettingsError: Both kinds are named.
    """
    from llamea_tune.exceptions import SettingsError

    if lives and (spaces or any(vars(reading).values())):
        raise SettingsError(
            "--live and an option for recorded spaces (--spaces, --t1, --objective, --salvage) are both given; "
            "name live kernels or recorded spaces"
        )
    return lives or spaces or None


def sampling_lines(*, quiet: bool) -> OnSampled | None:
    """Shows how far sampling is, a line every few seconds."""
    if quiet:
        return None
    lines: dict[str, Lines] = defaultdict(Lines)
    return lambda name, done, total: lines[name](f"{escape(name)}: {done}/{total} configs of the sample measured")
