"""What every language model gives: the answer to a prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

RETRY = "-retry1"
"""What the key of a prompt ends in that asks again, as the first answer was of no use."""


@dataclass(frozen=True)
class Prompt:
    """A prompt.

    Attributes:
        key: Stable and unique in a run, such as `"g002-03-crossover"`; names files and finds recorded replies.
        system: Who the model is and what it must always keep to.
        user: The task at hand.
        temperature: Sampling temperature; models that have none ignore it.
        role: Whose prompt it is, where several work together, such as `"planner"`.
        seed: Seed of what is drawn for it, such as which of several models answers.
        llm: Which of several models is to answer; empty where that is to be drawn.
    """

    key: str
    system: str
    user: str
    temperature: float = 0.8
    role: str = field(default="", compare=False)
    seed: int = field(default=0, compare=False)
    llm: str = field(default="", compare=False)


@dataclass(frozen=True)
class Completion:
    """A model's answer.

    Attributes:
        text: The answer.
        llm: Which model answered, such as `"openai:gpt-4o"` or `"handoff"`.
        prompt_tokens: Tokens of the prompt, None where unknown.
        completion_tokens: Tokens of the answer, None where unknown.
        seconds: How long the answer took.
        cut_off: Whether it ran into a limit of tokens, so that its end may be missing.
        unusable: Why it cannot be used, where it is what there was of an answer to a prompt that failed.
    """

    text: str
    llm: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    seconds: float = 0.0
    cut_off: bool = False
    unusable: str = ""


class LanguageModel(Protocol):
    """Answers prompts; may be asked from several threads at once."""

    @property
    def name(self) -> str:
        """Which model this is, as recorded in provenance."""

    def complete(self, prompt: Prompt) -> Completion:
        """Answer a prompt.

        Raises:
            ProposerError: It cannot answer at all (no key, no server, no recorded reply), however often it is asked.
            CompletionError: This prompt was answered with nothing that can be used (refused, filtered, cut off).
            Unanswered: No answer came, however long it was waited for; asking again later may bring one.
        """


class CompletionError(Exception):
    """One prompt got no usable answer; the message says why in a sentence.

    Attributes:
        completion: What there was of an answer, for the log and the books.
    """

    def __init__(self, message: str, completion: Completion | None = None) -> None:
        super().__init__(message)
        self.completion = completion


def unusable_completion(error: CompletionError, llm: str) -> Completion:
    """What there was of an answer to a prompt that failed, marked as such, for the log.

    Args:
        error: Why it failed.
        llm: The language model's name, where the error holds no answer at all.
    """
    return replace(error.completion or Completion("", llm), unusable=str(error))


class Unanswered(Exception):  # noqa: N818 - it is no error but the want of an answer
    """A call got no answer: a server that fails, limits the rate, or is out of reach; the message says which."""


@dataclass(frozen=True)
class Waiting:
    """A language model is being waited for before it is asked again.

    Attributes:
        key: The prompt that waits.
        reason: Why, in a few words, such as `"http://localhost:8000/v1 is loading the model"`.
        seconds: How long until it is asked again.
    """

    key: str
    reason: str
    seconds: float


OnWaiting = Callable[[Waiting], None]
