"""A language model whose answers are on disk before anything is done with them."""

from __future__ import annotations

import threading

from llamea_tune.evolution.journal import Journal
from llamea_tune.llm import exchange_from_json, exchange_to_json
from llamea_tune.llm.protocol import Completion, LanguageModel, Prompt
from llamea_tune.proposals.proposal import Exchange


class RecordedLLM:
    """Logs every exchange, and answers a prompt that was answered before from the log: no answer is paid for twice."""

    def __init__(self, llm: LanguageModel, journal: Journal) -> None:
        """Read what was answered before.

        Args:
            llm: Answers the prompts that are new.
            journal: The run's log of exchanges.

        Raises:
            RunDirectoryError: The log is corrupt.
        """
        self._llm = llm
        self._journal = journal
        self._answered = {exchange.prompt: exchange.completion for exchange in map(exchange_from_json, journal.records())}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the model behind it."""
        return self._llm.name

    def complete(self, prompt: Prompt) -> Completion:
        """Answer from the log, or ask and log."""
        known = self._answered.get(prompt)
        if known is not None:
            return known
        completion = self._llm.complete(prompt)
        with self._lock:
            self._journal.append(exchange_to_json(Exchange(prompt, completion)))
            self._answered[prompt] = completion
        return completion
