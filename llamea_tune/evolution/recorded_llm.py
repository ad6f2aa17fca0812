"""A language model whose answers are on disk before anything is done with them."""

from __future__ import annotations

import threading

from llamea_tune.evolution.ledger import Ledger
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.llm.exchanges import exchange_from_json, exchange_to_json
from llamea_tune.llm.language_model import (
    Completion,
    CompletionError,
    LanguageModel,
    Prompt,
    Unanswered,
    unusable_completion,
)
from llamea_tune.storage import Journal


class RecordedLLM:
    """Logs every exchange, and answers a prompt that was answered before from the log: no answer is paid for twice."""

    def __init__(self, llm: LanguageModel, journal: Journal, ledger: Ledger | None = None) -> None:
        """Read what was answered before.

        Args:
            llm: Answers the prompts that are new.
            journal: The run's log of exchanges.
            ledger: The run's ledger, where calls are to be counted and budgets kept.

        Raises:
            RunDirectoryError: The log is corrupt.
        """
        self._llm = llm
        self._journal = journal
        self._ledger = ledger
        try:
            exchanges = [exchange_from_json(record) for record in journal.records()]
        except ValueError as err:
            message = f"{journal.path} holds a line that is no exchange ({err}); remove that line, or restore the file."
            raise RunDirectoryError(message) from err
        self._answered = {prompt: completion for prompt, completion in exchanges if _is_answer(completion)}
        self._lock = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """Name of the model behind it."""
        return self._llm.name

    def complete(self, prompt: Prompt) -> Completion:
        """Answer from the log, or ask and log.

        What there was of an unusable answer is logged as such, so that it replays; a call without an answer is not.

        Raises:
            Unanswered: No answer came, or none is waited for any more.
            NotAsked: A budget of the run does not allow for another call.
        """
        known = self._answered.get(prompt)
        if known is not None:
            return known
        if self._ledger is None:
            return self._ask(prompt, [])
        with self._ledger.call() as answers:
            return self._ask(prompt, answers)

    def _ask(self, prompt: Prompt, answers: list[Completion]) -> Completion:
        """Ask, and log what was answered, which then goes into `answers`."""
        try:
            completion = self._llm.complete(prompt)
        except CompletionError as err:
            answers.append(self._log(prompt, unusable_completion(err, self._llm.name)))
            raise
        answers.append(self._log(prompt, completion))
        return completion

    def _log(self, prompt: Prompt, completion: Completion) -> Completion:
        with self._lock:
            if self._closed:
                raise Unanswered(f"{self._llm.name} is no longer waited for")
            self._journal.append(exchange_to_json(prompt, completion))
            if _is_answer(completion):
                self._answered[prompt] = completion
        return completion

    def close(self) -> None:
        """Stop waiting for answers, where the model behind it can be told so; nothing more is logged from then on."""
        with self._lock:
            self._closed = True
        close = getattr(self._llm, "close", None)
        if close is not None:
            close()


def _is_answer(completion: Completion) -> bool:
    return bool(completion.text) and not completion.unusable
