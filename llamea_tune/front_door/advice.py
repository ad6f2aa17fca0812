"""Ask a language model what it expects of a kernel, and keep that as a prior."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from llamea_tune.advising import Hiding, advice_request, ask_for_advice
from llamea_tune.exceptions import AdviceError
from llamea_tune.llm import LanguageModel, make_llm
from llamea_tune.llm.asking_options import LLMOptions
from llamea_tune.llm.language_model import OnWaiting
from llamea_tune.priors.advice import Advice
from llamea_tune.spaces import Reading
from llamea_tune.storage import write_text


@dataclass(frozen=True)
class KeptAdvice:
    """Advice, and where it is kept."""

    advice: Advice
    path: Path


def advise(
    kernel: str | Path,
    proposer: str | LanguageModel,
    *,
    device: str | None = None,
    problem_size: tuple[int, ...] | None = None,
    about: str = "",
    hiding: Hiding | None = None,
    reading: Reading | None = None,
    output: str | Path | None = None,
    force: bool = False,
    llm: LLMOptions | None = None,
    on_waiting: OnWaiting | None = None,
) -> KeptAdvice:
    """Ask a language model which configs of a kernel it would measure first, and keep the answer as a file.

    It is told the source, where there is one, the parameters with their values, the restrictions, the device and the
    problem size; never a measurement.

    Args:
        kernel: A kernel folder, its T1 file, or a recording of it: a Kernel Tuner cache or a T4 file.
        proposer: The language model, or its spec, such as `"openai:gpt-4o"`.
        device: Name of the device to tell, instead of the recorded one.
        problem_size: The problem size to tell, instead of the recorded one.
        about: What the kernel does, in words: the more useful, the less source there is.
        hiding: What to keep from the language model.
        reading: How a recording is read.
        output: Folder for the file, instead of `advice/` in the kernel's folder.
        force: Whether to ask again where there is advice already.
        llm: How the language model is asked.
        on_waiting: Told of each wait before it is asked again.

    Raises:
        LlameaTuneError: The kernel cannot be read, no usable answer came, or it cannot be kept.
    """
    request = advice_request(
        Path(kernel),
        reading=reading,
        device=device,
        problem_size=problem_size,
        about=about,
        hiding=hiding,
        output=None if output is None else Path(output),
    )
    if request.path.exists() and not force:
        raise AdviceError(f"{request.path} is there already; use it, or ask again with force=True", fields=("force",))
    try:  # before an answer is paid for
        request.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise AdviceError(f"{request.path.parent} cannot be made: {err.strerror or err}; name another folder") from err
    options = {} if llm is None else llm.given()
    asked = make_llm(proposer, on_waiting, **options) if isinstance(proposer, str) else proposer
    advice = ask_for_advice(asked, request, date=datetime.now(UTC).date().isoformat())
    try:
        write_text(request.path, json.dumps(advice.to_json(), indent=1, ensure_ascii=False) + "\n")
    except OSError as err:
        raise AdviceError(
            f"{request.path} cannot be written: {err.strerror or err}; free some space, or name another folder"
        ) from err
    return KeptAdvice(advice, request.path)
