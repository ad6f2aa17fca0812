"""What asking language models took: tokens, time, and money where prices are known."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from llamea_tune.exceptions import SettingsError
from llamea_tune.llm.protocol import Completion


@dataclass(frozen=True)
class Usage:
    """Totals over a number of prompts.

    Attributes:
        answered: Prompts that were answered.
        prompt_tokens: Tokens of the prompts, as far as known.
        completion_tokens: Tokens of the answers, as far as known.
        seconds: Time spent waiting, summed over prompts even where they waited together.
    """

    answered: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.answered + other.answered,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )


def usage_of(completion: Completion) -> Usage:
    """What one answer took."""
    return Usage(1, completion.prompt_tokens or 0, completion.completion_tokens or 0, completion.seconds)


def total_usage(completions: Iterable[Completion]) -> Usage:
    """What several answers took together, such as those of a run log."""
    return reduce(Usage.__add__, map(usage_of, completions), Usage())


@dataclass(frozen=True)
class Price:
    """What a model costs.

    Attributes:
        prompt: Price of a million prompt tokens, in any currency.
        completion: Price of a million answer tokens, in the same currency.
    """

    prompt: float
    completion: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """Read `"2.5/10"`: the price of a million prompt tokens and of a million answer tokens.

        Raises:
            SettingsError: It is not two prices.
        """
        try:
            prompt, completion = (float(part) for part in text.split("/"))
        except ValueError:
            prompt = completion = -1.0
        if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
            message = f"price {text!r} is not understood; give two prices per million tokens, such as 2.5/10"
            raise SettingsError(message)
        return cls(prompt, completion)

    def cost(self, usage: Usage) -> float:
        """What that usage costs."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


class UsageMeter:
    """Adds up usage from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._total = Usage()

    @property
    def total(self) -> Usage:
        """The usage so far."""
        with self._lock:
            return self._total

    def add(self, usage: Usage) -> None:
        """Add to the total."""
        with self._lock:
            self._total += usage
