"""ASK: language models behind one protocol."""

from llamea_tune.llm.protocol import Completion, CompletionError, LanguageModel, Prompt, Unanswered
from llamea_tune.llm.registry import available_llms, make_llm

__all__ = [
    "Completion",
    "CompletionError",
    "LanguageModel",
    "Prompt",
    "Unanswered",
    "available_llms",
    "make_llm",
]
