"""A kernel folder that is sent to the machine that has the device."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from llamea_tune.exceptions import RecordingError
from llamea_tune.recording.kernel_folder import KernelFolder
from llamea_tune.runners.live_runner import LiveRunner

MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class SentKernel:
    """What is needed to measure a kernel somewhere else.

    Attributes:
        files: Contents of its folder by their place in it; of hidden files and folders nothing.
        t1: Its T1 file's place in it.
        backend: Kernel Tuner's `lang`.
        compiler: Compiler of the C backend.
        fingerprint: `KernelFolder.fingerprint`, which is to be the same there.
        on_cpu: Whether it needs no GPU.
    """

    files: Mapping[str, bytes]
    t1: str
    backend: str
    compiler: str | None
    fingerprint: str
    on_cpu: bool

    @classmethod
    def of(cls, kernel: KernelFolder) -> SentKernel:
        """Read a kernel's folder.

        Raises:
            RecordingError: It cannot be read, is larger than `MOST_BYTES`, or does not hold the kernel's source.
        """
        folder = kernel.t1_path.resolve().parent
        if not kernel.source_path.resolve().is_relative_to(folder):
            raise RecordingError(
                f"{kernel.t1_path} names the kernel file {kernel.source_path}, and only what is in the T1 file's folder "
                "is sent to the cluster; move it there"
            )
        files: dict[str, bytes] = {}
        left = MOST_BYTES
        for path in _visible_files(folder):
            try:
                left -= path.stat().st_size
                if left < 0:
                    raise RecordingError(
                        f"{folder} holds more than the {MOST_BYTES >> 20} MB that are sent to the cluster; "
                        "keep only what the kernel needs there"
                    )
                files[str(path.relative_to(folder))] = path.read_bytes()
            except OSError as err:
                raise RecordingError(
                    f"{path} cannot be sent to the cluster ({err.strerror}); make it readable"
                ) from err
        return cls(files, kernel.t1_path.name, kernel.backend, kernel.compiler, kernel.fingerprint, kernel.on_cpu)

    def start(self, folder: Path) -> LiveRunner:
        """Unpack it into a folder, and start the first device there is.

        Raises:
            LlameaTuneError: There is no such device or compiler, or the kernel can't be used here.
        """
        for place, content in self.files.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        kernel = KernelFolder.load(folder / self.t1, backend=self.backend, compiler=self.compiler)
        if kernel.fingerprint != self.fingerprint:
            raise RecordingError(f"{kernel.name} has changed while it was sent to the cluster; start again")
        return LiveRunner(kernel)


def _visible_files(folder: Path) -> list[Path]:
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(where, name) for name in sorted(names) if not name.startswith(".")]
    return [path for path in found if path.is_file()]
