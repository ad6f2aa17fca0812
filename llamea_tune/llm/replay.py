"""Recorded replies: the answers of an earlier run, given again."""

from __future__ import annotations

from pathlib import Path

from llamea_tune.exceptions import ProposerError
from llamea_tune.llm.exchanges import prompt_hash, read_exchanges
from llamea_tune.llm.language_model import RETRY, Completion, CompletionError, Prompt

FILE_NAME = "exchanges.jsonl"


class Replay:
    """Answers prompts from a run directory's `exchanges.jsonl`, or any file like it.

    A reply is found by the prompt's key and checked against the prompt's text: an answer to another question would
    make results that look reproduced and are not.
    """

    def __init__(self, path: str | Path, *, strict: bool = True) -> None:
        """Read the recorded replies.

        Args:
            path: A run directory, or a file with one exchange per line.
            strict: Whether a prompt must be the recorded one word for word; otherwise its key is enough.

        Raises:
            ProposerError: There are no recorded replies there.
        """
        self._path = Path(path)
        if self._path.is_dir():
            self._path = self._path / FILE_NAME
        self._strict = strict
        self._by_text: dict[tuple[str, str], Completion] = {}
        self._by_key: dict[str, Completion] = {}
        for prompt, completion in read_exchanges(self._path):
            self._by_text[prompt.key, prompt_hash(prompt)] = completion
            self._by_key[prompt.key] = completion
        if not self._by_key:
            raise ProposerError(f"{self._path} holds no recorded replies; give a run that asked a language model")

    @property
    def name(self) -> str:
        """`"replay"`; completions name the model that answered first."""
        return "replay"

    def complete(self, prompt: Prompt) -> Completion:
        """Give the recorded reply again.

        Raises:
            ProposerError: There is none for this prompt.
            CompletionError: The prompt got no answer when it was recorded either.
        """
        completion = self._by_text.get((prompt.key, prompt_hash(prompt)))
        if completion is None:
            completion = self._by_key.get(prompt.key)
            if completion is None and prompt.key.removesuffix(RETRY) in self._by_key:
                raise CompletionError("the recorded run did not ask again")
            if completion is None:
                message = f"{self._path} holds no reply to prompt {prompt.key}; replay with the recorded run's settings"
                raise ProposerError(message)
            if self._strict:
                message = (
                    f"prompt {prompt.key} is not the one recorded in {self._path}; replay with the settings, spaces and "
                    f"version of the recorded run, or take its replies all the same with replay-by-key:{self._path}"
                )
                raise ProposerError(message)
        if completion.unusable or not completion.text.strip():
            reason = completion.unusable or "the recorded run got no answer to this prompt"
            raise CompletionError(reason, completion)
        return completion


def from_spec(argument: str) -> Replay:
    """Make it from the part of a spec behind `replay:`, the path."""
    return Replay(_path(argument, "replay"))


def by_key_from_spec(argument: str) -> Replay:
    """Make it from the part of a spec behind `replay-by-key:`; prompts may differ from the recorded ones."""
    return Replay(_path(argument, "replay-by-key"), strict=False)


def _path(argument: str, kind: str) -> str:
    if not argument:
        raise ProposerError(f"{kind} needs a run directory or a file of recorded replies, as in {kind}:PATH")
    return argument
