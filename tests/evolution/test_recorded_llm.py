"""Answers are on disk before they are used, and no prompt that was answered is asked again."""

import threading

import pytest

from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.llm.handoff import Handoff
from llamea_tune.llm.language_model import Completion, CompletionError, Prompt, Unanswered
from llamea_tune.llm.replay import Replay
from llamea_tune.storage import Journal

PROMPT = Prompt("g000-00-initial", "You write optimizers.", "Write one.")


def handoff(folder, **waiting):
    return Handoff(folder, poll_s=0.01, **waiting)


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path / "exchanges.jsonl", RunDirectoryError)


def test_an_answer_is_logged_and_not_asked_for_again(tmp_path, journal):
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "g000-00-initial.reply.md").write_text("the answer")
    assert RecordedLLM(handoff(folder), journal).complete(PROMPT).text == "the answer"
    assert [record["text"] for record in journal.records()] == ["the answer"]
    elsewhere = RecordedLLM(handoff(tmp_path / "empty", timeout_s=0.0), journal)
    assert elsewhere.complete(PROMPT).text == "the answer"
    assert len(list(journal.records())) == 1


class Script:
    """A language model that works through a list of answers and errors."""

    name = "script"

    def __init__(self, *outcomes):
        self._outcomes = list(outcomes)

    def complete(self, prompt):
        outcome = self._outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return Completion(outcome, self.name)


def test_an_unusable_answer_is_logged_as_such_and_asked_for_again(journal):
    half = Completion("half an ans", "script-1", 10, 4096, 2.0)
    llm = RecordedLLM(Script(CompletionError("ran out of tokens", half), CompletionError("refused"), "whole"), journal)
    for reason in ("ran out of tokens", "refused"):
        with pytest.raises(CompletionError, match=reason):
            llm.complete(PROMPT)
        with pytest.raises(CompletionError, match=reason):
            Replay(journal.path).complete(PROMPT)
    first, second = journal.records()
    assert (first["text"], first["completion_tokens"], first["unusable"]) == ("half an ans", 4096, "ran out of tokens")
    assert (second["text"], second["llm"], second["unusable"]) == ("", "script", "refused")
    assert RecordedLLM(Script("whole"), journal).complete(PROMPT).text == "whole"
    assert Replay(journal.path).complete(PROMPT).text == "whole"


def test_a_call_without_an_answer_is_not_logged(journal):
    with pytest.raises(Unanswered):
        RecordedLLM(Script(Unanswered("down")), journal).complete(PROMPT)
    assert list(journal.records()) == []


def test_a_prompt_that_comes_again_is_answered_from_the_log(journal):
    llm = RecordedLLM(Script("once"), journal)
    assert llm.complete(PROMPT) == llm.complete(PROMPT)


def test_a_line_that_is_no_exchange_is_named(tmp_path, journal):
    journal.append({"key": "g000-00-initial"})
    with pytest.raises(RunDirectoryError, match=r"exchanges\.jsonl holds a line that is no exchange"):
        RecordedLLM(handoff(tmp_path / "prompts"), journal)


def test_an_answer_that_is_no_longer_waited_for_is_not_logged(tmp_path, journal):
    llm = RecordedLLM(handoff(tmp_path / "prompts"), journal)
    failures = []

    def ask():
        with pytest.raises(Unanswered) as failure:
            llm.complete(PROMPT)
        failures.append(str(failure.value))

    waiting = threading.Thread(target=ask)
    waiting.start()
    llm.close()
    waiting.join(10)
    assert "wait" in failures[0]
    assert list(journal.records()) == []
