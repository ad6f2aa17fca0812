"""ASK: language models behind one protocol."""

from llamea_tune.llm.language_model import Completion, CompletionError, LanguageModel, Prompt, Unanswered
from llamea_tune.llm.registry import LLMS, make_llm

__all__ = [
    "LLMS",
    "Completion",
    "CompletionError",
    "LanguageModel",
    "Prompt",
    "Unanswered",
    "make_llm",
]
