"""Answers are on disk before they are used, and no prompt that was answered is asked again."""

import threading

import pytest

from llamea_tune.evolution.recorded_llm import RecordedLLM
from llamea_tune.exceptions import RunDirectoryError
from llamea_tune.llm.handoff import Handoff
from llamea_tune.llm.protocol import CompletionError, Prompt
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


def test_an_answer_that_never_came_is_logged_as_empty_and_asked_for_again(tmp_path, journal):
    with pytest.raises(CompletionError, match="no reply"):
        RecordedLLM(handoff(tmp_path / "prompts", timeout_s=0.0), journal).complete(PROMPT)
    assert [record["text"] for record in journal.records()] == [""]
    (tmp_path / "prompts" / "g000-00-initial.reply.md").write_text("late")
    assert RecordedLLM(handoff(tmp_path / "prompts"), journal).complete(PROMPT).text == "late"


def test_a_line_that_is_no_exchange_is_named(tmp_path, journal):
    journal.append({"key": "g000-00-initial"})
    with pytest.raises(RunDirectoryError, match=r"exchanges\.jsonl holds a line that is no exchange"):
        RecordedLLM(handoff(tmp_path / "prompts"), journal)


def test_an_answer_that_is_no_longer_waited_for_is_not_logged(tmp_path, journal):
    llm = RecordedLLM(handoff(tmp_path / "prompts"), journal)
    failures = []

    def ask():
        with pytest.raises(CompletionError) as failure:
            llm.complete(PROMPT)
        failures.append(str(failure.value))

    waiting = threading.Thread(target=ask)
    waiting.start()
    llm.close()
    waiting.join(10)
    assert "stopped waiting" in failures[0]
    assert list(journal.records()) == []
