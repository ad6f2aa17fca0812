"""Fit a prompt into a context window: sections with priorities and short forms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llamea_tune.exceptions import ProposerError

CHARACTERS_PER_TOKEN = 3.0
VITAL = 0


class PromptTooLongError(ProposerError):
    """A prompt does not fit into the context window, however short.

    Attributes:
        needed: Tokens that its task takes at the least.
        left: Tokens that there are for it.
    """

    def __init__(self, needed: int, left: int) -> None:
        super().__init__(
            f"context_tokens leaves {left:,} tokens for the task, which takes {needed:,} with everything left out that "
            "may be; raise it, or take a model with a larger context",
            fields=("context_tokens",),
        )
        self.needed = needed
        self.left = left


@dataclass(frozen=True)
class Section:
    """A part of a prompt.

    Attributes:
        forms: Its text, whole first and then ever shorter; a blank form is left out of the prompt.
        priority: `VITAL` for what stays whole whatever happens; of the others, the higher the sooner it is shortened.
    """

    forms: tuple[str, ...]
    priority: int = VITAL


def estimated_tokens(text: str) -> int:
    """Tokens of a text: one for three characters, rounded up.

    Tokenizers of language models make 3 to 4 characters of English text or Python a token, so that this errs on the safe
    side; text in other scripts may take more.
    """
    return int(-(-len(text) // CHARACTERS_PER_TOKEN))


def pack(sections: Sequence[Section], most_tokens: int | None) -> str:
    """Join sections, in their order, so that they fit.

    The least important section takes its short forms first, then the next; only when all that may are short do sections
    vanish, the least important first.

    Args:
        sections: The sections.
        most_tokens: What they may take, as `estimated_tokens` counts; None for any number.

    Raises:
        PromptTooLongError: The vital sections alone do not fit.
    """
    chosen = [section.forms[0] for section in sections]
    if most_tokens is None:
        return _joined(chosen)
    order = sorted(range(len(sections)), key=lambda i: (-sections[i].priority, i))
    for may_vanish in (False, True):
        for i in order:
            if sections[i].priority == VITAL:
                continue
            for form in sections[i].forms[1:] if not may_vanish else ("",):
                if estimated_tokens(_joined(chosen)) <= most_tokens:
                    return _joined(chosen)
                chosen[i] = form
    text = _joined(chosen)
    if estimated_tokens(text) > most_tokens:
        raise PromptTooLongError(estimated_tokens(text), max(0, most_tokens))
    return text


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(text.strip("\n") for text in texts if text.strip())
