"""What is asked: on which kernel, told what, under which name it is kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from llamea_tune.advising.brief import KernelBrief
from llamea_tune.advising.hiding import Hiding
from llamea_tune.advising.prompt import render_prompt
from llamea_tune.advising.reading import description_of, read_brief
from llamea_tune.llm.language_model import Prompt
from llamea_tune.priors.advice import advice_path
from llamea_tune.recording.machine import device_label
from llamea_tune.spaces import Reading
from llamea_tune.spaces.find import plain_stem
from llamea_tune.spaces.space_file import FileKind, file_kind


@dataclass(frozen=True)
class AdviceRequest:
    """What is asked of an adviser.

    Attributes:
        brief: All that there is to tell.
        hiding: What of it is kept from the adviser.
        path: Where the advice is kept.
    """

    brief: KernelBrief
    hiding: Hiding
    path: Path

    @property
    def told(self) -> KernelBrief:
        """What is told."""
        return self.hiding.hide(self.brief)

    @property
    def prompt(self) -> Prompt:
        """The prompt; its key is `KERNEL-FILE`, such as `"gemm-H200"`."""
        key = re.sub(r"[^\w.-]+", "_", f"{self.brief.name}-{self.path.stem}", flags=re.ASCII)
        return render_prompt(self.told, key.lstrip("_.-") or "kernel")


def advice_request(
    kernel: Path,
    *,
    reading: Reading | None = None,
    device: str | None = None,
    problem_size: tuple[int, ...] | None = None,
    about: str = "",
    hiding: Hiding | None = None,
    output: Path | None = None,
) -> AdviceRequest:
    """What to ask on a kernel.

    Args:
        kernel: A kernel folder, its T1 file, or a recording of it.
        reading: How a recording is read.
        device: Name of the device to tell instead of the recorded one.
        problem_size: The problem size to tell instead of the recorded one.
        about: What the kernel does, in words.
        hiding: What to keep from the adviser.
        output: Folder for the advice, instead of `advice/` in the kernel's folder.

    Raises:
        LlameaTuneError: The kernel cannot be read.
    """
    hiding = hiding or Hiding()
    path = description_of(kernel)
    brief = replace(read_brief(path, reading, problem_size), about=about)
    if device is not None:
        brief = replace(brief, device=device)
    is_recording = file_kind(path, salvage=reading is not None and reading.salvage) is not FileKind.T1
    label = plain_stem(path) if is_recording and device is None else device_label(brief.device)
    size = ["x".join(map(str, problem_size))] if problem_size else []
    kept = advice_path(path, "-".join([label, *size, *(f"{name}-hidden" for name in hiding.hidden)]))
    return AdviceRequest(brief, hiding, kept if output is None else output / kept.name)
