"""What every language model gives: the answer to a prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    Attributes:
        key: Stable and unique in a run, such as `"g002-03-crossover"`; names files and finds recorded replies.
        system: Who the model is and what it must always keep to.
        user: The task at hand.
        temperature: Sampling temperature; models that have none ignore it.
    """

    key: str
    system: str
    user: str
    temperature: float = 0.8


@dataclass(frozen=True)
class Completion:
    """A model's answer.

    Attributes:
        text: The answer.
        llm: Which model answered, such as `"openai:gpt-4o"` or `"handoff"`.
        prompt_tokens: Tokens of the prompt, None where unknown.
        completion_tokens: Tokens of the answer, None where unknown.
        seconds: How long the answer took.
    """

    text: str
    llm: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0


class LanguageModel(Protocol):
    """Answers prompts; may be asked from several threads at once."""

    @property
    def name(self) -> str:
        """Which model this is, as recorded in provenance."""

    def complete(self, prompt: Prompt) -> Completion:
        """Answer a prompt.

        Raises:
            ProposerError: It cannot answer at all (no key, no server, no recorded reply), however often it is asked.
            CompletionError: This prompt got no answer (time-out, refusal); the next one may.
        """


class CompletionError(Exception):
    """One prompt got no answer; the message says why in a sentence."""
