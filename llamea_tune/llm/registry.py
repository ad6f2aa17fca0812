"""Language models by name: the built-in ones, and those that other packages bring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from llamea_tune.exceptions import ProposerError, SettingsError
from llamea_tune.llm.protocol import LanguageModel, OnWaiting

GROUP = "llamea_tune.llm"

BUILT_IN = tuple(
    EntryPoint(name, value, GROUP)
    for name, value in (
        ("openai", "llamea_tune.llm.openai_compatible:from_spec"),
        ("handoff", "llamea_tune.llm.handoff:from_spec"),
        ("replay", "llamea_tune.llm.replay:from_spec"),
        ("replay-by-key", "llamea_tune.llm.replay:by_key_from_spec"),
    )
)

LLMFactory = Callable[..., LanguageModel]


def available_llms() -> dict[str, EntryPoint]:
    """Where to find each language model, by the name that its specs begin with.

    Raises:
        ProposerError: Two packages bring one of the same name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in (*BUILT_IN, *entry_points(group=GROUP)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            message = (
                f"language model {entry.name!r} is registered twice, by {other.value} and by {entry.value}; "
                "uninstall one of the two packages"
            )
            raise ProposerError(message)
    return found


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
    kind, _, argument = spec.partition(":")
    known = available_llms()
    if kind not in known:
        message = f"language model {spec!r} is not known; a spec begins with one of {', '.join(sorted(known))}"
        raise ProposerError(message)
    factory = _load(known[kind])
    given = {name: value for name, value in options.items() if value is not None}
    taken = list(inspect.signature(factory).parameters)[1:]
    waits = {"on_waiting": on_waiting} if "on_waiting" in taken else {}
    taken = [name for name in taken if name not in waits]
    for name in given:
        if name not in taken:
            raise SettingsError(f"{kind} takes no option {name!r}; it takes {', '.join(taken) or 'none'}")
    return factory(argument, **given, **waits)


def _load(entry: EntryPoint) -> LLMFactory:
    try:
        factory: LLMFactory = entry.load()
    except (ImportError, AttributeError) as err:
        message = f"language model {entry.name!r} cannot be loaded from {entry.value} ({err}); reinstall its package"
        raise ProposerError(message) from err
    return factory
