"""ASK: language models behind one protocol."""

from llamea_tune.llm.protocol import Completion, CompletionError, LanguageModel, Prompt
from llamea_tune.llm.registry import LLMS, make_llm
from llamea_tune.llm.usage import Price, Usage, total_usage

__all__ = [
    "LLMS",
    "Completion",
    "CompletionError",
    "LanguageModel",
    "Price",
    "Prompt",
    "Usage",
    "make_llm",
    "total_usage",
]
