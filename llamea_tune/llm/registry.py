"""Language models by name: the built-in ones, and those that other packages bring."""

from __future__ import annotations

from collections.abc import Callable

from llamea_tune._registry import Registry
from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.language_model import LanguageModel, OnWaiting

LLMS: Registry[Callable[..., LanguageModel]] = Registry(
    "llamea_tune.llm",
    "language model",
    ProposerError,
    {
        "openai": "llamea_tune.llm.openai_compatible:from_spec",
        "mix": "llamea_tune.llm.mixed:from_spec",
        "handoff": "llamea_tune.llm.handoff:from_spec",
        "replay": "llamea_tune.llm.replay:from_spec",
        "replay-by-key": "llamea_tune.llm.replay:by_key_from_spec",
    },
)


def make_llm(spec: str, on_waiting: OnWaiting | None = None, **options: object) -> LanguageModel:
    """Make a language model from a spec.

    Args:
        spec: A name, and behind a colon what that kind takes: `"openai:gpt-4o"`,
            `"openai:qwen2.5-coder@http://localhost:11434/v1"`, `"handoff:FOLDER"`, `"replay:PATH"`,
            `"replay-by-key:PATH"`.
        on_waiting: Told of each wait before it is asked again, from any thread; kinds that do not wait do not need it.
        **options: Options of that kind, such as `timeout_s`; None stands for its default.

    Raises:
        ProposerError: The spec names no known kind, or that kind cannot work.
        SettingsError: The kind takes no such option.
    """
    llm: LanguageModel = LLMS.make(spec, options, on_waiting=on_waiting)
    return llm
